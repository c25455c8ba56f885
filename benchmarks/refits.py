"""`python -m benchmarks.refits [HISTORY.csv]`: are refitted parameters better on the reviews that come next?

Each learner's history grows by 30 % at a time. At each point the parameters are fitted as `retain optimize` does, and
where they are accepted, they are compared with those in use before on the reviews that follow, up to half as many as
there were. Beside it: what a single split and any gain would have accepted. HISTORY.csv has the columns card_id,
review_rating, review_time and review_duration; it is taken whole and in parts by card, as learners with fewer cards.
The made learners have parameters of their own, so that there is something to find.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.tuning import history, log_of
from learning.memory.evaluation import marks_of
from learning.memory.fit_decision import FEWEST, FitComparison, compare_fit
from learning.memory.fsrs import DEFAULTS, HIGHEST, LOWEST, Parameters
from learning.memory.model import Model, fit
from learning.memory.predictions import rows_of
from learning.memory.state import Rules
from learning.memory.trials import elapsed_days, split_row, trials
from learning.study_day import StudyCalendar
from vault.errors import Refused
from vault.ids import CardId
from vault.log.review_columns import ReviewColumns, scan_log
from vault.log.review_log import unix_ms

_CALENDAR = StudyCalendar(UTC, 4)
_GROWTH, _NEXT = 1.3, 1.5
_FEWEST_NEXT = 30  # trials that an outcome is worth reporting of
_FEWEST_SPLIT = 50
_START = datetime(2024, 3, 1, 12, tzinfo=UTC)
_PARTS = (1, 2, 4, 8)


@dataclass(slots=True)
class Outcome:
    """What a gate accepted: by how much the log loss of the next reviews was lower for it."""

    points: int = 0
    gains: list[float] = field(default_factory=list)

    @property
    def row(self) -> str:
        """Return the cells of a table."""
        worse = [gain for gain in self.gains if gain < 0]
        mean = sum(self.gains) / max(1, len(self.gains))
        return f"{self.points} | {len(self.gains)} | {len(worse)} | {min(worse, default=0):.4f} | {mean:+.4f}"


def parts_of(path: Path) -> Iterator[tuple[str, ReviewColumns]]:
    """Yield a history, and the parts of it that hold every second, fourth and eighth card."""
    reviews = scan_log([("learning/reviews.jsonl", log_of(history(path, 1)))]).reviews
    for parts in _PARTS:
        part = [zlib.crc32(f"{parts} {card}".encode()) % parts for card in reviews.cards]
        for number in range(parts):
            rows = [row for row, card in enumerate(reviews.card) if part[card] == number]
            yield f"{path.stem} {number + 1}/{parts}", rows_of(reviews, rows)


def made_parameters(seed: int) -> Parameters:
    """Return the parameters of a made learner, as far from the defaults as those of people are."""
    dice = random.Random(seed)
    found = list(DEFAULTS)
    stable = math.exp(dice.gauss(0, 0.9))
    found[:4] = sorted(p * stable * math.exp(dice.gauss(0, 0.3)) for p in found[:4])
    for place, spread in ((9, 0.3), (10, 0.3), (11, 0.3), (20, 0.5)):
        found[place] *= math.exp(dice.gauss(0, spread))
    found[8] += dice.gauss(0, 0.35)
    return tuple(min(max(p, low), high) for low, p, high in zip(LOWEST, found, HIGHEST, strict=True))


def made_learner(seed: int, cards: int = 500, days: int = 180) -> ReviewColumns:
    """Return half a year of a made learner's reviews at the default intervals."""
    dice, truth, usual = random.Random(seed), Model(made_parameters(seed)), Model(DEFAULTS)
    rows: list[tuple[datetime, int, int]] = []
    for card in range(cards):
        rating, day = dice.choice((1, 3, 3, 4)), dice.randrange(days // 3)
        rows.append((_START + timedelta(days=day, seconds=card), card, rating))
        memory, plan = truth.first(rating), usual.first(rating)
        while day < days:
            wait = usual.interval(plan[0], 0.9, 100)
            day += wait
            rating = 3 if dice.random() < truth.retrievability(memory[0], wait) else 1
            rows.append((_START + timedelta(days=day, seconds=card), card, rating))
            memory, plan = truth.after(*memory, wait, rating), usual.after(*plan, wait, rating)
    return _columns(sorted(rows))


def _columns(rows: list[tuple[datetime, int, int]]) -> ReviewColumns:
    out, numbers = ReviewColumns(), dict[int, int]()
    for at, card, rating in rows:
        number = numbers.setdefault(card, len(numbers))
        if number == len(out.cards):
            out.cards.append(CardId(f"{card:010}"))
        out.card.append(number)
        out.rating.append(rating)
        out.at_ms.append(unix_ms(at))
        out.ms.append(5_000)
    return out


def accepted(columns: ReviewColumns, held: Parameters) -> Parameters | None:
    """Return what `retain optimize` takes into use; None if it keeps what there is."""
    found = compare_fit(columns, Rules(_CALENDAR, parameters=held))
    return found.fitted if isinstance(found, FitComparison) and found.better else None


def accepted_by_any_gain(columns: ReviewColumns, held: Parameters) -> Parameters | None:
    """Return the fit to all reviews if the fit to four fifths of them has any gain on the rest: the earlier gate."""
    elapsed, row = elapsed_days(columns, _CALENDAR), split_row(columns)
    if sum(days > 0 for days in elapsed[row:]) < _FEWEST_SPLIT:
        return None

    def loss(parameters: Parameters) -> float:
        return marks_of(trials(columns, elapsed, parameters, since=row)).log_loss

    new = loss(fit(columns, elapsed, before=row))
    return fit(columns, elapsed) if new < loss(held) and new <= loss(DEFAULTS) else None


GATES = {"one split, any gain": accepted_by_any_gain, "retain optimize": accepted}


def roll(name: str, columns: ReviewColumns, gate: str, outcome: Outcome, *, verbose: bool = False) -> None:
    """Let a history grow, and add what came of each fit that was accepted."""
    elapsed, held, size = elapsed_days(columns, _CALENDAR), DEFAULTS, FEWEST
    while size < len(columns):
        end = min(len(columns), int(size * _NEXT))
        if sum(days > 0 for days in elapsed[size:end]) < _FEWEST_NEXT:
            break
        outcome.points += 1
        try:
            new = GATES[gate](rows_of(columns, range(size)), held)
        except Refused:
            new = None
        if new is not None:
            later, waits = rows_of(columns, range(end)), elapsed[:end]
            before, after = (marks_of(trials(later, waits, p, since=size)).log_loss for p in (held, new))
            outcome.gains.append(before - after)
            if verbose and after > before:
                print(f"  {gate}: {name} at {size:,} reviews {before - after:+.4f}", file=sys.stderr)
            held = new
        size = int(size * _GROWTH) + 1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", type=Path, nargs="*")
    parser.add_argument("--made", type=int, default=24, help="made learners (24)")
    parser.add_argument("--verbose", action="store_true", help="name each accepted fit that was worse")
    asked = parser.parse_args()
    groups = {path.stem: list(parts_of(path)) for path in asked.history}
    groups["made learners"] = [(f"made {seed}", made_learner(seed)) for seed in range(asked.made)]
    print("| learners | gate | points | accepted | worse next | worst | mean gain |\n|---|---|---|---|---|---|---|")
    for group, learners in groups.items():
        for gate in GATES:
            outcome = Outcome()
            for name, columns in learners:
                roll(name, columns, gate, outcome, verbose=asked.verbose)
            print(f"| {group} ({len(learners)}) | {gate} | {outcome.row} |", flush=True)


if __name__ == "__main__":
    main()
