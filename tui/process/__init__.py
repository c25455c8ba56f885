"""Jobs and background threads."""
