"""The documents of a build as passages, with look-ups of blocks, words and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from compiler.protocol.passages import Block, Document, Passage, ref
from compiler.protocol.replies import Quote
from vault.text.formatting import clean_line, fold


@dataclass
class Shelf:
    """All documents in the order of their arrival."""

    documents: Sequence[Document]
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

    def passage_text(self, quote: Quote) -> str:
        """Return the passage that holds a quote, with its headings; the quote itself if none does."""
        at, document = self.place(quote), self.by_id.get(quote.source)
        if document is None or at < 0:
            return quote.words
        for passage in document.passages:
            if passage.blocks[0].start <= at < passage.blocks[-1].end:
                text = "\n".join(document.words(b) for b in passage.blocks)
                return "\n".join((clean_line(document.text.title), " ".join(passage.headings), text, quote.words))
        return quote.words

    def naming(self, names: Sequence[str]) -> Iterator[tuple[Document, Passage]]:
        """Yield the passages that name one of `names` as whole words, in order."""
        wanted = [re.escape(fold(n)).replace(r"\ ", r"[\s-]+") for n in names if len(n) > 2]
        if not wanted:
            return
        pattern = re.compile(
            rf"(?<!\w)(?:{'|'.join(sorted(wanted, key=len, reverse=True))})(?:s|es)?(?!\w)", re.IGNORECASE
        )
        for document in self.documents:
            if pattern.search(document.text.text) is None:
                continue
            for passage in document.passages:
                first, last = passage.blocks[0].start, passage.blocks[-1].end
                if pattern.search(document.text.text, first, last):
                    yield document, passage
