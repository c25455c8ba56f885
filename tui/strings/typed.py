"""What is said round an answer that is typed: before it is shown, and of what it came to."""

from __future__ import annotations

from tui.text.formats import counted

INVITES = "Write the answer in your own words"
SHOW_KEYS = ("ctrl+s", "or enter on an empty line")
SHOWS = "shows the answer"
YOURS, CARDS, MISSING, POINTS, NOTE = "Yours", "Card", "Missing", "Points", "Note"
SAME = "The same words as the card's."
ALL_THERE = "Every key word of the card is there; whether they say the same is yours to judge."
BY_WORDS = "Compared word by word; what they mean is yours to judge."
NOTHING = "Nothing was written."
NO_TERMS = "The card's answer has no words that could be compared."
ASKING = "asking the model …"
UNSURE = "No suggestion."


def terms(said: int, of: int) -> str:
    """`2 of 5 key words`."""
    return f"{said} of {counted(of, 'key word')}"


def another_number(yours: str, theirs: str) -> str:
    return f"You say {yours}; the card says {theirs}."


def a_not(yours: str, theirs: str) -> str:
    """`yours` and `theirs` are the negations that the two hold."""
    if yours and theirs:
        return f"You say “{yours}”, the card “{theirs}”: mind what is denied."
    return f"You say “{yours}”, the card does not." if yours else f"The card says “{theirs}”, you do not."


def suggests(rating: str) -> str:
    return f"Suggests {rating}: space takes it, 1-4 say otherwise."


def asked(engine: str, place: str, tokens: int) -> str:
    """Who graded, where that is no usual place, and what it took."""
    return " · ".join(filter(None, (engine, place, counted(tokens, "token") if tokens else "")))
