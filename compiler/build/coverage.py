"""What of each source became claims, and what was refused: found by a build that writes nothing.

Nothing of this is stored: it follows from the sources, the ledgers and the journal, as a compile would find it now.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from compiler.articles.figures import quote_end
from compiler.build.pipeline import build
from compiler.build.start import Progress, open_build
from compiler.claims.extract import Gathered
from compiler.drafts.consult import Consulted
from compiler.model.engine_names import EXTRACTIVE, FAMILY
from compiler.model.options import Options
from compiler.model.report import Rejection
from compiler.sources.segments import passages
from vault.log import ledger
from vault.model.claim import Claim
from vault.model.source import Mark, MarkKind, Segment, SourceText
from vault.text.formatting import clean_line, truncate
from vault.vault import Vault

_FURNITURE = re.compile(  # headings under which a document speaks of itself and of others' works
    r"^(?:[\dA-Z][\d.]*\s+)?(?:references?|bibliography|works cited|literature(?: cited)?|literatur(?:verzeichnis)?|"
    r"quellen(?:verzeichnis)?|acknowledge?ments?|danksagung|about the authors?|authors?|contributors?|licen[sc]e|"
    r"citation|citing|credits?|(?:table of )?contents|inhalt(?:sverzeichnis)?|index|author contributions?|funding|"
    r"further reading|see also|external links|参考文献|致谢|目录)\W*$",
    re.IGNORECASE,
)
_FEWEST = 4  # words: what has fewer is a label
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_SHOWN = 80  # characters of a passage
_ENGINES = {EXTRACTIVE: "extractive", FAMILY: "journal"}  # whom to name to build again what a family built


class Yield(StrEnum):
    """What became of a passage, or why none was to be expected of it."""

    CLAIMED = "claimed"
    PASSED_OVER = "passed_over"  # prose that no claim quotes
    HEADING = "heading"
    CODE = "code"
    FORMULA = "formula"
    TABLE = "table"
    CAPTION = "caption"
    QUESTION = "question"  # what is asked, set as a task, made up as an example or a list of other works
    FURNITURE = "furniture"  # lists of references, contents, links, thanks
    SHORT = "short"


_BY_MARK = {
    MarkKind.CODE: Yield.CODE,
    MarkKind.MATH: Yield.FORMULA,
    MarkKind.TABLE: Yield.TABLE,
    MarkKind.CAPTION: Yield.CAPTION,
    MarkKind.QUESTION: Yield.QUESTION,
}


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A passage of prose that yielded nothing: its heading, place and first words; `why` where a model says it."""

    heading: str
    place: str
    words: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """One source: its passages by what became of them. `share` is of its prose, 1.0 where it has none.

    `used` says whether an article or a card cites it, or another source that it is a copy of.
    """

    path: str
    title: str
    claims: int
    passages: dict[str, int]
    passed_over: tuple[PassedOver, ...]
    used: bool = True

    @property
    def share(self) -> float:
        """Return the share of the source's prose that became claims, in [0, 1]."""
        claimed, all_ = self.passages["claimed"], self.passages["claimed"] + self.passages["passed_over"]
        return claimed / all_ if all_ else 1.0

    def as_json(self) -> dict[str, Any]:
        """Return the figures as `retain log --coverage --json` prints them."""
        return {**asdict(self), "share": round(self.share, 4)}


@dataclass(frozen=True, slots=True)
class Survey:
    """What a compile would find now: the coverage of each source, and what would be refused."""

    coverage: tuple[Coverage, ...]
    rejections: tuple[Rejection, ...]


def survey(vault: Vault, at: datetime, progress: Progress) -> Survey:
    """Return what a compile by the vault's last engine would find now; nothing is written. Raises what it raises."""
    builds, _ = vault.ledger_events(ledger.BUILDS)
    last = next((str(e.get("engine")) for e in reversed(ledger.ordered(builds)) if e.get("engine") in _ENGINES), "")
    family = last or EXTRACTIVE
    built = build(open_build(vault, Options(engine=_ENGINES[family], dry_run=True), family, at, progress))
    left = reasons(built.consulted) if built.consulted is not None else {}
    covered = (coverage(g, left) for g in built.gathered)
    unused = frozenset(built.report.unused)
    found = (replace(c, used=c.path not in unused) for c in covered if c is not None)
    return Survey(tuple(found), tuple(built.report.rejections))


def reasons(consulted: Consulted) -> dict[tuple[str, int], str]:
    """Return why a model left blocks of the documents out, by source and offset of the block."""
    found: dict[tuple[str, int], str] = {}
    for draft in consulted.drafts.articles:
        for one in draft.left:
            place = consulted.shelf.blocks.get(one.block)
            if place is not None:
                found[place[0].id, place[2].start] = one.why
    return found


def coverage(gathered: Gathered, left: Mapping[tuple[str, int], str] | None = None) -> Coverage | None:
    """Return what became of a source's passages; None for one that was not read. `left` is from `reasons`."""
    why = {at: words for (source, at), words in (left or {}).items() if source == gathered.tracked.id}
    source = gathered.source
    if source is None:
        return None
    spans = _spans(source.text, gathered)
    counts: Counter[str] = Counter({kind.value: 0 for kind in Yield})
    passed = []
    for segment in source.segments:
        marks = [m for m in source.marks if m.start < segment.end and m.end > segment.start]
        furniture = any(_FURNITURE.match(h) for h in segment.headings)
        for first, last in passages(source.text[segment.start : segment.end]):
            start, end = segment.start + first, segment.start + last
            kind = _kind(source.text[start:end], start, end, spans, marks, furniture)
            counts[kind.value] += 1
            if kind is Yield.PASSED_OVER:
                passed.append(_passed_over(source, segment, start, end, why))
    title = source.title
    return Coverage(gathered.tracked.path, title, len(gathered.claims), dict(counts), tuple(passed))


def _spans(text: str, gathered: Gathered) -> list[tuple[int, int]]:
    """Return where the claims' quotes are in the text, as ordered (start, end) that do not touch."""
    claims: Iterator[Claim] = (claim for claim, _ in gathered.claims)
    found = sorted((at, quote_end(text, at, c.quote)) for c in claims if (at := gathered.starts.get(c.id)) is not None)
    out: list[tuple[int, int]] = []
    for start, end in found:
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def _kind(
    words: str, start: int, end: int, spans: Sequence[tuple[int, int]], marks: Sequence[Mark], furniture: bool
) -> Yield:
    """Return what became of the passage between two offsets, or why none of it was expected to become a claim."""
    at = bisect_left(spans, end, key=lambda span: span[0])
    if at and spans[at - 1][1] > start:
        return Yield.CLAIMED
    if any(m.kind in (MarkKind.HEADING, MarkKind.TITLE) and m.start <= start and end <= m.end for m in marks):
        return Yield.HEADING
    for kind, found in _BY_MARK.items():
        if 2 * _covered(start, end, [m for m in marks if m.kind is kind]) >= end - start:
            return found
    links = _covered(start, end, [m for m in marks if m.kind is MarkKind.LINK])
    if furniture or 5 * links >= 4 * (end - start):
        return Yield.FURNITURE
    many = len(words.split()) >= _FEWEST or len(_CJK.findall(words)) >= 2 * _FEWEST
    return Yield.PASSED_OVER if many else Yield.SHORT


def _covered(start: int, end: int, marks: Sequence[Mark]) -> int:
    """Return how many characters between `start` and `end` are in any of the marks."""
    count, at = 0, start
    for mark in sorted(marks, key=lambda m: m.start):
        first, last = max(mark.start, at), min(mark.end, end)
        if first < last:
            count += last - first
            at = last
    return count


def _passed_over(source: SourceText, segment: Segment, start: int, end: int, why: Mapping[int, str]) -> PassedOver:
    """Return a passage that yielded nothing, with its heading, place and first words."""
    words = truncate(clean_line(source.text[start:end]), _SHOWN)
    block = max((at for at in why if at <= start), default=None)
    same = block is not None and "\n\n" not in source.text[block:start]
    heading = clean_line(segment.headings[-1]) if segment.headings else ""
    return PassedOver(heading, source.locate(start), words, why[block] if block is not None and same else "")
