"""Markdown as rows of Content: inert, aligned, no wider than the column. The one way documents reach the screen.

A link is a span whose meta says `{"target": n}`: the widget that shows it decides what a click on it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from textual.content import Content, Span

from tui.text import tables
from tui.text.blocks import Block, Kind, blocks
from tui.text.highlighting import coloured
from tui.text.inline import Target, inline_content
from tui.text.wrapping import cell_len, folded, runs_left
from tui.theme import CODE, DIM
from vault.model.exhibit import UNNAMED
from vault.model.latex import EMBED
from vault.text.formatting import clean

UNKNOWN = 72  # cells of a table or rule where the width of the column is not known
_LEAST = 12  # cells that words always get, however deep they are nested
HEADS = {"1": "bold $text-primary", "2": "bold $text-primary"}

Shown = Callable[[str, int], Sequence[Content]]

__all__ = ["Row", "Shown", "Target", "rows"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row, or one line if there is no width. `anchors` are the headings and block ids that begin here."""

    content: Content
    anchors: tuple[str, ...] = ()


def rows(markdown: str, width: int, links: list[Target], shown: Shown | None = None) -> Iterator[Row]:
    """Yield the rows in order; the destinations of links are appended to `links`.

    `shown` gives the rows of a picture by its path and the cells that it may take, none where only its name is shown.
    """
    anchors: tuple[str, ...] = ()
    bar = ""
    begun = False
    for block in blocks(clean(markdown).expandtabs(4)):
        if block.kind is Kind.ANCHOR:
            anchors += (f"^{block.info}",)
            continue
        if block.gap and begun:
            yield Row(Content.styled(_shared(bar, block.rest), DIM))
        bar, begun = block.rest, True
        if block.kind is Kind.HEADING:
            anchors += (block.text.casefold(),)
        for content in (*_pictures(block, width, shown), *_block(block, width, links)):
            yield Row(content, anchors)
            anchors = ()
    if anchors:
        yield Row(Content(""), anchors)


def _pictures(block: Block, width: int, shown: Shown | None) -> list[Content]:
    """Return the rows of the pictures in a paragraph of embeds alone; their names follow below."""
    if shown is None or block.kind is not Kind.WORDS:
        return []
    embeds = [EMBED.fullmatch(line) for line in block.text.split("\n")]
    paths = [path for embed in embeds if embed and (path := embed["target"].strip())]
    room = max(_LEAST, width - cell_len(block.rest)) if width else 0
    return [Content(" " * cell_len(block.rest)) + row for path in paths if all(embeds) for row in shown(path, room)]


def _shared(before: str, after: str) -> str:
    """Return the quote bars that continue over an empty line between two blocks."""
    same = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    return before[:same].rstrip()


def _block(block: Block, width: int, links: list[Target]) -> Iterator[Content]:
    room = max(_LEAST, width - cell_len(block.rest)) if width else 0
    inside: list[Content]
    if block.kind is Kind.CODE:
        inside = _code(block, room)
    elif block.kind is Kind.TABLE:
        inside = tables.table_rows(block.aligns, block.table, room or UNKNOWN, partial(inline_content, links=links))
    elif block.kind is Kind.RULE:
        inside = [Content.styled("─" * (room or UNKNOWN // 3), "$foreground 40%")]
    else:
        style = HEADS.get(block.info, "bold") if block.kind is Kind.HEADING else ""
        inside = _set(inline_content(block.text, style, links), room)
    for n, row in enumerate(inside):
        before = block.rest if n else block.first
        yield Content.styled(before, DIM) + row if before else row


def _set(words: Content, room: int) -> list[Content]:
    """Fold text into rows; right-to-left paragraphs are aligned right."""
    lines = folded(words, room)
    if room and runs_left(words.plain):
        return [line.pad_left(max(0, room - line.cell_length)) for line in lines]
    return lines


def _code(block: Block, room: int) -> list[Content]:
    code = block.text
    named = block.info and block.info != UNNAMED
    styles = coloured(code, block.info) if named else []
    spans = [Span(0, len(code), CODE if not styles else "$foreground"), *(Span(*style) for style in styles)]
    inside = [
        row.pad_left(2) for line in Content(code, spans).split("\n", allow_blank=True) for row in _cut(line, room)
    ]
    return [Content.styled(block.info, DIM), *inside] if named else inside or [Content("")]


def _cut(line: Content, room: int) -> list[Content]:
    """Cut a line of code into rows, keeping its blanks."""
    if not room or line.cell_length <= room - 2:
        return [line]
    return line.fold(room - 2)
