"""Names that a segment offers for concepts, from its structure and from its definitions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from compiler.engines.extractive.grammar import verbs
from compiler.language import names
from compiler.model.requests import ExtractRequest, Signal, Span, Term

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


_DEFINES_BEFORE = re.compile(
    r"(?:\b(?:called|termed|named|dubbed|known as|referred to as|refer to (?:\w+ ){1,3}as|defined as|"
    r"the (?:term|concept|notion|idea) of|the term)|heißt|heißen|genannt)\s+(?:an? |the |“|\")?$",
    re.IGNORECASE,
)
SLANTED = 1  # the level of an emphasis that is told from a stronger one


_QUOTED = re.compile(
    r"\b(?:an?|the|multiple|called|termed|known as|named|of|as|method|methods) "
    r"[\"“”](?P<name>[a-z][a-z-]*(?: [a-z][a-z-]*){1,3})[.,]?[\"”]"
)


def run_in_heading(request: ExtractRequest, start: int) -> tuple[str, ...]:
    """The names in a bold heading with which the paragraph at `start` begins: "Early stopping. The model is ..."."""
    for mark in request.marks:
        if mark.kind != "emphasis" or mark.level == SLANTED or not start - 80 <= mark.start <= start:
            continue
        begins = mark.start == 0 or request.text[mark.start - 1] == "\n"
        text = request.text[mark.start : mark.end].rstrip(" .:")
        ends = request.text[mark.end - 1] in ".:" or request.text[mark.end : mark.end + 1] in (".", ":", " ")
        if begins and ends and mark.end >= start - 2 and text[:1].isupper():
            return tuple(_heading_names(text, request.language))
    return ()


def _quoted(request: ExtractRequest, start: int, end: int) -> Iterator[str]:
    """Names of two words and more in quotation marks."""
    for match in _QUOTED.finditer(request.text, start, end):
        if request.language in ("", "en") and names.is_name(match["name"]):
            yield names.bare(match["name"])


def introduced(request: ExtractRequest, start: int, end: int) -> list[str]:
    """The names that emphasis introduces between the two offsets of the segment's text."""
    found = []
    for mark in request.marks:
        if mark.kind in ("emphasis", "term") and start <= mark.start and mark.end <= end:
            found += [t.name for t in _marked(request, mark)]
    found += _quoted(request, start, end)
    return list(dict.fromkeys(found))


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
    for name in _quoted(request, 0, len(request.text)):
        yield Term(name=name, signal="emphasis")
    for short, long in names.acronym_pairs(request.text):
        if names.is_name(long, language):
            yield Term(name=long, aliases=(short,), signal="acronym")


_INDEX = re.compile(
    r"^(?:(?:general|subject) index|index|(?:sach|stichwort)?(?:register|verzeichnis)|索引)$", re.IGNORECASE
)
_INDEX_ENTRY = re.compile(
    r"^(?P<name>[^\n\d,][^\n,]{1,60}),(?: (?:see|in|of)\b[^\n\d]{2,40},)? \d+(?:[–-]\d+)?(?:, \d+(?:[–-]\d+)?)*$",
    re.MULTILINE,
)
_INDEX_ALIAS = re.compile(r"^(?P<long>.+?)\s*\((?P<short>[^()]{2,12})\)$")


def topics_of(request: ExtractRequest) -> tuple[str, ...]:
    """What the segment's section is about: the names in the last heading that has one, else in the title."""
    for heading in (*reversed(request.headings), request.title):
        if found := tuple(_heading_names(heading, request.language)):
            return found
    return ()


def index_terms(request: ExtractRequest) -> Iterator[Term]:
    """The names that a book's index lists with page numbers; nothing from a segment that is no index."""
    if not any(_INDEX.match(h.strip()) for h in request.headings):
        return
    found = [m["name"].strip() for m in _INDEX_ENTRY.finditer(request.text)]
    for name in _in_order(found):
        match = _INDEX_ALIAS.match(name)
        long, short = (match["long"], match["short"]) if match else (name, "")
        if names.is_name(long, request.language):
            aliases = (short,) if short and names.is_acronym(short) else ()
            yield Term(name=names.bare(long), aliases=aliases, signal="index")


def _in_order(entries: list[str]) -> list[str]:
    """The longest run of `entries` in the order of the alphabet: what is out of it stands under another entry."""
    keys = [re.sub(r"\W+", " ", e.casefold()) for e in entries]
    tops: list[int] = []  # index of the smallest last entry of a run of each length
    before: list[int] = [-1] * len(keys)
    for i, key in enumerate(keys):
        at = bisect_right(tops, key, key=lambda j: keys[j])
        before[i] = tops[at - 1] if at else -1
        tops[at : at + 1] = [i]
    run, i = [], tops[-1] if tops else -1
    while i >= 0:
        run.append(entries[i])
        i = before[i]
    return run[::-1]


_GOVERNS = re.compile(r"\S (?:of|between|for) \S")


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
        elif len(parts) > 1 and _GOVERNS.search(parts[0]):
            parts = parts[1:]  # "A hybrid of sail and steam": what stands before "of" belongs to both
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
        defines = bool(_DEFINES_AFTER.match(text[mark.end : mark.end + 80]))
        called = _DEFINES_BEFORE.search(text[max(0, mark.start - 40) : mark.start])
        if mark.level == SLANTED and not called and not (defines and " " in text[mark.start : mark.end].strip()):
            return None  # italics set off examples, too, as bold type does not
        starts_line = mark.start == 0 or text[mark.start - 1] == "\n"
        return "item" if starts_line and defines else "emphasis"
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
