"""Recognition of sources that are copies, editions, translations or parts of another, and so no independent evidence.

Pure, and the same whatever order the sources come in. Two fingerprints are compared only where they share rare
samples, so that thousands of sources cost about as much as reading their fingerprints.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, combinations, pairwise

from compiler.index.steps import Steps, decoded, digest_of, encoded
from compiler.sources.fingerprint import VERSION, Fingerprint
from vault.ids import SourceId

FEWEST = 16  # shingles: a shorter text is too short to be distinguished from a quotation
_SCALE = 1.6  # up to this many times the length two texts are of one size
_EDITIONS = 3.0  # an edition may have grown this much
_FEWEST_REVISED = 100  # shingles of an edition: notes made by one template are no editions of each other
_COPIED, _REVISED = 0.7, 0.4  # of the smaller text's shingles stand in the other: a word changed breaks five of them
_MANY = 16  # sources that share a sample: it is common property, and only neighbours are compared for it
_TRACES, _CODE = 6, 12  # shared, from which two documents can be translations
_IN_ORDER = 0.7


class Kind(StrEnum):
    """How a source depends on another."""

    COPY = "copy"
    EDITION = "edition"
    TRANSLATION = "translation"
    PART = "part"


@dataclass(frozen=True, slots=True)
class Witness:
    """A source as compared here. `published` is an ISO date or its beginning, "" if unknown; `came` is (instant added,
    path)."""

    id: SourceId
    fingerprint: Fingerprint
    language: str
    authority: int
    published: str
    came: tuple[str, str]
    digest: str = ""  # of all that the fingerprint and the language follow from; "" where nothing is remembered

    @property
    def rank(self) -> tuple[int, bool, str, tuple[str, str], str]:
        """Return the sort key by which the least is the original: most trusted, first published, first added."""
        return (-self.authority, not self.published, self.published, self.came, self.id)


@dataclass(frozen=True, slots=True)
class Copy:
    """A source depends in this way on `of`, which is itself independent or a part of a larger one."""

    of: SourceId
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Link:
    """Two sources with the same content; of a part, `low` is contained in `high`."""

    low: SourceId
    high: SourceId
    kind: Kind
    share: float


def copies(
    witnesses: Sequence[Witness], said: Mapping[SourceId, SourceId | None], steps: Steps | None = None
) -> dict[SourceId, Copy]:
    """Return every source that depends on another, by id; a group of copies has one original.

    `said` is what the user declared: a source is the copy of another, or (None) of none. `steps` has what earlier
    builds found of pairs.
    """
    known = {w.id: w for w in witnesses}
    said = {i: of for i, of in said.items() if i in known and (of is None or (of in known and of != i))}
    links = [
        k for k in _links(sorted(witnesses, key=lambda w: w.rank), steps) if k.low not in said and k.high not in said
    ]
    links += [
        _Link(low, high, _kind_of(known[low], known[high]), 1.0)
        for low, high in sorted((i, of) for i, of in said.items() if of is not None)
    ]
    groups = _Groups(known, frozenset(i for i, of in said.items() if of is not None))
    for link in links:
        if link.kind is not Kind.PART:
            groups.join(link)
    return groups.copies([k for k in links if k.kind is Kind.PART])


def original_of(source: SourceId, found: Mapping[SourceId, Copy]) -> SourceId:
    """Return the original of a source, or the whole that it is part of; the source itself if it is independent."""
    seen = {source}
    while (copy := found.get(source)) is not None and copy.of not in seen:
        source = copy.of
        seen.add(source)
    return source


def _kind_of(low: Witness, high: Witness) -> Kind:
    """Return how `low` depends on `high`, which the user declared to be its original."""
    found = _likeness(low, high)
    if found is not None:
        return found.kind
    return Kind.TRANSLATION if _other_language(low, high) else Kind.COPY


def _other_language(a: Witness, b: Witness) -> bool:
    """Return whether two sources are known to be written in different languages."""
    return bool(a.language and b.language) and a.language != b.language


@dataclass(slots=True)
class _Groups:
    """Groups of sources with the same content, each with its original."""

    known: Mapping[SourceId, Witness]
    declared: frozenset[SourceId]  # the user says that they are copies: none is an original
    parent: dict[SourceId, SourceId] = field(default_factory=dict)
    links: dict[SourceId, dict[SourceId, Kind]] = field(default_factory=lambda: defaultdict(dict))

    def rank(self, id_: SourceId) -> tuple[object, ...]:
        """Return the sort key by which a group's least is its original."""
        return (id_ in self.declared, *self.known[id_].rank)

    def root(self, id_: SourceId) -> SourceId:
        """Return the original of the group of a source."""
        while (up := self.parent.get(id_, id_)) != id_:
            id_ = up
        return id_

    def join(self, link: _Link) -> None:
        """Join the groups of two sources."""
        self.links[link.low][link.high] = self.links[link.high][link.low] = link.kind
        first, second = sorted((self.root(link.low), self.root(link.high)), key=self.rank)
        self.parent[second] = first

    def copies(self, parts: Sequence[_Link]) -> dict[SourceId, Copy]:
        """Return every source but the originals with what it depends on; `parts` are links to larger sources."""
        out: dict[SourceId, Copy] = {}
        for id_ in self.parent:
            root = self.root(id_)
            if root != id_:
                out[id_] = Copy(root, self._kind(id_, root))
        for link in sorted(parts, key=lambda k: (k.low, -k.share, self.rank(k.high))):
            # A chapter has one book; what merely shares a part with another does not depend on it.
            low, whole = self.root(link.low), self.root(link.high)
            if low not in out and original_of(whole, out) != low:
                out[low] = Copy(whole, Kind.PART)
        return out

    def _kind(self, id_: SourceId, root: SourceId) -> Kind:
        """Return how a source depends on its group's original."""
        direct = self.links[id_].get(root)
        if direct is not None:
            return direct
        if _other_language(self.known[id_], self.known[root]):
            return Kind.TRANSLATION
        return Kind.COPY if id_ in self.declared else Kind.EDITION


def _links(witnesses: Sequence[Witness], steps: Steps | None) -> list[_Link]:
    """Return the pairs of sources with the same content."""
    wordings = [(n, chain.from_iterable(w.fingerprint.stretches)) for n, w in enumerate(witnesses)]
    traces = [(n, chain(w.fingerprint.traces, w.fingerprint.code)) for n, w in enumerate(witnesses)]
    found = []
    for low, high in sorted(_sharing(wordings, FEWEST // 2) | _sharing(traces, _TRACES)):
        link = _stored_likeness(witnesses[low], witnesses[high], steps)
        if link is not None:
            found.append(link)
    return found


def _stored_likeness(a: Witness, b: Witness, steps: Steps | None) -> _Link | None:
    """Return how two sources depend on each other, as an earlier build found if it compared the same texts."""
    if steps is None or not (a.digest and b.digest):
        return _likeness(a, b)
    parts = (part for w in (a, b) for part in (w.id, w.digest, w.language))
    key = digest_of(str(VERSION), *parts, str(a.rank < b.rank))
    stored = decoded(steps.get("likeness", key))
    if stored is None:
        link = _likeness(a, b)
        steps.put("likeness", key, encoded([] if link is None else [link.low, link.high, link.kind.value, link.share]))
        return link
    return _Link(stored[0], stored[1], Kind(stored[2]), stored[3]) if stored else None


def _sharing(samples: Iterable[tuple[int, Iterable[int]]], fewest: int) -> set[tuple[int, int]]:
    """Return the pairs that share at least `fewest` samples; one that many have counts for neighbours only."""
    sets = [(n, set(hashes)) for n, hashes in samples]
    held = Counter(chain.from_iterable(hashes for _, hashes in sets))
    shared = {h for h, count in held.items() if count > 1}
    holders: dict[int, list[int]] = defaultdict(list)
    for n, hashes in sets:
        for h in hashes & shared:
            holders[h].append(n)
    pairs: Counter[tuple[int, int]] = Counter()
    for who in holders.values():
        pairs.update(combinations(who, 2) if len(who) <= _MANY else pairwise(who))
    return {pair for pair, count in pairs.items() if count >= fewest}


def _likeness(a: Witness, b: Witness) -> _Link | None:
    """Return how two sources depend on each other; None if they seem independent."""
    small, large = sorted((a, b), key=lambda w: (w.fingerprint.shingles, w.rank))
    found = _wording(small, large)
    if found is None and _other_language(a, b):
        share = _translated(a.fingerprint, b.fingerprint)
        found = _Link(small.id, large.id, Kind.TRANSLATION, share) if share else None
    return found


def _wording(small: Witness, large: Witness) -> _Link | None:
    """Return the link of two sources with the same wording, None if it differs."""
    one, other = small.fingerprint, large.fingerprint
    if one.shingles < FEWEST:
        return None
    every = max(one.every, other.every)
    there = {h for stretch in other.stretches for h in stretch if h % every == 0}
    here = [[h for h in stretch if h % every == 0] for stretch in one.stretches]
    size = sum(map(len, here))
    shares = [sum(h in there for h in stretch) / len(stretch) for stretch in here if stretch]
    if not size or not there:
        return None
    share = sum(h in there for stretch in here for h in stretch) / size
    scale = other.shingles / one.shingles
    if share >= _COPIED and _spread(shares, _REVISED, 1):
        return _Link(small.id, large.id, Kind.PART if scale > _SCALE else Kind.COPY, share)
    may_be_edition = one.shingles >= _FEWEST_REVISED and scale <= _EDITIONS
    if may_be_edition and share >= _REVISED and _spread(shares, _REVISED / 2, 2):
        return _Link(small.id, large.id, Kind.EDITION, share)
    return None


def _spread(shares: Sequence[float], enough: float, missing: int) -> bool:
    """Return whether shared wording is all over the text; a licence or quotation fills only some stretches."""
    return sum(s < enough for s in shares) <= missing


def _translated(a: Fingerprint, b: Fingerprint) -> float:
    """Return the share of traces that two documents have in the same order; 0 if there are too few."""
    place = {t: n for n, t in enumerate(b.traces)}
    shared = [t for t in a.traces if t in place]
    few, many = sorted((len(a.traces), len(b.traces)))
    same_code = len(a.code & b.code)
    little, much = sorted((len(a.code), len(b.code)))
    if len(shared) >= _TRACES and len(shared) * 2 >= few and len(shared) * 3 >= many:
        in_order = _longest_rise([place[t] for t in shared]) / len(shared)
        return len(shared) / many if in_order >= _IN_ORDER and (little < _CODE or same_code * 3 >= little) else 0.0
    if many < _TRACES and same_code >= _CODE and same_code * 3 >= much * 2:
        return same_code / much
    return 0.0


def _longest_rise(numbers: Sequence[int]) -> int:
    """Return the length of the longest increasing subsequence."""
    ends: list[int] = []
    for number in numbers:
        at = bisect_left(ends, number)
        ends[at : at + 1] = [number]
    return len(ends)
