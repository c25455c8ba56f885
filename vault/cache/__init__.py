"""Caches that can be rebuilt, and the file stamps they depend on."""
