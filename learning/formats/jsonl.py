"""Export of cards as JSON, one object a line: the quotes that support it, its memory state, and every review."""

from __future__ import annotations

import json
from collections.abc import Container
from datetime import date
from pathlib import Path
from typing import Any

from learning.cards.workspace import Desk
from learning.formats.targets import exported, is_jsonl
from learning.memory.state import MemoryState, Phase
from learning.store.placed import Placed
from learning.study_day import StudyCalendar
from vault.evidence.evidence import Evidence, EvidenceReader
from vault.files.exports import export_bytes
from vault.ids import CardId
from vault.log.events import Review
from vault.log.ledger import instant
from vault.log.review_log import live
from vault.text.formatting import clean, clean_line

KEYS = ("id", "question", "answer", "support", "memory")  # by which a line is known as one of these


def render_jsonl(desk: Desk) -> str:
    """Return the lines, without retracted cards. Question and answer are Markdown, as in the decks."""
    reader = EvidenceReader(desk.vault)
    cards = exported(desk)
    reviews = _reviews(desk, {placed.id for placed in cards})
    days = desk.scheduler.calendar
    lines = (
        _object(placed, reader.of(placed.card.support), desk.state(placed.id), days, reviews.get(placed.id, []))
        for placed in cards
    )
    return "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)


def _reviews(desk: Desk, cards: Container[CardId]) -> dict[CardId, list[dict[str, Any]]]:
    """Return the reviews of each card that count, in order of time; `id` is that of the line in the log."""
    found: dict[CardId, list[dict[str, Any]]] = {}
    for event in live(desk.past.whole().events):
        if isinstance(event, Review) and event.card in cards:
            each = {"id": event.id, "at": instant(event.when), "rating": int(event.rating), "ms": event.ms}
            found.setdefault(event.card, []).append(each | {"interval_days": event.interval_days})
    return found


def _object(
    placed: Placed, evidence: list[Evidence], state: MemoryState, calendar: StudyCalendar, reviews: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the object of a card. `words` are those of its block, which siblings share: of a cloze no answer."""
    question, answer = placed.card.block_words
    return {
        "id": placed.id,
        "kind": placed.kind,
        "concept": placed.concept,
        "title": placed.title,
        "path": placed.deck.path,
        "line": placed.card.line,
        "note": placed.card.note,
        "variant": placed.card.variant,
        "words": {"question": clean(question), "answer": None if answer is None else clean(answer)},
        "question": clean(placed.card.question),
        "answer": clean(placed.card.answer),
        "tags": [clean_line(tag) for tag in (*placed.deck.properties.texts("tags"), *state.tags)],
        "edited": placed.card.human_edited,
        "support": [_support(one) for one in evidence],
        "memory": _memory(state, calendar),
        "reviews": reviews,
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


def _memory(state: MemoryState, calendar: StudyCalendar) -> dict[str, Any]:
    """Return the memory state: days and probabilities as numbers, instants and study days as text, null where there is
    none.
    """
    new = state.phase is Phase.NEW
    return {
        "phase": state.phase.name.lower(),
        "due": None if state.due is None else instant(state.due),
        "due_day": None if state.due is None else date.fromordinal(calendar.day(state.due)).isoformat(),
        "last_review": None if state.last_review is None else instant(state.last_review),
        "last_day": date.fromordinal(state.last_day).isoformat() if state.last_day else None,
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
