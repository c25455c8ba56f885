"""The reading agenda as a list: by kind, the most pressing first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.strings.gaps import ABOUT, STATUS
from tui.text import content
from vault.model.gaps import Gap, GapKind, GapStatus


class AgendaList(OptionList):
    """Posts which gap the cursor is on."""

    @dataclass
    class Reached(Message):
        """The cursor is on this gap now; on none with ""."""

        gap: str

    def __init__(self) -> None:
        super().__init__(markup=False, compact=True)

    def show(self, gaps: Mapping[GapKind, Sequence[Gap]]) -> None:
        """These gaps, the cursor where it was or on what came after."""
        at = self.highlighted
        self.clear_options()
        for kind, of_kind in gaps.items():
            if of_kind:
                self.add_option(Option(_heading(kind, len(of_kind)), disabled=True))
                self.add_options([Option(_item(gap), id=gap.id) for gap in of_kind])
        self._put_cursor(at)

    def _put_cursor(self, at: int | None) -> None:
        places = [n for n, option in enumerate(self.options) if not option.disabled]
        wanted = [n for n in places if n >= (at or 0)] or places[-1:]
        self.highlighted = wanted[0] if wanted else None
        if not wanted:
            self.post_message(self.Reached(""))

    def on_option_list_option_highlighted(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        self.post_message(self.Reached(message.option_id or ""))


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
