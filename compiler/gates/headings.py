"""Headings that a model or an agent wrote, as plain words."""

from __future__ import annotations

import re

from vault.text.formatting import clean_line

LONGEST_HEADING = 80  # characters
_LINK = re.compile(r"!?\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]|!?\[([^\]]*)\]\([^)]*\)")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|\bwww\.|\bmailto:)\S*", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>|<!--.*|%%.*?%%")
_MARKS = re.compile(r"[`*_~#\[\]<>|^$\\{}=]+")


def plain_heading(text: str) -> str:
    """Return a heading in plain words: without links, addresses and markup, on one line and not too long."""
    words = _LINK.sub(lambda m: m[1] or m[2] or "", clean_line(text))
    words = _MARKS.sub(" ", _ADDRESS.sub("", _TAG.sub(" ", words)))
    words = " ".join(words.split()).strip(" .,;:!-–—\ufffd")
    if len(words) <= LONGEST_HEADING:
        return words
    return words[: LONGEST_HEADING + 1].rsplit(" ", 1)[0][:LONGEST_HEADING].rstrip(" .,;:-–—")
