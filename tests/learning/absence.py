"""The same simulated learner at retain, by its commands alone, and at Anki itself: study, stay away, come back.

What the learner remembers is FSRS-6 with its default parameters, whatever either program believes: whether a card is
recalled is drawn by its chance of recall, and the n-th draw of a card is the same in both.

`python -m tests.learning.absence` prints the table of 60 days with a gap of 30.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from learning.memory.fsrs import DEFAULTS
from learning.memory.model import Model
from tests.commands import retain
from tests.learning.backlog import card_id, vault_of
from vault.config.settings import Settings
from vault.vault import Vault

_MODEL = Model(DEFAULTS)
_MORNING = datetime(2026, 9, 1, 8, tzinfo=UTC)
_STEP = timedelta(minutes=11)  # after which a step of learning is due


@dataclass(frozen=True, slots=True)
class Plan:
    """Days of study, of absence, and of study again; cards in all, and new ones a day."""

    before: int = 15
    gap: int = 30
    after: int = 15
    cards: int = 150
    new: int = 10
    seed: int = 1

    @property
    def days(self) -> int:
        return self.before + self.gap + self.after

    def studies(self, day: int) -> bool:
        return not self.before <= day < self.before + self.gap


@dataclass
class Learner:
    """What is remembered: stability, difficulty and the day of the last review, by number of card."""

    seed: int
    memory: dict[int, tuple[float, float, int]] = field(default_factory=dict)
    _draws: dict[int, random.Random] = field(default_factory=dict)

    def rating(self, card: int, day: int) -> int:
        """Answer a card; return the rating."""
        draw = self._draws.setdefault(card, random.Random(f"{self.seed} {card}")).random()
        if card not in self.memory:
            rating = 1 if draw < 0.2 else 3
            self.memory[card] = (*_MODEL.first(rating), day)
            return rating
        stability, difficulty, last = self.memory[card]
        recalled = _MODEL.retrievability(stability, day - last) if day > last else 0.95
        rating = 3 if draw < recalled else 1
        self.memory[card] = (*_MODEL.after(stability, difficulty, day - last, rating), day)
        return rating

    def remembered(self, day: int) -> float:
        """Return how many cards are recalled on a day, by their chances."""
        return sum(_MODEL.retrievability(s, day - last) for s, _, last in self.memory.values())


@dataclass
class Result:
    """Cards a day, and how many are remembered on the day after the last; `plan` is the plan's reviews a day."""

    loads: list[int]
    remembered: float
    met: int
    plan: int = 0
    clear: str = ""


# --- retain -----------------------------------------------------------------------------------------------------------


class _Clock(datetime):
    """A clock that stands where it is put."""

    at = _MORNING

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return cls.at


@contextmanager
def _clock() -> Iterator[Callable[[datetime], None]]:
    """Give what sets the clock that commands read."""
    with mock.patch("cli.environment.datetime", _Clock):
        yield lambda at: setattr(_Clock, "at", at)


def at_retain(plan: Plan, root: Path) -> Result:
    """Study at retain, by its commands alone; on the day of the return the plan that it proposes is taken."""
    settings = Settings("01KB0000000000000000000000", "mind", new_per_day=plan.new)
    vault = vault_of(root, plan.cards, settings)
    numbers = {card_id(n): n for n in range(plan.cards)}
    learner, result = Learner(plan.seed), Result([], 0.0, 0)
    with _clock() as put:
        for day in range(plan.days):
            put(_MORNING + timedelta(days=day))
            if day == plan.before + plan.gap:
                proposed = retain("catch-up", "--json", cwd=vault.root).json()["plan"]
                result.plan, result.clear = (proposed["per_day"], proposed["until"]) if proposed else (0, "")
            result.loads.append(_day(vault, learner, numbers, day, put) if plan.studies(day) else 0)
    result.remembered, result.met = learner.remembered(plan.days), len(learner.memory)
    return result


def _day(vault: Vault, learner: Learner, numbers: dict[Any, int], day: int, put: Callable[[datetime], None]) -> int:
    """Rate what today takes until nothing is left; return how many cards that were."""
    seen: set[str] = set()
    now = _MORNING + timedelta(days=day)
    while True:
        due = retain("due", "--json", cwd=vault.root).json()
        today = due["today"]
        cards = [each["id"] for each in (*due["due"][: today["due"]], *due["new"][: today["new"]])]
        for card in cards:
            rating = ("again", "hard", "good", "easy")[learner.rating(numbers[card], day) - 1]
            done = retain("rate", card, rating, cwd=vault.root)
            assert done.code == 0, done.stderr
        seen.update(cards)
        if not today["due"] + today["new"]:
            return len(seen)
        now += _STEP
        put(now)


# --- Anki -------------------------------------------------------------------------------------------------------------


def at_anki(plan: Plan, path: Path) -> Result:
    """Study with Anki's own scheduler: each day all that it shows."""
    from anki.collection import Collection

    learner, result = Learner(plan.seed), Result([], 0.0, 0)
    col = Collection(str(path))
    col.set_config("fsrs", True)
    col.set_config("rollover", (time.localtime().tm_hour + 12) % 24)  # no day ends while this runs
    config = col.decks.config_dict_for_deck_id(1)  # type: ignore[arg-type]
    config["new"]["perDay"] = plan.new
    col.decks.update_config(config)
    kind, database = col.models.by_name("Basic"), col.db
    assert kind is not None and database is not None
    for number in range(plan.cards):
        note = col.new_note(kind)
        note["Front"], note["Back"] = str(number), "answer"
        col.add_note(note, 1)  # type: ignore[arg-type]
        # Anki draws its fuzz from the card's number, which would be the time of day.
        database.execute("update cards set id = ? where nid = ?", number + 1, note.id)
    for day in range(plan.days):
        result.loads.append(_anki_day(col, learner, day) if plan.studies(day) else 0)
        col = _next_day(col, path)
    col.close()
    result.remembered, result.met = learner.remembered(plan.days), len(learner.memory)
    return result


def _anki_day(col: Any, learner: Learner, day: int) -> int:
    """Answer all that Anki shows; return how many cards that were."""
    seen: set[int] = set()
    while (queued := col.sched.get_queued_cards()).cards:
        first = queued.cards[0]
        card = col.get_card(first.card.id)
        card.start_timer()
        number = int(card.note()["Front"])
        seen.add(number)
        rating = learner.rating(number, day) - 1
        col.sched.answer_card(col.sched.build_answer(card=card, states=first.states, rating=rating))
    return len(seen)


def _next_day(col: Any, path: Path) -> Any:
    """Move all that Anki knows a day into the past; return the reopened collection."""
    from anki.collection import Collection

    col.db.execute("update col set crt = crt - 86400")
    col.db.execute("update revlog set id = id - 86400000")
    col.db.execute("update cards set due = due - 86400 where queue = 1")
    lrt = "json_extract(data, '$.lrt')"
    col.db.execute(f"update cards set data = json_set(data, '$.lrt', {lrt} - 86400) where {lrt} is not null")
    col.close()
    return Collection(str(path))


# --- the table --------------------------------------------------------------------------------------------------------


def table(plan: Plan, ours: Result, theirs: Result) -> Iterator[str]:
    """Yield the rows of the table: cards a day, before and after the gap, and what is remembered in the end."""
    first = plan.before + plan.gap
    yield f"{plan.cards} cards, {plan.new} new a day; {plan.before} days, {plan.gap} away, {plan.after} more"
    back = _MORNING.date() + timedelta(days=first)
    yield f"plan: {ours.plan} a day, cleared by {ours.clear}; the return is on {back}"
    for name, result in (("retain", ours), ("Anki", theirs)):
        before, after = result.loads[: plan.before], result.loads[first:]
        yield f"{name:7} before {' '.join(map(str, before))}"
        yield f"{'':7} after  {' '.join(map(str, after))}  (most {max(after)})"
        yield f"{'':7} remembered {result.remembered:.1f} of {result.met} cards met"


def main(arguments: list[str]) -> int:
    numbers = [int(each) for each in arguments]
    plan = Plan(*numbers)
    with tempfile.TemporaryDirectory() as folder:
        ours = at_retain(plan, Path(folder) / "mind")
        theirs = at_anki(plan, Path(folder) / "collection.anki2")
    print("\n".join(table(plan, ours, theirs)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
