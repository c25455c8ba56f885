"""Export of cards as comma-separated values: one row a card, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import re
from datetime import date
from pathlib import Path

from learning.cards.workspace import Desk
from learning.formats.targets import exported, is_table
from learning.memory.state import Phase
from learning.store.placed import Placed
from vault.evidence.evidence import EvidenceReader
from vault.files.exports import export_bytes
from vault.text.formatting import clean, clean_line

BEFORE = ("id", "kind", "concept", "question", "answer", "quotes", "sources", "tags")  # the first version's
COLUMNS = (*BEFORE, "due", "interval", "stability", "difficulty", "reps", "lapses", "suspended")
# What makes a cell a formula in some spreadsheet: the signs and their full-width twins, also after white space or
# quotes that a program may trim away, and a tab or line end in front, which some take for the start of a new cell.
_ACTS = re.compile(r"[\t\r\n]|[\s\"'\u200b-\u200f\ufeff]*[=+\-@＝＋－＠|%]")


def cell(text: str) -> str:
    """Return `text` as a cell that only shows it: a leading apostrophe keeps a spreadsheet from taking it for a
    formula.
    """
    shown = clean(text)
    return f"'{shown}" if _ACTS.match(shown) else shown


def without_guard(text: str) -> str:
    """Return what `cell` made `text` of."""
    return text[1:] if text.startswith("'") and _ACTS.match(text[1:]) else text


def render_table(desk: Desk) -> str:
    """Return the table, RFC 4180, without retracted cards. Questions and answers are Markdown, as in the decks."""
    reader = EvidenceReader(desk.vault)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for placed in exported(desk):
        writer.writerow(
            [cell(text) for text in (*_row(placed, desk.state(placed.id).tags, reader), *_memory(desk, placed))]
        )
    return out.getvalue()


def _row(placed: Placed, own: tuple[str, ...], reader: EvidenceReader) -> tuple[str, ...]:
    """Return the cells of a card."""
    card, evidence = placed.card, reader.of(placed.card.support)
    quotes = "\n".join(e.claim.quote for e in evidence if e.claim is not None)
    places = "; ".join(dict.fromkeys(clean_line(e.place) for e in evidence))
    tags = " ".join(clean_line(tag) for tag in (*placed.deck.properties.texts("tags"), *own))
    return (placed.id, placed.kind, placed.title, card.question, card.answer, quotes, places, tags)


def _memory(desk: Desk, placed: Placed) -> tuple[str, ...]:
    """Return the cells on a card's memory: the study day on which it is due, days and counts; empty while it is new."""
    state = desk.state(placed.id)
    suspended = "yes" if state.suspended else ""
    if state.phase is Phase.NEW or state.due is None:
        return "", "", "", "", "", "", suspended
    due = desk.scheduler.calendar.day(state.due)
    numbers = f"{state.stability:.4f}", f"{state.difficulty:.4f}", str(state.reps), str(state.lapses)
    return date.fromordinal(due).isoformat(), str(max(0, due - state.last_day)), *numbers, suspended


def export_table(desk: Desk, out: Path, *, force: bool = False) -> int:
    """Write the table to `out`; return the number of cards. UTF-8 with a mark, or Excel would guess another encoding.

    Raises: Refused, also for a file that is no such table, but with `force`; WriteFailed.
    """
    data = b"\xef\xbb\xbf" + render_table(desk).encode()
    earlier = is_table(COLUMNS), is_table(BEFORE)
    replaces = (lambda _: True) if force else lambda path: any(each(path) for each in earlier)
    export_bytes(out, data, forbidden=desk.vault.kept_out(), replaces=replaces)
    return len(exported(desk))
