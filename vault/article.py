"""Concept articles: cited sentences under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault.clean import clean_line, fold
from vault.markdown import escape, unescape
from vault.note import body_of
from vault.wikilink import Citation, citations

FRESHNESS_DAYS = {"fast": 30, "normal": 90, "stable": 365}
RELATED_HEADING = "Related"
_CITED = re.compile(r"((?:[ \t]*\[\[wiki/summaries/[^\[\]|#\n]+#\^c-[0-9a-z]{10}\|\d+\]\])+)")
_MARKUP_LINE = re.compile(r"\s*(#{1,6}\s|>|[-*+]\s+\[\[|\^|<!--|!\[|```|~~~|\|)")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence in plain words and the claims it rests on; `line` is 1-based, 0 if not yet written."""

    text: str
    cites: tuple[Citation, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class ArticleSection:
    """`heading` "" is the lead."""

    heading: str
    paragraphs: tuple[tuple[CitedSentence, ...], ...]


def render_body(title: str, sections: Sequence[ArticleSection], related: Sequence[str]) -> str:
    """The body of an article: headings, cited paragraphs, and a list of links to related concepts."""
    parts = [f"# {escape(clean_line(title))}"]
    for section in sections:
        if section.heading:
            parts.append(f"## {escape(clean_line(section.heading))}")
        parts += [" ".join(_cited(s) for s in paragraph) for paragraph in section.paragraphs]
    if related:
        parts.append(f"## {RELATED_HEADING}")
        parts.append("\n".join(f"- {link}" for link in related))
    return "\n" + "\n\n".join(parts) + "\n"


def _cited(sentence: CitedSentence) -> str:
    return f"{escape(fold(sentence.text))} {' '.join(map(str, sentence.cites))}"


def sentences(text: str) -> Iterator[CitedSentence]:
    """Every sentence of an article that asserts something, with its line; one without citations has `cites` ().

    Headings, lists of links, quotes, code, tables and questions assert nothing.
    """
    body = body_of(text)
    first = text[: len(text) - len(body)].count("\n") + 1
    fence = False
    for number, line in enumerate(body.split("\n"), first):
        if line.lstrip().startswith(("```", "~~~")):
            fence = not fence
            continue
        if fence or not line.strip() or _MARKUP_LINE.match(line):
            continue
        pieces = _CITED.split(line)
        for words, cited in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
            plain = fold(unescape(words))
            if plain and not (not cited and plain.endswith("?")):
                yield CitedSentence(plain, citations(cited), number)
