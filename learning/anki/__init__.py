"""Anki packages: export, and import in a confined child process."""
