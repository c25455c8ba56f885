"""`learning/_review.md`: every card with what is remembered of it, as of the last event; a pure function, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from learning import wording
from learning.memory import MemoryState, Phase, Scheduler
from vault.clean import clean_line
from vault.ids import CardId
from vault.ledger import instant
from vault.markdown import escape, unescape
from vault.wikilink import Wikilink, alias

_LABEL = 60  # characters of a question that stand in the table
_COLUMNS = (
    *("Concept", "Card", "Kind", "Due", "Interval", "Stability", "Difficulty", "Retrievability"),
    *("Reps", "Lapses", "Status"),
)
_LEFT = 4  # columns of words; the others but the last hold numbers
_START = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Row:
    """A card on the page. `deck` and `article` are vault paths; `article` is "" if the concept has none."""

    card: CardId
    deck: str
    article: str
    title: str
    kind: str
    question: str


def render_page(
    rows: Sequence[Row], states: Mapping[CardId, MemoryState], scheduler: Scheduler, as_of: datetime | None
) -> str:
    """The page's text. `as_of` is the instant of the last event that counts, None before there is any."""
    at = as_of or _START
    known = [(row, states.get(row.card, _UNSEEN)) for row in rows]
    order = sorted(enumerate(known), key=lambda k: (*_rank(k[1][1], at), k[0]))
    due = sum(_rank(state, at)[0] == 0 for _, state in known)
    new = sum(state.phase is Phase.NEW and not state.hidden(at) for _, state in known)
    head = [
        "---",
        "type: review",
        f'as_of: "{instant(as_of) if as_of else ""}"',
        f"due: {due}",
        f"new: {new}",
        "scheduler: fsrs-6",
        f"retention: {scheduler.rules.retention:g}",
        "---",
        "",
        "# Review",
        "",
        "What is remembered of each card, as of the last event in the review log. `retain due` says what is due now.",
        "",
    ]
    lines = [_row(row, state, scheduler, at) for _, (row, state) in order]
    return "\n".join([*head, *_table(lines)]) + "\n"


_UNSEEN = MemoryState()


def _rank(state: MemoryState, at: datetime) -> tuple[int, datetime]:
    """Due ones first, then what is scheduled, new cards, and those that are kept out; each by when it is due."""
    if state.hidden(at):
        return 3, state.due or _START
    if state.due is None:
        return 2, _START
    return (0 if state.due <= at else 1), state.due


def _row(row: Row, state: MemoryState, scheduler: Scheduler, at: datetime) -> list[str]:
    title, question = _label(row.title), _label(row.question)
    concept = Wikilink(row.article.removesuffix(".md"), alias=title).in_table() if row.article else title
    card = Wikilink(row.deck.removesuffix(".md"), alias=question).in_table()
    words = [concept, card, row.kind]
    if state.last_review is None or state.due is None:
        return [*words, "", "", "", "", "", "0", "0", wording.status(state, at)]
    return [
        *words,
        scheduler.calendar.shown(state.due),
        wording.interval(state),
        f"{state.stability:.2f}",
        f"{state.difficulty:.2f}",
        f"{scheduler.retrievability(state, at):.2f}",
        str(state.reps),
        str(state.lapses),
        wording.status(state, at),
    ]


@lru_cache(maxsize=1024)  # the cards of a concept share its title
def _label(markdown: str) -> str:
    """`markdown` as the shown part of a link in a table: short, on one line, with no character that means anything."""
    text = alias(clean_line(unescape(markdown)))
    if len(text) > _LABEL:
        text = text[: _LABEL - 1].rstrip() + "…"
    return escape(text)


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    rules = ["---"] * _LEFT + ["---:"] * (len(_COLUMNS) - _LEFT - 1) + ["---"]
    return ["| " + " | ".join(cells) + " |" for cells in (_COLUMNS, rules, *rows)]
