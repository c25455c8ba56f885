"""Readers, one for each kind of document: pure functions from bytes and a file name to source text."""
