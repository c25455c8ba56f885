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

from learning.memory.predictions import Replay
from learning.memory.state import PHASES, MemoryState, Phase
from learning.stats.activity import Growth
from vault.ids import CardId
from vault.model.card import CardKind

FULL_DAYS = 365.0  # of stability, from which on strength is 1
KNOWN_DAYS = 21.0  # of stability, from which on a card counts as known; Anki calls a card of 21 days mature
WORDS = {
    CardKind.DEFINITIONAL: "states",
    CardKind.MECHANISTIC: "explains",
    CardKind.RELATIONAL: "relates",
    CardKind.APPLIED: "applies",
}


@dataclass(frozen=True, slots=True)
class Studied:
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


Chance = Callable[[MemoryState], float]


def strength(stability: float) -> float:
    """Return how lasting a memory of that stability (days) is, in [0, 1]."""
    return min(1.0, math.log1p(max(stability, 0.0)) / math.log1p(FULL_DAYS))


def score(state: MemoryState | None, chance: Chance) -> float:
    """Return a card's score; `chance` gives the probability of recalling it now."""
    if state is None or state.phase is Phase.NEW or state.changed:
        return 0.0
    return strength(state.stability) * chance(state)


def is_known(state: MemoryState | None) -> bool:
    """Return whether a card is in its review phase, stable for KNOWN_DAYS, and not suspended, retracted or changed."""
    if state is None or state.suspended or state.retracted or state.changed:
        return False
    return state.phase is Phase.REVIEW and state.stability >= KNOWN_DAYS


def mastery(cards: Iterable[Studied], states: Mapping[CardId, MemoryState], chance: Chance) -> tuple[Mastery, ...]:
    """Return every concept that has a card that is not retracted, in the order of `cards`."""
    by_concept: dict[str, list[Studied]] = defaultdict(list)
    for card in cards:
        state = states.get(card.card)
        if state is None or not state.retracted:
            by_concept[card.concept].append(card)
    return tuple(_of(concept, mine, states, chance) for concept, mine in by_concept.items())


def _of(concept: str, cards: Sequence[Studied], states: Mapping[CardId, MemoryState], chance: Chance) -> Mastery:
    """Return the mastery of a concept with these cards."""
    scores: dict[str, list[float]] = {kind.value: [] for kind in CardKind}
    for card in cards:
        scores.setdefault(card.kind, []).append(score(states.get(card.card), chance))
    means = {kind: sum(of) / len(of) if of else None for kind, of in scores.items()}
    given = [mean for mean in means.values() if mean is not None]
    profile = {kind.value: means[kind.value] for kind in CardKind}
    found = [states.get(card.card) for card in cards]
    seen = sum(state is not None and state.phase is not Phase.NEW for state in found)
    active = [state for state in found if state is None or not state.suspended]
    known = bool(active) and all(map(is_known, active))
    return Mastery(concept, cards[0].title, sum(given) / len(given), profile, len(cards), seen, known)


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


def known_by_week(seen: Replay, weeks: Sequence[Growth], states: Mapping[CardId, MemoryState]) -> tuple[int, ...]:
    """Return how many cards were known at the end of each of `weeks`, which hold all reviews.

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
