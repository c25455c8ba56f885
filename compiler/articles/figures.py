"""What a document shows with its claims: the picture a sentence means, the code or formula it introduces.

Careful rather than complete: a picture goes with a claim whose words refer to it or say what its caption says, code
and formulas with the sentence that introduces them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from compiler.gates.gates import content_words
from compiler.language.formulas import is_acting_command
from vault.model.exhibit import Exhibit, code, formula
from vault.model.source import Mark, MarkKind, Picture, SourceText
from vault.text.formatting import fold

MAX_PICTURES = 2  # of one claim
NEAR = 1_500  # characters between a sentence and "the figure below"
INTRODUCTION = 15  # words of a remark that only leads from a claim to what is shown ("In Python:")

_FIGURE = r"(?:figures?|figs?\.?|abbildung(?:en)?|abb\.?|图|圖)"
_NUMBERED = re.compile(rf"(?<![^\W\d_]){_FIGURE}\s*(\d+(?:[.-]\d+)*[a-z]?)\b", re.IGNORECASE)
_HEADED = re.compile(rf"\W*{_FIGURE}\s*(\d+(?:[.-]\d+)*[a-z]?)\b", re.IGNORECASE)
_THING = r"(?:figure|fig\.|diagram|picture|image|illustration|plot|chart|graph|drawing|schematic|abbildung|bild|grafik)"
_SHOWN = r"(?:shown|illustrated|depicted|pictured|drawn|plotted|sketched|visuali[sz]ed|gezeigt|dargestellt)"
_BELOW = re.compile(
    rf"\b{_THING}s? (?:{_SHOWN} )?(?:below|unten)\b|\b(?:following|next|folgende[nrs]?|nächste[nrs]?) {_THING}"
    rf"|\b{_SHOWN} below\b|下图|下圖",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"\b{_THING}s? (?:{_SHOWN} )?(?:above|oben)\b|\b(?:above|preceding|previous|vorige[nrs]?) {_THING}"
    rf"|\b{_SHOWN} above\b|上图|上圖",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    rf"\b(?:this|the|our|diese[rs]?|die|das) {_THING}\b(?!s? (?:{_SHOWN} )?(?:above|below|oben|unten)\b)"
    rf"|\bas {_SHOWN} here\b|如图",
    re.IGNORECASE,
)
_LEANING = re.compile(r"(?:this|these|it|they|that|dies(?:es)?|es|sie)\b", re.IGNORECASE)
_LEADS = re.compile(r":\s*$")
_LEADS_TO_FORMULA = re.compile(r"(?::|\b(?:as|by|is|are|follows|formula|equation|becomes|equals|gives|reads))\s*$")
_END = re.compile(r"[.!?。！？]+[\"”’)\]]*(?:\s+|$)|[。！？]")
_ABBREVIATED = re.compile(r"\b(?:figs?|eqs?|secs?|abb|cf|vs|al|e\.g|i\.e|z\. ?B|no|vol|pp?|[A-Z])\.\s*$", re.IGNORECASE)
_FILE_NAME = re.compile(r"[\w%@. -]+\.(?:png|jpe?g|gif|svg|webp|pdf|emf|wmf|bmp|tiff?)", re.IGNORECASE)
_COMMAND = re.compile(r"\\([A-Za-z@]+)")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class ShownWith:
    """What goes with one claim: pictures as the document names them, the rest ready to be shown."""

    pictures: tuple[Picture, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()


def shown_with(source: SourceText, claims: Iterable[tuple[str, int, str]]) -> dict[str, ShownWith]:
    """Return claim id -> what the document shows with it, for claims given as (id, offset, quote)."""
    document = _Document(source)
    if not document.shows:
        return {}
    found = {
        id_: ShownWith(document.pictures_of(at, quote), document.listings_of(at, quote)) for id_, at, quote in claims
    }
    return {id_: each for id_, each in found.items() if each.pictures or each.exhibits}


def quote_end(text: str, start: int, quote: str) -> int:
    """Return where a quote that begins at `start` ends in the text; white space does not count, as quotes fold it."""
    end, left = start, sum(not c.isspace() for c in quote)
    while left and end < len(text):
        left -= not text[end].isspace()
        end += 1
    return end


def words_for(picture: Picture) -> str:
    """Return what the document says of a picture: its caption, else its alternative text if that is words."""
    return picture.caption or ("" if _FILE_NAME.fullmatch(picture.alt) else picture.alt)


@dataclass(frozen=True)
class _Document:
    """What one document shows, and where."""

    source: SourceText

    @property
    def text(self) -> str:
        """Return the document's text."""
        return self.source.text

    @property
    def shows(self) -> bool:
        """Return whether the document shows anything."""
        return bool(self.source.pictures or self._listings)

    # --- where things stand -----------------------------------------------------------------------------------------

    @cached_property
    def _listings(self) -> dict[int, Mark]:
        """Return offset -> the code or formula that is a block by itself and begins there."""
        return {
            m.start: m
            for m in self.source.marks
            if (m.kind is MarkKind.CODE or (m.kind is MarkKind.MATH and self.text.startswith("$$", m.start)))
            and self._block(m.start) == (m.start, m.end)
        }

    @cached_property
    def _starts(self) -> list[int]:
        """Return the offsets of the pictures."""
        return [p.start for p in self.source.pictures]

    @cached_property
    def _by_label(self) -> dict[str, Picture]:
        """Return the pictures by label; of two with one label the first."""
        return {p.label: p for p in reversed(self.source.pictures) if p.label}

    @cached_property
    def _by_number(self) -> dict[str, Picture]:
        """Return number -> the picture whose caption, or the block next to it, begins with it."""
        out: dict[str, Picture] = {}
        for picture in self.source.pictures:
            before = self._block(max(picture.start - 1, 0))
            after = self._block(min(picture.start + 2, len(self.text)))
            beside = (self.text[a:b] for a, b in (after, before))
            heads = (_HEADED.match(words) for words in (picture.caption, picture.alt, *beside))
            found = next((m for m in heads if m), None)
            if found:
                out.setdefault(found[1].casefold(), picture)
        return out

    @cached_property
    def _references(self) -> list[tuple[int, int, Picture]]:
        """Return (start, end, picture) of every link or reference to a picture's label, in order."""
        labels = self._by_label
        return [
            (m.start, m.end, labels[m.info[1:]])
            for m in self.source.marks
            if m.kind is MarkKind.LINK and m.info.startswith("#") and m.info[1:] in labels
        ]

    def _block(self, at: int) -> tuple[int, int]:
        """Return (start, end) of the paragraph at an offset."""
        start, end = self.text.rfind("\n\n", 0, at), self.text.find("\n\n", at)
        return (0 if start < 0 else start + 2), (len(self.text) if end < 0 else end)

    # --- pictures ---------------------------------------------------------------------------------------------------

    def pictures_of(self, at: int, quote: str) -> tuple[Picture, ...]:
        """Return the pictures that a claim needs, the surest first."""
        if not self.source.pictures:
            return ()
        start, end = at, quote_end(self.text, at, quote)
        around = [
            *self._meant(start, end),
            *self._led_to(start, end),
            *self._captioned(start, end, quote),
            *self._meant_nearby(start, end, quote),
            *self._alongside(start, quote),
        ]
        found = dict.fromkeys([*self._named(start, end), *(p for p in around if self._lies_there(p, start, end))])
        return tuple(found)[:MAX_PICTURES]

    def _lies_there(self, picture: Picture, start: int, end: int) -> bool:
        """Return whether the picture is on the side ("above", "below") that the words name, if they name one."""
        below, above = _BELOW.search(self.text, start, end), _ABOVE.search(self.text, start, end)
        if (below is None) == (above is None):
            return True
        first, last = self._block(start)
        return picture.start > first if below else picture.start < last

    def _led_to(self, start: int, end: int) -> Iterator[Picture]:
        """Return the picture right after a paragraph that ends with the words between two offsets and a colon."""
        block = self._block(start)
        after = self._next(block[1])
        beside = after is not None and end <= block[1] and self._touches(after, *block)
        if after and beside and self._leads_up(start, end, block[1], MarkKind.CODE):
            yield after

    def _meant(self, start: int, end: int) -> Iterator[Picture]:
        """Return the pictures to which the words between two offsets refer."""
        yield from self._named(start, end)
        yield from self._pointed_at(start, end)

    def _named(self, start: int, end: int) -> Iterator[Picture]:
        """Return the pictures to which a link, label or number between two offsets leads."""
        first = bisect_left(self._references, start, key=lambda r: r[0])
        for at, stop, picture in self._references[first:]:
            if at >= end:
                break
            if stop <= end:
                yield picture
        for number in _NUMBERED.finditer(self.text, start, end):
            numbered = self._by_number.get(number[1].casefold()) or self._counted(number[1], start)
            if numbered is not None:
                yield numbered

    def _counted(self, number: str, at: int) -> Picture | None:
        """Return the picture with that place among all, if the document numbers none and it is beside the block."""
        if self._by_number or not number.isascii() or not number.isdigit() or len(number) > 3:
            return None
        index = int(number) - 1
        found = self.source.pictures[index] if 0 <= index < len(self.source.pictures) else None
        return found if found and self._touches(found, *self._block(at)) else None

    def _pointed_at(self, start: int, end: int) -> Iterator[Picture]:
        """Return the pictures that "below", "above" or "this figure" means between two offsets."""
        words = self.text[start:end]
        block = self._block(start)
        after, before = self._next(block[1]), self._last(block[0])
        if _BELOW.search(words) and after:
            yield after
        if _ABOVE.search(words) and before:
            yield before
        if _BESIDE.search(words):
            yield from (p for p in (after, before) if p and self._touches(p, *block))

    def _next(self, at: int) -> Picture | None:
        """Return the next picture after an offset, if it is near."""
        index = bisect_left(self._starts, at)
        found = self.source.pictures[index] if index < len(self._starts) else None
        return found if found and found.start <= at + NEAR else None

    def _last(self, at: int) -> Picture | None:
        """Return the last picture before an offset, if it is near."""
        index = bisect_right(self._starts, at) - 1
        found = self.source.pictures[index] if index >= 0 else None
        return found if found and found.start >= at - NEAR else None

    def _captioned(self, start: int, end: int, quote: str) -> Iterator[Picture]:
        """Return the pictures whose caption holds the quote, or is held by it."""
        wanted = fold(quote)
        near = self.source.pictures[bisect_left(self._starts, start - NEAR) : bisect_right(self._starts, end + NEAR)]
        for picture in near:
            words = fold(words_for(picture))
            if len(content_words(words)) >= 3 and (wanted in words or words.rstrip(".。") in wanted):
                yield picture

    def _meant_nearby(self, start: int, end: int, quote: str) -> Iterator[Picture]:
        """Pictures to which the rest of the paragraph refers, where they show what the claim is about; and those of
        a next sentence that leans on the claim ("This is shown in Figure 3.")."""
        block = self._block(start)
        block = max(block[0], start - NEAR), min(block[1], end + NEAR)
        stop = self._sentence_end(end, block[1])
        if _LEANING.match(self.text[end:stop].lstrip()):
            yield from self._meant(end, stop)
        for here, there in ((block[0], start), (end, block[1])):
            for picture in self._meant(here, there) if here < there else ():
                if _alike(quote, picture)[0] >= 2:
                    yield picture

    def _sentence_end(self, start: int, limit: int) -> int:
        """Return the end of the sentence that begins at `start`, at most `limit`."""
        for found in _END.finditer(self.text, start, limit):
            if (
                not _ABBREVIATED.search(self.text[max(start, found.start() - 8) : found.end()])
                and found.start() > start
            ):
                return found.end()
        return limit

    def _alongside(self, start: int, quote: str) -> Iterator[Picture]:
        """Return pictures next to the claim's paragraph whose caption says mostly what the claim says."""
        block = self._block(start)
        for picture in (self._next(block[1]), self._last(block[0])):
            if picture and self._touches(picture, *block):
                shared, wanted = _alike(quote, picture)
                if shared >= 2 and 2 * shared >= wanted:
                    yield picture

    def _touches(self, picture: Picture, start: int, end: int) -> bool:
        """Return whether nothing but the picture's own words is between it and the block."""
        between = self.text[end : picture.start] if picture.start >= end else self.text[picture.start : start]
        return fold(between) in ("", fold(picture.caption), fold(picture.alt), fold(f"{picture.alt} {picture.caption}"))

    # --- code and formulas ------------------------------------------------------------------------------------------

    def listings_of(self, at: int, quote: str) -> tuple[Exhibit, ...]:
        """Return the code or formulas that a claim introduces."""
        if not self._listings:
            return ()
        start, end = at, quote_end(self.text, at, quote)
        stop = self._block(start)[1]
        mark = self._listings.get(stop + 2)
        if mark is None or end > stop or not self._leads_up(start, end, stop, mark.kind):
            return ()
        body = self.text[mark.start : mark.end]
        made = code(body, mark.info) if mark.kind is MarkKind.CODE else _inert_formula(body.strip("$ "))
        return (made,) if made is not None else ()

    def _leads_up(self, start: int, end: int, stop: int, kind: MarkKind) -> bool:
        """Return whether the claim, or a bare remark after it in its block, introduces what comes next."""
        leads = _LEADS if kind is MarkKind.CODE else _LEADS_TO_FORMULA
        rest = self.text[end:stop].strip()
        if not rest:
            return leads.search(self.text[start:end]) is not None
        return len(rest.split()) <= INTRODUCTION and leads.search(rest) is not None and not _END.search(rest[:-1])


def shown_formula(words: str) -> Exhibit | None:
    """Return a displayed formula as a document writes it, with its dollars; None for one that may not be shown."""
    return _inert_formula(words.strip().strip("$ "))


def _inert_formula(tex: str) -> Exhibit | None:
    """Return the formula; None for one with a command that does more than draw."""
    commands = {name.casefold() for name in _COMMAND.findall(tex)}
    if any(map(is_acting_command, commands)):
        return None
    return formula(tex)


def _alike(quote: str, picture: Picture) -> tuple[int, int]:
    """(content words that a claim and a picture's own words share, content words of the picture); three signs of a
    script without spaces count as one word."""
    wanted = set(content_words(words_for(picture)))
    shared = wanted & set(content_words(quote))
    return _weight(shared), _weight(wanted)


def _weight(words: set[str]) -> int:
    """Return how much words count when a claim and a caption are compared: three signs of Chinese are a word."""
    signs = sum(_CJK.fullmatch(w) is not None for w in words)
    return len(words) - signs + signs // 3
