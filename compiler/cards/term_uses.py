"""Where the sources use a term, and whether any of them says what it is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar

from compiler.index.steps import Steps, decoded, digest_of, encoded
from compiler.language import lexicon, names
from compiler.language.mentions import clause_explains, explains, places
from compiler.language.passing_mentions import explained_by_list, only_dropped
from compiler.sources.segments import passages
from vault.ids import SourceId
from vault.model.source import MarkKind, SourceText
from vault.text.formatting import fold

FEW_SOURCES = 4  # in a vault of fewer, one document's sections count as several documents would
_STEP = "term-uses"  # of what is found in a source
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
_WORD = re.compile(r"[^\W_]+")
T = TypeVar("T")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class Prose:
    """The running text of one source, without code and formulas, and what its structure treats.

    Texts are in lower case and as long as the source's own.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        parts, at = [], 0
        for start, end in sorted((m.start, m.end) for m in source.marks if m.kind in _NO_PROSE):
            if end > at:
                parts += [source.text[at:start], " " * (end - max(start, at))]
                at = end
        text = "".join([*parts, source.text[at:]])
        lowered = text.lower()
        if len(lowered) != len(text):  # some capitals are two letters when small
            lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        self.text = lowered

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

    @cached_property
    def headings_in_singular(self) -> str:
        """Return the keys of its headings, one a line, with every word in the singular."""
        return "\n".join(_singular(heading) for heading in sorted(self.headings))

    def says(self, spellings: Collection[str]) -> bool:
        """Return whether a sentence or a bracket of the source says what a name means."""
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


@lru_cache(maxsize=16_384)
def _singular(key: str) -> str:
    """Return a key with every word in the singular, between blanks."""
    return f" {' '.join(lexicon.singular(word) for word in key.split())} "


class Texts:
    """The running texts of several sources, with an index of the words that each of them has.

    What is found in a text is remembered in `steps`, so that a source that has not changed is not looked at again.
    """

    def __init__(
        self, sources: Mapping[SourceId, SourceText], contents: Mapping[SourceId, str], steps: Steps | None = None
    ) -> None:
        """`contents` says of each source what its text, marks and segments follow from."""
        self._sources, self._contents, self._steps = sources, contents, steps
        self._prose: dict[SourceId, Prose] = {}
        self._having: dict[str, set[SourceId]] = defaultdict(set)
        self._treated: set[str] = set()
        self._acronyms: set[str] = set()
        headings = []
        for id_ in sources:
            words, treated, acronyms, singular = self._found("terms", id_, (), partial(self._terms, id_))
            for part in words:
                self._having[part].add(id_)
            self._treated.update(treated)
            self._acronyms.update(acronyms)
            headings.append(singular)
        self._headings = "\n".join(headings)

    def __len__(self) -> int:
        return len(self._sources)

    def prose(self, id_: SourceId) -> Prose:
        """Return the running text of a source."""
        if id_ not in self._prose:
            self._prose[id_] = Prose(self._sources[id_])
        return self._prose[id_]

    def _found(self, what: str, id_: SourceId, names: Collection[str], make: Callable[[], T]) -> T:
        """Return what `make` finds in a source for these names, in one of JSON's types."""
        if self._steps is None:
            return make()
        key = digest_of(what, self._contents[id_], *sorted(names))
        known = self._steps.get(_STEP, key)
        if known is not None:
            return decoded(known)  # type: ignore[no-any-return]
        value = make()
        self._steps.put(_STEP, key, encoded(value))
        return value

    def places(self, id_: SourceId, spellings: Collection[str]) -> int:
        """Return in how many places a source names one of `spellings`."""
        return self._found("places", id_, spellings, lambda: len(self.prose(id_).places(spellings)))

    def sections(self, id_: SourceId, spellings: Collection[str]) -> int:
        """Return in how many sections a source names one of `spellings`."""
        return self._found("sections", id_, spellings, lambda: self.prose(id_).sections(spellings))

    def quote(self, id_: SourceId, spellings: Collection[str]) -> str:
        """Return a sentence of a source that names one of `spellings`; "" if there is none to quote."""
        return self._found("quote", id_, spellings, lambda: self.prose(id_).quote(spellings))

    def only_drops(self, id_: SourceId, spellings: Collection[str]) -> bool:
        """Return whether a source names `spellings` in passing only."""
        return self._found("drops", id_, spellings, lambda: only_dropped(self._sources[id_].text, spellings))

    def naming(self, spellings: Collection[str]) -> list[SourceId]:
        """Return the sources that may name one of `spellings`: the others lack a word of each."""
        found = {id_ for name in spellings for id_ in self._with_all_words(name.lower())}
        return [id_ for id_ in self._sources if id_ in found]

    def _with_all_words(self, name: str) -> Collection[SourceId]:
        """Return the sources that have all words of a name in lower case, the last one perhaps in the plural.

        A name in other letters than ASCII may be a part of a word: of it, only these letters are looked up.
        """
        parts = _WORD.findall(name) if name.isascii() else _NOT_ASCII.findall(name)
        if not parts:
            return self._sources
        having = [frozenset(self._having.get(part, ())) for part in parts]
        if name.isascii() and name.endswith(parts[-1]):
            having[-1] |= self._having.get(f"{parts[-1]}s", set())
        return frozenset.intersection(*having)

    def explain(self, keys: Collection[str], spellings: Collection[str]) -> bool:
        """Return whether a source says what a name means: in a sentence, a bracket, a heading or a glossary."""
        if not self._treated.isdisjoint(keys) or not self._acronyms.isdisjoint(spellings):
            return True
        if any(_singular(key) in self._headings for key in keys):
            return True
        return any(
            self._found("says", id_, spellings, partial(self._says, id_, spellings)) for id_ in self.naming(spellings)
        )

    def is_one_name(self, spellings: Collection[str]) -> bool:
        """Return whether the words of a name belong together: one of them is mostly said with the others."""
        several = [name for name in spellings if " " in name]
        if not several or len(several) < len(spellings):
            return True
        whole = self._count(frozenset(spellings))
        parts = {frozenset((word, word.removesuffix("s"))) for name in several for word in name.lower().split()}
        return any(whole >= COHESION * self._count(part) for part in parts)

    def _count(self, spellings: frozenset[str]) -> int:
        """Return in how many places the sources name one of `spellings`."""
        return sum(self.places(id_, spellings) for id_ in self.naming(spellings))

    def _says(self, id_: SourceId, spellings: Collection[str]) -> bool:
        return self.prose(id_).says(spellings)

    def _terms(self, id_: SourceId) -> list[Any]:
        """Return the words of a text, what it sets off to explain it, its acronyms, its headings in the singular."""
        prose = self.prose(id_)
        words = {*_WORD.findall(prose.text), *_NOT_ASCII.findall(prose.text)}
        return [sorted(words), sorted(prose.treated), sorted(prose.acronyms), prose.headings_in_singular]
