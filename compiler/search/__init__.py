"""Full-text search of the vault, by words and by meaning, with a program of the user beside it."""
