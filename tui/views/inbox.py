"""The inbox as a list by kind; each card of a deck has its own row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from textual.content import Content

from tui.strings import inbox as strings
from tui.text import content
from tui.widgets.grouped_list import GroupedList
from vault.inbox.items import Item, View


@dataclass(frozen=True, slots=True)
class Question:
    """One row: a page, or one card of a deck."""

    item: Item
    view: View

    @property
    def id(self) -> str:
        return f"{self.item.id}-{self.view.part}"


class InboxList(GroupedList):
    """The inbox items by kind; a row's id is the question's."""

    def show(self, questions: Sequence[Question]) -> None:
        """Show these questions; the cursor stays, or moves to the next question."""
        groups = [(kind, list(group)) for kind, group in groupby(questions, lambda question: question.item.kind)]
        self.show_groups(
            (
                content.plain(strings.heading(kind, len(of_kind)), "bold $text-primary"),
                [(question.id, _row(question)) for question in of_kind],
            )
            for kind, of_kind in groups
        )


def _row(question: Question) -> Content:
    item, view = question.item, question.view
    if not view.part:
        return Content.assemble("  ", content.line(item.about, "bold"))
    return Content.assemble("  ", content.line(item.about, "bold"), ": ", content.line(view.title))
