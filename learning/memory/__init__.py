"""Memory states: FSRS, the fold of the review log, and fitting of parameters."""
