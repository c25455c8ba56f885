"""Cards and the review log to memory states, queues and decks; never a model, never the compiler."""
