"""Who writes the articles and cards of a build: a model, whose drafts are there, or the embedded engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from compiler.articles.sources import Sources
from compiler.concepts.resolve import Resolved
from compiler.drafts.consult import Consulted
from compiler.drafts.drafts import Draft
from compiler.model.report import Rejection
from compiler.model.requests import CardsReply, ComposeReply
from compiler.protocol.replies import Quote
from compiler.workers.engine_client import EmbeddedAsker, Question
from vault.ids import ClaimId


@dataclass(frozen=True)
class Writer:
    """The embedded engine, and before it a model's drafts (`consulted`) where there are any.

    `claims` are the ids of claims by source and quote.
    """

    embedded: EmbeddedAsker
    engine: str
    consulted: Consulted | None = None
    claims: Mapping[Quote, ClaimId] = field(default_factory=dict)

    @property
    def is_model(self) -> bool:
        """Return whether a model or an agent writes."""
        return self.consulted is not None

    def draft_of(self, concept: Resolved) -> Draft | None:
        """Return the model's draft of the article of a concept; None if there is none."""
        return next((d for key in sorted(concept.keys) if (d := self._drafts.get(key)) is not None), None)

    @cached_property
    def _drafts(self) -> dict[str, Draft]:
        """Return the drafts by the keys of their names."""
        drafts = self.consulted.drafts.articles if self.consulted is not None else ()
        return {key: draft for draft in drafts for key in draft.group.keys}

    def cites(self, quotes: Iterable[Quote]) -> tuple[ClaimId, ...]:
        """Return the claims of quotes; () if one of them is no claim."""
        found = [self.claims.get(q) for q in quotes]
        return tuple(dict.fromkeys(c for c in found if c is not None)) if all(found) else ()

    def compose(self, questions: Sequence[Question]) -> list[ComposeReply]:
        """Return what the embedded engine writes about concepts that no model wrote about. Raises: WorkerFailed."""
        return [reply or ComposeReply(sections=()) for reply in self.embedded.ask(questions, ComposeReply)]

    def cards(self, questions: Sequence[Question]) -> list[CardsReply]:
        """Return the cards of the embedded engine, likewise. Raises: WorkerFailed."""
        return [reply or CardsReply() for reply in self.embedded.ask(questions, CardsReply)]

    def refused(
        self, rejections: Iterable[Rejection], concept: Resolved, path: str, sources: Sources
    ) -> list[Rejection]:
        """Return the rejections with the page that the words were for, the sources behind them, and who wrote them."""
        paths = tuple(dict.fromkeys(sources.by_id[c.source].tracked.path for c in concept.main))
        draft = self.draft_of(concept)
        by, at = (draft.by, draft.at) if draft is not None else ("", "")
        return [replace(r, path=path, sources=paths, said_by=by or self.engine, at=at) for r in rejections]
