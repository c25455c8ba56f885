"""The pages beside the articles: summaries, topics, indexes, the agenda and the decks."""
