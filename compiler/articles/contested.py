"""The contradictions of a build that is being laid out, found before anything is composed: what is past is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compiler.articles.layout import Layout
from compiler.claims.conflicts import Pool, Shelf, contests
from compiler.sources.duplicates import original_of
from vault.ids import ConceptId
from vault.model.claim import Claim, ClaimState


def settle_contests(layout: Layout) -> None:
    """Find what contradicts each other, and leave out of the concepts what is past. Without an asker, nothing is done.

    Raises: what the asker raises.
    """
    if layout.asker is None:
        return
    copies = layout.kinship.copies
    shelf = Shelf(
        origin=lambda source: original_of(source, copies),
        titles=layout.titles,
        scales=layout.scales,
        came=lambda source: layout.day(layout.ids.births[source].at),
    )
    layout.contests = contests(_pools(layout), shelf, layout.asker)
    layout.outdated = layout.contests.outdated(layout.scales)
    for claim, state in layout.contests.states(layout.scales).items():
        layout.claims[claim] = replace(layout.claims[claim], state=state)
    for id_, concept in layout.resolution.concepts.items():
        main = tuple(layout.claims[c.id] for c in concept.main)
        current = tuple(c for c in main if c.state is not ClaimState.SUPERSEDED)
        layout.resolution.concepts[id_] = replace(concept, main=current or main)


def _pools(layout: Layout) -> Iterator[Pool]:
    """The claims of each concept, then those that only name it, in an order that does not hang on the sources'."""
    naming: dict[ConceptId, list[Claim]] = {}
    for claim in sorted(layout.claims.values(), key=lambda c: c.id):
        for id_ in layout.resolution.mentions.get(claim.id, ()):
            naming.setdefault(id_, []).append(claim)
    for concept in sorted(layout.resolution.concepts.values(), key=lambda c: (c.title.casefold(), c.id)):
        own = sorted(concept.main, key=lambda c: c.id)
        mine = {c.id for c in own}
        yield Pool(concept.title, [*own, *(c for c in naming.get(concept.id, ()) if c.id not in mine)])
