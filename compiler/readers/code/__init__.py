"""Source code: its comments and docstrings."""
