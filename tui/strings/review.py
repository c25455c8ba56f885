"""The words of the review, of a card, of editing a card, and of practice."""

from __future__ import annotations

from learning.cards.edit import Edited
from learning.review.plan import Mode, Plan
from learning.review.practice import Recall
from learning.review.session import Counts
from vault.log.events import Bury, Flag, LogEvent, Rating, Review, Suspend
from vault.text.formatting import plural

TITLES = {Mode.REVIEW: "Review", Mode.AHEAD: "Review ahead", Mode.CRAM: "Cram", Mode.PREVIEW: "Preview"}
NO_ADDRESS = "No source of this card has a web address."
NO_PICTURE = "This card shows no picture."
SOURCE = "Source"
NO_SOURCE = "This card cites no source."
NO_ARTICLE = "This concept has no article yet."
PAUSED = "paused"
NOT_KEPT = "Practice: nothing is scheduled or saved."
NOT_IN_PRACTICE = "Not available in practice: nothing is saved."
_RATINGS = {rating: rating.name.capitalize() for rating in Rating}
_IN_CRAM = {Rating.AGAIN: "comes again"}

# --- a card ---------------------------------------------------------------------------------------------------------
READING = "reading the vault …"
CARD = "Card"
WAS = "was"
NOW = "now"
YOURS = "yours"
NOW_IN_SOURCE = "now, as in the source"

# --- a reason for a flag ----------------------------------------------------------------------------------------------
WHAT_IS_WRONG = "What is wrong with this card?"
REASONS = ("wrong", "unclear", "too long", "gives the answer", "not worth knowing")
IN_YOUR_WORDS = "or in your own words; enter saves"


def address(shown: str) -> str:
    return f"{shown} opens in your browser: press o again"


def line_number(line: int) -> str:
    return f"line {line}"


def quote_number(number: int, of: int) -> str:
    return f"quote {number} of {of}"


def picture(path: str) -> str:
    return f"{path} opens in your viewer: press v again"


def progress(done: int, counts: Counts) -> str:
    """Return the progress of a review: `3 done · 7 left: 2 new, 1 learning, 4 review`."""
    if not counts.all:
        return f"{done} done"
    kinds = f"{counts.new} new, {counts.learning} learning, {counts.review} review"
    return f"{done} done · {counts.all} left: {kinds}"


def practice_progress(plan: Plan, done: int, left: int) -> str:
    """Return the progress of a practice: `3 recalled · 2 left · not scheduled`."""
    said = "recalled" if plan.mode is Mode.CRAM else "seen"
    return f"{done} {said} · {left} left · not scheduled" if left else f"{done} {said} · not scheduled"


def in_practice(mode: Mode, rating: Rating) -> str:
    """Return what a rating does in practice, shown instead of an interval."""
    return _IN_CRAM.get(rating, "recalled") if mode is Mode.CRAM else "not counted"


BURIED = "Buried until tomorrow. u undoes it."
SUSPENDED = "Suspended until you resume it. u undoes it."


def flagged(reason: str) -> str:
    return f"Flagged: {reason}. The next compile takes it into account." if reason else "Flagged."


def undone(action: LogEvent | Edited | Recall) -> str:
    """Return what an undo reversed."""
    match action:
        case Review() | Recall():
            return f"Undid the rating {_RATINGS[action.rating]}."
        case Bury():
            return "No longer buried."
        case Suspend():
            return "No longer suspended."
        case Flag():
            return f"Removed the flag ({action.reason})." if action.reason else "Removed the flag."
        case Edited():
            return "Undid the edit."
    return "Undone."


# --- the end ----------------------------------------------------------------------------------------------------------
DONE = "Done for now."
NOTHING = "Nothing is due now."
ONCE_MORE = "Press again to return home."
NOTHING_FITS = "No matching cards."
LEARNT = "Learnt"
HARDEST = "Hardest"
STREAK, NEXT, TOMORROW = "Streak", "Next card", "Tomorrow"
CALCULATING = "calculating what comes next …"


NO_MORE_NEW = "No extra new cards today."


def more_new(cards: int) -> str:
    """`10 more new cards today. u undoes it.`"""
    return f"{plural(cards, 'more new card')} today. u undoes it."


def done_line(ratings: int, stretch: str, pace: float) -> str:
    """`24 ratings in 6 minutes, 15 s each`."""
    each = f", {pace:.0f} s each" if ratings > 1 and pace >= 1 else ""
    return f"{plural(ratings, 'rating')} in {stretch}{each}"


def learnt(cards: int, concepts: tuple[str, ...]) -> str:
    """`3 cards of Forgetting curve, Spacing effect and 2 more`."""
    named = ", ".join(concepts[:3]) + (f" and {len(concepts) - 3} more" if len(concepts) > 3 else "")
    return f"{plural(cards, 'card')} of {named}" if named else plural(cards, "card")


def forgotten(times: int) -> str:
    return "forgotten once" if times == 1 else "forgotten twice" if times == 2 else f"forgotten {times} times"


def comes_back(when: str, *, in_learning: bool) -> str:
    return f"{when}, in learning" if in_learning else when


def tomorrow(cards: int, stretch: str) -> str:
    """`12 cards due, 4 minutes`, without new cards."""
    due = f"{plural(cards, 'card')} due, {stretch}" if cards else "nothing due"
    return f"{due}, not counting new cards"


# --- editing ----------------------------------------------------------------------------------------------------------
EDIT = "Edit a card"
GONE = "this card no longer exists"
NO_DECKS = "the decks cannot be read"
QUESTION = "Question"
ANSWER = "Answer"
CLOZE_TEXT = "Text: {{c1::hidden}} on one card, {{c2::hidden too::a hint}} on another"
NOT_SAVED = "Not saved: ctrl+s saves, esc again discards the changes."

# --- practise ---------------------------------------------------------------------------------------------------------
PRACTISE = "Practise"
EVERYTHING = "Every card"
WHICH = "Cards"
HOW = "How"
HOW_MANY = "How many"
HOW_FAR = "How far"
ALL_OF_THEM = "all of them"
MODES = {
    Mode.REVIEW: ("Review", "The cards due today, rated and scheduled as usual."),
    Mode.AHEAD: (
        "Review ahead",
        "Cards due in the next few days; ratings count and take the early review into account.",
    ),
    Mode.CRAM: ("Cram", "Every card until you recall it. Nothing is scheduled or saved."),
    Mode.PREVIEW: ("Preview", "The new cards, without rating. Nothing is scheduled or saved."),
}
NO_CARDS = "There are no cards yet."


def days(number: int) -> str:
    return plural(number, "day")


def group(kind: str) -> str:
    """Return what a filter selects: a topic, a tag, a kind or a concept."""
    return {"topic": "topic", "tag": "tag", "kind": "kind"}.get(kind, "concept")


def number_of(cards: int, due: int, new: int) -> str:
    """`120 cards, 12 due, 5 new`."""
    return f"{plural(cards, 'card')}, {due} due, {new} new"


def timer(seconds: int) -> str:
    """`0:07`."""
    return f"{seconds // 60}:{seconds % 60:02}"


def at_most(cards: int) -> str:
    return f"at most {plural(cards, 'card')}" if cards else ALL_OF_THEM
