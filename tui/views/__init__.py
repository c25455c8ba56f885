"""Widgets that show one kind of thing: a card, an article, a gap."""
