"""Headings of documents as names of topics, without numbering and markup; empty ones are left out."""

from __future__ import annotations

import re
from functools import lru_cache

from compiler.language import names
from compiler.language.lexicon import pattern, words
from vault.text.formatting import clean_line

_ACRONYM = 4  # letters
LONGEST = 80  # characters of a topic's title
_NUMBERING = pattern("headings_numbering")
_LEADS = pattern("headings_leads")
_NO_MATTER = words("empty_headings")
_FUNCTION = frozenset("a an and in of on or the to for with by from our this und der die das zu zur zum".split())
_FILE_NAME = re.compile(r"\S+\.\w{1,5}$|^[\w.-]*[_\d][\w.-]*$")


@lru_cache(maxsize=50_000)
def heading_title(heading: str) -> str:
    """Return `heading` as the name of a topic; "" if it names none ("Introduction", "Results", a file name)."""
    text = clean_line(heading).replace("*", " ")
    text = " ".join(_NUMBERING.sub("", text).split()).strip(" .,;:-–—")
    text = _without_capitals(_LEADS.sub("", text) or text)
    if len(text) > LONGEST:
        text = re.split(r"\s*[:–—]\s+", text, maxsplit=1)[0]
    said = [w for w in re.findall(r"[^\W\d_]+", text.casefold()) if w not in _FUNCTION]
    if len(text) > LONGEST or all(w in _NO_MATTER for w in said) or _FILE_NAME.fullmatch(text):
        return ""
    return text[:1].upper() + text[1:] if text[:1].isalpha() and text.split()[0].islower() else text


def _without_capitals(text: str) -> str:
    """Return a heading that is all in capitals in lower case, but for short words, which may be acronyms."""
    if text.upper() != text or len(text.split()) < 2:
        return text
    return " ".join(
        w.casefold() if w.casefold() in _FUNCTION else w.capitalize() if sum(map(str.isalpha, w)) > _ACRONYM else w
        for w in text.split()
    )


@lru_cache(maxsize=50_000)
def heading_key(heading: str) -> str:
    """Return the form in which two spellings of one heading are equal."""
    title = heading_title(heading)
    return names.key(title) or names.key(clean_line(heading)) or clean_line(heading).casefold()
