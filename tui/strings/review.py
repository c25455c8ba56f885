"""The words of the review, of a card, of editing a card, and of practice."""

from __future__ import annotations

from learning.cards.edit import Edited
from learning.review.plan import Mode, Plan
from learning.review.practice import Recall
from learning.review.session import Counts
from vault.log.events import Bury, Flag, LogEvent, Rating, Review, Suspend
from vault.text.formatting import plural

TITLES = {Mode.REVIEW: "Review", Mode.AHEAD: "Review ahead", Mode.CRAM: "Cram", Mode.PREVIEW: "Preview"}
NO_ADDRESS = "None of the card's sources has a web address."
NO_PICTURE = "This card has no picture."
SOURCE = "Source"
NO_SOURCE = "This card cites no source."
NO_ARTICLE = "This concept has no article yet."
PAUSED = "paused"
NOT_KEPT = "Practice: nothing is scheduled or saved."
NOT_IN_PRACTICE = "Not available in practice: nothing is saved."
_RATINGS = {rating: rating.name.capitalize() for rating in Rating}
_IN_CRAM = {Rating.AGAIN: "shown again"}

# --- a card ---------------------------------------------------------------------------------------------------------
READING = "reading the vault …"
CARD = "Card"
WAS = "was"
NOW = "now"
YOURS = "yours"
NOW_IN_SOURCE = "current text, from the source"

# --- a reason for a flag ----------------------------------------------------------------------------------------------
WHAT_IS_WRONG = "What is wrong with this card?"
REASONS = ("wrong", "unclear", "too long", "gives away the answer", "not worth knowing")
IN_YOUR_WORDS = "or in your own words; enter saves"


def address(shown: str) -> str:
    return f"Press o again to open {shown} in your browser"


def line_number(line: int) -> str:
    return f"line {line}"


def quote_number(number: int, of: int) -> str:
    return f"quote {number} of {of}"


def picture(path: str) -> str:
    return f"Press v again to open {path} in your viewer"


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


BURIED = "Buried until tomorrow. Press u to undo."
SUSPENDED = "Suspended until you unsuspend the card. Press u to undo."


def flagged(reason: str) -> str:
    return f"Flagged: {reason}. The next compile takes it into account." if reason else "Flagged."


def undone(action: LogEvent | Edited | Recall) -> str:
    """Return what an undo reversed."""
    match action:
        case Review() | Recall():
            return f"Undid the rating {_RATINGS[action.rating]}."
        case Bury():
            return "Unburied the card."
        case Suspend():
            return "Unsuspended the card."
        case Flag():
            return f"Removed the flag ({action.reason})." if action.reason else "Removed the flag."
        case Edited():
            return "Undid the edit."
    return "Undone."


# --- the end ----------------------------------------------------------------------------------------------------------
DONE = "Done for now."
NOTHING = "Nothing is due now."
ONCE_MORE = "Press again to return to Home."
NOTHING_FITS = "No matching cards."
LEARNED = "Learned"
HARDEST = "Hardest"
STREAK, NEXT, TOMORROW = "Streak", "Next card", "Tomorrow"
CALCULATING = "calculating what comes next …"


NO_MORE_NEW = "Removed the extra new cards from today."


def more_new(cards: int) -> str:
    """`10 more new cards today. Press u to undo.`"""
    return f"{plural(cards, 'more new card')} today. Press u to undo."


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
    return f"{when} (learning)" if in_learning else when


def tomorrow(cards: int, stretch: str) -> str:
    """`12 cards due, 4 minutes`, without new cards."""
    due = f"{plural(cards, 'card')} due, {stretch}" if cards else "nothing due"
    return f"{due}, not counting new cards"


# --- editing ----------------------------------------------------------------------------------------------------------
EDIT = "Edit a card"
GONE = "this card no longer exists"
QUESTION = "Question"
ANSWER = "Answer"
CLOZE_TEXT = "Text: {{c1::hidden}} on one card, {{c2::hidden too::a hint}} on another"
NOT_SAVED = "The changes are not saved yet. Press ctrl+s to save, or esc again to discard them."

# --- practise ---------------------------------------------------------------------------------------------------------
PRACTISE = "Practise"
EVERYTHING = "All cards"
WHICH = "Cards"
HOW = "Mode"
HOW_MANY = "Number of cards"
HOW_FAR = "Days ahead"
ALL_OF_THEM = "all"
MODES = {
    Mode.REVIEW: ("Review", "Cards due today, rated and scheduled as usual."),
    Mode.AHEAD: (
        "Review ahead",
        "Cards due in the next few days. Ratings count, and the schedule allows for the early review.",
    ),
    Mode.CRAM: ("Cram", "Repeats each card until you recall it. Nothing is scheduled or saved."),
    Mode.PREVIEW: ("Preview", "Shows new cards without rating them. Nothing is scheduled or saved."),
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
