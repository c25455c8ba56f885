"""Commands of the daily review and of statistics: review, due, rate, undo, card, quiz, stats, simulate, optimize."""
