"""Metadata declared for a web page: its encoding by the server; author and date by the page's structured data."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from compiler.readers.decode import decode
from compiler.readers.html_elements import parse_html
from compiler.readers.text.html import SAME_AS
from vault.errors import Unreadable
from vault.text.formatting import clean_line, normal

MAX_SCRIPT = 500_000  # characters of one piece of structured data
MAX_NODES = 20_000
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ].*)?")
MAX_AUTHORS = 20
MAX_NAME = 80  # characters
MAX_PIECES = 100  # of text in an element that may name somebody
_ARTICLES = ("article", "posting", "webpage", "report", "book", "chapter", "thesis", "creativework", "recipe", "howto")


def decode_as_declared(data: bytes, charset: str) -> bytes:
    """Return the document as UTF-8 with a byte order mark if the server's encoding fits; else unchanged.

    A byte order mark of the document's own says more than the server.
    """
    if not charset or data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data
    name = charset.lower()
    try:
        text = data.decode(SAME_AS.get(name, name))
    except (UnicodeError, LookupError, ValueError):
        return data
    return codecs.BOM_UTF8 + text.encode("utf-8", "replace")


def structured_metadata(data: bytes) -> dict[str, str]:
    """Return the `author` and `published` of a page's structured data, as far as it has them."""
    try:
        text, _ = decode(data)
        root = parse_html(normal(text))
    except Unreadable:
        return {}
    if root is None:
        return {}
    out: dict[str, str] = {}
    for script in root.iter("script"):
        kind, words = (script.get("type") or "").lower(), script.text or ""
        if len(words) > MAX_SCRIPT:
            continue
        if "ld+json" in kind:
            found = _linked_data(words)
        elif "front-matter" in kind:
            found = {"author": _listed_authors(words)}
        else:
            continue
        out |= {key: value for key, value in found.items() if value and key not in out}
    for element in root.iter():
        _attributes(element, out)
    return out


def _attributes(element: Any, out: dict[str, str]) -> None:
    """Add to `out` what an element says by microdata or by a link to its author."""
    role = element.get("itemprop")
    if role == "datePublished" and "published" not in out:
        out["published"] = _day(element.get("datetime") or element.get("content") or _first_words(element))
    elif "author" not in out and (role == "author" or "author" in (element.get("rel") or "").split()):
        name = clean_line(element.get("content") or _first_words(element))
        if name and len(name) <= MAX_NAME:
            out.setdefault("author", name)


def _first_words(element: Any) -> str:
    """Return an element's words, cut at the length of a name or date, since such elements may nest."""
    words = ""
    for piece in islice(element.itertext(), MAX_PIECES):
        words += piece[: 2 * MAX_NAME]
        if len(words) > 2 * MAX_NAME:
            break
    return " ".join(words.split())


def _day(words: str) -> str:
    """Return the ISO date in `words`, "" if there is none."""
    found = _DAY.fullmatch(clean_line(words))
    return found[1] if found else clean_line(words)[:60]


def _listed_authors(words: str) -> str:
    """Return the names below `authors:` in the front matter of a page that has one."""
    below = re.search(r"^[ \t]*authors:[ \t]*\n((?:[ \t]+-.*\n?)+)", words, re.MULTILINE)
    listed = below[1].splitlines()[:MAX_AUTHORS] if below else ()
    names = (clean_line(line[:400].strip().removeprefix("-").strip().removeprefix("author:")) for line in listed)
    return ", ".join(name for each in names if 2 <= len(name := each.partition(":")[0].strip()) <= MAX_NAME)


def _linked_data(words: str) -> dict[str, str]:
    """Return what JSON-LD says of the page's article."""
    try:
        whole = json.loads(words)
    except (ValueError, RecursionError):
        return {}
    for node in _nodes(whole):
        kinds = " ".join(_strings(node.get("@type"))).lower()
        author = ", ".join(dict.fromkeys(_names(node.get("author"))))
        published = _day(next(_strings(node.get("datePublished")), ""))
        if (author or published) and any(kind in kinds for kind in _ARTICLES):
            return {"author": author, "published": published}
    return {}


def _nodes(whole: object) -> Iterator[dict[str, Any]]:
    """Yield the mappings in a JSON value, the outer ones first, up to a limit."""
    queue: list[object] = [whole]
    for seen, node in enumerate(queue):  # grows while it is walked
        if seen > MAX_NODES:
            return
        if isinstance(node, dict):
            yield node
            queue += [v for v in node.values() if isinstance(v, dict | list)]
        elif isinstance(node, list):
            queue += [v for v in node if isinstance(v, dict | list)]


def _strings(value: object) -> Iterator[str]:
    """Yield the strings in a JSON value."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str):
            yield each


def _names(value: object) -> Iterator[str]:
    """Yield the names of the people in a JSON-LD value."""
    for each in (value if isinstance(value, list) else [value])[:MAX_AUTHORS]:
        name = each.get("name") if isinstance(each, dict) else each
        if isinstance(name, str) and 0 < len(clean_line(name)) <= MAX_NAME and "://" not in name:
            yield clean_line(name)
