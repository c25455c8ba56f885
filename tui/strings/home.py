"""What home says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from tui.text.formats import counted, day_of

READING = "Reading the vault …"
UNREADABLE = "The vault cannot be read."
NOT_YET = "…"
STREAK, RECALLED, COMING, SINCE, AGENDA, TOPICS, YEAR = (
    "Streak",
    "Recalled",
    "Coming",
    "Since",
    "Reading",
    "Topics",
    "The year",
)
YESTERDAY = "yesterday"
EMPTY = "This vault is empty. To fill it:"
FILL = (
    ("w  Add a document", "a file, a folder or a web page, into raw/"),
    ("w  Compile", "makes articles and flashcards of it"),
    ("enter", "starts with the first ones"),
)
FILL_NOTES = "Notes already in this folder come in the same way: give Add their names."
FILL_SHELL = "In a shell: retain add FILE... and retain compile."
NO_CARDS = "There are documents, but no cards yet:"
COMPILE = (("w  Compile", "makes articles and flashcards of them"),)
COMPILE_SHELL = "In a shell: retain compile."
DONE = "Done for today."
NOTHING_DUE = "Nothing is due."
PRESS, BEGINS = "Press ", " to begin."
OPENS_AGENDA = " opens the agenda"
NOTHING_MISSING = "Nothing is missing."
NOTHING_NEW = "Nothing has changed."
NO_TOPICS = "Topics come with the first compile."
TODAY = "today"
WEEKDAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
MINUTE, MINUTES, DUE, NEW = "minute", "minutes", "due", "new"


def reviewed_today(cards: int) -> str:
    return f"{counted(cards, 'card')} reviewed today."


def waiting(cards: int) -> str:
    return f"{cards:,} more wait for another day."


def only(tag: str) -> str:
    return f"Only {tag}."


def next_due(when: str) -> str:
    return f"The next card comes back {when}."


def holdings(cards: int, concepts: int, tomorrow: int) -> str:
    after = f" · {tomorrow:,} due by tomorrow" if tomorrow else ""
    return f"{counted(cards, 'card')} on {counted(concepts, 'concept')}{after}"


def streak(days: int, longest: int, done_today: bool) -> tuple[str, str]:
    """(how many days in a row, what goes with it)."""
    if not longest:
        return "no day yet", "the first review begins one"
    if not days:
        return "none just now", f"the longest was {counted(longest, 'day')}"
    head = f"{counted(days, 'day')} in a row"
    if days >= longest:
        return head, "the longest yet" if done_today or days > 1 else "reviewing today makes it two"
    return head, f"the longest was {longest:,}"


def recalled(rate: float | None, reviews: int, wanted: float) -> tuple[str, str]:
    """(the share recalled in thirty days, what goes with it)."""
    if rate is None:
        return "nothing yet", "no card has come back yet"
    return f"{rate:.0%} of {reviews:,}", f"in 30 days; you want {wanted:.0%}"


def coming(reviews: int, days: int) -> str:
    if not reviews:
        return f"Nothing is planned for {days} days."
    return f"{counted(reviews, 'review')} in {days} days"


def most(reviews: int) -> str:
    return f"at most {reviews:,} a day"


def backlog(overdue: int, cleared: date | None) -> str:
    when = f"cleared by {day_of(cleared)}" if cleared is not None else "more than a year of it"
    return f"{overdue:,} overdue, {when}"


def open_gaps(count: int) -> str:
    return counted(count, "open gap")


def news(
    articles: int, cards: int, changed: int, reworded: int, retracted: int, contested: int, settled: int
) -> Iterator[str]:
    """What came and changed, each in few words; what did not is not told."""
    told = (
        (changed, "changed fact", "changed facts"),
        (contested, "contested fact", "contested facts"),
        (settled, "fact settled", "facts settled"),
        (articles, "new article", "new articles"),
        (cards, "new card", "new cards"),
        (reworded, "card reworded", "cards reworded"),
        (retracted, "card retracted", "cards retracted"),
    )
    yield from (f"{count:,} {one if count == 1 else many}" for count, one, many in told if count)


def ripe(concepts: int) -> str:
    return f"{counted(concepts, 'concept')} ready for a thought of yours"


def held(decks: int) -> str:
    noun, verb = ("deck", "waits") if decks == 1 else ("decks", "wait")
    return f"{decks} {noun} of an agent's {verb} to be judged"


def inbox(number: int) -> str:
    return f"{number:,} in the inbox (i)"


def known(known: int, concepts: int) -> str:
    return f"{known:,}/{concepts:,} known"


def nothing_reviewed(topics: int) -> str:
    return f"{counted(topics, 'topic')}, none begun yet"


def more(topics: int) -> str:
    return f"and {counted(topics, 'more topic')}"
