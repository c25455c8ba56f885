"""Fetching documents from the web."""
