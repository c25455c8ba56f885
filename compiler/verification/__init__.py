"""Checks of all citations again, and the way from any sentence back to its source."""
