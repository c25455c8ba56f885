"""One module a command: review, cards, statistics, import and export."""
