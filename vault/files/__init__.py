"""Guarded, durable writes and safe paths."""
