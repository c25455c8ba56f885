"""Removal of what reading apps add to exported notes: Readwise's metadata, Dataview's fields."""

from __future__ import annotations

import re

from compiler.readers.front_matter import without_links
from vault.text.formatting import clean_line

MAX_HEAD = 120  # lines in which such metadata stand
_METADATA = re.compile(r"#{1,6}[ \t]+Metadata[ \t]*", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6}[ \t]")
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+(?:\*\*)?([A-Za-z][A-Za-z ]{1,30}?)(?:\*\*)?:(?:\*\*)?[ \t]*(.*)")
_FIELD = re.compile(r"(?:>[ \t]*)?(?:[-*+][ \t]+)?(?:\*\*)?([A-Za-z][\w -]{1,30}?)(?:\*\*)?::(?:\*\*)?[ \t]+(\S.*)")
_COVER = re.compile(r"!\[rw-book-cover\]\([^()\n]{0,2000}\)")
_SEE = re.compile(
    r"[ \t]*\(?\[(?:View Highlight|Location \d[\d,-]*|View (?:Tweet|in Reader)|Open in Zotero|Read on Readwise"
    r"|Page \d+)\]\((?:https?://(?:read\.)?readwise\.io/|https?://(?:twitter|x)\.com/|zotero://)[^()\n]{0,500}"
    r"\)\)?[ \t]*"
)
_TAGS = re.compile(r"[ \t]*[-*+][ \t]+(?:\*\*)?Tags:(?:\*\*)?[ \t].*")
_KNOWN = {
    "author": "author", "authors": "author", "full title": "title", "title": "title", "url": "url", "source": "source",
    "published date": "published", "published": "published", "date": "date", "year": "date", "doi": "doi",
    "category": "category", "publication date": "published", "citekey": "citekey", "itemtype": "itemType",
}  # fmt: skip


def without_export_noise(body: str) -> tuple[str, dict[str, str]]:
    """Return (`body` without what an app added, the properties in it); line numbers stay the same."""
    lines = body.split("\n")
    found = _metadata(lines)
    exported = bool(found) or "readwise.io/" in body or "zotero://" in body
    if exported:
        lines = ["" if _TAGS.fullmatch(line) else _SEE.sub("", _COVER.sub("", line)) for line in lines]
    return ("\n".join(lines) if exported else body), found


def _metadata(lines: list[str]) -> dict[str, str]:
    """Return the properties in the bullets under "## Metadata" or in `key:: value` lines at the top, and clear them."""
    found: dict[str, str] = {}
    under = False
    for number, line in enumerate(lines[:MAX_HEAD]):
        if _METADATA.fullmatch(line):
            under = True
            lines[number] = ""
            continue
        if _HEADING.match(line):
            under = False
        stated = _BULLET.fullmatch(line) if under else _FIELD.fullmatch(line)
        if stated is None:
            continue
        key = _KNOWN.get(stated[1].strip().lower())
        if key:
            value = stated[2] if key in ("url", "source", "doi") else without_links(stated[2])
            found.setdefault(key, clean_line(value).strip("# ")[:2_000])
        if key or under or line.startswith(">"):
            lines[number] = ""
    return {key: value for key, value in found.items() if value}
