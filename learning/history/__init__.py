"""The review log of a vault, indexed: events, memory states, sums of days, and which cards are due."""
