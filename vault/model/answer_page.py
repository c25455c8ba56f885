"""The page of a filed answer as it is in its file: what it says, what it cites, and words of sources that it holds.

Such words are a block `> words`, `> place and claims`, `^q-key`, and are cited as `[[#^q-key|q1]]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault.layout import SUMMARIES
from vault.model.article import CitedSentence, sentences
from vault.model.frontmatter import Properties, read_properties
from vault.model.markdown import unescape
from vault.model.wikilink import Citation, citations
from vault.text.formatting import clean_line, fold

HERE = f"{SUMMARIES}/-"  # stands for the page itself in a citation of its own quotes: no source has that name
_QUOTE = re.compile(r"^> (?P<words>.*)\n>[ \t]*\n> (?P<about>.*)\n\n\^q-(?P<key>[0-9a-z]{10})[ \t]*$", re.MULTILINE)
_MISSING = re.compile(r"^> \[!missing\].*$", re.MULTILINE)
_OWN_CITE = re.compile(r"\[\[#\^q-([0-9a-z]{10})\|q(\d{1,3})\]\]")


@dataclass(frozen=True, slots=True)
class PageQuote:
    """Words of a source in the page of an answer; `cites` are the claims that stand in them."""

    key: str
    words: str
    path: str  # of the source
    line: int
    cites: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """The page of an answer. `text` is what it says: without its quotes, which it cites as claims of `HERE`.

    `claims` maps the ids of the claims that it was made of to digests of their quotes.
    """

    properties: Properties
    text: str
    quotes: tuple[PageQuote, ...]
    claims: Mapping[str, str]

    @property
    def question(self) -> str:
        return clean_line(self.properties.text("question") or self.properties.text("title"))

    @property
    def sentences(self) -> tuple[CitedSentence, ...]:
        """Return its sentences with what they cite."""
        return tuple(sentences(self.text))


def parse_page(text: str) -> AnswerPage:
    """Return the page of an answer."""
    text = text.replace("\r\n", "\n")
    properties = read_properties(text)
    paths = dict(_pairs(properties.texts("quotes")))
    quotes = [
        PageQuote(
            found["key"],
            fold(unescape(found["words"])),
            paths.get(found["key"], ""),
            text.count("\n", 0, found.start()) + 1,
            citations(found["about"]),
        )
        for found in _QUOTE.finditer(text)
    ]
    rest = _QUOTE.sub(_blank, _MISSING.sub("", text))
    rest = _OWN_CITE.sub(rf"[[{HERE}#^c-\1|\2]]", rest)
    return AnswerPage(properties, rest, tuple(quotes), dict(_pairs(properties.texts("claims"))))


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _pairs(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (key, value) of the lines of a property, as `k7q2m9xd3f value`."""
    return ((key, value) for key, _, value in (line.partition(" ") for line in lines))
