"""Sync with a running Anki through its add-on AnkiConnect."""
