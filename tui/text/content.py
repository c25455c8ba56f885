"""Text from cards and documents as Content: clean, inert, lightly styled. All such text is shown through here.

A str given to a Textual widget may act as markup, so no str is ever given: what is shown is a Content made here.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from tui.text.inline import Target
from tui.text.markdown import rows
from tui.theme import CODE, DIM, MATH
from vault.text.formatting import clean, clean_line

__all__ = ["CODE", "DIM", "MATH", "MOST", "line", "plain", "prose"]

MOST = 20_000  # characters of one text on the screen; a note stands for the rest


def plain(text: str, style: str = "") -> Content:
    """Return `text` without markup, in one style."""
    return Content.styled(_bounded(clean(text)), style)


def line(text: str, style: str = "") -> Content:
    """Return `text` on one line, without markup: for names, titles, paths and errors."""
    return Content.styled(_bounded(clean_line(text)), style)


def fitted(words: str, columns: int, style: str = "") -> Content:
    """Return `words` on one line of exactly `columns` cells, cut or padded."""
    shown = line(words, style)
    if shown.cell_length > columns:
        shown = shown.truncate(columns, ellipsis=True)
    return shown + Content(" " * max(0, columns - shown.cell_length))


def prose(markdown: str, width: int = 0) -> Content:
    """Render the Markdown of a card; code is highlighted, formulas become Unicode, pictures are named.

    Rows are no wider than `width` cells; with 0 the folding is left to the widget that shows them.
    """
    return rendered(_bounded(markdown), width).content


def _bounded(text: str) -> str:
    return text if len(text) <= MOST else text[:MOST] + " … (too long to show in full; the file has the rest)"


@dataclass(frozen=True, slots=True)
class Rendered:
    """`links[n]` is the destination of the span whose meta has `target` n."""

    content: Content
    links: tuple[Target, ...] = ()


def rendered(markdown: str, width: int = 0) -> Rendered:
    """Render all of it; with `width` 0 lines are not folded."""
    links: list[Target] = []
    shown = [row.content for row in rows(markdown, width, links)]
    return Rendered(Content("\n").join(shown), tuple(links))
