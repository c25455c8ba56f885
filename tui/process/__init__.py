"""Long work and background threads."""
