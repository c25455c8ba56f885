"""Where the sources use a term, and whether any of them says what it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from compiler.language import lexicon, names
from compiler.language.mentions import clause_explains, explains, places
from compiler.language.passing_mentions import explained_by_list
from compiler.sources.segments import passages
from vault.ids import SourceId
from vault.model.source import MarkKind, SourceText
from vault.text.formatting import fold

FEW_SOURCES = 4  # in a vault of fewer, one document's sections count as several documents would
ENOUGH_SOURCES = 2
ENOUGH_SECTIONS = 3
ENOUGH_PLACES = 4
COHESION = 0.4  # of the places of one of its words, from which on a name of several is more than a chance meeting
MAX_PLACES = 200  # of one name in one source that are counted
SHORTEST_QUOTE, LONGEST_QUOTE = 40, 240  # characters
_NO_PROSE = frozenset({MarkKind.CODE, MarkKind.MATH})
_TREATS = frozenset({MarkKind.HEADING, MarkKind.TITLE})
_SETS_OFF = frozenset({MarkKind.EMPHASIS, MarkKind.TERM})
_LONGEST_MARK = 100  # characters


class Prose:
    """The running text of one source, without code and formulas, and what its structure treats.

    Texts are in lower case and as long as the source's own.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        text = source.text
        for mark in source.marks:
            if mark.kind in _NO_PROSE:
                text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
        self.text = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)

    @cached_property
    def treated(self) -> frozenset[str]:
        """Return the keys of what the source sets off where it explains it: emphasised words, terms of glossaries."""
        return frozenset(self._keys(_SETS_OFF)) | self.headings

    @cached_property
    def headings(self) -> frozenset[str]:
        """Return the keys of its headings and its title."""
        own = {names.key(heading, self.source.language) for s in self.source.segments for heading in s.headings}
        return frozenset({*own, *self._keys(_TREATS), names.key(self.source.title, self.source.language)})

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """Return the acronyms that it gives a long form for."""
        return frozenset(short for short, _ in names.acronym_pairs(self.source.text))

    def _keys(self, kinds: Collection[MarkKind]) -> Iterator[str]:
        for mark in self.source.marks:
            if mark.kind in kinds and mark.end - mark.start <= _LONGEST_MARK:
                yield names.key(self.source.text[mark.start : mark.end].strip(" :.*"), self.source.language)

    def explains(self, keys: Collection[str], spellings: Collection[str]) -> bool:
        """Return whether the source says what a name means: in a sentence, a bracket, a heading or a glossary."""
        if not self.treated.isdisjoint(keys) or not self.acronyms.isdisjoint(spellings):
            return True
        headings = [_singular(heading) for heading in self.headings]
        if any(_singular(key) in heading for key in keys for heading in headings):
            return True
        return (
            explains(self.text, spellings)
            or clause_explains(self.text, spellings)
            or explained_by_list(self.text, spellings)
        )

    def places(self, spellings: Collection[str]) -> list[int]:
        """Return the offsets at which the source names one of `spellings`, each place once, in order."""
        found = {start for name in spellings for start, _ in places(self.text, name.lower())}
        return sorted(found)[:MAX_PLACES]

    def sections(self, spellings: Collection[str]) -> int:
        """Return in how many sections the source names one of `spellings`."""
        at = self.places(spellings)
        return len({s.headings for s in self.source.segments if any(s.start <= start < s.end for start in at)})

    def quote(self, spellings: Collection[str]) -> str:
        """Return the first whole sentence of fitting length that names one of `spellings`; "" if there is none."""
        for at in self.places(spellings):
            segment = next((s for s in self.source.segments if s.start <= at < s.end), None)
            if segment is None:
                continue
            for start, end in passages(self.source.text[segment.start : segment.end]):
                words = fold(self.source.text[segment.start + start : segment.start + end])
                is_it = segment.start + start <= at < segment.start + end
                if is_it and SHORTEST_QUOTE <= len(words) <= LONGEST_QUOTE and words.endswith((".", "。", "!", "?")):
                    return words
        return ""


def _singular(key: str) -> str:
    """Return a key with every word in the singular, between blanks."""
    return f" {' '.join(lexicon.singular(word) for word in key.split())} "


def is_one_name(spellings: Collection[str], shelf: Mapping[SourceId, Prose]) -> bool:
    """Return whether the words of a name belong together: one of them is mostly said with the others."""
    several = [name for name in spellings if " " in name]
    if not several or len(several) < len(spellings):
        return True
    whole = sum(len(prose.places(spellings)) for prose in shelf.values())
    parts = {frozenset((word, word.removesuffix("s"))) for name in several for word in name.lower().split()}
    return any(whole >= COHESION * sum(len(prose.places(part)) for prose in shelf.values()) for part in parts)
