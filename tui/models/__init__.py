"""What screens show, as values."""
