"""Export of cards as JSON, one object a line, with the quotes that support them and their memory state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from learning.cards.workspace import Desk
from learning.formats.targets import exported, is_jsonl
from learning.memory.state import MemoryState, Phase
from learning.store.placed import Placed
from vault.evidence.evidence import Evidence, EvidenceReader
from vault.files.exports import export_bytes
from vault.log.ledger import instant
from vault.text.formatting import clean, clean_line

KEYS = ("id", "question", "answer", "support", "memory")  # by which a line is known as one of these


def render_jsonl(desk: Desk) -> str:
    """Return the lines, without retracted cards. Question and answer are Markdown, as in the decks."""
    reader = EvidenceReader(desk.vault)
    lines = (_object(placed, reader.of(placed.card.support), desk.state(placed.id)) for placed in exported(desk))
    return "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)


def _object(placed: Placed, evidence: list[Evidence], state: MemoryState) -> dict[str, Any]:
    """Return the object of a card."""
    return {
        "id": placed.id,
        "kind": placed.kind,
        "concept": placed.concept,
        "title": placed.title,
        "path": placed.deck.path,
        "line": placed.card.line,
        "question": clean(placed.card.question),
        "answer": clean(placed.card.answer),
        "tags": [clean_line(tag) for tag in (*placed.deck.properties.texts("tags"), *state.tags)],
        "edited": placed.card.human_edited,
        "support": [_support(one) for one in evidence],
        "memory": _memory(state),
    }


def _support(one: Evidence) -> dict[str, str]:
    """Return the object of one quote."""
    if one.claim is None:
        return {"source": clean_line(one.source), "place": clean_line(one.place), "problem": clean_line(one.problem)}
    return {
        "claim": one.claim.id,
        "quote": clean(one.claim.quote),
        "source": clean_line(one.source),
        "place": clean_line(one.place),
        "address": one.address,
    }


def _memory(state: MemoryState) -> dict[str, Any]:
    """Return the memory state: days and probabilities as numbers, instants as text, null where there is none."""
    new = state.phase is Phase.NEW
    return {
        "phase": state.phase.name.lower(),
        "due": None if state.due is None else instant(state.due),
        "last_review": None if state.last_review is None else instant(state.last_review),
        "interval_days": state.interval_days,
        "stability": None if new else round(state.stability, 4),
        "difficulty": None if new else round(state.difficulty, 4),
        "reps": state.reps,
        "lapses": state.lapses,
        "suspended": state.suspended,
        "flagged": state.flagged,
        "leech": state.leech,
        "changed": state.changed,
    }


def export_jsonl(desk: Desk, out: Path, *, force: bool = False) -> int:
    """Write the lines to `out`; return the number of cards.

    Raises: Refused, also for a file that no such export wrote, but with `force`; WriteFailed.
    """
    text = render_jsonl(desk)
    replaces = (lambda _: True) if force else is_jsonl(KEYS)
    export_bytes(out, text.encode(), forbidden=desk.vault.kept_out(), replaces=replaces)
    return text.count("\n")
