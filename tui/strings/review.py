"""What the review says."""

from __future__ import annotations

from learning.cards.edit import Edited
from learning.review.plan import Mode, Plan
from learning.review.practice import Recall
from learning.review.session import Counts
from tui.text.formats import counted
from vault.log.events import Bury, Flag, LogEvent, Rating, Review, Suspend

TITLES = {Mode.REVIEW: "Review", Mode.AHEAD: "Review ahead", Mode.CRAM: "Cram", Mode.PREVIEW: "Preview"}
NO_ADDRESS = "No source of this card names an address on the web."
NO_PICTURE = "This card shows no picture."
NO_SOURCE = "This card cites no source."
NO_ARTICLE = "This concept has no article yet."
PAUSED = "paused"
NOT_KEPT = "Practice: nothing is scheduled, and nothing is written."
NOT_IN_PRACTICE = "That would be kept, and practice keeps nothing."
_RATED = {rating: rating.name.capitalize() for rating in Rating}
_IN_CRAM = {Rating.AGAIN: "comes again"}

# --- a reason for a flag ----------------------------------------------------------------------------------------------
WHAT_IS_WRONG = "What is wrong with this card?"
REASONS = ("wrong", "unclear", "too long", "gives itself away", "not worth knowing")
IN_YOUR_WORDS = "or in your own words; enter saves"


def address(shown: str) -> str:
    return f"{shown} opens in your browser: press o again"


def picture(path: str) -> str:
    return f"{path} opens in your viewer: press v again"


def progress(done: int, counts: Counts) -> str:
    """How far a review has come."""
    if not counts.all:
        return f"{done} done"
    kinds = f"{counts.new} new, {counts.learning} learning, {counts.review} review"
    return f"{done} done · {counts.all} left: {kinds}"


def practice_progress(plan: Plan, done: int, left: int) -> str:
    """How far a practice has come."""
    said = "recalled" if plan.mode is Mode.CRAM else "seen"
    return f"{done} {said} · {left} left · not scheduled" if left else f"{done} {said} · not scheduled"


def in_practice(mode: Mode, rating: Rating) -> str:
    """What a rating does in practice, in the place of an interval."""
    return _IN_CRAM.get(rating, "recalled") if mode is Mode.CRAM else "not counted"


BURIED = "Buried until tomorrow. u takes it back."
SUSPENDED = "Suspended: it is not asked again until you resume it. u takes it back."


def flagged(reason: str) -> str:
    return f"Flagged: {reason}. The next compile reads why." if reason else "Flagged."


def undone(deed: LogEvent | Edited | Recall) -> str:
    """What an undo took back."""
    match deed:
        case Review() | Recall():
            return f"Taken back: {_RATED[deed.rating]}."
        case Bury():
            return "Taken back: it is no longer buried."
        case Suspend():
            return "Taken back: it is no longer suspended."
        case Flag():
            return f"Taken back: the flag ({deed.reason})." if deed.reason else "Taken back: the flag."
        case Edited():
            return "Taken back: the edit; the card says what it said before."
    return "Taken back."


# --- the end ----------------------------------------------------------------------------------------------------------
DONE = "That is all for now."
NOTHING = "Nothing is due now."
ONCE_MORE = "Once more leads home."
NOTHING_FITS = "No card fits."
LEARNT = "Learnt"
HARDEST = "Hardest"
NEXT = "Next"
RECKONING = "reckoning what comes next …"


def done_line(ratings: int, stretch: str, pace: float) -> str:
    """`24 ratings in 6 minutes, 15 s each`."""
    each = f", {pace:.0f} s each" if ratings > 1 and pace >= 1 else ""
    return f"{counted(ratings, 'rating')} in {stretch}{each}"


def learnt(cards: int, concepts: tuple[str, ...]) -> str:
    """`3 cards of Forgetting curve, Spacing effect and 2 more`."""
    named = ", ".join(concepts[:3]) + (f" and {len(concepts) - 3} more" if len(concepts) > 3 else "")
    return f"{counted(cards, 'card')} of {named}" if named else counted(cards, "card")


def forgotten(times: int) -> str:
    return "forgotten once" if times == 1 else "forgotten twice" if times == 2 else f"forgotten {times} times"


def comes_back(when: str) -> str:
    return f"A card in learning comes back {when}."


def tomorrow(cards: int) -> str:
    comes = f"{counted(cards, 'card')} will be due" if cards else "nothing will be due"
    return f"By tomorrow {comes}, besides what is new."


# --- editing ----------------------------------------------------------------------------------------------------------
EDIT = "Edit a card"
GONE = "this card is gone"
NO_DECKS = "the decks cannot be listed"
QUESTION = "Question"
ANSWER = "Answer"
NOT_SAVED = "Not saved: ctrl+s saves, esc again leaves it as it was."

# --- practise ---------------------------------------------------------------------------------------------------------
PRACTISE = "Practise"
EVERYTHING = "Every card"
WHICH = "Cards"
HOW = "How"
HOW_MANY = "How many"
HOW_FAR = "How far"
ALL_OF_THEM = "all of them"
MODES = {
    Mode.REVIEW: ("Review", "What is due of them today, rated as ever."),
    Mode.AHEAD: ("Ahead", "What falls due in the next days, rated for good, with the time that has truly passed."),
    Mode.CRAM: ("Cram", "Every one, again until you recall it. Nothing is scheduled or kept."),
    Mode.PREVIEW: ("Preview", "A look at the new ones. Nothing is scheduled or kept."),
}
NO_CARDS = "There are no cards yet."


def days(number: int) -> str:
    return counted(number, "day")


def group(kind: str) -> str:
    """What a filter is: a topic, a tag, a kind or a concept."""
    return {"topic": "topic", "tag": "tag", "kind": "kind"}.get(kind, "concept")


def number_of(cards: int, due: int, new: int) -> str:
    """`120 cards, 12 due, 5 new`."""
    return f"{counted(cards, 'card')}, {due} due, {new} new"


def timer(seconds: int) -> str:
    """`0:07`."""
    return f"{seconds // 60}:{seconds % 60:02}"


def at_most(cards: int) -> str:
    return f"at most {counted(cards, 'card')}" if cards else ALL_OF_THEM
