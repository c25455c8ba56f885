"""Readers of other programs' cards: what they find, before any of it is written."""
