"""Imports of cards from other programs than Anki."""
