"""An Anki collection of the same cards and reviews as a made-up vault, written into Anki's own tables."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

from learning.cards.workspace import open_desk
from learning.memory.state import MemoryState, Phase
from vault.log.review_columns import scan_log
from vault.log.review_log import log_files
from vault.vault import open_vault

_TYPES = {Phase.NEW: 0, Phase.LEARNING: 1, Phase.REVIEW: 2, Phase.RELEARNING: 3}


def write_collection(path: Path, root: Path) -> None:
    """Writes to `path` what the vault at `root` holds: each card a Basic note, with its due date and memory.

    Under that name it is whole, or not there.
    """
    from anki.collection import Collection
    from anki.decks import DeckConfigId

    desk = open_desk(open_vault(str(root), None, root), datetime.now(UTC))
    unfinished = path.with_name(f"unfinished-{path.name}")
    unfinished.unlink(missing_ok=True)
    col = Collection(str(unfinished))
    col.set_config("fsrs", True)
    kind, database = col.models.by_name("Basic"), col.db
    assert kind is not None
    assert database is not None
    today = desk.scheduler.calendar.day(desk.now)
    base = int(time.time() * 1000) - 10**9
    numbers = {card: base + n for n, card in enumerate(desk.cards)}
    notes, cards = [], []
    for n, (card, placed) in enumerate(desk.cards.items()):
        text = f"{placed.card.question}\x1f{placed.card.answer}"
        notes.append((base + n, card, kind["id"], base // 1000, -1, "", text, placed.card.question, 0, 0, ""))
        cards.append(_card(base + n, n, desk.state(card), today))
    database.executemany("insert into notes values (?,?,?,?,?,?,?,?,?,?,?)", notes)
    database.executemany("insert into cards values (?,?,1,0,?,-1,?,?,?,?,2500,?,?,0,0,0,0,?)", cards)
    reviews = scan_log(log_files(root)).reviews
    rows, last = [], 0
    seen: set[int] = set()
    for number, rating, at_ms, ms in zip(reviews.card, reviews.rating, reviews.at_ms, reviews.ms, strict=True):
        last = max(last + 1, at_ms)
        rows.append((last, numbers[reviews.cards[number]], -1, rating, 1, 1, 2500, ms, 1 if number in seen else 0))
        seen.add(number)
    database.executemany("insert into revlog values (?,?,?,?,?,?,?,?,?)", rows)
    preset = col.decks.get_config(DeckConfigId(1))
    assert preset is not None
    preset["rev"]["perDay"] = preset["new"]["perDay"] = 9999
    col.decks.update_config(preset)
    col.close(downgrade=False)
    unfinished.rename(path)


def _card(number: int, n: int, state: MemoryState, today: int) -> tuple[str | int, ...]:
    """A row of Anki's table: id, note, then mod, type, queue, due, interval, reps, lapses and data."""
    type_ = _TYPES[state.phase]
    memory = {"s": round(state.stability, 4), "d": round(state.difficulty, 3)} if type_ else {}
    due = n if not type_ else state.last_day + max(state.interval_days, 1) - today
    queue = min(type_, 2)
    if type_ in (1, 3):
        queue, due = 1, int(time.time())
    return (
        number,
        number,
        number // 1000,
        type_,
        queue,
        due,
        state.interval_days,
        state.reps,
        state.lapses,
        json.dumps(memory),
    )


def seconds_to_recompute(path: Path) -> float:
    """How long Anki takes to compute the memory states of all cards again, as it does when FSRS is switched on."""
    from anki.collection import Collection
    from anki.deck_config_pb2 import UpdateDeckConfigsRequest
    from anki.decks import DeckId

    col = Collection(str(path))
    try:
        known = col.decks.get_deck_configs_for_update(DeckId(1))
        request = UpdateDeckConfigsRequest(
            target_deck_id=1,
            configs=[each.config for each in known.all_config],
            limits=known.current_deck.limits,
            card_state_customizer=known.card_state_customizer,
            new_cards_ignore_review_limit=known.new_cards_ignore_review_limit,
            apply_all_parent_limits=known.apply_all_parent_limits,
            fsrs=False,
        )
        col.decks.update_deck_configs(request)
        request.fsrs = True
        start = time.perf_counter()
        col.decks.update_deck_configs(request)
        return time.perf_counter() - start
    finally:
        col.close(downgrade=False)
