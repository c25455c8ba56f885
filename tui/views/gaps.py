"""The reading agenda as a list by kind, the most pressing first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from tui.strings.gaps import ABOUT, STATUS
from tui.text import content
from tui.widgets.grouped_list import GroupedList
from vault.model.gaps import Gap, GapKind, GapStatus


class AgendaList(GroupedList):
    """The gaps by kind; a row's id is the gap's."""

    def show(self, gaps: Mapping[GapKind, Sequence[Gap]]) -> None:
        """Show these gaps; the cursor stays, or moves to the next gap."""
        self.show_groups(
            (_heading(kind, len(of_kind)), [(gap.id, _item(gap)) for gap in of_kind])
            for kind, of_kind in gaps.items()
            if of_kind
        )


def _heading(kind: GapKind, number: int) -> Content:
    return Content.assemble(
        (f"{kind.value.capitalize()} {number}", "bold $text-primary"), (f"  {ABOUT[kind]}", content.DIM)
    )


def _item(gap: Gap) -> Content:
    mark = {GapStatus.PLANNED: ("▸ ", "$text-accent")}.get(gap.status, ("  ", ""))
    style = "$text-accent" if gap.status is GapStatus.PLANNED else content.DIM
    status = content.plain(f"  {STATUS[gap.status]}", style) if gap.status in STATUS else Content("")
    name = content.line(gap.what, "bold" if gap.open else content.DIM)
    return Content.assemble(mark, name, ": ", content.line(gap.missing, "" if gap.open else content.DIM), status)
