"""The embedded engine: rules over sentences and document structure; the same request always has the same reply."""

from __future__ import annotations

from compiler.engines.port import (
    CardsReply,
    CardsRequest,
    ComposeReply,
    ComposeRequest,
    ExtractReply,
    ExtractRequest,
)


class ExtractiveEngine:
    """Answers every request offline, from the request's own words alone."""

    name = "extractive/1"

    def extract(self, request: ExtractRequest) -> ExtractReply:
        """The segment's claims, each a whole sentence of it, and the names it offers for concepts."""
        from compiler.engines.extractive import reading

        return reading.extract(request)

    def compose(self, request: ComposeRequest) -> ComposeReply:
        """An article in the sources' own sentences."""
        from compiler.engines.extractive import composing

        return composing.compose(request)

    def cards(self, request: CardsRequest) -> CardsReply:
        """The cards that the claims support with confidence; none for a kind without evidence."""
        from compiler.engines.extractive import reading

        return reading.cards(request)
