"""The passages behind a card or sentence."""
