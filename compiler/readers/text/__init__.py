"""Readers of textual formats."""
