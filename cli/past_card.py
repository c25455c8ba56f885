"""`card show` of a card that stands in no deck any more: what the ledger and the review log know of it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from cli import report

if TYPE_CHECKING:
    from learning.desk import Desk
    from vault.card_history import PastCard


def show_past(desk: Desk, id_: str, *, as_json: bool) -> int:
    """Print its last words, why it went, what was remembered of it, and what it said before. Raises: NotFound."""
    from vault.card_history import past_card
    from vault.ledger import IDS

    past = past_card(desk.vault.read_bytes(IDS) or b"", id_)
    if past is None:
        desk.card(id_)  # says what it says of any id that nobody knows
        return report.FINDINGS
    if as_json:
        report.show_json(_as_json(desk, past))
    else:
        _print(desk, past)
    return report.DONE


def _as_json(desk: Desk, past: PastCard) -> dict[str, object]:
    """The keys of a card that stands in a deck, and `retired`."""
    from learning.wording import status
    from vault.ids import CardId

    state = desk.state(CardId(past.id))
    return {
        "id": past.id,
        "path": None,
        "line": None,
        "concept": past.concept,
        "kind": past.kind,
        "question": past.last.question,
        "answer": past.last.answer,
        "edited": False,
        "support": list(past.cites),
        "status": status(state, desk.now),
        "due": None,
        "interval_days": state.interval_days,
        "stability": round(state.stability, 4),
        "difficulty": round(state.difficulty, 4),
        "reps": state.reps,
        "lapses": state.lapses,
        "history": past.history(),
        "retired": past.retired(),
    }


def _print(desk: Desk, past: PastCard) -> None:
    from learning.wording import headed, status
    from vault import readable
    from vault.clean import clean_line
    from vault.ids import CardId
    from vault.ledger import instant

    state = desk.state(CardId(past.id))
    report.show(f"{headed(clean_line(past.concept), clean_line(past.kind))}  (in no deck)")
    report.show(f"Q: {readable.text(past.last.question)}\nA: {readable.text(past.last.answer)}")
    seen = (
        f"{report.number(state.reps, 'review')}, {report.number(state.lapses, 'lapse')}"
        if state.reps
        else "never reviewed"
    )
    report.show(f"{status(state, desk.now)}: {seen}")
    report.show(past.fate)
    for version, following in itertools.pairwise(past.versions):
        report.show(f"until {instant(following.at)} ({following.how or 'changed'}): {clean_line(version.question)}")
        report.show(f"  {clean_line(version.answer)}")
