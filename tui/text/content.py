"""Words from cards and documents as Content: clean, inert, lightly styled. Nothing else puts such words on the screen.

A str given to a Textual widget may act as markup, so no str is ever given: what is shown is a Content made here.
"""

from __future__ import annotations

from textual.content import Content

from tui.text.markdown import rendered
from tui.theme import CODE, DIM, MATH
from vault.text.sanitize import clean, clean_line

__all__ = ["CODE", "DIM", "MATH", "MOST", "line", "plain", "prose"]

MOST = 20_000  # characters of one text on the screen; the rest is said, not painted


def plain(text: str, style: str = "") -> Content:
    """`text` as it is, in one style that the app chooses."""
    return Content.styled(_bounded(clean(text)), style)


def line(text: str, style: str = "") -> Content:
    """`text` on one line: for names, titles, paths and errors."""
    return Content.styled(_bounded(clean_line(text)), style)


def fitted(words: str, columns: int, style: str = "") -> Content:
    """`words` on one line of exactly so many columns, cut or filled up with blanks."""
    shown = line(words, style)
    if shown.cell_length > columns:
        shown = shown.truncate(columns, ellipsis=True)
    return shown + Content(" " * max(0, columns - shown.cell_length))


def prose(markdown: str, width: int = 0) -> Content:
    """The Markdown of a card: emphasis, lists, quotes, tables, code in colours, formulas in Unicode, pictures by name.

    Rows are no wider than `width` cells; with 0 the folding is left to the widget that shows them.
    """
    return rendered(_bounded(markdown), width).content


def _bounded(text: str) -> str:
    return text if len(text) <= MOST else text[:MOST] + " … (cut here; the file has the rest)"
