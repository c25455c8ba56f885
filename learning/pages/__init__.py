"""Pages that learning writes or shows."""
