"""Raw document -> source text: which reader a document needs, and the reading."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath
from typing import Literal

from compiler.readers.decode import decode
from compiler.readers.language import language_of
from compiler.readers.page import Page
from compiler.segment import segments
from vault.clean import clean_line, normal
from vault.errors import Unreadable
from vault.note import read_properties
from vault.source import MarkKind, Problem, SourceText

Kind = Literal["markdown", "text", "html", "pdf", "image", "unsupported"]

READABLE: frozenset[Kind] = frozenset(("markdown", "text", "html", "pdf"))
MAX_FILE = 200 * 1024 * 1024  # bytes
HEAD = 4096  # bytes that are enough to tell a document's kind
MAX_MARKDOWN = 4 * 1024 * 1024  # characters; the parser needs seconds for each million, so more is read as plain text
MAX_MARKDOWN_LINES = 100_000
MAX_PROPERTY = 2_000  # characters of one property's text

_SUFFIXES: dict[str, Kind] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"), "markdown"),
    **dict.fromkeys((".txt", ".text"), "text"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".pdf": "pdf",
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico", ".heic"), "image"),
    **dict.fromkeys((".avif", ".svg"), "image"),
}  # fmt: skip
_MAGIC: tuple[tuple[bytes, int, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "a PNG picture"),
    (b"\xff\xd8\xff", 0, "a JPEG picture"),
    (b"GIF87a", 0, "a GIF picture"),
    (b"GIF89a", 0, "a GIF picture"),
    (b"WEBP", 8, "a WebP picture"),
    (b"BM", 0, "a BMP picture"),
    (b"II*\x00", 0, "a TIFF picture"),
    (b"MM\x00*", 0, "a TIFF picture"),
    (b"ftypheic", 4, "a HEIC picture"),
    (b"ftypavif", 4, "an AVIF picture"),
    (b"PK\x03\x04", 0, "a zip archive or office document"),
    (b"\xd0\xcf\x11\xe0", 0, "an old office document"),
    (b"\x1f\x8b", 0, "a gzip archive"),
    (b"{\\rtf", 0, "a rich text document"),
    (b"%!PS", 0, "a PostScript document"),
    (b"\x7fELF", 0, "a program"),
    (b"SQLite format 3\x00", 0, "a database"),
)
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_FOREIGN_FRONT = re.compile(r"---[ \t]+\S.*\n(?:(?!---).*\n){0,200}?---[ \t]*(?:\n|\Z)")
_SITE = re.compile(r"\s+[-|–—·:]\s+\S")
_EMPTY_FRONT = re.compile(r"---[ \t]*\n---[ \t]*(?:\n|\Z)")


def kind_of(name: str, head: bytes) -> Kind:
    """The kind of a document, by its name and its first bytes.

    A name that promises text keeps its kind whatever the bytes are, so that reading it says what is wrong; bytes that
    are a PDF or a web page are read as that under any other name.
    """
    suffix = PurePosixPath(name.lower()).suffix
    kind = _SUFFIXES.get(suffix)
    if b"%PDF-" in head[:1024] and kind in (None, "pdf", "text", "markdown"):
        return "pdf"
    if kind is not None:
        return "html" if kind == "text" and _HTML_START.match(head) else kind
    known = _magic(head)
    if known is not None:
        return "image" if "picture" in known else "unsupported"
    return "text" if not suffix and _is_prose(head) else "unsupported"


def _magic(head: bytes) -> str | None:
    """What a file is by its first bytes, None if they tell nothing."""
    return next((what for magic, at, what in _MAGIC if len(head) > at + 3 and head.startswith(magic, at)), None)


def _is_prose(head: bytes) -> bool:
    """Whether the bytes are UTF-8 text that mostly consists of words."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head[:HEAD])
    except UnicodeDecodeError:
        return False
    return bool(text.strip()) and sum(c.isalpha() or c.isspace() for c in text) >= 0.75 * len(text)


def read_source(data: bytes, name: str) -> SourceText:
    """The source text of a document, from its bytes and file name alone.

    Raises: Unreadable, with one clear line, if there is no text to be had.
    """
    if len(data) > MAX_FILE:
        raise Unreadable(f"larger than {MAX_FILE // 1024 // 1024} MiB", hint="split the document")
    if not data:
        raise Unreadable("the file is empty")
    if not data.strip():
        raise Unreadable("the file holds nothing but white space")
    kind = kind_of(name, data[:HEAD])
    if kind == "pdf":
        return _read_pdf(data, name)
    what = _magic(data[:HEAD])
    if what is not None and not _is_prose(data[:HEAD]):
        raise Unreadable(f"{what}, whatever its name says", hint="give it the right suffix")
    if kind == "markdown":
        return _read_markdown(data, name)
    if kind == "html":
        return _read_html(data, name)
    if kind == "text":
        return _read_text(data, name)
    raise Unreadable("no reader for this kind of file")


def _read_markdown(data: bytes, name: str) -> SourceText:
    decoded, problems = decode(data)
    text = normal(decoded)
    front = read_properties(text)
    problems += front.problems
    body = front.body
    foreign = None if front.problems or body else _FOREIGN_FRONT.match(text)
    if foreign is not None:
        problems.append(Problem("front-matter-foreign", "the front matter is not YAML: left out", 1))
        body = foreign.end()
    elif _EMPTY_FRONT.match(text):
        problems.append(Problem("front-matter-empty", "nothing stands between the two --- of the front matter", 1))
    page = Page()
    first_line = text.count("\n", 0, body) + 1
    if len(text) - body > MAX_MARKDOWN or text.count("\n", body) > MAX_MARKDOWN_LINES:
        from compiler.readers.text import read_text

        message = f"more than {MAX_MARKDOWN:,} characters or {MAX_MARKDOWN_LINES:,} lines: read as plain text"
        problems.append(Problem("markdown-too-long", message, first_line))
        read_text(text[body:], page, first_line)
    else:
        from compiler.readers.markdown import read_markdown

        read_markdown(text[body:], name, page, first_line)
    properties = {clean_line(key)[:200]: _words(value) for key, value in front.values.items()}
    return _source("markdown/1", page, properties, name, problems)


def _read_text(data: bytes, name: str) -> SourceText:
    from compiler.readers.text import read_text

    decoded, problems = decode(data)
    page = Page()
    read_text(normal(decoded), page, 1)
    return _source("text/1", page, {}, name, problems)


def _read_html(data: bytes, name: str) -> SourceText:
    from compiler.readers.html import read_html

    page = Page()
    properties, problems = read_html(data, page)
    return _source("html/1", page, properties, name, problems)


def _read_pdf(data: bytes, name: str) -> SourceText:
    from compiler.readers.pdf import read_pdf

    page = Page()
    properties, problems = read_pdf(data, page)
    return _source("pdf/1", page, properties, name, problems)


def _words(value: object) -> str:
    """A front matter value as one string; the items of a list parted by commas."""
    if isinstance(value, str):
        return clean_line(value)[:MAX_PROPERTY]
    if isinstance(value, list):
        return ", ".join(filter(None, map(_words, (v for v in value[:100] if isinstance(v, str)))))[:MAX_PROPERTY]
    return ""


def _source(reader: str, page: Page, properties: dict[str, str], name: str, problems: list[Problem]) -> SourceText:
    """The finished source text; its title is the document's own, else its first heading, else the file's name."""
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
        language=language_of(text),
        segments=segments(text, marks),
        marks=marks,
        places=places,
        properties=properties,
        problems=tuple(problems),
    )
