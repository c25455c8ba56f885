"""The embedded engine: rules over sentences and document structure; the same request always has the same reply."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.model.engine_names import VERSIONS
from compiler.model.requests import CardsReply, CardsRequest, ComposeReply, ComposeRequest, ExtractReply, ExtractRequest

SIGNALS: tuple[str, ...] = (  # what the engine goes by, each of which can be left out to see what it contributes
    # names that are offered
    "title", "heading", "index", "glossary", "item", "emphasis", "acronym", "alias", "link", "subject",
    # names that are borrowed: gaps only
    "cited", "named",
    # sentences that become claims
    "definition", "aside", "antecedent", "lead-in", "section", "formula", "verb",
)  # fmt: skip


class ExtractiveEngine:
    """Answers every request offline, from the request's own words alone.

    `without` leaves signals out, for measuring only: the engine that compiles goes by all of them.
    """

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        """Raises ValueError for what is no signal."""
        if strange := sorted(without - set(SIGNALS)):
            raise ValueError(f"no signal of the engine: {', '.join(strange)}")
        self._without = without

    @property
    def name(self) -> str:
        """ "extractive/2", and what it goes without, if anything."""
        return "-".join((VERSIONS["extractive"], *sorted(self._without)))

    def extract(self, request: ExtractRequest) -> ExtractReply:
        """The segment's claims, each in the segment's own words, and the names it offers for concepts."""
        from compiler.engines.extractive import reading

        return reading.extract(request, self._without)

    def read(self, requests: Sequence[ExtractRequest]) -> list[ExtractReply]:
        """The reply to each segment of a document, each by itself."""
        return [self.extract(request) for request in requests]

    def compose(self, request: ComposeRequest) -> ComposeReply:
        """An article in the sources' own sentences."""
        from compiler.engines.extractive import composing

        return composing.compose(request)

    def cards(self, request: CardsRequest) -> CardsReply:
        """The cards that the claims support with confidence; none for a kind without evidence."""
        from compiler.engines.extractive import reading

        return reading.cards(request)
