"""What changed in the user's files, and how to restore it."""
