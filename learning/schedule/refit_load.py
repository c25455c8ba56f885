"""What a refit of the parameters does to the coming days, and which cards wait so that no day becomes too heavy. Pure.

New parameters move the due dates of many cards at once. Where they come sooner, they are spread over the days until
they would have been due before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from vault.ids import CardId

HORIZON = 30  # study days, today included, that are kept within the bound
_MORE = 1.1  # of a mean day before: what any day may have, even if it had less before
_LEAST = 10  # reviews, which no day is too short for


@dataclass(frozen=True, slots=True)
class RefitLoad:
    """The reviews of the coming days, today's with all that is overdue: `before` the refit, and `after` it.

    `moved` are the cards that wait, each with its study day; no day up to the horizon has more than `most` or than it
    had before.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    most: int
    moved: Mapping[CardId, int] = field(default_factory=dict)


def spread_refit(
    before: Mapping[CardId, int], after: Mapping[CardId, int], today: int, rank: Mapping[CardId, int]
) -> RefitLoad:
    """Return the load of the days after a refit.

    `before` and `after` are the study days on which cards are due with the old and the new parameters; `rank` orders
    the cards that are due on another day now, the most urgent first. A card that comes sooner waits at most until the
    day on which it would have come.
    """
    old = {card: max(day, today) for card, day in before.items()}
    load = Counter(old.values())
    days = range(today, today + HORIZON)
    most = max(_LEAST, math.ceil(_MORE * sum(load[day] for day in days) / HORIZON))
    arriving: dict[int, list[CardId]] = {}
    for card, day in after.items():
        arriving.setdefault(max(day, today), []).append(card)
    moved: dict[CardId, int] = {}
    new: list[int] = []
    waiting: list[CardId] = []
    day = today
    while day in days or waiting:
        found = sorted([*waiting, *arriving.get(day, ())], key=lambda card: (old.get(card) != day, rank.get(card, 0)))
        fixed = sum(old.get(card) == day for card in found)  # these had this day before; there are no more than then
        room = max(fixed, load[day], most)
        moved.update((card, day) for card in found[:room] if max(after[card], today) != day)
        waiting = found[room:]
        new.append(min(len(found), room))
        day += 1
    return RefitLoad(tuple(load[day] for day in days), tuple(new[:HORIZON]), most, moved)
