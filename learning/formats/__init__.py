"""Exports to other programs than Anki."""
