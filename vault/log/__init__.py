"""The review log and the ledgers."""
