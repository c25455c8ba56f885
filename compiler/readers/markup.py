"""Escaped HTML markup that readers without a tree of their own write, read by the same walk as web pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from compiler.readers.html_elements import parse_html
from compiler.readers.html_walker import TreeWalker
from compiler.readers.page import Page

Lines = Callable[[int], int]  # a line of the markup -> the 1-based line of the raw file


class Markup:
    """Blocks of markup in reading order; `write` reads them onto a page. The functions below make inline markup."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def block(self, tag: str, inner: str, line: int) -> None:
        """Add one block of inline markup; an empty one is left out."""
        if inner.strip():
            self._parts.append(f'<{tag} data-line="{line}">{inner}</{tag}>')

    def open(self, tag: str, line: int) -> None:
        """Open an element around blocks."""
        self._parts.append(f'<{tag} data-line="{line}">')

    def close(self, tag: str) -> None:
        """Close an element around blocks."""
        self._parts.append(f"</{tag}>")

    def code(self, text: str, language: str, line: int) -> None:
        """Add a code block."""
        if text.strip():
            self._parts.append(f'<pre data-line="{line}" data-language="{escape(language)}">\n{escape(text)}</pre>')

    def picture(self, target: str, alt: str = "") -> None:
        """Add a picture."""
        self._parts.append(f'<img src="{escape(target)}" alt="{escape(alt)}">')

    def cells(self, border: str) -> None:
        """Add the markup between two cells of a table that is written cell by cell."""
        self._parts.append(border)

    def table(self, rows: Sequence[Sequence[str]], line: int, head: bool) -> None:
        """Add a table whose cells are inline markup; with `head` the first row names the columns."""
        self.open("table", line)
        for number, row in enumerate(rows):
            cell = "th" if head and number == 0 else "td"
            self._parts.append("<tr>" + "".join(f"<{cell}>{words}</{cell}>" for words in row) + "</tr>")
        self.close("table")

    def write(self, page: Page) -> None:
        """Read the blocks onto `page`. Raises: Unreadable if they are nested too deeply."""
        walk("".join(self._parts), page, lambda line: line)


def math(tex: str, display: bool = False) -> str:
    """Return the markup of a formula, inline or displayed."""
    tag = "x-math-block" if display else "x-math"
    return f"<{tag}>{escape(tex)}</{tag}>"


def link(target: str, inner: str) -> str:
    """Return the markup of a link to `target` around inline markup."""
    return f'<a href="{escape(target)}">{inner}</a>'


def walk(markup: str, page: Page, lines: Lines) -> None:
    """Read markup onto `page`; `lines` turns the line numbers of its `data-line` attributes into those of the
    raw file."""
    root = parse_html(f"<html><body><div>{markup}</div></body></html>")

    def line_of(element: Any) -> int:
        number = element.get("data-line") or ""
        return lines(int(number)) if number.isdecimal() and len(number) < 9 else 0

    if root is not None:
        TreeWalker(page, line_of).walk(root)
