"""Commands of the daily review: review, due, rate, undo, card, quiz, stats, simulate, optimize; the app and plain text."""
