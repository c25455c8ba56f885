"""`learning/_review.md`: every card with its memory state as of the last event; a pure function without a clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from learning.cards.workspace import _TRIES, Desk, last_event
from learning.memory import labels
from learning.memory.scheduler import Scheduler
from learning.memory.state import MemoryState, Phase
from learning.store.card_text import Catalogue, card_cell, catalogue, concept_cell
from learning.store.placed import article_of
from vault.files.guard import Scope
from vault.ids import CardId
from vault.layout import CONCEPTS, REVIEW_PAGE
from vault.log.ledger import instant

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


def render_page(
    rows: Sequence[Row], states: Mapping[CardId, MemoryState], scheduler: Scheduler, as_of: datetime | None
) -> str:
    """Return the page's text. `as_of` is the instant of the last event that counts, None before there is any."""
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
        "The memory state of each card as of the last entry in the review log. `retain due` lists what is due now.",
        "",
    ]
    cells = _Cells(scheduler, at)
    lines = [cells.row(*known[n]) for n in order]
    return "\n".join([*head, *_table(lines)]) + "\n"


_UNSEEN = MemoryState()


def _rank(state: MemoryState, at: datetime) -> tuple[int, datetime]:
    """Return the sort key of a card: due ones first, then scheduled, new and hidden ones; each by when it is due."""
    if state.hidden(at):
        return 3, state.due or _START
    if state.due is None:
        return 2, _START
    return (0 if state.due <= at else 1), state.due


class _Cells:
    """The cells of a row; instants and days that many cards share are formatted once."""

    def __init__(self, scheduler: Scheduler, at: datetime) -> None:
        self.calendar, self.at = scheduler.calendar, at
        self.chance = scheduler.chances(at)
        self.shown: dict[datetime, str] = {}

    def row(self, row: Row, state: MemoryState) -> tuple[str, ...]:
        """Return the cells of a card."""
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


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    rules = ["---"] * _LEFT + ["---:"] * (len(_COLUMNS) - _LEFT - 1) + ["---"]
    return ["| " + " | ".join(cells) + " |" for cells in (_COLUMNS, rules, *rows)]


def save_review_page(desk: Desk, cards: Catalogue | None = None) -> bool:
    """Render `learning/_review.md`; return False if it was right already.

    `cards` is the desk's catalogue, if the caller has it. Raises: WriteFailed, Refused.
    """

    cards = cards or catalogue(desk.cards)
    articles = set(desk.vault.paths(CONCEPTS, ".md"))
    rows = []
    for shelf in cards.shelves:
        article = article_of(shelf.stem)
        concept = concept_cell(article if article in articles else "", shelf.label)
        rows += [
            Row(cards.ids[row], concept, card_cell(shelf.path, cards.labels[row]), cards.kinds[row])
            for row in range(shelf.first, shelf.end)
        ]
    page = render_page(rows, desk.states, desk.scheduler, last_event(desk)).encode()
    # Another command may just have rendered it.
    return desk.vault.guard(Scope.LOG).update(REVIEW_PAGE, lambda _: page, tries=_TRIES)
