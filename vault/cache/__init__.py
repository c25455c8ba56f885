"""Caches that can be rebuilt, and the file stamps that show whether they are current."""
