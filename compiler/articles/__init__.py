"""The text of articles, topics, summaries and index pages."""
