"""Cards and review history of a vault, cached."""
