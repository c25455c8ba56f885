"""What waits in the inbox as a list: by kind, a card of a deck on a row of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.strings import inbox as strings
from tui.text import content
from vault.inbox.items import Item, View


@dataclass(frozen=True, slots=True)
class Question:
    """One row: a page, or one card of a deck."""

    item: Item
    view: View

    @property
    def id(self) -> str:
        return f"{self.item.id}-{self.view.part}"


class InboxList(OptionList):
    """Posts which question the cursor is on."""

    @dataclass
    class Reached(Message):
        """The cursor is on this row now; on none with ""."""

        question: str

    def __init__(self) -> None:
        super().__init__(markup=False, compact=True)

    def show(self, questions: Sequence[Question]) -> None:
        """These questions, the cursor where it was or on what came after."""
        at = self.highlighted
        self.clear_options()
        for kind, group in groupby(questions, lambda question: question.item.kind):
            of_kind = list(group)
            heading = content.plain(strings.heading(kind, len(of_kind)), "bold $text-primary")
            self.add_option(Option(heading, disabled=True))
            self.add_options([Option(_row(question), id=question.id) for question in of_kind])
        places = [n for n, option in enumerate(self.options) if not option.disabled]
        wanted = [n for n in places if n >= (at or 0)] or places[-1:]
        self.highlighted = wanted[0] if wanted else None
        if not wanted:
            self.post_message(self.Reached(""))

    def on_option_list_option_highlighted(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        self.post_message(self.Reached(message.option_id or ""))


def _row(question: Question) -> Content:
    item, view = question.item, question.view
    if not view.part:
        return Content.assemble("  ", content.line(item.about, "bold"))
    return Content.assemble("  ", content.line(item.about, "bold"), ": ", content.line(view.title))
