"""Markdown tables as aligned rows, also with wide characters; long cells are folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from textual.content import Content

from tui.text.wrapping import folded, runs_left

_GAP = 2  # cells between two columns
_LEAST = 6  # cells of a column that is made narrower


def table_rows(
    aligns: Sequence[str], cells: Sequence[Sequence[str]], width: int, shown: Callable[[str, str], Content]
) -> list[Content]:
    """Return the rows of a table, none wider than `width`; `shown` gives the Content of a cell, over a style.

    `aligns` has "left", "right" or "center" for each column; the first of the rows of cells is the head. Where the
    columns don't fit beside each other, each row of the table becomes a small list.
    """
    head = [shown(cell, "bold") for cell in cells[0]]
    rows = [[shown(cell, "") for cell in row] for row in cells[1:]]
    wanted = [max(cell.cell_length for cell in column) for column in zip(head, *rows, strict=True)]
    room = width - _GAP * (len(head) - 1)
    if room < sum(min(_LEAST, cells) for cells in wanted):
        return _listed(head, rows, width)
    widths = _narrowed(wanted, room)
    line = Content.styled((" " * _GAP).join("─" * cells for cells in widths), "$foreground 40%")
    out = [*_row(head, widths, aligns), line]
    for row in rows:
        out += _row(row, widths, aligns)
    return out


def _narrowed(wanted: Sequence[int], room: int) -> list[int]:
    """Return column widths that fit: narrow columns keep theirs, the others share the rest."""
    widths = [max(1, cells) for cells in wanted]
    left, share = room, sorted(range(len(widths)), key=widths.__getitem__)
    for done, column in enumerate(share):
        widths[column] = min(widths[column], max(left // (len(share) - done), min(_LEAST, widths[column])))
        left -= widths[column]
    return widths


def _row(cells: Sequence[Content], widths: Sequence[int], aligns: Sequence[str]) -> list[Content]:
    parts = [folded(cell, width) for cell, width in zip(cells, widths, strict=True)]
    rows = []
    for n in range(max(map(len, parts))):
        fields = [part[n] if n < len(part) else Content("") for part in parts]
        padded = [_padded(*field) for field in zip(fields, widths, aligns, strict=True)]
        rows.append(Content(" " * _GAP).join(padded).rstrip())
    return rows


def _padded(cell: Content, width: int, align: str) -> Content:
    spare = max(0, width - cell.cell_length)
    if align == "left" and runs_left(cell.plain):
        align = "right"
    before = {"left": 0, "right": spare, "center": spare // 2}[align]
    return cell.pad(before, spare - before)


def _listed(head: Iterable[Content], rows: Sequence[Sequence[Content]], width: int) -> list[Content]:
    names, out = list(head), []
    for row in rows or [[Content("")] * len(names)]:
        for name, cell in zip(names, row, strict=True):
            out += folded(Content.assemble(name, ": ", cell), width)
        out.append(Content(""))
    return out[:-1]
