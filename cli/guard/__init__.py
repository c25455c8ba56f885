"""Commands of `retain guard`."""
