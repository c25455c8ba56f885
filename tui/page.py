"""What all screens have in common: their keys, the way back, and a place to say what went wrong."""

from __future__ import annotations

from typing import ClassVar

from textual.screen import Screen

from tui.context import Context
from tui.going import Back
from tui.widgets.bars import KeyBar
from tui.widgets.notice import Notice
from vault.errors import RetainError


class Page(Screen[None]):
    """A screen of the app. `NAME` is its name in `keys.SCREENS` and `going.PLACES`; BINDINGS come from there."""

    NAME: ClassVar[str] = ""

    def __init__(self, context: Context, about: str = "", classes: str = "") -> None:
        super().__init__(classes=classes)
        self.context, self.about = context, about

    def say(self, problem: RetainError) -> None:
        """Shows what went wrong, until something goes right."""
        self.query_one(Notice).failure(problem)

    def action_back(self) -> None:
        self.post_message(Back())

    async def on_key_bar_chosen(self, message: KeyBar.Chosen) -> None:
        await self.run_action(message.action)
