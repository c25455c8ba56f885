"""The blocks of Markdown: paragraphs, headings, lists, quotes, code, tables and rules, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tui.text import tables

DEPTH = 12  # of lists and quotes inside each other; what is nested deeper is shown as it is written
_ITEM = re.compile(r"(?P<indent> *)(?P<mark>[-*+]|\d{1,9}[.)])(?:(?P<gap>[ \t]+)(?P<task>\[[ xX]\](?=[ \t]))?|$)")
_QUOTE = re.compile(r" {0,3}> ?")
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})[ \t]+(?P<words>.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r"(?P<indent> *)(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[^\s`]*)[^`]*")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_CALLOUT = re.compile(r"\[!(?P<kind>[\w-]+)\][-+]?[ \t]*(?P<title>.*)")
_BLOCK_ID = re.compile(r"[ \t]*\^(?P<id>[A-Za-z0-9-]+)[ \t]*")


class Kind(Enum):
    WORDS = "words"
    HEADING = "heading"
    CODE = "code"
    TABLE = "table"
    RULE = "rule"
    ANCHOR = "anchor"  # a block id on a line of its own: nothing to see, and a place to go to


@dataclass(frozen=True, slots=True)
class Block:
    """`first` stands before its first row, `rest` before the others; `gap` says whether an empty line goes before.

    `info` is a heading's level, the language of code, or a block's id.
    """

    kind: Kind
    lines: tuple[str, ...]
    first: str = ""
    rest: str = ""
    info: str = ""
    gap: bool = False


def blocks(lines: Sequence[str], first: str = "", rest: str = "", depth: int = 0) -> Iterator[Block]:
    """The blocks of clean lines, in order; each line is looked at once for each level that it is nested in."""
    at, gap = 0, False
    while at < len(lines):
        if not lines[at].strip():
            at, gap = at + 1, True
            continue
        end, found = _block(lines, at, first, rest, depth)
        for n, block in enumerate(found):
            yield Block(block.kind, block.lines, block.first, block.rest, block.info, gap if n == 0 else block.gap)
        at, gap, first = end, False, rest


def _block(lines: Sequence[str], at: int, first: str, rest: str, depth: int) -> tuple[int, Iterator[Block]]:
    """(where the block that begins at a line ends, what it is made of)."""
    line = lines[at]
    if fence := _FENCE.fullmatch(line):
        end = _fence_end(lines, at, fence["fence"])
        indent = len(fence["indent"])
        code = tuple(_less(row, indent) for row in lines[at + 1 : end])
        return end + 1, iter([Block(Kind.CODE, code, first, rest, fence["language"])])
    if heading := _HEADING.fullmatch(line):
        return at + 1, iter([Block(Kind.HEADING, (heading["words"],), first, rest, str(len(heading["level"])))])
    if _RULE.fullmatch(line):
        return at + 1, iter([Block(Kind.RULE, (), first, rest)])
    if named := _BLOCK_ID.fullmatch(line):
        return at + 1, iter([Block(Kind.ANCHOR, (), first, rest, named["id"])])
    if at + 1 < len(lines) and tables.is_head(line, lines[at + 1]):
        end = next((n for n in range(at + 2, len(lines)) if "|" not in lines[n] or not lines[n].strip()), len(lines))
        return end, iter([Block(Kind.TABLE, tuple(lines[at:end]), first, rest)])
    if depth < DEPTH and _QUOTE.match(line):
        return _quote(lines, at, first, rest, depth)
    if depth < DEPTH and (item := _ITEM.match(line)):
        return _item(lines, at, item, first, rest, depth)
    end = _paragraph_end(lines, at, depth)
    return end, iter([Block(Kind.WORDS, tuple(row.lstrip() for row in lines[at:end]), first, rest)])


def _fence_end(lines: Sequence[str], at: int, fence: str) -> int:
    """The line that closes a fence, or the end: a fence that is never closed goes on to it."""
    for n in range(at + 1, len(lines)):
        bare = lines[n].strip()
        if bare.startswith(fence) and not bare.strip(fence[0]):
            return n
    return len(lines)


def _paragraph_end(lines: Sequence[str], at: int, depth: int) -> int:
    n = at + 1
    while n < len(lines) and lines[n].strip() and not _begins(lines, n, depth):
        n += 1
    return n


def _begins(lines: Sequence[str], n: int, depth: int) -> bool:
    """Whether another block begins at line `n` of a paragraph."""
    line = lines[n]
    if _FENCE.fullmatch(line) or _HEADING.fullmatch(line) or _RULE.fullmatch(line) or _BLOCK_ID.fullmatch(line):
        return True
    if depth < DEPTH and (_QUOTE.match(line) or _ITEM.match(line)):
        return True
    return n + 1 < len(lines) and tables.is_head(line, lines[n + 1])


def _quote(lines: Sequence[str], at: int, first: str, rest: str, depth: int) -> tuple[int, Iterator[Block]]:
    end = at
    while end < len(lines) and _QUOTE.match(lines[end]):
        end += 1
    inside = [lines[n][found.end() :] for n in range(at, end) if (found := _QUOTE.match(lines[n]))]
    callout = _CALLOUT.fullmatch(inside[0])
    if callout is None:
        return end, blocks(inside, f"{first}│ ", f"{rest}│ ", depth + 1)
    kind = callout["kind"].lower()
    title = callout["title"] or ("" if kind == "quote" else kind.capitalize())
    head = [f"**{title}**"] if title and "**" not in title else [title] if title else []
    return end, blocks([*head, *inside[1:]], f"{first}│ ", f"{rest}│ ", depth + 1)


def _item(
    lines: Sequence[str], at: int, item: re.Match[str], first: str, rest: str, depth: int
) -> tuple[int, Iterator[Block]]:
    """One item of a list, with all that is indented below it."""
    indent = len(item["indent"])
    inner = item.end() if item["task"] is None else item.start("task")
    inner = min(inner, indent + len(item["mark"]) + 4) if item["gap"] else indent + len(item["mark"]) + 1
    end = _item_end(lines, at, inner, depth)
    mark = item["mark"] if item["mark"][0].isdigit() else "•"
    words = lines[at][item.end() :]
    if item["task"] is not None:
        mark = "☐" if item["task"] == "[ ]" else "☑"
        words = words.lstrip()
    inside = [words, *(_less(line, inner) for line in lines[at + 1 : end])]
    lead = " " * min(indent, 3) if depth == 0 and indent else ""
    before, after = f"{first}{lead}{mark} ", f"{rest}{lead}{' ' * (len(mark) + 1)}"
    return end, blocks(inside if any(map(str.strip, inside)) else ["\u00a0"], before, after, depth + 1)


def _item_end(lines: Sequence[str], at: int, inner: int, depth: int) -> int:
    """The first line that belongs to the item no longer: less indented after an empty line, or a block of its own."""
    n, empty = at + 1, False
    last = n
    while n < len(lines):
        line = lines[n]
        if not line.strip():
            empty = True
        elif len(line) - len(line.lstrip(" ")) >= inner:
            empty, last = False, n + 1
        elif empty or _begins(lines, n, depth):
            break
        else:
            last = n + 1
        n += 1
    return last


def _less(line: str, indent: int) -> str:
    """The line without up to so many blanks at its front."""
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]
