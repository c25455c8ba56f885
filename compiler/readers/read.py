"""The entry point of all readers: from a file's bytes and name to its source text."""

from __future__ import annotations

import importlib
import re
from pathlib import PurePosixPath

from compiler.language.detection import language_of
from compiler.readers.formats import HEAD, READERS, content_mismatch, kind_of
from compiler.readers.front_matter import canonical_properties
from compiler.readers.page import Page
from compiler.sources.segments import segments
from vault.errors import Unreadable
from vault.model.source import Mark, MarkKind, Problem, SourceText
from vault.text.formatting import clean_line

MAX_FILE = 200 * 1024 * 1024  # bytes
_SITE = re.compile(r"\s+[-|–—·:]\s+\S")


def read_source(data: bytes, name: str) -> SourceText:
    """Return the source text of a document, from its bytes and file name alone.

    Raises: Unreadable, with one clear line, if there is no text to be had.
    """
    if len(data) > MAX_FILE:
        raise Unreadable(f"larger than {MAX_FILE // 1024 // 1024} MiB", hint="split the document")
    if not data:
        raise Unreadable("the file is empty")
    if not data.strip():
        raise Unreadable("the file holds nothing but white space")
    kind = kind_of(name, data[:HEAD])
    what = content_mismatch(kind, data[:HEAD])
    if what is not None:
        raise Unreadable(f"{what}, whatever its name says", hint="give it the right suffix")
    reader = READERS.get(kind)
    if reader is None:
        raise Unreadable("no reader for this kind of file")
    page = Page()
    module = importlib.import_module(f"compiler.readers.{reader.module}")
    properties, problems = module.read(data, name, page)
    return _source(f"{kind}/{reader.version}", page, canonical_properties(properties), name, problems)


def _source(reader: str, page: Page, properties: dict[str, str], name: str, problems: list[Problem]) -> SourceText:
    """Return the finished source text; its title is the document's own, else its first heading, else the file name."""
    title = properties.get("title", "") or (clean_line(page.title.words) if page.title else "")
    top = next((h for h in page.headings if h.level == 1), None) or next(iter(page.headings), None)
    if top is not None and _SITE.match(title, len(top.words)) and title.casefold().startswith(top.words.casefold()):
        title = ""  # "Heading - Site": the heading is the title
    if page.title is None and top is not None and (not title or title.casefold() == top.words.casefold()):
        title = title or clean_line(top.words)
        page.mark(MarkKind.TITLE, top.start, top.end)
    text, marks, places = page.finish()
    if not text.strip():
        raise Unreadable("no text in it, only white space or markup")
    return SourceText(
        reader=reader,
        text=text,
        title=title or clean_line(PurePosixPath(name).stem) or "untitled",
        language=language_of(_prose(text, marks)),
        segments=segments(text, marks),
        marks=marks,
        places=places,
        properties=properties,
        problems=tuple(problems),
        pictures=page.pictures,
    )


def _prose(text: str, marks: tuple[Mark, ...]) -> str:
    """Return the text without code blocks where it is mostly code, for the detection of its language."""
    blocks = [m for m in marks if m.kind is MarkKind.CODE and text[m.start - 2 : m.start] in ("", "\n\n")]
    if sum(m.end - m.start for m in blocks) * 3 < len(text):
        return text
    ends = [0, *(m.end for m in blocks)]
    return "".join(text[at : m.start] for at, m in zip(ends, blocks, strict=False)) + text[ends[-1] :]
