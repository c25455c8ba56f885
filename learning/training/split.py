"""Splits of records by concept: what shares a claim, a concept or nearly a question is on one side.

Records that belong together are a group. Groups come in the order of a hash of seed and concept id; those that still
fit into a share of the records go there, all others to `train`.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from learning.store.near_copy import tokens
from learning.training.record import ARTICLE, Record

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")
ALIKE = 0.8  # of the words of two questions or answers, which are then nearly the same
SHARED = 3  # of the rarest words, which two such texts have in common
CROWD = 200  # texts
_LEAST_WORDS = 4  # of a question or answer; anything shorter is like too much


@dataclass(frozen=True, slots=True)
class Group:
    """Records that may not be parted, by their indexes. `name` is the first of its concepts' ids, `concepts` their
    stems."""

    name: str
    concepts: tuple[str, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """The side of each record, the groups, and those that are larger than the test share and so are in `train`."""

    sides: tuple[str, ...]
    groups: tuple[Group, ...]
    oversized: tuple[Group, ...]


def split_records(records: Sequence[Record], ids: Mapping[str, str], shares: Mapping[str, float], seed: int) -> Split:
    """Return the split of the records. `ids` are concept ids by stem, `shares` those of TEST and VALIDATION."""
    groups = sorted(_groups(records, ids), key=lambda group: _rank(group.name, seed))
    sides = [TRAIN] * len(records)
    left = list(groups)
    limits = {side: round(share * len(records)) for side, share in shares.items() if share > 0}
    for side in (TEST, VALIDATION):
        for group in _chosen(left, limits[side], len(records)) if side in limits else ():
            left.remove(group)
            for row in group.rows:
                sides[row] = side
    largest = max(limits.values(), default=len(records))
    oversized = [group for group in left if len(group.rows) > largest]
    return Split(
        tuple(sides), tuple(groups), tuple(sorted(oversized, key=lambda group: (-len(group.rows), group.name)))
    )


def _chosen(groups: Sequence[Group], limit: int, total: int) -> list[Group]:
    """Return the groups, in their order, that fit into `limit` records together.

    If none fits, the smallest, unless it is more than half of all records.
    """
    chosen, room = [], limit
    for group in groups:
        if len(group.rows) <= room:
            chosen.append(group)
            room -= len(group.rows)
    if not chosen and len(groups) > 1:
        smallest = min(groups, key=lambda group: len(group.rows))
        chosen = [smallest] if 2 * len(smallest.rows) <= total else []
    return chosen


def _rank(name: str, seed: int) -> str:
    return hashlib.sha256(f"{seed}\x1f{name}".encode()).hexdigest()


def _groups(records: Sequence[Record], ids: Mapping[str, str]) -> Iterator[Group]:
    """Yield the groups of the records."""
    sets = _Sets(len(records))
    first: dict[tuple[str, str], int] = {}
    for row, record in enumerate(records):
        for key in (*(("concept", stem) for stem in record.concepts), *(("claim", claim) for claim in record.claims)):
            sets.join(row, first.setdefault(key, row))
    for row, other in near_duplicates(records):
        sets.join(row, other)
    rows: dict[int, list[int]] = defaultdict(list)
    for row in range(len(records)):
        rows[sets.root(row)].append(row)
    for members in rows.values():
        concepts = sorted({stem for row in members for stem in records[row].concepts})
        names = [ids.get(stem, stem) for stem in concepts] or [records[row].id for row in members]
        yield Group(min(names), tuple(concepts), tuple(members))


class _Sets:
    """Disjoint sets of the numbers below `size`."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))

    def root(self, number: int) -> int:
        """Return the number that stands for the set of `number`."""
        while (above := self._parents[number]) != number:
            self._parents[number] = self._parents[above]
            number = above
        return number

    def join(self, one: int, other: int) -> None:
        """Make the sets of both numbers one; the smaller root stays."""
        low, high = sorted((self.root(one), self.root(other)))
        self._parents[high] = low


def near_duplicates(records: Sequence[Record]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of records of which the questions, or the answers, have nearly the same words.

    Prompts of articles all have one wording, and are compared as a whole.
    """
    yield from _alike([set() if r.kind == ARTICLE else set(tokens(r.prompt)) for r in records])
    yield from _alike([set(tokens(r.answer)) for r in records])
    first: dict[tuple[str, ...], int] = {}
    for row, record in enumerate(records):
        other = first.setdefault(tuple(tokens(record.prompt)), row)
        if other != row:
            yield other, row


def _alike(texts: Sequence[set[str]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of sets of words with a Jaccard similarity of ALIKE or more; equal sets with the first alone.

    Two sets so alike share SHARED of the rarest words of each. Words of more than CROWD texts are not looked up: cards
    made by one pattern have those in common, and only equal sets among them are found.
    """
    holders = Counter(word for words in texts for word in words)
    first: dict[frozenset[str], int] = {}
    seen: dict[str, list[int]] = defaultdict(list)
    for row, words in enumerate(texts):
        if len(words) < _LEAST_WORDS:
            continue
        twin = first.setdefault(frozenset(words), row)
        if twin != row:
            yield twin, row
            continue
        rarest = sorted(words, key=lambda word: (holders[word], word))[
            : len(words) - _least_shared(len(words)) + SHARED
        ]
        rare = [word for word in rarest if holders[word] <= CROWD]
        needed = max(1, SHARED - (len(rarest) - len(rare)))
        near = Counter(other for word in rare for other in seen[word])
        for other in sorted(other for other, count in near.items() if count >= needed):
            shared = len(words & texts[other])
            if shared >= ALIKE * (len(words) + len(texts[other]) - shared):
                yield other, row
        for word in rare:
            seen[word].append(row)


def _least_shared(size: int) -> int:
    """Return how many words of a set another one that is alike has at least: ALIKE of them, rounded up."""
    return -int(-ALIKE * size // 1)
