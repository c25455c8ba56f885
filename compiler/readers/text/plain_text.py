"""The reader of plain text: hard-wrapped lines joined; headings, lists and quotations where they are plain."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.readers.block import fold_block
from compiler.readers.decode import LONGEST_LINE, decode
from compiler.readers.page import Page
from compiler.readers.text.rst import read_rst
from vault.model.source import MarkKind, Problem
from vault.text.formatting import normal

RST = (".rst", ".rest")
MIN_WRAP = 40  # characters; shorter lines were not wrapped by a machine
MAX_HEADING = 80
MAX_LINE = 100_000  # characters; a longer line is cut at white space
_UNDERLINE = re.compile(r"\s*([=~#*^-])\1{2,}\s*")
_RULE = re.compile(r"\s*([-=_*~#+.•])(?:\s*\1){2,}\s*")
_BULLET = re.compile(r"\s*(?:[-*+•◦‣▪●–]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s+(?=\S)")
_NUMBERED = re.compile(r"(?:(?:chapter|part|kapitel|teil)\s+\w+\b.*|\d{1,2}(?:\.\d{1,2})*\.?\s+[^\W\d_].*)", re.I)
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…][\"'”’»)\]]*\s*$")
_LETTER = re.compile(r"[^\W\d_]")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff64]")


@dataclass(frozen=True, slots=True)
class _Line:
    """One line with its 1-based number."""

    number: int  # 1-based in the file
    text: str


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write a plain text document onto `page`; return properties, which only reStructuredText has, and problems."""
    decoded, problems = decode(data, LONGEST_LINE)
    if name.lower().endswith(RST):
        properties, missing = read_rst(normal(decoded), page)
        return properties, problems + missing
    read_text(normal(decoded), page, 1)
    return {}, problems


def read_text(text: str, page: Page, first_line: int) -> None:
    """Write the paragraphs of a plain text onto `page`; `first_line` is the text's first line in the raw file."""
    groups = _groups(text, first_line)
    for i, group in enumerate(groups):
        heading = _heading(group, first=i == 0)
        if heading:
            level, group = heading
            start = page.add(_one_line(group), (), MarkKind.HEADING, level)
            page.place_line(start, group[0].number)
        elif not all(_RULE.fullmatch(line.text) for line in group):
            _write(group, page)


def _groups(text: str, first_line: int) -> list[list[_Line]]:
    """Return the lines between blank lines; a line with its underline is a group of its own."""
    out: list[list[_Line]] = [[]]
    for number, raw in enumerate(text.split("\n"), first_line):
        for piece in _split_long_line(raw):
            line = _Line(number, piece)
            if not piece.strip():
                out.append([])
            elif _UNDERLINE.fullmatch(piece) and out[-1] and _may_be_underlined(out[-1][-1], piece):
                title = out[-1].pop()
                out += [[title, line], []]
            else:
                out[-1].append(line)
    return [group for group in out if group]


def _split_long_line(line: str) -> list[str]:
    """Return an overlong line in pieces, cut at white space where there is any."""
    out: list[str] = []
    start = 0
    while len(line) - start > MAX_LINE:
        end = line.rfind(" ", start + MAX_LINE // 2, start + MAX_LINE) + 1 or start + MAX_LINE
        out += (line[start:end], "")
        start = end
    return [*out, line[start:]]


def _may_be_underlined(line: _Line, underline: str) -> bool:
    """Return whether a line of signs below it makes this line a heading."""
    width, below = len(line.text.strip()), len(underline.strip())
    return 0 < width <= MAX_HEADING and abs(width - below) <= max(3, width // 2) and not _RULE.fullmatch(line.text)


def _heading(group: list[_Line], first: bool) -> tuple[int, list[_Line]] | None:
    """Return (level, the heading's line) if the group is a heading, else None."""
    text = group[0].text.strip()
    if len(group) == 2 and _UNDERLINE.fullmatch(group[1].text):
        return (1 if group[1].text.strip()[0] in "=#*" else 2), group[:1]
    if len(group) != 1 or len(text) > MAX_HEADING or not _LETTER.search(text) or _SENTENCE_END.search(text):
        return None
    letters = _LETTER.findall(text)
    if len(letters) >= 3 and text.isupper() and not _WIDE.search(text):
        return 2, group
    if _NUMBERED.fullmatch(text):
        number = re.match(r"[\d.]+", text)
        return min(1 + number.group().strip(".").count(".") + 1, 6) if number else 1, group
    if first and len(text.split()) <= 12 and not text.startswith((">", "-", "*")):
        return 1, group
    return None


def _write(group: list[_Line], page: Page) -> None:
    """Write a group as paragraphs and list items."""
    quoted = all(line.text.lstrip().startswith(">") for line in group)
    if quoted:
        group = [_Line(line.number, line.text.lstrip().lstrip("> ")) for line in group]
        page.begin(MarkKind.QUOTATION)
    for lines in _paragraphs(group):
        bullet = _BULLET.match(lines[0].text) if len(lines[0].text.strip()) > 2 else None
        if bullet:
            lines = [_Line(lines[0].number, lines[0].text[bullet.end() :]), *lines[1:]]
            page.begin(MarkKind.ITEM, 1)
        words = _one_line(lines)
        if words:
            page.place_line(page.add(words), lines[0].number)
        if bullet:
            page.end()
    if quoted:
        page.end()


def _paragraphs(group: list[_Line]) -> list[list[_Line]]:
    """Return the group's lines, those joined that only the width had broken."""
    width = max(len(line.text.rstrip()) for line in group)
    out: list[list[_Line]] = []
    for line in group:
        if not out or _BULLET.match(line.text) or not _wraps(out[-1][-1].text, line.text, width):
            out.append([line])
        else:
            out[-1].append(line)
    return out


def _wraps(line: str, following: str, width: int) -> bool:
    """Return whether `line` continues in `following`: it had no room for the next word, or is no whole sentence."""
    line, following = line.rstrip(), following.strip()
    if not following:  # as an empty line of a quoted mail is, without its mark
        return False
    if line.endswith("-") and following[:1].islower():
        return True
    if _WIDE.search(line[-1:]):
        return not _SENTENCE_END.search(line) or len(line) >= width - 2
    wrapped = width >= MIN_WRAP and len(line) + 1 + len(following.split(maxsplit=1)[0]) > width
    if wrapped and width <= 200:
        return True
    return not _SENTENCE_END.search(line) and following[:1].islower()


def _one_line(lines: list[_Line]) -> str:
    """Return the lines joined; a hyphen at a line's end stays, since plain text doesn't say what it was."""
    text, _ = fold_block("\n".join(line.text for line in lines), ())
    return text
