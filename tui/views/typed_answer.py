"""The text field in which an answer is typed."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import TextArea

from tui.keys import TYPED, bindings
from tui.strings import typed as said
from vault.text.formatting import clean

MOST = 4_000  # characters of one answer


class TypedAnswer(TextArea):
    """The text field for an answer; pasted text is cleaned of control characters."""

    BINDINGS = bindings(TYPED)  # type: ignore[assignment]

    @dataclass
    class Done(Message):
        """The answer is finished."""

        words: str

    class Left(Message):
        """Typing was cancelled."""

    def __init__(self, id: str | None = None, invites: str = said.INVITES, *, enter_sends: bool = False) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, placeholder=Content(invites), compact=True, id=id)
        self._enter_sends = enter_sends  # at once; else it takes an empty line

    def action_done(self) -> None:
        self.post_message(self.Done(self.text.strip()[:MOST]))

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def _on_key(self, event: Key) -> None:  # type: ignore[override]  # the framework calls TextArea's own after it
        """Finish at enter on an empty last line."""
        row, _ = self.cursor_location
        ends = self._enter_sends or (self.text.strip() and row and not self.document.get_line(row).strip())
        if event.key == "enter" and ends:
            event.stop()
            event.prevent_default()
            self.action_done()

    def _on_paste(self, event: Paste) -> None:  # type: ignore[override]
        event.text = clean(event.text)[:MOST]
