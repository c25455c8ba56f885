"""A list whose rows are in groups, each under a heading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.text import content


def move_cursor(rows: OptionList, by: int) -> None:
    """Move the cursor of a list one row up (below 0) or down."""
    (rows.action_cursor_down if by > 0 else rows.action_cursor_up)()


class Menu(OptionList):
    """A menu: rows of id, name and what it is for; names take `width` columns."""

    def __init__(self, rows: Mapping[str, tuple[str, str]], width: int) -> None:
        options = [
            Option(Content.assemble((f" {name:{width}}", "bold"), content.plain(about, content.DIM)), id=id_)
            for id_, (name, about) in rows.items()
        ]
        super().__init__(*options, markup=False, compact=True)


class ReachingList(OptionList):
    """Reports which row the cursor is on."""

    @dataclass
    class Reached(Message):
        """The cursor is on the row `id`; "" if there are no rows."""

        id: str

    def __init__(self) -> None:
        super().__init__(markup=False, compact=True)

    def on_option_list_option_highlighted(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        self.post_message(self.Reached(message.option_id or ""))


class GroupedList(ReachingList):
    """Rows in groups. The cursor never stops on a heading."""

    def show_groups(self, groups: Iterable[tuple[Content, Iterable[tuple[str, Content]]]]) -> None:
        """Show groups of (heading, rows of (id, text)); the cursor stays, or moves to the next row."""
        before = self.highlighted or 0
        self.clear_options()
        for heading, rows in groups:
            self.add_option(Option(heading, disabled=True))
            self.add_options([Option(text, id=id_) for id_, text in rows])
        places = [n for n, option in enumerate(self.options) if not option.disabled]
        following = [n for n in places if n >= before] or places[-1:]
        self.highlighted = following[0] if following else None
        if not following:
            self.post_message(self.Reached(""))
