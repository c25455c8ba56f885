"""The words of the home screen."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import TYPE_CHECKING

from learning.schedule.date_text import day_of, near
from vault.log.events import MOST_PER_DAY
from vault.text.formatting import plural

if TYPE_CHECKING:  # keys need these words as the app starts
    from learning.stats.overview import Daybook

READING = "Reading the vault …"
UNREADABLE = "The vault cannot be read. Run `retain doctor` to check it, then press r to try again."
NOT_YET = "…"
STREAK, RECALLED, COMING, SINCE, AGENDA, TOPICS, YEAR = (
    "Streak",
    "Recalled",
    "Forecast",
    "Changes",
    "Gaps",
    "Topics",
    "Past year",
)
YESTERDAY = "since yesterday"
EMPTY = "This vault is empty. First steps:"
STEPS = "In an empty vault"  # the heading of the keys for the steps in the help
FILL = (
    ("Add a document", "copy a file, a folder or a web page into raw/"),
    ("Compile", "create articles and flashcards from the documents"),
    ("Review", "review the first cards"),
)
FILL_NOTES = "To add notes that are already in this folder, enter their file names."
FILL_SHELL = "In a shell: retain add FILE... and retain compile."
NO_CARDS = "There are documents, but no cards yet. To create cards:"
COMPILE = (("Compile", "create articles and flashcards from the documents"),)
COMPILE_SHELL = "In a shell: retain compile."
SUGGEST_SHELL = "In a shell: retain card suggest."
DONE = "Done for today."
NOTHING_DUE = "Nothing is due."
PRESS, BEGINS = "Press ", " to begin."
ALL_TODAY = "Review everything today ("
NO_BACKLOG = "No daily limit today: all due cards are in the queue."
ASK_PER_DAY = "Reviews a day (0 ends the plan; enter saves, esc cancels)"
NOT_A_RATE = f"enter a number of reviews a day, up to {MOST_PER_DAY}"
PLAN_ENDED, PLAN_UNDONE = "The catch-up plan has ended. Press u to undo.", "Undid the catch-up plan."
NO_PLAN_TO_UNDO = "Nothing was undone: your last action was not a catch-up plan. `retain undo` undoes the last action."
OPENS_GAPS = " opens Gaps"
NOTHING_MISSING = "No open gaps."
NOTHING_NEW = "No changes."
NO_TOPICS = "No topics yet. A topic needs several related articles."
TODAY = "today"
WEEKDAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
MINUTE, MINUTES, DUE, NEW = "minute", "minutes", "due", "new"


def reviewed_today(cards: int) -> str:
    return f"{plural(cards, 'card')} reviewed today."


def waiting(due: int, new: int) -> str:
    counts = [f"{count:,} {noun}" for count, noun in ((due, DUE), (new, NEW)) if count]
    return f"Beyond today's limit: {', '.join(counts)}."


def welcome(last: date, days: int) -> str:
    shown = near(last, last + timedelta(days=days))
    return f"Welcome back. Last visit: {shown}, {plural(days, 'day')} ago."


def offer(per_day: int, until: date | None, today: date) -> str:
    clear = f"cleared by {near(until, today)}" if until is not None else "not cleared within a year"
    return f"Catch up at {per_day:,} a day, {clear} "


def backlog_waiting(cards: int) -> str:
    return f"{cards:,} waiting. "


def catching_up_from_now(per_day: int) -> str:
    return f"Catching up at {per_day:,} a day. Press u to undo."


def catching_up(per_day: int, until: date, today: date) -> str:
    return f"Catching up at {per_day:,} a day until {near(until, today)} "


def paused(until: date, today: date) -> str:
    return f"Reviews are paused until {near(until, today)}."


def sentence(words: str) -> str:
    """Return words that a command prints as a sentence."""
    return f"{words[0].upper()}{words[1:]}." if words else ""


PAUSE_ENDS = "Nothing is due and your streak is kept. End the pause in Settings (,)."


def only(tag: str) -> str:
    return f"Only {tag}."


def next_due(when: str) -> str:
    return f"The next card is due {when}."


def holdings(cards: int, concepts: int, tomorrow: int) -> str:
    after = f" · {tomorrow:,} due by tomorrow" if tomorrow else ""
    return f"{plural(cards, 'card')} on {plural(concepts, 'concept')}{after}"


def streak(days: int, longest: int, done_today: bool) -> tuple[str, str]:
    """Return (days in a row, a remark)."""
    if not longest:
        return "Not started", "starts with your first review"
    if not days:
        return "No current streak", f"the longest was {plural(longest, 'day')}"
    head = f"{plural(days, 'day')} in a row"
    if days >= longest:
        return head, "your longest" if done_today or days > 1 else "2 days if you review today"
    return head, f"the longest was {longest:,}"


def recalled(book: Daybook, wanted: float) -> tuple[str, str]:
    """Return (the share recalled in 30 days, or before, a remark)."""
    month, ever = book.month.all, book.ever.all
    if month.rate is not None:
        return f"{month.rate:.0%} of {month.reviews:,}", f"in the last 30 days; desired {wanted:.0%}"
    if ever.rate is not None:
        return f"{ever.rate:.0%} of {ever.reviews:,}", f"no reviews in the last 30 days; desired {wanted:.0%}"
    return "nothing yet", "no card has been reviewed twice yet"


def coming(reviews: int, days: int) -> str:
    if not reviews:
        return f"No reviews in the next {days} days."
    return f"{plural(reviews, 'review')} in the next {days} days"


def most(reviews: int) -> str:
    return f"at most {reviews:,} a day"


def backlog(overdue: int, cleared: date | None) -> str:
    when = f"cleared by {day_of(cleared)}" if cleared is not None else "takes more than a year to clear"
    return f"{overdue:,} overdue, {when}"


def open_gaps(count: int) -> str:
    return plural(count, "open gap")


def news(
    articles: int, cards: int, changed: int, reworded: int, retracted: int, contested: int, settled: int
) -> Iterator[str]:
    """Yield what is new or changed, without zeros: `3 new cards`."""
    counts = (
        (changed, "changed fact", "changed facts"),
        (contested, "contested fact", "contested facts"),
        (settled, "conflict resolved", "conflicts resolved"),
        (articles, "new article", "new articles"),
        (cards, "new card", "new cards"),
        (reworded, "card reworded", "cards reworded"),
        (retracted, "card withdrawn", "cards withdrawn"),
    )
    yield from (f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count)


def ripe(concepts: int) -> str:
    return f"{plural(concepts, 'concept')} you could now write a note on"


def held(decks: int) -> str:
    return f"{plural(decks, 'deck')} written by an agent, not checked yet"


def inbox(number: int) -> str:
    return f"{number:,} in the inbox (i)"


def suggest(number: int) -> tuple[tuple[str, str], ...]:
    """Return the step for a vault that has suggested cards and no others."""
    return (("Suggested cards", f"{number:,} to keep, edit or drop"),)


def suggested(number: int) -> str:
    return f"{plural(number, 'suggested card')} (t)"


def known(known: int, concepts: int) -> str:
    return f"{known:,}/{concepts:,} known"


def nothing_reviewed(topics: int) -> str:
    return f"{plural(topics, 'topic')}, none started yet"


def others(number: int) -> str:
    return f"{number} more"


def more(topics: int) -> str:
    return f"and {plural(topics, 'more topic')}"
