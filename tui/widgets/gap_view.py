"""One gap in full: what is missing, who mentions it, what would fill it."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from tui import text
from vault.agenda import Gap
from vault.wikilink import links

_MOST = 6  # notes named; the file has the rest


class GapView(Static):
    """Empty while the cursor is on no gap."""

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, gap: Gap | None) -> None:
        self.update(_words(gap) if gap is not None else Content(""))


def _words(gap: Gap) -> Content:
    rows = [text.line(gap.what, "bold")]
    rows.append(Content.assemble(text.plain("missing    ", text.DIM), text.line(gap.missing)))
    if gap.mentions:
        names = [link.alias or link.target for mention in gap.mentions for link in links(mention)]
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        rows.append(Content.assemble(text.plain("mentioned  ", text.DIM), text.line(", ".join(names[:_MOST]) + more)))
    rows.append(Content.assemble(text.plain("would fill ", text.DIM), text.line(gap.fill)))
    return Content("\n").join(rows)
