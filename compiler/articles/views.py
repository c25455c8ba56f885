"""The claims of each concept as the embedded engine sees them, made where it is asked; and digests of all in them."""

from __future__ import annotations

from collections.abc import Container
from typing import TypeVar

from compiler.articles.concepts import Concepts
from compiler.cards.cards import request_for
from compiler.concepts.resolve import Resolved
from compiler.index.steps import digest_of
from compiler.model.requests import CardsRequest, ClaimView, ComposeRequest
from compiler.workers.engine_client import Question
from vault.ids import ClaimId, ConceptId
from vault.model.claim import Claim

R = TypeVar("R", ComposeRequest, CardsRequest)


class Views:
    """The claims of the concepts of one build, as `ClaimView`s and as digests."""

    def __init__(self, concepts: Concepts) -> None:
        self._concepts = concepts
        self._views: dict[ConceptId, tuple[ClaimView, ...]] = {}
        self._digests: dict[ClaimId, bytes] = {}

    def of(self, concept: Resolved, without: Container[ClaimId] = ()) -> tuple[ClaimView, ...]:
        """Return the concept's claims, but those `without`."""
        if concept.id not in self._views:
            self._views[concept.id] = tuple(self._view(claim, concept) for claim in concept.main)
        found = self._views[concept.id]
        return tuple(view for view in found if view.id not in without) if without else found

    def digest(self, concept: Resolved, without: Container[ClaimId] = ()) -> bytes:
        """Return a digest of all that a request about the concept holds, and of the exhibits of its claims."""
        claims = (self._digest(claim) for claim in concept.main if claim.id not in without)
        return digest_of(concept.id, concept.title, "\0".join(concept.aliases), concept.language, *claims)

    def question(self, kind: type[R], concept: Resolved, without: Container[ClaimId] = ()) -> Question:
        """Return the question of that kind about a concept."""
        key = digest_of(kind.__name__, self.digest(concept, without))
        return Question(key, lambda: request_for(kind, concept, self.of(concept, without)))

    def _view(self, claim: Claim, concept: Resolved) -> ClaimView:
        """Return a claim with its paragraph, its heading and the questions that it answers."""
        sources, titles = self._concepts.sources, self._concepts.sources.titles
        passage, heading = sources.passages.get(claim.id, ("", ""))
        return ClaimView(
            id=claim.id,
            kind=claim.kind,
            words=claim.words,
            quote=claim.quote,
            source=titles[claim.source],
            about=tuple(dict.fromkeys((self._owner(claim), concept.title))),
            passage=passage,
            heading=heading,
            cards=sources.possible_cards.get(claim.id, ()),
        )

    def _owner(self, claim: Claim) -> str:
        """Return the title of the concept that a claim is about in the first place."""
        resolution = self._concepts.resolution
        return resolution.concepts[resolution.owners[claim.id]].title

    def _digest(self, claim: Claim) -> bytes:
        """Return a digest of a claim: of its words, its place in its document, and what that shows with it."""
        found = self._digests.get(claim.id)
        if found is None:
            sources = self._concepts.sources
            tracked, title = sources.by_id[claim.source].tracked, sources.titles[claim.source]
            shown = repr(claim.exhibits) if claim.exhibits else ""
            words = (claim.id, claim.kind.value, claim.quote, claim.statement, claim.state.value)
            found = digest_of(*words, tracked.content, tracked.slug, title, self._owner(claim), shown)
            self._digests[claim.id] = found
        return found
