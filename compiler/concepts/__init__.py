"""Which names mean the same concept, and which concepts the sources explain."""
