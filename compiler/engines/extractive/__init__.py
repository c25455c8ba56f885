"""The embedded engine: a parser finds statements about terms, a small trained model chooses among them."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.model.requests import CardsReply, CardsRequest, ComposeReply, ComposeRequest, ExtractReply, ExtractRequest


class ExtractiveEngine:
    """Answers every request offline, from the documents' own words; the same request always has the same reply."""

    def load(self) -> None:
        """Load what reading an English document needs."""
        from compiler.engines.extractive import reading

        reading.load()

    def read(self, requests: Sequence[ExtractRequest]) -> list[ExtractReply]:
        """Return the claims and names of each segment of one document, weighed over the whole of it."""
        from compiler.engines.extractive import reading

        return reading.read(requests)

    def compose(self, request: ComposeRequest) -> ComposeReply:
        """Return an article of the sources' own passages."""
        from compiler.engines.extractive import compose

        return compose.compose(request)

    def cards(self, request: CardsRequest) -> CardsReply:
        """Return the cards that the claims support."""
        from compiler.engines.extractive import cards

        return cards.cards(request)
