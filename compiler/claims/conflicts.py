"""Contradictions between the sources of a build: found by rules and a model, weighed, superseded by later sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.claims.contradictions import Disagreement, candidates
from compiler.protocol.requests import PairView, ReconcileRequest, Side
from compiler.replies.asker import Asker
from compiler.sources.editions import are_comparable
from vault.ids import ClaimId, SourceId, digest12
from vault.model.claim import Claim, ClaimState
from vault.text.formatting import clean_line, fold

ASKED = 2  # pairs of one concept, found by rules, of which a model is asked; those it was asked of before come on top
MOST_ASKED = 60  # pairs of one request
Pair = tuple[ClaimId, ClaimId]
UNDECIDED = "Undecided: equal authority, and no dates that tell them apart"
PAST = "a later source gives the current state"
OUTWEIGHED = "a source with more authority contradicts it"
_YEAR = re.compile(r"(?<![\w.,-])(?:1[0-9]|20)\d\d(?![\w-]|[.,]\d)")


@dataclass(frozen=True, slots=True)
class Scales:
    """The weight of each source: its authority, then its date (as much of an ISO date as is known, "" if none)."""

    authority: Mapping[SourceId, int]
    published: Callable[[SourceId], str]
    order: Callable[[SourceId], tuple[str, str]]

    def weigh(self, one: Disagreement) -> tuple[str, Claim, Claim]:
        """(verdict, claim that weighs more or came first, the other)."""
        first, second = sorted((one.first, one.second), key=lambda c: self.order(c.source))
        trust = [self.authority.get(c.source, 1) for c in (first, second)]
        dates = [self.published(c.source) for c in (first, second)]
        if trust[0] != trust[1]:
            high, low = max(trust), min(trust)
            why = f"The first has more authority: {high}, the other {low}"
            return (why, first, second) if trust[0] == high else (why, second, first)
        if are_comparable(*dates):
            why = f"The first is more recent: {max(dates)}, the other {min(dates)}"
            return (why, first, second) if dates[0] > dates[1] else (why, second, first)
        return UNDECIDED, first, second


@dataclass(frozen=True, slots=True)
class Contests:
    """The contradictions of a build, and the claims that a later claim supersedes (older -> newer)."""

    disagreements: tuple[Disagreement, ...] = ()
    superseded: Mapping[ClaimId, ClaimId] = field(default_factory=dict)

    def states(self, scales: Scales) -> dict[ClaimId, ClaimState]:
        """The state of each claim that is not current: of a contradiction that is decided only the lighter side's."""
        out: dict[ClaimId, ClaimState] = {}
        for one in self.disagreements:
            verdict, first, second = scales.weigh(one)
            sides = (first, second) if verdict == UNDECIDED else (second,)
            out |= dict.fromkeys((c.id for c in sides), ClaimState.DISPUTED)
        return out | dict.fromkeys(self.superseded, ClaimState.SUPERSEDED)

    def outdated(self, scales: Scales) -> dict[ClaimId, str]:
        """The claims that no card may rest on, and why."""
        weighed = [scales.weigh(one) for one in self.disagreements]
        lost = {second.id: OUTWEIGHED for verdict, _, second in weighed if verdict != UNDECIDED}
        return lost | dict.fromkeys(self.superseded, PAST)


@dataclass(frozen=True, slots=True)
class Pool:
    """The claims that are about a concept or name it, among which its contradictions are searched."""

    title: str
    claims: Sequence[Claim]


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is known of the sources by id: the original of a copy, titles, weights, and dates of arrival."""

    origin: Callable[[SourceId], SourceId]
    titles: Mapping[SourceId, str]
    scales: Scales
    came: Callable[[SourceId], str]

    def day(self, source: SourceId) -> str:
        """When a source was published; "" where it says nothing, or a day after it was there already."""
        said = self.scales.published(source)
        return said if said <= self.came(source) else ""


@dataclass(frozen=True, slots=True)
class Clashing:
    """Two claims that a reader found at odds: what it is about, and all words of either side."""

    about: str
    first: Claim
    second: Claim
    words: str
    other_words: str


def contests(pools: Iterable[Pool], clashes: Iterable[Clashing], shelf: Shelf, asker: Asker) -> Contests:
    """Return the contradictions in the claims of each concept: rules find the sure ones, a model judges the rest.

    `clashes` are pairs that a reader of the documents noticed. Raises: what the asker raises.
    """
    sure: dict[Pair, Disagreement] = {}
    open_pairs: dict[Pair, tuple[PairView, Claim, Claim]] = {}
    for clash in clashes:
        (one, said), (other, also) = sorted(
            ((clash.first, clash.words), (clash.second, clash.other_words)), key=lambda side: side[0].id
        )
        if one.id != other.id:
            view = _view(clash.about, _side(one, said, shelf), _side(other, also, shelf))
            open_pairs.setdefault((one.id, other.id), (view, one, other))
    known = asker.knowledge().pairs
    for pool in pools:
        count = 0
        for candidate in candidates(pool.title, pool.claims, shelf.origin, shelf.day):
            one, other = candidate.first, candidate.second
            pair = (one.id, other.id)
            if pair in open_pairs or pair in sure:
                continue
            if candidate.sure:
                sure[pair] = Disagreement(one, other)
                continue
            if shelf.origin(one.source) == shelf.origin(other.source):
                continue  # of one document its reader says what is at odds
            view = _view(pool.title, _side(one, one.quote, shelf), _side(other, other.quote, shelf))
            if count < ASKED or view.key in known:
                open_pairs[pair] = view, one, other
            count += 1
    asked = [view for view, _, _ in open_pairs.values() if view.key not in known]
    if not asker.open:
        parts = (asked[n : n + MOST_ASKED] for n in range(0, len(asked), MOST_ASKED))
        asker.ask([ReconcileRequest(pairs=tuple(part)) for part in parts], "reconcile")
        known = asker.knowledge().pairs
    found = [(one, other, known[v.key]) for v, one, other in open_pairs.values() if v.key in known]
    superseded = dict(_superseded([(one, other, v.verdict) for one, other, v in found], shelf))
    judged = (Disagreement(a, b, clean_line(v.why)) for a, b, v in found if v.verdict == "conflict")
    conflicts = [*sure.values(), *judged]
    current = (d for d in conflicts if d.first.id not in superseded and d.second.id not in superseded)
    return Contests(tuple(sorted(current, key=lambda d: (d.first.id, d.second.id))), superseded)


def _view(about: str, a: Side, b: Side) -> PairView:
    """Return a pair as a model is asked about it."""
    return PairView(key=digest12("\x1f".join(sorted((a.words, b.words)))), about=about, a=a, b=b)


def _side(claim: Claim, words: str, shelf: Shelf) -> Side:
    """Return one claim as a side of such a pair."""
    return Side(words=fold(words), source=shelf.titles[claim.source], published=shelf.day(claim.source))


def _superseded(verdicts: Iterable[tuple[Claim, Claim, str]], shelf: Shelf) -> Iterator[tuple[ClaimId, ClaimId]]:
    """Yield (older, newer) claim of the pairs between which the world changed, where dates tell which is which.

    Hearsay (authority 0) replaces nothing: what a chat says of today's state is no better than what it says of others.
    """
    for older, newer, verdict in verdicts:
        if verdict != "changed":
            continue
        days = [shelf.day(older.source), shelf.day(newer.source)]
        if not are_comparable(*days):
            days = [max(_YEAR.findall(c.words), default="") for c in (older, newer)]
        if not are_comparable(*days):
            continue
        if days[0] > days[1]:
            older, newer = newer, older
        if shelf.scales.authority.get(newer.source, 1) > 0:
            yield older.id, newer.id
