"""Clippings: a page from the web as harmless Markdown with title, author and date.

Runs in the reading process: a page is parsed only there.
"""

from __future__ import annotations

import base64
from dataclasses import asdict, dataclass
from typing import Any

from compiler.readers.read import read_source
from compiler.readers.text.metadata import decode_as_declared, structured_metadata
from compiler.readers.web.clip_body import render_body
from vault.text.formatting import clean_line

MAX_WORDS = 500  # characters of a title, an author, a description


@dataclass(frozen=True, slots=True)
class Clip:
    """A clipping. `markdown` is the body without front matter, `characters` its length; "" is what is unknown."""

    title: str
    author: str
    published: str
    description: str
    language: str
    markdown: str
    characters: int


def clip(data: bytes, name: str, charset: str, address: str) -> Clip:
    """Return the clipping of a document from the web address `address`, served in `charset` ("" if unknown).

    `name` ends in what says the document's kind (".html", ".md") and stands in for a missing title.
    Raises: Unreadable if there is no text in it.
    """
    data = decode_as_declared(data, charset)
    source = read_source(data, name)
    said = {**(structured_metadata(data) if name.endswith(".html") else {}), **source.properties}

    def words(*keys: str) -> str:
        found = next((said[k] for k in keys if said.get(k)), "")
        return clean_line(found)[:MAX_WORDS]

    return Clip(
        title=clean_line(source.title)[:MAX_WORDS],
        author=words("author", "authors"),
        published=words("published", "date"),
        description=words("description"),
        language=source.language,
        markdown=render_body(source, address),
        characters=len(source.text),
    )


def answer_clip(message: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to {"op": "clip", "data": base64, "name", "charset", "address"}. Raises: Unreadable."""
    data = base64.b64decode(message["data"])
    return {"clip": asdict(clip(data, message["name"], message["charset"], message["address"]))}
