"""The documents of a build as passages, with look-ups of blocks, words and names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from compiler.protocol.citations import letters, pieces
from compiler.protocol.documents import view
from compiler.protocol.passages import Block, Document, Passage, ref
from compiler.protocol.replies import Quote
from vault.text.formatting import clean_line

Place = tuple[Document, Passage, str]  # a piece of a passage by its letter


@dataclass
class Shelf:
    """All documents in the order of their arrival."""

    documents: Sequence[Document]
    faults: dict[tuple[str, str, tuple[Quote, ...]], str] = field(default_factory=dict)  # what rules found already
    _places: dict[tuple[str, str], int] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> dict[str, Document]:
        """Return the documents by the ids of their sources."""
        return {d.id: d for d in self.documents}

    @cached_property
    def blocks(self) -> dict[str, tuple[Document, Passage, Block]]:
        """Return the blocks of all documents by reference, in order."""
        return {
            ref(d.id, block.key): (d, passage, block)
            for d in self.documents
            for passage in d.passages
            for block in passage.blocks
        }

    def place(self, quote: Quote) -> int:
        """Return where the words of a quote begin in their source; -1 if they are not there."""
        key = (quote.source, quote.words)
        if key not in self._places:
            document = self.by_id.get(quote.source)
            span = document.folded.find(quote.words) if document is not None else None
            self._places[key] = span[0] if span is not None else -1
        return self._places[key]

    def stands(self, quotes: Iterable[Quote]) -> bool:
        """Return whether all quotes stand in their sources, and there is one."""
        found = [self.place(q) >= 0 for q in quotes]
        return bool(found) and all(found)

    def passage_of(self, quote: Quote) -> tuple[Document, Passage] | None:
        """Return the passage in which a quote begins; None if its source has it in none."""
        at, document = self.place(quote), self.by_id.get(quote.source)
        if document is None or at < 0:
            return None
        starts = document.starts
        n = bisect_right(starts, at) - 1
        return (document, document.passages[n]) if n >= 0 else None

    def labels(self, quotes: Iterable[Quote]) -> list[Place]:
        """Return where quotes stand, in order: passage and letter, "" for all of a passage."""
        found = []
        for quote in quotes:
            place = self.passage_of(quote)
            if place is not None:
                document, passage = place
                shown = view(document, 1, [passage]).passages[0]
                spots = pieces(shown)
                words = [n for n, piece in enumerate(spots) if piece in quote.words or quote.words in piece]
                known = letters(len(spots)) if len(spots) > 1 else [""]
                found += [(document, passage, known[n]) for n in words] or [(document, passage, "")]
        order = {d.id: n for n, d in enumerate(self.documents)}
        return sorted(found, key=lambda p: (order[p[0].id], p[1].number, p[2]))

    def passage_text(self, quote: Quote) -> str:
        """Return the passage that holds a quote, with its headings; the quote itself if none does."""
        found = self.passage_of(quote)
        if found is None:
            return quote.words
        document, passage = found
        text = "\n".join(document.words(b) for b in passage.blocks)
        return "\n".join((clean_line(document.text.title), " ".join(passage.headings), text, quote.words))
