"""The four buttons beside those of the real Anki, for cards with the same memory."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.memory.scheduler import Scheduler, fuzz_range
from learning.memory.state import MemoryState, Phase, Rules
from learning.schedule.balance import Load, intervals
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.log.events import Rating

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CARD = CardId("k7q2m9xd3f")
SCHEDULER = Scheduler(Rules(StudyCalendar(), learning_steps=(), relearning_steps=(), fuzz=True))
NAMES = {Rating.AGAIN: "again", Rating.HARD: "hard", Rating.GOOD: "good", Rating.EASY: "easy"}


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Any]:
    """A collection of Anki's with FSRS and no steps."""
    from anki.collection import Collection
    from anki.decks import DeckId

    found = Collection(str(tmp_path / "c.anki2"))
    found.set_config("fsrs", True)
    options = found.decks.config_dict_for_deck_id(DeckId(1))
    options["new"]["delays"] = options["lapse"]["delays"] = []
    found.decks.update_config(options)
    yield found
    found.close()


def theirs(collection: Any, memory: tuple[float, float] | None, waited: int, planned: int) -> dict[Rating, Any]:
    """What Anki's buttons lead to, for a new card or one with this memory."""
    from anki.cards import FSRSMemoryState

    note = collection.new_note(collection.models.by_name("Basic"))
    note["Front"], note["Back"] = "question", "answer"
    collection.add_note(note, 1)
    (card,) = note.cards()
    if memory is not None:
        card.type = card.queue = 2
        card.ivl, card.due, card.reps = planned, collection.sched.today, 3
        card.memory_state = FSRSMemoryState(stability=memory[0], difficulty=memory[1])
        card.last_review_time = int(time.time()) - waited * 86_400
        collection.update_card(card)
    found = collection._backend.get_scheduling_states(card.id)
    return {rating: getattr(found, name).normal for rating, name in NAMES.items()}


def ours(memory: tuple[float, float] | None, waited: int, planned: int) -> MemoryState:
    if memory is None:
        return MemoryState()
    last = NOW - timedelta(days=waited)
    return MemoryState(Phase.REVIEW, *memory, None, NOW, last, SCHEDULER.day(last), planned, 3)


def test_without_steps_new_cards_have_ankis_buttons(collection: Any) -> None:
    states = theirs(collection, None, 0, 0)
    after = SCHEDULER.preview(CARD, MemoryState(), NOW)
    assert after[Rating.AGAIN].due == NOW + timedelta(seconds=states[Rating.AGAIN].learning.scheduled_secs)
    for rating in (Rating.HARD, Rating.GOOD):
        assert after[rating].interval_days == states[rating].review.scheduled_days
    least, most = fuzz_range(8, 36_500)
    assert least <= states[Rating.EASY].review.scheduled_days <= most
    assert least <= after[Rating.EASY].interval_days <= most


def test_both_choose_a_day_of_the_same_range_and_keep_the_ratings_apart(collection: Any) -> None:
    dice, ratios = random.Random(5), list[float]()
    for _ in range(60):
        memory = dice.choice((0.3, 1.0, 2.5, 6.0, 15.0, 40.0, 200.0)) * dice.uniform(0.8, 1.25), dice.uniform(1, 10)
        waited = max(1, round(memory[0] * dice.uniform(0.5, 2)))
        planned = max(1, round(memory[0]))
        states, state = theirs(collection, memory, waited, planned), ours(memory, waited, planned)
        mine = intervals(SCHEDULER, CARD, state, NOW, Load())
        anki = {rating: states[rating].review.scheduled_days for rating in Rating}
        for found in (anki, mine):
            assert found[Rating.HARD] < found[Rating.GOOD] < found[Rating.EASY]
        if states[Rating.AGAIN].HasField("relearning"):
            again = SCHEDULER.review(CARD, state, Rating.AGAIN, NOW)
            seconds = states[Rating.AGAIN].relearning.learning.scheduled_secs
            assert again.phase is Phase.RELEARNING and again.due is not None
            assert abs((again.due - NOW).total_seconds() - seconds) <= 1 + seconds / 1_000
        for rating in (Rating.HARD, Rating.GOOD, Rating.EASY):
            days = SCHEDULER.planned(CARD, SCHEDULER.review(CARD, state, rating, NOW).stability)
            least, most = fuzz_range(days, 36_500)
            assert least <= mine[rating] <= most + rating - 1
            assert anki[rating] >= least - 1  # Anki rounds after it has widened the range
            ratios.append(mine[rating] / anki[rating])
    assert statistics.mean(ratios) == pytest.approx(1, abs=0.25)
