"""The form of an article that a model wrote: plain headings, a defining first sentence, short paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from compiler.gates.gates import content_words
from compiler.language.lexicon import word_list
from compiler.model.report import Rejection
from compiler.model.requests import ClaimView
from vault.model.article import ArticleSection, CitedSentence
from vault.model.claim import ClaimKind
from vault.text.formatting import clean_line

LONGEST_HEADING = 80  # characters
LONGEST_PARAGRAPH = 6  # sentences
_LINK = re.compile(r"!?\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]|!?\[([^\]]*)\]\([^)]*\)")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|\bwww\.|\bmailto:)\S*", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>|<!--.*|%%.*?%%")
_MARKS = re.compile(r"[`*_~#\[\]<>|^$\\{}=]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_PRONOUN = re.compile(r"(?:it|they|this|that|these|those|such|he|she|both|er|sie|es|dies\w*|它|这|其)\b", re.IGNORECASE)
_OF_ANY_MATTER = frozenset(content_words(word_list("of_any_matter")))


def shaped(
    title: str, sections: Sequence[ArticleSection], views: Sequence[ClaimView]
) -> tuple[list[ArticleSection], list[Rejection]]:
    """Return the sections as they may be under `title`, and the headings that were refused.

    Sections of one heading become one, those without a heading go with the one before, no sentence stands twice.
    """
    known = _usable_words(title, views)
    rejections: list[Rejection] = []
    out: dict[str, ArticleSection] = {"": ArticleSection("", ())}
    said: set[str] = set()
    last = ""
    for section in sections:
        heading = plain_heading(section.heading)
        if heading and (strange := _unsupported_words(heading, known)):
            rejections.append(Rejection("heading", f"no claim of the article says {', '.join(strange)}", heading))
            heading = ""
        key = _key(heading) if _key(heading) != _key(title) else ""
        last = key or last
        paragraphs = tuple(_even_paragraphs(section.paragraphs, said))
        before = out.setdefault(last, ArticleSection(heading, ()))
        out[last] = replace(before, paragraphs=(*before.paragraphs, *paragraphs))
    kinds = {v.id: v.kind for v in views}
    return _definition_first([s for s in out.values() if s.paragraphs], title, kinds), rejections


def plain_heading(text: str) -> str:
    """Return a heading in plain words: without links, addresses and markup, on one line and not too long."""
    words = _LINK.sub(lambda m: m[1] or m[2] or "", clean_line(text))
    words = _MARKS.sub(" ", _ADDRESS.sub("", _TAG.sub(" ", words)))
    words = " ".join(words.split()).strip(" .,;:!-–—\ufffd")
    if len(words) <= LONGEST_HEADING:
        return words
    return words[: LONGEST_HEADING + 1].rsplit(" ", 1)[0][:LONGEST_HEADING].rstrip(" .,;:-–—")


def _key(heading: str) -> str:
    """Return a heading in the form in which equal headings are equal."""
    return " ".join(heading.casefold().split())


def _usable_words(title: str, views: Sequence[ClaimView]) -> tuple[frozenset[str], frozenset[str]]:
    """Return (content words, numbers) that headings may use: those of the claims and general ones."""
    said = [title, *(t for v in views for t in (v.words, v.quote, *v.about, *v.mentions))]
    words = {w for text in said for w in content_words(text)}
    return frozenset(words) | _OF_ANY_MATTER, frozenset(n for text in said for n in _NUMBER.findall(text))


def _unsupported_words(heading: str, known: tuple[frozenset[str], frozenset[str]]) -> list[str]:
    """Return the words and numbers of a heading that no claim has."""
    words, numbers = known
    strange = [w for w in content_words(heading) if w not in words and not w[0].isdigit()]
    return [*strange, *(n for n in _NUMBER.findall(heading) if n not in numbers)]


def _even_paragraphs(
    paragraphs: Sequence[Sequence[CitedSentence]], said: set[str]
) -> Iterator[tuple[CitedSentence, ...]]:
    """Yield the paragraphs without sentences that `said` has, long ones split into even parts."""
    for paragraph in paragraphs:
        new = []
        for sentence in paragraph:
            if sentence.text not in said:
                said.add(sentence.text)
                new.append(sentence)
        parts = -(-len(new) // LONGEST_PARAGRAPH)
        for n in range(parts):
            yield tuple(new[n * len(new) // parts : (n + 1) * len(new) // parts])


def _definition_first(
    sections: list[ArticleSection], title: str, kinds: Mapping[str, ClaimKind]
) -> list[ArticleSection]:
    """Return the sections with a sentence that defines the concept first, if one of them does."""
    said = [s for section in sections for paragraph in section.paragraphs for s in paragraph]
    first = next((s for s in said if _defines(s, title, kinds)), None)
    if first is None or first is said[0]:
        return sections
    rest = [replace(s, paragraphs=_without(s.paragraphs, first)) for s in sections]
    lead = rest.pop(0).paragraphs if not rest[0].heading else ()
    opening = ((first, *lead[0]), *lead[1:]) if lead and len(lead[0]) < LONGEST_PARAGRAPH else ((first,), *lead)
    return [ArticleSection("", opening), *(s for s in rest if s.paragraphs)]


def _defines(sentence: CitedSentence, title: str, kinds: Mapping[str, ClaimKind]) -> bool:
    """Return whether a sentence rests on a definition and names the concept."""
    if not any(kinds.get(c.claim) is ClaimKind.DEFINITION for c in sentence.cites) or _PRONOUN.match(sentence.text):
        return False
    return set(content_words(title)) <= set(content_words(sentence.text))


def _without(
    paragraphs: Sequence[tuple[CitedSentence, ...]], gone: CitedSentence
) -> tuple[tuple[CitedSentence, ...], ...]:
    """Return the paragraphs without one sentence."""
    kept = (tuple(s for s in paragraph if s is not gone) for paragraph in paragraphs)
    return tuple(p for p in kept if p)
