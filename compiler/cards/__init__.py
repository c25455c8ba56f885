"""Flashcards of articles, their decks, and the gaps they reveal."""
