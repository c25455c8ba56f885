"""Topics: groups of concepts, anchored on the sections of the sources that explain them.

A section whose heading covers enough concepts is a candidate; each concept goes to the candidate that says most of
it. What was one topic before stays one: its sections go on being its, a member leaves only for one that says far
more of it, and so a source on other matters moves nothing. Pure; the order of sources only settles ties.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import chain, product
from math import sqrt

from compiler.language.headings import LONGEST, heading_key, heading_title
from vault.ids import ConceptId, SourceId

FEWEST, MOST = 4, 30  # concepts of a topic when it is born
FEWEST_IN_PART = 6  # where it is a mere section of a longer document
LEAST = 3  # concepts that keep one alive
_OWN = 3  # a claim about a concept says so many times as much of it as one that only names it
_JOINS = 2  # the least that a section must say of a concept to have it
_LEAVES = 2  # times as much must another topic say of a concept to take it away
_LINKED = 2  # claims between a concept and a topic's members, from which it joins them without a section of its own
_REST = 4  # a section whose concepts mostly have topics makes one of the rest only where that is a quarter
_NAMED, _HINTED = 3.0, 1.5  # times as much says a section of what its heading is, or names among others
_ROUNDS = 8  # until nothing moves; two or three do
_KIND_OF = 2  # claims that a name is worth: grouped-query attention is an attention

Anchor = tuple[str, ...]  # a source's id and the keys of the headings that lead to a section
_DOCUMENT = 2  # parts of a document's own anchor: the source and its title


@dataclass(frozen=True, slots=True)
class Passage:
    """One claim as topics see it: its section, the concepts it is about, and those it names."""

    source: SourceId
    headings: tuple[str, ...]  # the document's title first
    about: tuple[ConceptId, ...]  # most claims are about one concept, or about none that has an article
    named: tuple[ConceptId, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """A topic as the last build left it."""

    id: str
    key: str
    title: str
    members: frozenset[ConceptId]
    anchors: frozenset[Anchor]


@dataclass(frozen=True, slots=True)
class Topic:
    """A group of concepts. `id` is "" for a new one. The concept of its name is first, then the best covered."""

    id: str
    key: str
    title: str
    members: tuple[ConceptId, ...]
    anchors: tuple[Anchor, ...]


@dataclass(slots=True)
class _Section:
    """A heading with all that is below it; `rank` is its place among the sources and headings."""

    anchor: Anchor
    title: str
    rank: tuple[int, int]
    own: Counter[ConceptId] = field(default_factory=Counter)
    named: Counter[ConceptId] = field(default_factory=Counter)
    below: list[_Section] = field(default_factory=list)

    @property
    def fewest(self) -> int:
        """Return how many concepts the section must have to be a topic."""
        return FEWEST if len(self.anchor) == _DOCUMENT else FEWEST_IN_PART


@dataclass(slots=True)
class _Candidate:
    """Sections under one heading. `says` counts what their claims say of each concept; `members` are those assigned."""

    key: str
    title: str
    rank: tuple[int, int]
    known: Known | None = None
    sections: list[_Section] = field(default_factory=list)
    says: Counter[ConceptId] = field(default_factory=Counter)
    members: set[ConceptId] = field(default_factory=set)
    weight: float = 1.0  # long sections say more of everything: only their root counts
    naming: str = field(init=False)

    def __post_init__(self) -> None:
        self.naming = heading_key(self.title)

    def take(self, section: _Section) -> None:
        """Add a section to the candidate."""
        self.sections.append(section)
        for id_, claims in section.own.items():
            self.says[id_] += _OWN * claims
        self.says.update(section.named)
        self.weight = 1 / sqrt(max(self.says.total(), 1))

    def share(self, concept: ConceptId, name: str) -> float:
        """Return how much of what is said here is about the concept, more where the heading names it."""
        drawn = _NAMED if self.naming == name else _HINTED if f" {name} " in f" {self.naming} " else 1.0
        return self.says[concept] * self.weight * drawn

    @property
    def least(self) -> int:
        """Return how many members it needs to remain a topic."""
        return LEAST if self.known else min((s.fewest for s in self.sections), default=FEWEST)

    @property
    def strength(self) -> tuple[bool, int, int, int]:
        """Return the order in which candidates go: the weakest first."""
        return (self.known is not None, len(self.members), -self.rank[0], -self.rank[1])


def topics(passages: Sequence[Passage], known: Sequence[Known], keys: Mapping[ConceptId, str]) -> list[Topic]:
    """Return the topics of all concepts, from the sections of the sources. `passages` come source by source.

    `keys` has every concept that may be a member, with the key of its name; ties are settled by it. The topics are
    such that, were they known before, the same would come out: where nothing changes, no concept moves.
    """
    documents, links = _documents(passages, keys), _links(passages, keys)
    ids = {topic.key: topic.id for topic in known}
    found: list[Topic] = []
    for _ in range(_ROUNDS):
        before, found = found, _Clusters(documents, known, keys, links).run()
        if {t.key: set(t.members) for t in before} == {t.key: set(t.members) for t in found}:
            break
        known = [Known(t.id, t.key, t.title, frozenset(t.members), frozenset(t.anchors)) for t in found]
    return [replace(topic, id=ids.get(topic.key, "")) for topic in found]


def _documents(passages: Sequence[Passage], concepts: Mapping[ConceptId, str]) -> list[_Section]:
    """Return every source as the section that its title is, with the sections below it."""
    found: dict[Anchor, _Section] = {}
    order: dict[SourceId, int] = {}
    documents: list[_Section] = []
    for passage in passages:
        about = [c for c in passage.about if c in concepts]
        named = [c for c in passage.named if c in concepts]
        number = order.setdefault(passage.source, len(order))
        anchor: Anchor = (passage.source,)
        above: _Section | None = None
        for heading in passage.headings:
            anchor = (*anchor, heading_key(heading))
            section = found.get(anchor)
            if section is None:
                section = found[anchor] = _Section(anchor, heading_title(heading), (number, len(found)))
                (documents if above is None else above.below).append(section)
            for concept in about:
                section.own[concept] += 1
            for concept in named:
                section.named[concept] += 1
            above = section
    for document in documents:
        _qualify(document)
    return documents


def _qualify(document: _Section) -> None:
    """Distinguish headings that a document uses twice: "Discourse: Relations", "Information extraction: Relations"."""
    uses = Counter(s.anchor[-1] for s in _all([document]) if s.title)
    for section in _all([document]):
        for below in section.below:
            longer = f"{section.title}: {below.title}"
            if below.title and section.title and uses[below.anchor[-1]] > 1 and len(longer) <= LONGEST:
                below.title = longer


def _links(passages: Sequence[Passage], keys: Mapping[ConceptId, str]) -> dict[ConceptId, Counter[ConceptId]]:
    """Return by concept how many claims join it with each other concept.

    A concept whose name ends with another's is one of its kind, which counts like claims.
    """
    links: dict[ConceptId, Counter[ConceptId]] = defaultdict(Counter)
    for passage in passages:
        for one, other in product(passage.about, passage.named):
            if one in keys and other in keys and one != other:
                links[one][other] += 1
                links[other][one] += 1
    by_key = {key: id_ for id_, key in keys.items()}
    for id_, key in keys.items():
        words = key.split(" ")
        general = next((g for n in range(1, len(words)) if (g := by_key.get(" ".join(words[n:])))), None)
        if general is not None:
            links[id_][general] += _KIND_OF
            links[general][id_] += _KIND_OF
    return links


class _Clusters:
    """The grouping of concepts by sections, step by step."""

    def __init__(
        self,
        documents: list[_Section],
        known: Sequence[Known],
        keys: Mapping[ConceptId, str],
        links: Mapping[ConceptId, Counter[ConceptId]],
    ) -> None:
        self.documents, self.known, self.keys, self.links = documents, known, keys, links
        self.candidates: dict[str, _Candidate] = {}
        self.offers: dict[ConceptId, list[_Candidate]] = defaultdict(list)
        self.named: dict[str, list[_Candidate]] = defaultdict(list)  # by the key of their headings
        self.home: dict[ConceptId, _Candidate] = {}
        self.before: dict[ConceptId, str] = {m: t.key for t in known for m in t.members}
        self.concepts = sorted(keys, key=lambda c: (keys[c], c))
        self.names = frozenset(keys.values())

    def run(self) -> list[Topic]:
        """Return the topics."""
        taken = self._anchored()
        for document in self.documents:
            for section in _cut(document, taken):
                self._propose(section)
        for candidate in self.candidates.values():
            self.named[candidate.naming].append(candidate)
            for concept in candidate.says:
                self.offers[concept].append(candidate)
        for concept in self.concepts:
            self._assign(concept)
        self._dissolve()
        self._join_by_links()
        self._gather_the_rest()
        self._join_by_links()
        return [self._topic(c) for c in sorted(self.candidates.values(), key=lambda c: c.rank)]

    def _anchored(self) -> set[Anchor]:
        """Give the known topics their sections back; return the anchors that are theirs."""
        owner = {anchor: topic for topic in self.known for anchor in topic.anchors}
        for topic in self.known:
            self.candidates[topic.key] = _Candidate(topic.key, topic.title, (-1, len(self.candidates)), topic)
        for section in _all(self.documents):
            if (topic_ := owner.get(section.anchor)) is not None:
                self.candidates[topic_.key].take(section)
        return set(owner)

    def _propose(self, section: _Section) -> None:
        """Propose topics from a section and those below it."""
        key = heading_key(section.title)
        candidate = self.candidates.get(key) or self._heir(section)
        if candidate is None:
            candidate = self.candidates[key] = self._new_candidate(section)
        candidate.take(section)

    def _new_candidate(self, section: _Section) -> _Candidate:
        """Return a candidate named by the section's heading, or by what is before the colon if that is a concept."""
        before = re.split(r"\s*[:–—]\s+", section.title, maxsplit=1)[0]
        title = before if len(section.anchor) == _DOCUMENT and heading_key(before) in self.names else section.title
        return _Candidate(heading_key(section.title), title, section.rank)

    def _heir(self, section: _Section) -> _Candidate | None:
        """Return the known topic whose sections are gone and most of whose members this one explains; None if none."""
        for topic in self.known:
            lost = self.candidates[topic.key]
            if not lost.sections and 2 * sum(m in section.own for m in topic.members) > len(topic.members):
                return lost
        return None

    def _assign(self, concept: ConceptId) -> None:
        """Put a concept in the topic of its name, else where most is said of it."""
        name = self.keys[concept]
        offers = [c for c in self.offers[concept] if c.key in self.candidates]
        options = [c for c in self.named.get(name, ()) if c.key in self.candidates]
        options = options or [c for c in offers if c.says[concept] >= _JOINS]
        best = min(options, key=lambda c: (-c.share(concept, name), c.rank), default=None)
        now = self.candidates.get(self.before.get(concept, ""))
        if now is not None and self._holds(now, concept, best):
            best = now
        if best is not None:
            best.members.add(concept)
            self.home[concept] = best

    def _holds(self, now: _Candidate, concept: ConceptId, rival: _Candidate | None) -> bool:
        """Return whether a concept's topic before this build keeps it, though `rival` says the most of it now."""
        if rival is not None and rival.naming == self.keys[concept] != now.naming:
            return False
        if rival is None or not now.says[concept]:
            linked = now.known is not None and any(m in now.known.members for m in self.links.get(concept, ()))
            return (linked or now.says[concept] > 0) and (rival is None or rival.says[concept] < _LEAVES * _OWN)
        name = self.keys[concept]
        return rival.share(concept, name) <= _LEAVES * now.share(concept, name)

    def _dissolve(self) -> None:
        """Remove the weakest candidate that is too small and reassign its members, until none is too small."""
        small = [(c.strength, c.key) for c in self.candidates.values() if len(c.members) < c.least]
        heapify(small)
        while small:
            strength, key = heappop(small)
            candidate = self.candidates[key]
            if candidate.strength != strength:  # some came to it
                if len(candidate.members) < candidate.least:
                    heappush(small, (candidate.strength, key))
                continue
            del self.candidates[key]
            for concept in sorted(candidate.members, key=lambda c: (self.keys[c], c)):
                del self.home[concept]
                self._assign(concept)

    def _join_by_links(self) -> None:
        """Put concepts that no topic's section explains where most of their links lead."""
        joined = []
        for concept in self.concepts:
            if concept in self.home:
                continue
            to: Counter[str] = Counter()
            for other, claims in self.links.get(concept, Counter()).items():
                if other in self.home:
                    to[self.home[other].key] += claims
            if to:
                (key, claims), *others = to.most_common(2)
                if claims >= _LINKED and all(claims > fewer for _, fewer in others):
                    joined.append((concept, self.candidates[key]))
        for concept, candidate in joined:
            candidate.members.add(concept)
            self.home[concept] = candidate

    def _gather_the_rest(self) -> None:
        """Make topics of small documents that explain or name enough concepts without one."""
        sections = [s for s in _all(self.documents) if s.title and s.own]
        waiting = [(-len(self._free(s)), s.rank, s) for s in sections]
        heapify(waiting)
        while waiting:
            count, rank, section = heappop(waiting)
            free = self._free(section)
            if -count != len(free):
                heappush(waiting, (-len(free), rank, section))
            elif (
                section.fewest <= len(free) <= MOST
                and len(free) * _REST >= len(section.own)
                and heading_key(section.title) not in self.candidates
            ):
                candidate = self._new_candidate(section)
                candidate.take(section)
                candidate.members = free
                self.candidates[candidate.key] = candidate
                self.home |= dict.fromkeys(free, candidate)

    def _free(self, section: _Section) -> set[ConceptId]:
        """Return the concepts of a section that have no topic."""
        return {c for c in chain(section.own, section.named) if c not in self.home}

    def _topic(self, candidate: _Candidate) -> Topic:
        """Return the topic of a candidate."""
        members = sorted(
            candidate.members, key=lambda c: (self.keys[c] != candidate.naming, -candidate.says[c], self.keys[c], c)
        )
        anchors = sorted(s.anchor for s in candidate.sections)
        id_ = candidate.known.id if candidate.known else ""
        return Topic(id_, candidate.key, candidate.title, tuple(members), tuple(anchors))


def _all(documents: Iterable[_Section]) -> list[_Section]:
    """Yield every section of the documents."""
    out: list[_Section] = []
    stack = list(documents)[::-1]
    while stack:
        section = stack.pop()
        out.append(section)
        stack += section.below[::-1]
    return out


def _cut(section: _Section, taken: set[Anchor]) -> list[_Section]:
    """Yield the highest free sections below this one that cover neither too few concepts nor too many."""
    if section.anchor in taken or len(section.own) < section.fewest:
        return []
    parts = [part for below in section.below for part in _cut(below, taken)]
    holds_taken = any(s.anchor in taken for s in _all(section.below))
    fits = len(section.own) <= MOST or not parts
    return [section] if section.title and fits and not holds_taken else parts
