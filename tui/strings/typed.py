"""The words around a typed answer and its comparison with the card."""

from __future__ import annotations

from vault.text.formatting import plural

INVITES = "Type the answer in your own words"
SHOW_KEYS = ("ctrl+s", "or enter on an empty line")
SHOWS = "shows the answer"
YOURS, CARDS, MISSING, POINTS, NOTE = "Yours", "Card", "Missing", "Points", "Note"
SAME = "Same words as on the card."
ALL_THERE = "Your answer contains all the card's keywords; decide for yourself whether it means the same."
BY_WORDS = "Compared word by word; decide for yourself whether it means the same."
NOTHING = "You didn't type an answer."
NO_TERMS = "The card's answer has no words to compare."
ASKING = "asking the model …"
UNSURE = "No suggested rating."
PRESS_A_NUMBER = "No rating is suggested for this answer. Press 1 Again, 2 Hard, 3 Good or 4 Easy."


def terms(said: int, of: int) -> str:
    """`2 of 5 keywords`."""
    return f"{said} of {plural(of, 'keyword')}"


def another_number(yours: str, theirs: str) -> str:
    return f"You say {yours}; the card says {theirs}."


def a_not(yours: str, theirs: str) -> str:
    """Return how the negations of the typed answer and of the card differ."""
    if yours and theirs:
        return f"Only one of the two is negated: you say “{yours}”; the card says “{theirs}”."
    return f"You say “{yours}”; the card does not." if yours else f"The card says “{theirs}”; you do not."


def suggests(rating: str) -> str:
    return f"Suggested rating: {rating}. Press space to accept, or 1-4 for another rating."


def asked(engine: str, place: str, tokens: int) -> str:
    """Return the engine that graded, its address if it is not the usual one, and its tokens."""
    return " · ".join(filter(None, (engine, place, plural(tokens, "token") if tokens else "")))
