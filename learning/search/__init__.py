"""Full-text search over cards and articles."""
