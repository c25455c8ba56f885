"""The nouns of a vault (source, claim, article, card, gap ...) and their text forms."""
