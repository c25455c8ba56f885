"""Fetching of web pages."""
