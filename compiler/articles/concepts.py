"""The concepts of a build with their claims, and the contradictions in these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from compiler.articles.history import History
from compiler.articles.sources import Sources
from compiler.claims.conflicts import PAST, UNDECIDED, Clashing, Contests, Pool, Shelf, contests
from compiler.claims.contradictions import Disagreement
from compiler.concepts.resolve import Resolution, Resolved
from compiler.gates.written import known_names, sentence_fault
from compiler.replies.asker import Asker
from vault.ids import ClaimId, ConceptId
from vault.model.claim import Claim, ClaimState


@dataclass(frozen=True, slots=True)
class Concepts:
    """The concepts of a build and what articles and cards on them may rest on.

    `contests` are the contradictions that a model was asked about; `outdated` the claims that no card may rest on, and
    why.
    """

    sources: Sources
    resolution: Resolution
    history: History
    contests: Contests = field(default_factory=Contests)
    outdated: Mapping[ClaimId, str] = field(default_factory=dict)

    def disputes(self, concept: Resolved) -> list[Disagreement]:
        """Return the contradictions with a claim that is at home here."""
        owners = self.resolution.owners
        own = {c.id for c in concept.main if owners.get(c.id) == concept.id}
        return [d for d in self.contests.disagreements if d.first.id in own or d.second.id in own]

    def with_point(self, one: Disagreement) -> tuple[str, Claim, Claim]:
        """Return (verdict, after the point on which the sides differ, the weightier claim, the other)."""
        verdict, first, second = self.weigh(one)
        fault = sentence_fault(one.point, "", (first.quote, second.quote), known_names((first.quote, second.quote)))
        return verdict if fault else f"{one.point.rstrip('.')}. {verdict}", first, second

    def weigh(self, one: Disagreement) -> tuple[str, Claim, Claim]:
        """Return the verdict on a contradiction, the claim that weighs more or came first, and the other."""
        return self.sources.scales.weigh(one)

    def is_contested(self, concept: Resolved) -> bool:
        """Return whether a contradiction in the concept's claims is undecided."""
        return any(self.weigh(one)[0] == UNDECIDED for one in self.disputes(concept))


def without_older_editions(concepts: Concepts) -> Concepts:
    """Return the concepts with the claims of older editions superseded: they stand only where the newer has none.

    No card may rest on those that no longer stand.
    """
    sources, older = concepts.sources, concepts.sources.kinship.editions
    replaced = {c.id: ClaimState.SUPERSEDED for c in sources.claims.values() if c.source in older}
    out = _with_states(concepts, replaced)
    dropped = _main_claims(concepts) - _main_claims(out)
    return replace(out, outdated={c: PAST for c in replaced if c in dropped})


def _main_claims(concepts: Concepts) -> set[ClaimId]:
    """Return the claims that the articles of the concepts rest on."""
    return {claim.id for concept in concepts.resolution.concepts.values() for claim in concept.main}


def _with_states(concepts: Concepts, states: Mapping[ClaimId, ClaimState]) -> Concepts:
    """Return the concepts with the claims in these states, superseded ones only where a concept has no others."""
    claims = dict(concepts.sources.claims)
    for claim, state in states.items():
        claims[claim] = replace(claims[claim], state=state)
    resolved = {}
    for id_, concept in concepts.resolution.concepts.items():
        main = tuple(claims[c.id] for c in concept.main)
        current = tuple(c for c in main if c.state is not ClaimState.SUPERSEDED)
        resolved[id_] = replace(concept, main=current or main)
    resolution = replace(concepts.resolution, concepts=resolved)
    return replace(concepts, sources=replace(concepts.sources, claims=claims), resolution=resolution)


def find_contests(concepts: Concepts, asker: Asker, clashes: Iterable[Clashing]) -> Concepts:
    """Return the concepts without the claims that a later state replaced, and what contradicts each other in them.

    `clashes` are pairs that a reader noticed. Raises: what the asker raises.
    """
    sources, resolution = concepts.sources, concepts.resolution
    scales = sources.scales
    shelf = Shelf(sources.origin, sources.titles, scales, came=lambda source: concepts.history.created(source))
    found = contests(_pools(sources, resolution), clashes, shelf, asker)
    outdated = {**concepts.outdated, **found.outdated(scales)}
    return replace(_with_states(concepts, found.states(scales)), contests=found, outdated=outdated)


def _pools(sources: Sources, resolution: Resolution) -> Iterator[Pool]:
    """Yield the claims of each concept, then those that name it, in an order that is independent of the sources'."""
    naming: dict[ConceptId, list[Claim]] = {}
    for claim in sorted(sources.claims.values(), key=lambda c: c.id):
        for id_ in resolution.mentions.get(claim.id, ()):
            naming.setdefault(id_, []).append(claim)
    for concept in sorted(resolution.concepts.values(), key=lambda c: (c.title.casefold(), c.id)):
        own = sorted(concept.main, key=lambda c: c.id)
        mine = {c.id for c in own}
        yield Pool(concept.title, [*own, *(c for c in naming.get(concept.id, ()) if c.id not in mine)])
