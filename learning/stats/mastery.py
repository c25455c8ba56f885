"""How well each concept is known, by kind of question; and each topic and tag.

A card's score in [0, 1] is its strength times the chance of recalling it now. Strength grows with the logarithm of
stability, as each doubling costs about the same effort: 0 for a card never seen, 0.35 at a week, 0.52 at three weeks,
0.76 at three months, 1 at a year or more. A card whose fact has changed since it was learnt scores 0: what is
remembered is wrong. A kind scores the mean of its cards, a concept the mean of its kinds, a topic that of its concepts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from learning.history.day_sums import KNOWN_DAYS, DaySums, week_of
from learning.memory.state import UNSEEN, Phase, Remembered
from learning.stats.activity import Growth
from vault.ids import CardId
from vault.model.card import CardKind

FULL_DAYS = 365.0  # of stability, from which on strength is 1
_FULL = math.log1p(FULL_DAYS)
_KINDS = tuple(kind.value for kind in CardKind)
WORDS = {
    CardKind.DEFINITIONAL: "states",
    CardKind.MECHANISTIC: "explains",
    CardKind.RELATIONAL: "relates",
    CardKind.APPLIED: "applies",
}


class Studied(NamedTuple):
    """A card with its concept (the stem of its deck), `kind` ("" if it has none) and tags."""

    card: CardId
    concept: str
    title: str
    kind: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mastery:
    """A concept's score in [0, 1], and its profile: kind (in the order of the kinds) -> score, None without a card.

    `cards` is how many have not been retracted, `seen` how many of them were reviewed at least once; `known` says
    whether all that are not suspended are known, and at least one is.
    """

    concept: str
    title: str
    score: float
    profile: Mapping[str, float | None]
    cards: int
    seen: int
    known: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A topic or a tag: the mean over its concepts, `known` how many of them are known, profile as of a concept."""

    name: str
    score: float
    profile: Mapping[str, float | None]
    concepts: int
    seen: int
    known: int


Chance = Callable[[Remembered], float]


def strength(stability: float) -> float:
    """Return how lasting a memory of that stability (days) is, in [0, 1]."""
    return min(1.0, math.log1p(max(stability, 0.0)) / _FULL)


def score(state: Remembered | None, chance: Chance) -> float:
    """Return a card's score; `chance` gives the probability of recalling it now."""
    if state is None or state.phase is Phase.NEW or state.changed:
        return 0.0
    return strength(state.stability) * chance(state)


def is_known(state: Remembered | None) -> bool:
    """Return whether a card is in its review phase, stable for KNOWN_DAYS, and not suspended, retracted or changed."""
    if state is None or state.suspended or state.retracted or state.changed:
        return False
    return state.phase is Phase.REVIEW and state.stability >= KNOWN_DAYS


def mastery(cards: Iterable[Studied], states: Mapping[CardId, Remembered], chance: Chance) -> tuple[Mastery, ...]:
    """Return every concept that has a card that is not retracted, in the order of `cards`."""
    by_concept: dict[str, list[tuple[Studied, Remembered]]] = defaultdict(list)
    for card in cards:
        state = states.get(card.card, UNSEEN)
        if not state.retracted:
            by_concept[card.concept].append((card, state))
    return tuple(_of(concept, mine, chance) for concept, mine in by_concept.items())


def _of(concept: str, cards: Sequence[tuple[Studied, Remembered]], chance: Chance) -> Mastery:
    """Return the mastery of a concept with these cards."""
    scores: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    seen = active = known = 0
    for card, state in cards:
        scores.setdefault(card.kind, []).append(score(state, chance))
        seen += state.phase is not Phase.NEW
        active += not state.suspended
        known += is_known(state)
    means = {kind: sum(of) / len(of) for kind, of in scores.items() if of}
    profile = {kind: means.get(kind) for kind in _KINDS}
    mean = sum(means.values()) / len(means)
    return Mastery(concept, cards[0][0].title, mean, profile, len(cards), seen, 0 < active == known)


def grouped(concepts: Iterable[Mastery], members: Mapping[str, Iterable[str]]) -> tuple[Group, ...]:
    """Return a group for each name whose `members` (stems) hold a concept with cards, by name."""
    known = {concept.concept: concept for concept in concepts}
    groups = []
    for name in sorted(members, key=str.casefold):
        mine = [known[stem] for stem in dict.fromkeys(members[name]) if stem in known]
        if mine:
            groups.append(_group(name, mine))
    return tuple(groups)


def _group(name: str, concepts: Sequence[Mastery]) -> Group:
    """Return the group of these concepts."""
    profile = {}
    for kind in CardKind:
        given = [value for c in concepts if (value := c.profile[kind.value]) is not None]
        profile[kind.value] = sum(given) / len(given) if given else None
    mean = sum(c.score for c in concepts) / len(concepts)
    seen = sum(c.seen > 0 for c in concepts)
    return Group(name, mean, profile, len(concepts), seen, sum(c.known for c in concepts))


def by_tag(cards: Iterable[Studied]) -> dict[str, dict[str, None]]:
    """Return the stems of the concepts of each tag, in the order of `cards`."""
    out: dict[str, dict[str, None]] = defaultdict(dict)
    for card in cards:
        for tag in card.tags:
            out[tag][card.concept] = None
    return dict(out)


def weakest(concepts: Iterable[Mastery], count: int) -> tuple[Mastery, ...]:
    """Return the concepts with the lowest scores among those that have been studied, the lowest first."""
    seen = [concept for concept in concepts if concept.seen]
    return tuple(sorted(seen, key=lambda c: (c.score, c.title.casefold(), c.concept))[:count])


def known_by_week(sums: DaySums, weeks: Sequence[Growth], now_known: Mapping[int, int]) -> tuple[int, ...]:
    """Return how many cards were known at the end of each of `weeks`, which hold all reviews.

    `now_known` are the cards that are known at present, by the week (`week_of`) of their last review.
    """
    if not weeks:
        return ()
    first = week_of(weeks[0].week.toordinal())
    change = Counter(now_known) + Counter()
    for week, counts in sums.weeks.items():
        change[week] += counts[0]
    return tuple(accumulate(change[first + n] for n in range(len(weeks))))
