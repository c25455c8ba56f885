"""Card rules of the embedded engine."""
