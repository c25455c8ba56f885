"""Checks that sentences, names and cards are supported by their evidence."""
