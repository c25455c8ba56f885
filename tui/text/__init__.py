"""Markdown, wrapping and pictures in the terminal."""
