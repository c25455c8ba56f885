"""The nouns of a vault and their text forms."""
