"""The text of articles, and what it is composed from."""
