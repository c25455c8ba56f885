"""`learning/_review.md`: every card with what is remembered of it, as of the last event; a pure function, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from learning.memory import labels
from learning.memory.scheduler import MemoryState, Phase, Scheduler
from vault.ids import CardId
from vault.log.ledger import instant
from vault.model.markdown import escape, unescape
from vault.model.wikilink import Wikilink, alias
from vault.text.sanitize import clean_line

_LABEL = 60  # characters of a question that stand in the table
_COLUMNS = (
    *("Concept", "Card", "Kind", "Due", "Interval", "Stability", "Difficulty", "Retrievability"),
    *("Reps", "Lapses", "Status"),
)
_LEFT = 4  # columns of words; the others but the last hold numbers
_START = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Row:
    """A card on the page. `concept` and `link` are the cells that lead to its article and its deck."""

    card: CardId
    concept: str
    link: str
    kind: str


def concept_cell(article: str, shown: str) -> str:
    """What stands in a table for a concept; `article` is a vault path, "" if it has none, `shown` a `label`."""
    return Wikilink(article.removesuffix(".md"), alias=shown).in_table() if article else shown


def card_cell(deck: str, shown: str) -> str:
    """What stands in a table for a card of the deck at that vault path; `shown` is a `label` of its question."""
    return Wikilink(deck.removesuffix(".md"), alias=shown).in_table()


def render_page(
    rows: Sequence[Row], states: Mapping[CardId, MemoryState], scheduler: Scheduler, as_of: datetime | None
) -> str:
    """The page's text. `as_of` is the instant of the last event that counts, None before there is any."""
    at = as_of or _START
    known = [(row, states.get(row.card, _UNSEEN)) for row in rows]
    ranks = [_rank(state, at) for _, state in known]
    order = sorted(range(len(known)), key=ranks.__getitem__)
    due = sum(rank == 0 for rank, _ in ranks)
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
    cells = _Cells(scheduler, at)
    lines = [cells.row(*known[n]) for n in order]
    return "\n".join([*head, *_table(lines)]) + "\n"


_UNSEEN = MemoryState()


def _rank(state: MemoryState, at: datetime) -> tuple[int, datetime]:
    """Due ones first, then what is scheduled, new cards, and those that are kept out; each by when it is due."""
    if state.hidden(at):
        return 3, state.due or _START
    if state.due is None:
        return 2, _START
    return (0 if state.due <= at else 1), state.due


class _Cells:
    """The cells of a row; instants and days that many cards share are worked out once."""

    def __init__(self, scheduler: Scheduler, at: datetime) -> None:
        self.calendar, self.at = scheduler.calendar, at
        self.chance = scheduler.chances(at)
        self.shown: dict[datetime, str] = {}

    def row(self, row: Row, state: MemoryState) -> tuple[str, ...]:
        due = state.due
        status = labels.status(state, self.at)
        if state.last_review is None or due is None:
            return row.concept, row.link, row.kind, "", "", "", "", "", "0", "0", status
        shown = self.shown.get(due)
        if shown is None:
            shown = self.shown[due] = self.calendar.shown(due)
        return (
            row.concept,
            row.link,
            row.kind,
            shown,
            labels.interval(state),
            f"{state.stability:.2f}",
            f"{state.difficulty:.2f}",
            f"{self.chance(state):.2f}",
            str(state.reps),
            str(state.lapses),
            status,
        )


@lru_cache(maxsize=1024)  # the cards of a concept share its title
def label(markdown: str) -> str:
    """`markdown` as the shown part of a link in a table: short, on one line, with no character that means anything."""
    text = alias(clean_line(unescape(markdown)))
    if len(text) > _LABEL:
        text = text[: _LABEL - 1].rstrip() + "…"
    return escape(text)


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    rules = ["---"] * _LEFT + ["---:"] * (len(_COLUMNS) - _LEFT - 1) + ["---"]
    return ["| " + " | ".join(cells) + " |" for cells in (_COLUMNS, rules, *rows)]
