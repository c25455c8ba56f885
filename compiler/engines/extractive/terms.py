"""Names that a segment offers for concepts, from its structure and from its definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler import names
from compiler.engines.extractive import verbs
from compiler.engines.port import ExtractRequest, Signal, Span, Term

_JOINED = re.compile(r"\s*(?:,\s*(?:and|or)\s+|,|;|\s(?:and|or|vs\.?|versus|und|oder)\s|与|和|、|\s/\s)\s*")
_COLON = re.compile(r"\s*[:：–—]\s+|[:：]")
_LEAD = re.compile(
    r"^(?:introduction to|overview of|an? introduction to|what (?:is|are)|the (?:idea|concept|notion|problem|role|"
    r"importance) of|understanding|"
    r"how (?:does|do)|using|training|implementing|the case for|why|was (?:ist|sind)|einführung in|什么是)\s+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s+(?:works?|explained|revisited|in (?:practice|detail|action|a nutshell|pytorch|tensorflow|python)|from "
    r"scratch|\(optional\)|at a glance)\??$",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3400-\u9fff]")
_DEFINES_AFTER = re.compile(
    r"^[*_\"”’]*\s*(?:\([^)]{1,60}\)\s*)?(?:[:：–—]|-\s|(?:is|are|refers? to|means?|ist|sind|heißt|bezeichnet)\s|"
    r"(?:是|指))"
)


def structure_terms(request: ExtractRequest) -> Iterator[Term]:
    """Terms from headings, title, emphasis, list items, glossary terms and link texts, and the acronyms of the text."""
    language = request.language
    for name in _heading_names(request.title, language):
        yield Term(name=name, signal="title")
    for heading in request.headings[-1:]:
        for name in _heading_names(heading, language):
            yield Term(name=name, signal="heading")
    for mark in request.marks:
        yield from _marked(request, mark)
    for short, long in names.acronym_pairs(request.text):
        if names.is_name(long, language):
            yield Term(name=long, aliases=(short,), signal="acronym")


def _heading_names(heading: str, language: str) -> Iterator[str]:
    """The names in one heading: itself, what stands before a colon, the two sides of an "and"."""
    text = _TAIL.sub("", _LEAD.sub("", names.bare(heading)))
    seen: set[str] = set()
    for whole in dict.fromkeys((text, *_COLON.split(text, maxsplit=1))):
        parts = [whole] if names.is_name(whole, language) else _JOINED.split(whole)
        if len(parts) > 3:
            continue
        if len(parts) > 1 and len(parts[0].split()) == 1 < len(parts[-1].split()):
            parts = parts[1:]  # "Expanding or equal gaps": the first has no noun of its own
        for part in parts:
            name = names.bare(_LEAD.sub("", part))
            if name not in seen and names.is_name(name, language):
                seen.add(name)
                yield name


def _marked(request: ExtractRequest, mark: Span) -> Iterator[Term]:
    text = request.text[mark.start : mark.end]
    if len(text) > names.MAX_CHARS + 40 or "\n\n" in text:
        return
    signal = _signal(request.text, mark)
    if signal is None:
        return
    name = names.bare(text)
    if names.is_name(name, request.language) and _is_noun_like(text, request.text, mark):
        yield Term(name=name, signal=signal)


def _signal(text: str, mark: Span) -> Signal | None:
    if mark.kind == "term":
        return "glossary"
    if mark.kind == "link":
        return "link"
    if mark.kind == "emphasis":
        after = text[mark.end : mark.end + 80]
        starts_line = mark.start == 0 or text[mark.start - 1] == "\n"
        return "item" if starts_line and _DEFINES_AFTER.match(after) else "emphasis"
    return None


def _is_noun_like(text: str, whole: str, mark: Span) -> bool:
    """Whether emphasised words are set off as a name; "*only* this", "**Note:**", "the *best* way" are stress."""
    if mark.kind == "term" or _CJK.search(text):
        return True
    words = text.split()
    if len(words) == 1 and _is_verb(text.casefold()):
        return False
    if len(words) == 1 and text.islower():
        after = whole[mark.end : mark.end + 20].lstrip('*_"”’ ')
        # A lone lower-case word before another word of its phrase is an adjective that is stressed.
        return (
            not re.match(r"[a-z]{3,}", after)
            or bool(_DEFINES_AFTER.match(whole[mark.end : mark.end + 40]))
            or bool(
                re.match(
                    r"(?:of|in|for|and|or|that|which|is|are|to|by|with|as|on|from|at|can|has|have|was|were|does|do)\b",
                    after,
                )
            )
        )
    return not text.rstrip().endswith((".", "!", "?"))


def _is_verb(low: str) -> bool:
    """Whether a lone word is a verb and rarely a noun: linguists and programmers set such words off too."""
    readings = verbs.forms(low)
    finite = any(r.tag in ("VB", "VBZ", "VBD") for r in readings)
    return low in ("likes", "like", "gave", "ate") or (finite and not any(verbs.may_be_noun(r.lemma) for r in readings))
