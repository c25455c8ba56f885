"""Documents as requests show them, read by the real readers."""

from __future__ import annotations

from compiler.protocol.documents import view
from compiler.protocol.passages import Document
from compiler.protocol.requests import DocumentView
from compiler.readers.read import read_source

IDS = ("a" * 10, "b" * 10, "c" * 10)


def document(text: str, number: int = 1, name: str = "notes.md") -> Document:
    """A document as a build reads it."""
    return Document(IDS[number - 1], f"raw/{name}", read_source(text.encode(), name))


def shown(*texts: str) -> tuple[DocumentView, ...]:
    """Documents in full, as a request shows them."""
    made = [document(text, number) for number, text in enumerate(texts, 1)]
    return tuple(view(d, number, d.passages) for number, d in enumerate(made, 1))
