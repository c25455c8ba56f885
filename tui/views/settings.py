"""The settings as a list: name, value, and a mark if it is not the default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.text import content
from tui.widgets.grouped_list import ReachingList

_NAME = 30  # columns
_MARK, _UNMARKED = "• ", "  "


@dataclass(frozen=True, slots=True)
class Line:
    """A setting as it is shown; `own` if it differs from the default. Without an id, a heading."""

    id: str
    name: str
    value: str = ""
    own: bool = False


class SettingList(ReachingList):
    """The settings as a list."""

    @dataclass
    class Asked(Message):
        """The user wants to change this setting."""

        id: str

    def show(self, lines: Sequence[Line]) -> None:
        """Show these settings; the cursor stays."""
        at = self.highlighted
        self.clear_options()
        self.add_options([Option(_prompt(line), id=line.id or None, disabled=not line.id) for line in lines])
        self.highlighted = next((n for n, line in enumerate(lines) if line.id), None) if at is None else at

    def update(self, line: Line) -> None:
        """Update one setting."""
        self.replace_option_prompt(line.id, _prompt(line))

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.post_message(self.Asked(message.option_id or ""))


def _prompt(line: Line) -> Content:
    if not line.id:
        return content.plain(line.name, "bold $text-primary")
    mark = content.plain(_MARK if line.own else _UNMARKED, "$text-accent")
    name = content.line(line.name)
    gap = Content(" " * max(2, _NAME - name.cell_length))
    return Content.assemble(mark, name, gap, content.line(line.value, "bold" if line.own else content.DIM))
