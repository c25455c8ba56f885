"""A document's structure as markup for the one walk that reads web pages and Markdown: every word in it is escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from compiler.readers.html_elements import parse_html
from compiler.readers.html_walker import TreeWalker
from compiler.readers.page import Page

if TYPE_CHECKING:
    pass

Lines = Callable[[int], int]  # a line of the markup -> the 1-based line of the raw file


class Markup:
    """Collects blocks in reading order; `write` puts them onto a page. Inline markup is made by the functions below."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def block(self, tag: str, inner: str, line: int) -> None:
        """One block of inline markup; an empty one is left out."""
        if inner.strip():
            self._parts.append(f'<{tag} data-line="{line}">{inner}</{tag}>')

    def open(self, tag: str, line: int) -> None:
        self._parts.append(f'<{tag} data-line="{line}">')

    def close(self, tag: str) -> None:
        self._parts.append(f"</{tag}>")

    def code(self, text: str, language: str, line: int) -> None:
        if text.strip():
            self._parts.append(f'<pre data-line="{line}" data-language="{escape(language)}">\n{escape(text)}</pre>')

    def picture(self, target: str, alt: str = "") -> None:
        self._parts.append(f'<img src="{escape(target)}" alt="{escape(alt)}">')

    def cells(self, border: str) -> None:
        """What stands between two cells of a table that is written cell by cell."""
        self._parts.append(border)

    def table(self, rows: Sequence[Sequence[str]], line: int, head: bool) -> None:
        """A table of cells of inline markup; with `head` the first row names the columns."""
        self.open("table", line)
        for number, row in enumerate(rows):
            cell = "th" if head and number == 0 else "td"
            self._parts.append("<tr>" + "".join(f"<{cell}>{words}</{cell}>" for words in row) + "</tr>")
        self.close("table")

    def write(self, page: Page) -> None:
        """Raises: Unreadable if the blocks are nested too deeply."""
        walk("".join(self._parts), page, lambda line: line)


def math(tex: str, display: bool = False) -> str:
    """A formula, inline or on a line of its own."""
    tag = "x-math-block" if display else "x-math"
    return f"<{tag}>{escape(tex)}</{tag}>"


def link(target: str, inner: str) -> str:
    return f'<a href="{escape(target)}">{inner}</a>'


def walk(markup: str, page: Page, lines: Lines) -> None:
    """Writes markup onto `page`; its `data-line` attributes count lines that `lines` turns into those of the file."""
    root = parse_html(f"<html><body><div>{markup}</div></body></html>")

    def line_of(element: Any) -> int:
        number = element.get("data-line") or ""
        return lines(int(number)) if number.isdecimal() and len(number) < 9 else 0

    if root is not None:
        TreeWalker(page, line_of).walk(root)


OMISSION = "[…]"  # stands where a reference with a part in its sentence was left out
