"""What `retain export jsonl` wrote: blocks with the ids of their cards, memory states, and every review."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from learning.foreign.cards import ForeignCard, Learnt, PastReview, Reading, Schedule, bounded
from learning.foreign.tree import Tree
from vault.ids import ID, CardId
from vault.log.events import RATINGS
from vault.model.card import REVERSED, CardKind


def read(tree: Tree) -> Reading:
    """Return the blocks of an export, each of whose lines is a card."""
    reading = Reading()
    blocks: dict[str, ForeignCard] = {}
    for path, text in tree.texts(reading, (".jsonl",)):
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                name, card, variant, learnt = _card(record, path, number)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
                reading.add_problem(
                    path, number, f"the line is not a card from an export: {error}"[:150], "export it again"
                )
                continue
            known = blocks.get(name, card)
            blocks[name] = replace(
                known, learnt={**known.learnt, variant: learnt}, is_reversed=known.is_reversed or card.is_reversed
            )
    reading.cards = list(blocks.values())
    return reading


def _card(record: Mapping[str, Any], path: str, line: int) -> tuple[str, ForeignCard, str, Learnt]:
    """Return (the block's name, the block, the variant of the line's card, what is known of that). Raises: ValueError,
    KeyError or TypeError for another line.
    """
    id_, note, variant = str(record["id"]), str(record.get("note") or record["id"]), str(record.get("variant", ""))
    if not ID.fullmatch(id_):
        raise ValueError("it has no valid id")
    words = record.get("words") or {"question": record["question"], "answer": record["answer"]}
    question, answer = words["question"], words.get("answer")
    if not isinstance(question, str) or not (answer is None or isinstance(answer, str)):
        raise ValueError("the question or the answer is not text")
    kind = CardKind(record["kind"]) if record.get("kind") else None
    card = ForeignCard(
        note, question, answer, path, line, str(record.get("title", "")), is_reversed=variant == REVERSED, kind=kind
    )
    memory = record["memory"]
    learnt = Learnt(
        _schedule(memory),
        tuple(_review(each) for each in record.get("reviews", ())),
        bool(memory.get("suspended")),
        bool(memory.get("flagged")),
        CardId(id_),
        tuple(map(str, record.get("tags", ()))),
    )
    return note, card, variant, learnt


def _schedule(memory: Mapping[str, Any]) -> Schedule | None:
    """Return the schedule of a card in review; None for one that is new or in its steps."""
    if memory["phase"] != "review" or not memory.get("last_day"):
        return None
    reviewed, due = (date.fromisoformat(memory[name]) for name in ("last_day", "due_day"))
    stability, difficulty = float(memory["stability"]), float(memory["difficulty"])
    return bounded(reviewed, due, stability, difficulty, int(memory["reps"]), int(memory["lapses"]))


def _review(record: Mapping[str, Any]) -> PastReview:
    """Return a review."""
    at = datetime.fromisoformat(record["at"])
    if at.tzinfo is None:
        raise ValueError("a review has no time zone")
    rating, ms, days = record["rating"], record.get("ms", 0), record.get("interval_days", 0)
    return PastReview(at, RATINGS[rating], str(record["id"]), max(0, int(ms)), max(0, int(days)))
