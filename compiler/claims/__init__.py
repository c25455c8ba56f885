"""Claims: extraction from segments, and contradictions between them."""
