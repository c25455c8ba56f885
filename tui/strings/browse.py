"""The words of the card browser."""

from __future__ import annotations

from datetime import datetime

from learning.cards.actions import MOST_DAYS
from vault.text.formatting import plural

TITLE = "Browse"
SEARCH_HINT = "words, or filters: state:due  kind:applied  is:leech  topic:…  lapses>3  due<7"
SCOPES = {"cards": "Cards", "articles": "Articles", "both": "Both"}
COLUMNS = {
    "kind": "Kind",
    "concept": "Concept",
    "question": "Question or title",
    "due": "Due",
    "ivl": "Interval",
    "difficulty": "Difficulty",
    "lapses": "Lapses",
    "recall": "Recall",
    "topic": "Topic",
}
SORTS = {
    "deck": "in deck order",
    "due": "by due date",
    "concept": "by concept",
    "question": "by question",
    "kind": "by kind",
    "topic": "by topic",
    "ivl": "by interval",
    "difficulty": "by difficulty",
    "lapses": "by lapses",
    "recall": "by chance of recall",
}
ARTICLE, TOPIC = "article", "topic"
RETRACTED, SUSPENDED, BURIED, NEW = "retracted", "suspended", "buried", "new"
GONE = "(no longer in its deck)"
READING = "reading the vault …"
NOTHING_FOUND = "Nothing found. Press esc to clear the search."
NO_CARDS = "There are no cards yet. `retain compile` creates cards from your sources."
NOTHING_MARKED = "No card selected: articles cannot be suspended, tagged or rescheduled."
NOTHING_TO_UNDO = "Nothing to undo."
UNCHANGED = "Nothing changed: the cards are already in this state."
QUESTION, ANSWER = "Question", "Answer"
WHY_FLAGGED = "Reason for the flag (optional; esc cancels)"
WHICH_TAG = "Tag to add, or -tag to remove (esc cancels)"
WHICH_DAY = "Due in how many days? (0 is today; esc cancels)"
NOT_A_DAY = "enter a number of days"
DAY_HINT = f"from 0 to {MOST_DAYS}"
DONE = {
    "suspend": "suspended",
    "resume": "unsuspended",
    "bury": "buried until tomorrow",
    "flag": "flagged",
    "tag": "tagged",
    "reschedule": "rescheduled",
    "delete": "deleted",
    "undo": "restored",
}


def interval(days: int) -> str:
    """`4 d`, `3 mo`, `2.1 y`; under a day `< 1 d`."""
    if days < 1:
        return "< 1 d"
    if days < 60:
        return f"{days} d"
    return f"{days / 30.44:.0f} mo" if days < 730 else f"{days / 365.25:.1f} y"


def due(days: int, *, is_now: bool) -> str:
    """`now`, `today`, `tomorrow`, `in 4 d`, `3 d late`."""
    if days < 0:
        return f"{interval(-days)} late"
    if days == 0:
        return "now" if is_now else "today"
    return "tomorrow" if days == 1 else f"in {interval(days)}"


def counts(found: int, total: int, marked: int) -> str:
    """Return the counts shown at the top of the screen."""
    shown = plural(total, "entry", "entries") if found == total else f"{found:,} of {total:,}"
    return f"{marked:,} selected · {shown}" if marked else shown


def indexing(done: int, total: int) -> str:
    return f"indexing files for search: {done:,} of {total:,}"


def done(action: str, cards: int) -> str:
    return f"{plural(cards, 'card')} {DONE[action]}. Press u to undo."


def undone(cards: int) -> str:
    return f"{plural(cards, 'card')} {DONE['undo']}."


def memory(due: str, interval: str, reps: int, lapses: int, recall: float | None) -> str:
    """Return the memory state of a card in one line."""
    if recall is None:
        return f"due {due}" if due != NEW else "not reviewed yet"
    times = f"{plural(reps, 'review')}, {plural(lapses, 'lapse')}"
    return f"due {due} · interval {interval} · recall {recall:.0%} · {times}"


def place(path: str, line: int) -> str:
    return f"{path}:{line}"


def said_before(at: datetime, how: str) -> str:
    """Return the heading of an earlier version of a card."""
    return f"{at:%Y-%m-%d}" + (f" · {how}" if how else "")


def reviewed(at: datetime, rating: str) -> str:
    return f"{at:%Y-%m-%d} {rating}"


HISTORY = "Earlier versions"
REVIEWS = "Reviews"
SOURCE = "Source"
