"""Words from cards and documents as Content: clean, inert, lightly styled. Nothing else puts such words on the screen.

A str given to a Textual widget may act as markup, so no str is ever given: what is shown is a Content made here.
"""

from __future__ import annotations

import re

from textual.content import Content, Span

from vault import readable
from vault.clean import clean, clean_line
from vault.exhibit import UNNAMED
from vault.markdown import unescape

MOST = 20_000  # characters of one text on the screen; the rest is said, not painted

_BULLET = re.compile(r"(\s*)[-*+]\s+(?=\S)")
_QUOTE = re.compile(r"\s{0,3}>\s?")
_HEADING = re.compile(r"#{1,6}\s+")
_INLINE = re.compile(
    r"(?P<code>`[^`\n]+`)"
    r"|(?P<math>\$\$[^$\n]+\$\$|\$(?![\s$])[^$\n]*?[^\s$\\]\$(?!\d)|\$[^\s$\\]\$(?!\d))"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|\*\*(?P<strong>[^*\n]+)\*\*"
    r"|!\[\[(?P<picture>[^\[\]|\n]+)(?:\|(?P<caption>[^\[\]\n]*))?\]\]"
    r"|\[\[(?:[^\[\]|\n]*\|)?(?P<link>[^\[\]|\n]+)\]\]"
)
CODE = "$text-accent"
MATH = "$text-secondary"
DIM = "$foreground 60%"  # $text-muted means nothing inside a Content


def plain(text: str, style: str = "") -> Content:
    """`text` as it is, in one style that the app chooses."""
    return Content.styled(_bounded(clean(text)), style)


def line(text: str, style: str = "") -> Content:
    """`text` on one line: for names, titles, paths and errors."""
    return Content.styled(_bounded(clean_line(text)), style)


def prose(markdown: str) -> Content:
    """The Markdown of a card as text: escapes undone; code, math and strong words set apart; lists with bullets.

    Formulas are shown in Unicode where that can be, pictures by name, and code below the name of its language.
    """
    out: list[str] = []
    spans: list[Span] = []
    at = 0
    fence = ""
    for row in _bounded(clean(markdown)).split("\n"):
        mark = readable.FENCE.fullmatch(row)
        if mark and not fence:
            fence = mark["fence"]
            if mark["language"] in ("", UNNAMED):
                continue
            words = mark["language"]
            styles = [(0, len(words), DIM)]
        elif mark and mark["fence"].startswith(fence) and not mark["language"]:
            fence = ""
            continue
        else:
            words, styles = _code_row(row) if fence else _row(row)
        spans += [Span(at + start, at + end, style) for start, end, style in styles]
        out.append(words)
        at += len(words) + 1
    return Content("\n".join(out), spans)


def _bounded(text: str) -> str:
    return text if len(text) <= MOST else text[:MOST] + " … (cut here; the file has the rest)"


def _code_row(row: str) -> tuple[str, list[tuple[int, int, str]]]:
    words = "  " + row.expandtabs(4)
    return words, [(0, len(words), CODE)]


def _row(row: str) -> tuple[str, list[tuple[int, int, str]]]:
    """One line of Markdown as (words, styles)."""
    bullet = _BULLET.match(row)
    quote = _QUOTE.match(row)
    heading = _HEADING.match(row)
    if bullet is not None:
        return _inline(row[bullet.end() :], f"{bullet[1]}• ")
    if quote is not None:
        return _inline(row[quote.end() :], "│ ")
    if heading is not None:
        words, styles = _inline(row[heading.end() :], "")
        return words, [(0, len(words), "bold"), *styles]
    return _inline(row, "")


def _inline(row: str, before: str) -> tuple[str, list[tuple[int, int, str]]]:
    parts = [before]
    styles: list[tuple[int, int, str]] = []
    at, length = 0, len(before)
    for found in _INLINE.finditer(row):
        words, style = _token(found)
        between = row[at : found.start()]
        start = length + len(between)
        parts += [between, words]
        length = start + len(words)
        if style:
            styles.append((start, length, style))
        at = found.end()
    parts.append(row[at:])
    return "".join(parts), styles


def _token(found: re.Match[str]) -> tuple[str, str]:
    match found.lastgroup:
        case "code":
            return found["code"][1:-1], CODE
        case "math":
            return readable.formula(found["math"]), MATH
        case "strong":
            return unescape(found["strong"]), "bold"
        case "link":
            return found["link"], ""
        case "picture" | "caption":
            return readable.picture(found["picture"], found["caption"] or ""), DIM
    return found["escape"][1:], ""
