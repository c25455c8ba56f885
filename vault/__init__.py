"""A vault on disk: its files, their formats, settings, locks, and guarded writes."""
