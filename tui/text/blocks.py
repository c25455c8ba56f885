"""The blocks of Markdown: paragraphs, headings, code, tables and rules, with the marks of the lists around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from typing import TYPE_CHECKING

from tui.text.inline import parser

if TYPE_CHECKING:
    from markdown_it.token import Token

_TASK = re.compile(r"\[(?P<done>[ xX])\][ \t]+")
_CALLOUT = re.compile(r"\[!(?P<kind>[\w-]+)\][-+]?[ \t]*(?P<title>.*)")
_BLOCK_ID = re.compile(r"[ \t]*\^(?P<id>[A-Za-z0-9-]+)[ \t]*")


class Kind(Enum):
    WORDS = "words"
    HEADING = "heading"
    CODE = "code"
    TABLE = "table"
    RULE = "rule"
    ANCHOR = "anchor"  # a block id on a line of its own: not shown, but links lead to it


@dataclass(slots=True)
class _Mark:
    """What stands before the first row of a list item or quote, and before its other rows."""

    first: str
    rest: str
    used: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """`first` goes before its first row, `rest` before the others; `gap` says whether an empty line goes before.

    `info` is a heading's level, the language of code, or a block's id. A table has its alignments ("left", "right",
    "center") and its rows of cells in Markdown, the head first.
    """

    kind: Kind
    text: str = ""
    first: str = ""
    rest: str = ""
    info: str = ""
    gap: bool = False
    aligns: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()


def blocks(markdown: str) -> Iterator[Block]:
    """Yield the blocks of clean Markdown in order."""
    return _Walk(markdown).blocks()


@dataclass(slots=True)
class _Walk:
    """One pass over the block tokens; `marks` are the lists and quotes that are open."""

    markdown: str
    marks: list[_Mark] = field(default_factory=list)
    lines: Sequence[str] = ()

    def blocks(self) -> Iterator[Block]:
        self.lines = self.markdown.split("\n")
        tokens = parser().parse(self.markdown)
        for n, token in enumerate(tokens):
            if token.type == "blockquote_open":
                self.marks.append(_Mark("│ ", "│ "))
            elif token.type == "list_item_open":
                mark = f"{token.info}{token.markup}" if token.info else "•"
                self.marks.append(_Mark(f"{mark} ", " " * (len(mark) + 1)))
            elif token.type in ("list_item_close", "blockquote_close"):
                if token.type == "list_item_close" and not self.marks[-1].used:
                    yield self._block(Kind.WORDS, token)
                self.marks.pop()
            elif token.type == "fence":
                yield self._block(Kind.CODE, token, token.content.removesuffix("\n"), token.info.split(" ")[0])
            elif token.type == "hr":
                yield self._block(Kind.RULE, token)
            elif token.type == "table_open":
                yield self._table(tokens, n)
            elif token.type == "inline" and tokens[n - 1].type == "heading_open":
                yield self._block(Kind.HEADING, token, token.content, tokens[n - 1].tag[1:])
            elif token.type == "inline" and tokens[n - 1].type == "paragraph_open":
                yield from self._paragraph(token, tokens[n - 2].type if n > 1 else "")

    def _block(self, kind: Kind, token: Token, text: str = "", info: str = "") -> Block:
        first = "".join(mark.rest if mark.used else mark.first for mark in self.marks)
        for mark in self.marks:
            mark.used = mark.used or kind is not Kind.ANCHOR
        return Block(kind, text, first, "".join(mark.rest for mark in self.marks), info, self._gap(token))

    def _gap(self, token: Token) -> bool:
        """Return whether the line before the token's first is empty but for the marks of quotes."""
        start = token.map[0] if token.map else 0
        return start > 0 and not self.lines[start - 1].strip("> \t")

    def _paragraph(self, token: Token, parent: str) -> Iterator[Block]:
        content = token.content
        if parent == "list_item_open" and (task := _TASK.match(content)):
            self.marks[-1] = _Mark("☐ " if task["done"] == " " else "☑ ", "  ")
            content = content[task.end() :]
        elif parent == "blockquote_open" and (callout := _CALLOUT.match(content)):
            kind = callout["kind"].lower()
            title = callout["title"] or ("" if kind == "quote" else kind.capitalize())
            head = title if not title or "**" in title else f"**{title}**"
            content = f"{head}\n{content[callout.end() + 1 :]}".strip("\n")
        for is_id, lines in groupby(
            content.split("\n") if content else [], lambda line: bool(_BLOCK_ID.fullmatch(line))
        ):
            if is_id:
                for line in lines:
                    yield self._block(Kind.ANCHOR, token, info=line.strip()[1:])
            else:
                yield self._block(Kind.WORDS, token, "\n".join(lines))

    def _table(self, tokens: Sequence[Token], start: int) -> Block:
        aligns: list[str] = []
        rows: list[list[str]] = []
        for n in range(start + 1, len(tokens)):
            token = tokens[n]
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "th_open":
                aligns.append(str(token.attrs.get("style", "left")).removeprefix("text-align:"))
            elif token.type == "inline":
                rows[-1].append(token.content)
        block = self._block(Kind.TABLE, tokens[start])
        return Block(
            Kind.TABLE, "", block.first, block.rest, "", block.gap, tuple(aligns), tuple(tuple(row) for row in rows)
        )
