"""Rulings on names that override the rules: decisions of the user and answers of a model, and sets that respect them.

A user's word stands above every rule, a rule above a model's word. Nothing joins what was set apart, neither by itself
nor by way of a third name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeVar

from compiler.language import names
from vault.ids import ConceptId

Pair = tuple[str, str]  # two keys of names, the smaller first
_QUALIFIED = re.compile(r"^(?P<name>.+?)\s*\((?P<sense>[^()]{1,80})\)\s*$")
_K = TypeVar("_K")


def pair(one: str, other: str) -> Pair:
    """Return two keys in their one order."""
    return (one, other) if one <= other else (other, one)


def sense_key(name: str, language: str = "") -> str:
    """Return the key of a given name, with the sense in brackets that tells it from another of the same words.

    "Transformer (electrical device)" is not the transformer; brackets stand in no key of a document's own name.
    """
    match = _QUALIFIED.match(names.bare_but_brackets(name))
    if match is None:
        return names.key(name, language)
    parts = [names.key(match["name"], language), names.key(match["sense"], language)]
    return f"{parts[0]} ({parts[1]})" if all(parts) else parts[0]


@lru_cache(maxsize=20_000)
def given_keys(name: str) -> tuple[str, ...]:
    """Return the keys that a given name has in texts of one language or another."""
    return tuple(dict.fromkeys(k for k in (sense_key(name), sense_key(name, "de")) if k))


def is_sense(key: str) -> bool:
    """Return whether a key has a sense in brackets."""
    return key.endswith(")")


class Sense(NamedTuple):
    """In one place what is called `key` is what elsewhere is called `to`. They are applied one after the other."""

    order: int
    key: str
    to: str


class Span(NamedTuple):
    """The time from a decision to its undo, and the concepts that it was about."""

    start: str
    end: str
    concepts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rulings:
    """Decisions about names, by their keys. Without any, the rules alone decide.

    `same` and `apart` are a user's and agree with each other; `likely` are a model's. `loose` are names
    that a user took out of a concept: where joins collide it is these that stay behind.
    """

    same: frozenset[Pair] = frozenset()
    apart: frozenset[Pair] = frozenset()
    likely: frozenset[Pair] = frozenset()
    loose: frozenset[str] = frozenset()
    into: Mapping[ConceptId, ConceptId] = field(default_factory=dict)  # of merged ones: which of them goes on
    names: Mapping[ConceptId, str] = field(default_factory=dict)
    aliases: Mapping[ConceptId, tuple[str, ...]] = field(default_factory=dict)  # that no source need have
    senses: Mapping[str, tuple[Sense, ...]] = field(default_factory=dict)  # by the id of a source or claim
    titles: Mapping[str, str] = field(default_factory=dict)  # key of a sense -> how it is written
    freshness: Mapping[str, str] = field(default_factory=dict)  # by the id of a concept or topic
    kept: frozenset[str] = frozenset()  # keys that are concepts on any evidence: a user parted them
    undone: tuple[Span, ...] = ()  # what came of decisions in these is as if it had never been

    def meant(self, key: str, source: str, claim: str = "") -> str:
        """Return the key of what is called `key` in that source, or in that claim of it."""
        if not self.senses:
            return key
        for sense in sorted({*self.senses.get(source, ()), *self.senses.get(claim, ())}):
            key = sense.to if key == sense.key else key
        return key

    def parted(self) -> frozenset[str]:
        """Return all keys that mean something else in some places."""
        return frozenset(sense.key for senses in self.senses.values() for sense in senses)

    def joined(self) -> frozenset[str]:
        """Return all keys of names that a user or a model joined."""
        return frozenset(key for one in self.same | self.likely for key in one)

    def was_undone(self, instant: str, concept: str = "") -> bool:
        """Return whether what happened at that instant came of a decision that was undone since."""
        return any(s.start <= instant <= s.end and (not concept or concept in s.concepts) for s in self.undone)


class Union:
    """Disjoint sets of names by their keys; the smallest key represents a set, so order plays no part.

    What is kept apart is refused: then order does play one, and whoever joins does it in one order.
    """

    def __init__(self, apart: Iterable[Pair] = ()) -> None:
        self.parent: dict[str, str] = {}
        self._foes: dict[str, set[str]] = {}  # root -> roots that it must not meet
        for one, other in sorted(apart):
            self.part(one, other)

    def find(self, key: str) -> str:
        """Return the key that represents the set of `key`."""
        root = key
        while (up := self.parent.setdefault(root, root)) != root:
            root = up
        while self.parent[key] != root:
            self.parent[key], key = root, self.parent[key]
        return root

    def join(self, a: str, b: str) -> bool:
        """Make two sets one; return False where they are kept apart."""
        low, high = sorted((self.find(a), self.find(b)))
        if low == high:
            return True
        if high in self._foes.get(low, ()):
            return False
        self.parent[high] = low
        for foe in self._foes.pop(high, set()):
            self._foes[foe].discard(high)
            self._oppose(low, foe)
        return True

    def part(self, a: str, b: str) -> bool:
        """Keep two sets apart; return False where they are one already."""
        one, other = self.find(a), self.find(b)
        if one != other:
            self._oppose(one, other)
        return one != other

    def _oppose(self, one: str, other: str) -> None:
        """Record that two roots must not meet."""
        self._foes.setdefault(one, set()).add(other)
        self._foes.setdefault(other, set()).add(one)


def last(chain: Mapping[_K, _K], start: _K) -> _K:
    """Return where a chain of steps ends; a circle ends where it closes."""
    seen = {start}
    while start in chain and (following := chain[start]) not in seen:
        seen.add(following)
        start = following
    return start
