"""Asking an engine, and keeping and reusing what it replied."""
