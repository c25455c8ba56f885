"""Raw document -> source text: which reader a document needs, and the reading."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Literal

from compiler.readers.decode import decode
from compiler.readers.html import read_html
from compiler.readers.language import language_of
from compiler.readers.markdown import read_markdown
from compiler.readers.pdf import read_pdf
from compiler.readers.page import Page
from compiler.segment import segments
from vault.clean import clean_line, normal
from vault.errors import Unreadable
from vault.note import read_properties
from vault.source import MarkKind, Problem, SourceText

Kind = Literal["markdown", "text", "html", "pdf", "image", "unsupported"]

MAX_FILE = 200 * 1024 * 1024  # bytes
HEAD = 4096  # bytes that tell a document's kind
MAX_PROPERTY = 2_000  # characters of one property's text
_FOREIGN_FRONT = re.compile(r"---[ \t]+\S.*\n(?:(?!---).*\n){0,200}?---[ \t]*(?:\n|\Z)")


def read_source(data: bytes, name: str) -> SourceText:
    """The source text of a document, from its bytes and file name alone.

    Raises: Unreadable with one clear line if there is no text to be had.
    """
    if len(data) > MAX_FILE:
        raise Unreadable(f"larger than {MAX_FILE // 1024 // 1024} MiB", hint="split the document")
    if not data:
        raise Unreadable("the file is empty")
    if not data.strip():
        raise Unreadable("the file holds nothing but white space")
    kind = kind_of(name, data[:HEAD])
    if kind == "markdown":
        return _read_markdown(data, name)
    if kind == "html":
        return _read_html(data, name)
    if kind == "pdf":
        page = Page()
        properties, problems = read_pdf(data, page)
        return _source("pdf/1", page, properties, name, problems)
    raise Unreadable("no reader")


def kind_of(name: str, head: bytes) -> Kind:
    return "pdf" if name.endswith("pdf") else "html" if name.endswith("html") else "markdown"


def _read_html(data: bytes, name: str) -> SourceText:
    page = Page()
    properties, problems = read_html(data, page)
    return _source("html/1", page, properties, name, problems)


def _read_markdown(data: bytes, name: str) -> SourceText:
    decoded, problems = decode(data)
    text = normal(decoded)
    front = read_properties(text)
    problems += front.problems
    body = front.body
    foreign = _FOREIGN_FRONT.match(text)
    if not front.problems and not body and foreign:
        problems.append(Problem("front-matter-foreign", "the front matter is not YAML: left out", 1))
        body = foreign.end()
    page = Page()
    read_markdown(text[body:], name, page, text.count("\n", 0, body) + 1)
    properties = {str(k)[:200]: _words(v) for k, v in front.values.items()}
    return _source("markdown/1", page, properties, name, problems)


def _words(value: object) -> str:
    """A front matter value as one string; the items of a list parted by commas."""
    if isinstance(value, str):
        return clean_line(value)[:MAX_PROPERTY]
    if isinstance(value, list):
        return ", ".join(_words(v) for v in value[:100] if isinstance(v, str))[:MAX_PROPERTY]
    return ""


def _source(reader: str, page: Page, properties: dict[str, str], name: str, problems: list[Problem]) -> SourceText:
    title = properties.get("title", "")
    top = next((h for h in page.headings if h[1] == 1), None) or next(iter(page.headings), None)
    if top is not None and (not title or title.casefold() == top[0].casefold()):
        title = title or top[0]
        page.mark(MarkKind.TITLE, top[2], top[3])
    text, marks, places = page.finish()
    if not text.strip():
        raise Unreadable("no text in it")
    return SourceText(
        reader=reader,
        text=text,
        title=title or clean_line(PurePosixPath(name).stem),
        language=language_of(text),
        segments=segments(text, marks),
        marks=marks,
        places=places,
        properties=properties,
        problems=tuple(problems),
    )
