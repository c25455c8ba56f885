"""The cited text of a page by section: sentences, lists, tables, code and formulas, without citation markup."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from learning.training.record import LeftOut
from learning.training.sources import Sources
from learning.training.text import named_links, table_cells, table_row
from vault.ids import ClaimId
from vault.model.article import CitedSentence, sentences
from vault.model.exhibit import is_formula
from vault.model.frontmatter import body_of
from vault.model.markdown import unescape
from vault.model.wikilink import citations, only_citations
from vault.text.formatting import clean, clean_line

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]+)[ \t]*")
_DELIMITER = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")
_ITEM = re.compile(r"([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)")


@dataclass(slots=True)
class Section:
    """The text under one heading, "" for the lead: blocks of Markdown, and the claims that they cite."""

    heading: str
    blocks: list[str] = field(default_factory=list)
    claims: dict[ClaimId, None] = field(default_factory=dict)
    derived: bool = False

    @property
    def text(self) -> str:
        """Return the blocks, parted by blank lines."""
        return clean("\n\n".join(self.blocks)).strip()


def page_sections(text: str, sources: Sources, left_out: LeftOut) -> list[Section]:
    """Return the sections of a page that have text. Sentences that cite no claim, or one that is not current, are
    counted as left out.
    """
    return [section for section in _Reader(text, sources, left_out).read() if section.text]


def join_sections(sections: Sequence[Section]) -> Section:
    """Return the text of several sections as one, without their headings."""
    blocks = [block for section in sections for block in section.blocks]
    claims = dict.fromkeys(claim for section in sections for claim in section.claims)
    return Section("", blocks, claims, any(section.derived for section in sections))


class _Reader:
    """Reads the lines of one page."""

    def __init__(self, text: str, sources: Sources, left_out: LeftOut) -> None:
        body = body_of(text)
        self.first = text[: len(text) - len(body)].count("\n") + 1
        self.lines = [line.rstrip("\r") for line in body.split("\n")]
        self.sources, self.left_out = sources, left_out
        self.said: dict[int, list[CitedSentence]] = defaultdict(list)
        for sentence in sentences(text):
            self.said[sentence.line - self.first].append(sentence)
        self.sections = [Section("")]
        self.joins = False  # whether the next row or item belongs to the block before it
        self.head: list[str] | None = None  # cells of a table's head, until a row follows

    def read(self) -> list[Section]:
        """Return all sections, also empty ones."""
        at, comment = 0, ""  # what ends the comment that began above
        while at < len(self.lines):
            line = self.lines[at]
            if comment or line.lstrip().startswith(("<!--", "%%")):
                closing = comment or ("-->" if line.lstrip().startswith("<") else "%%")
                comment = "" if closing in (line if comment else line.lstrip()[2:]) else closing
            elif (fence := _FENCE.fullmatch(line)) and (end := self._fence_end(at, fence[1])):
                self._add("\n".join(self.lines[at : end + 1]))
                at = end
            else:
                self._line(at, line)
            at += 1
        return self.sections

    def _fence_end(self, at: int, fence: str) -> int:
        """Return the index of the line that closes a block of code; 0 if none does."""
        close = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
        return next((n for n in range(at + 1, len(self.lines)) if close.fullmatch(self.lines[n])), 0)

    def _line(self, at: int, line: str) -> None:
        """Read one line outside of code and comments."""
        if heading := _HEADING.fullmatch(line):
            self._heading(len(heading[1]), heading[2])
        elif not line.strip():
            self.joins, self.head = False, None
        elif line.lstrip().startswith("|"):
            self._table_line(at, line)
        elif is_formula(line):
            self._add(line.strip())
        elif only_citations(line):
            self._cited_above(line)
        elif at in self.said:
            self._sentences(at, line)

    def _heading(self, level: int, words: str) -> None:
        """Begin a section; the title of the page begins the lead."""
        self.joins, self.head = False, None
        if level > 1:
            self.sections.append(Section(clean_line(unescape(named_links(words)))))

    def _add(self, block: str, *, joins: bool = False) -> None:
        """Add a block; a row or an item of a list continues one of its kind."""
        blocks = self.sections[-1].blocks
        if joins and self.joins and blocks:
            blocks[-1] += f"\n{block}"
        else:
            blocks.append(block)
        self.joins = joins

    def _cited_above(self, line: str) -> None:
        """Take the citations of the code or formula above; without valid ones it is left out."""
        section = self.sections[-1]
        claims = [each.claim for each in citations(line)]
        if problem := self.sources.problem(claims):
            self.left_out.add("sentence", problem)
            if section.blocks:
                section.blocks.pop()
        else:
            section.claims |= dict.fromkeys(claims)

    def _kept(self, said: Sequence[CitedSentence]) -> list[CitedSentence]:
        """Return the sentences that may be trained on; their claims become the section's."""
        kept, section = [], self.sections[-1]
        for sentence in said:
            claims = [each.claim for each in sentence.cites]
            if problem := self.sources.problem(claims):
                self.left_out.add("sentence", problem)
                continue
            kept.append(sentence)
            section.claims |= dict.fromkeys(claims)
            section.derived = section.derived or bool(sentence.mark)
        return kept

    def _sentences(self, at: int, line: str) -> None:
        """Add the sentences of a paragraph or of an item."""
        if kept := self._kept(self.said[at]):
            item = _ITEM.match(line)
            words = " ".join(named_links(sentence.text) for sentence in kept)
            self._add(f"{item[1] if item else ''}{words}", joins=item is not None)

    def _table_line(self, at: int, line: str) -> None:
        """Take a head, or add a row, without the column of citations; a row alone is a sentence."""
        following = self.lines[at + 1] if at + 1 < len(self.lines) else ""
        if _DELIMITER.fullmatch(line):
            return
        if _DELIMITER.fullmatch(following):
            self.head, self.joins = table_cells(line), False
            return
        if not self._kept(self.said.get(at, ())):
            return
        width = len(self.head) - (not self.head[-1]) if self.head else None
        if self.head and not self.joins:
            self._add(table_row(self.head[:width]), joins=True)
            self._add("|" + " --- |" * len(self.head[:width]), joins=True)
        self._add(table_row(table_cells(line)[:width]), joins=True)
