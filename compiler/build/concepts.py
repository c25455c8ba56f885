"""The fifth step of a build: the concepts that the sources explain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from compiler.articles.renames import concepts_to_stay
from compiler.build.start import BuildInput
from compiler.cards.live_cards import live_cards
from compiler.claims.extract import Gathered
from compiler.concepts.evidence import SourceClaims, recall_keys
from compiler.concepts.resolve import Resolution, resolve
from compiler.concepts.rulings import Rulings
from compiler.model.requests import Term
from vault.ids import CardId, ConceptId, SourceId
from vault.log.ledger import Event, Ids
from vault.model.card import CardKind


def source_claims(
    gathered: Sequence[Gathered], understood: bool, names: Mapping[str, tuple[Term, ...]]
) -> list[SourceClaims]:
    """Return the claims of all sources as concepts are made of them; `understood` if a model extracted them.

    `names` are those that notes in place give, by path.
    """
    return [
        SourceClaims(
            SourceId(g.tracked.id),
            g.source.title,
            g.source.language,
            g.claims,
            (*g.extracted.terms, *names.get(g.tracked.path, ())),
            understood=understood,
        )
        for g in gathered
        if g.source is not None and g.extracted is not None
    ]


def resolve_concepts(
    start: BuildInput, sources: Sequence[SourceClaims], ids: Ids, rulings: Rulings, agents: Iterable[str]
) -> Resolution:
    """Return the concepts of a build. `agents` are the paths of pages with an agent's text."""
    stay: frozenset[ConceptId] = frozenset()
    if start.rulings.names or start.rulings.undone:  # only then may a concept have another name than in its sources
        known = known_cards(start.id_events, ids)
        stay = concepts_to_stay(ids, start.rulings, start.files.machine_text_of, known, agents)
    recall_keys(start.steps)
    return resolve(sources, ids, start.at, rulings, stay, start.steps)


def known_cards(events: Sequence[Event], ids: Ids) -> dict[CardId, CardKind | None]:
    """Return every card that the machine ever made, with the kind that it has now. `events` are in order."""
    # Those that the user wrote or imported from Anki are in the ledger, too.
    theirs = {e.get("id") for e in events if str(e.get("key", "")).startswith(("human:", "anki:", "import:"))}
    cards = (e.get("id") for e in events if e.get("of") == "card")
    ever: dict[CardId, CardKind | None] = {CardId(str(id_)): None for id_ in cards if id_ not in theirs}
    return ever | {c.id: c.kind for c in live_cards(events, ids).values()}
