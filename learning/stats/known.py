"""How many cards were known, week by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from learning.memory.predictions import PHASES, Replay
from learning.memory.state import MemoryState, Phase
from learning.stats.activity import Growth
from learning.stats.mastery import KNOWN_DAYS, is_known
from vault.ids import CardId


def known_by_week(seen: Replay, weeks: Sequence[Growth], states: Mapping[CardId, MemoryState]) -> tuple[int, ...]:
    """For each of `weeks`, which hold all reviews, how many cards were known at its end, by their latest reviews.

    `states` are those of the present, which the last reviews led to.
    """
    if not weeks:
        return ()
    in_review = PHASES.index(Phase.REVIEW)
    first = weeks[0].week.toordinal()
    change: Counter[int] = Counter()  # by number of the week
    last = [-1] * len(seen.columns.cards)
    for card, day, phase, stability in zip(seen.columns.card, seen.day, seen.phase, seen.stability, strict=True):
        week = (day - first) // 7
        if phase == in_review and stability >= KNOWN_DAYS and last[card] < week:
            change[last[card]] += 1
            change[week] -= 1
        last[card] = week
    for number, name in enumerate(seen.columns.cards):
        if is_known(states.get(name)):
            change[last[number]] += 1
    return tuple(accumulate(change[week] for week in range(len(weeks))))
