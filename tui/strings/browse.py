"""What the browser says."""

from __future__ import annotations

from datetime import datetime

from learning.cards.actions import MOST_DAYS
from tui.text.formats import counted

TITLE = "Browse"
SEARCH_HINT = "words, or state:due  kind:applied  is:leech  topic:…  lapses>3  due<7"
SCOPES = {"cards": "Cards", "articles": "Articles", "both": "Both"}
COLUMNS = {
    "kind": "Kind",
    "concept": "Concept",
    "question": "Question or title",
    "due": "Due",
    "ivl": "Interval",
    "difficulty": "Diff",
    "lapses": "Lapses",
    "recall": "Recall",
    "topic": "Topic",
}
SORTS = {
    "deck": "as in the decks",
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
GONE = "(gone from its deck)"
READING = "reading the vault …"
NOTHING_FOUND = "Nothing is found. Fewer words find more; esc clears the search."
NO_CARDS = "There are no cards yet. `retain compile` makes them of your sources."
REPAIRED = "The search index was damaged and has been made anew; nothing else was touched."
NOTHING_MARKED = "There is no card here: articles are read, but not suspended, tagged or given a day."
NOTHING_TO_UNDO = "Nothing to take back here."
UNCHANGED = "All of them are so already."
QUESTION, ANSWER = "Question", "Answer"
WHY_FLAGGED = "Why is it flagged? (may be empty; esc leaves it)"
WHICH_TAG = "Tag to add, or -tag to take away (esc leaves it)"
WHICH_DAY = "Due in how many days? 0 is today (esc leaves it)"
NOT_A_DAY = "a number of days is needed"
DAY_HINT = f"from 0 to {MOST_DAYS}"
DEEDS = {
    "suspend": "suspended",
    "resume": "back in the queue",
    "bury": "buried until tomorrow",
    "flag": "flagged",
    "tag": "tagged",
    "reschedule": "given another day",
    "undo": "as before",
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
    """What stands at the head of the screen."""
    shown = f"{total:,}" if found == total else f"{found:,} of {total:,}"
    return f"{marked:,} chosen · {shown}" if marked else shown


def indexing(done: int, total: int) -> str:
    return f"reading for the search: {done:,} of {total:,} files"


def done(deed: str, cards: int) -> str:
    return f"{counted(cards, 'card')} {DEEDS[deed]}. u takes it back."


def undone(cards: int) -> str:
    return f"{counted(cards, 'card')} {DEEDS['undo']}."


def memory(due: str, interval: str, reps: int, lapses: int, recall: float | None) -> str:
    """One line on what is remembered of a card."""
    if recall is None:
        return f"due {due}" if due != NEW else "not met yet"
    times = f"{counted(reps, 'review')}, {counted(lapses, 'lapse')}"
    return f"due {due} · interval {interval} · recall {recall:.0%} · {times}"


def place(path: str, line: int) -> str:
    return f"{path}:{line}"


def said_before(at: datetime, how: str) -> str:
    """The heading of an earlier version of a card."""
    return f"{at:%Y-%m-%d}" + (f" · {how}" if how else "")


def reviewed(at: datetime, rating: str) -> str:
    return f"{at:%Y-%m-%d} {rating}"


HISTORY = "What it said before"
REVIEWS = "Reviews"
SOURCE = "Source"
