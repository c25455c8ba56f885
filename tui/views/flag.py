"""The reason of a flag: five suggestions, or the user's own words."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Input, Static

from tui.strings import review as said
from tui.text import content


class Reason(Static):
    """One of the suggested reasons."""

    @dataclass
    class Chosen(Message):
        number: int

    def __init__(self, number: int) -> None:
        words = Content.assemble((str(number), "bold $text-accent"), " ", said.REASONS[number - 1])
        super().__init__(words, markup=False)
        self._number = number

    def on_click(self, event: Click) -> None:
        event.stop()
        self.post_message(self.Chosen(self._number))


class FlagLine(Vertical):
    """The line that asks for the reason of a flag, in place of the rating bar."""

    BINDINGS = [Binding("escape", "leave", show=False)]  # noqa: RUF012

    @dataclass
    class Given(Message):
        """The reason on one line; "" without one."""

        reason: str

    class Left(Message):
        """The flag was cancelled."""

    def compose(self) -> ComposeResult:
        hint = content.plain(f"  {said.IN_YOUR_WORDS}", content.DIM)
        yield Static(Content.assemble(content.plain(said.WHAT_IS_WRONG, "bold"), hint), markup=False)
        with Horizontal(id="reasons"):
            for number in range(1, len(said.REASONS) + 1):
                yield Reason(number)
        yield Input(compact=True, max_length=200)

    def ask(self) -> None:
        """Take the focus."""
        self.query_one(Input).focus()

    def on_reason_chosen(self, message: Reason.Chosen) -> None:
        message.stop()
        self.post_message(self.Given(said.REASONS[message.number - 1]))

    def on_input_changed(self, message: Input.Changed) -> None:
        """Choose the reason whose number was typed alone."""
        message.stop()
        number = message.value
        if len(number) == 1 and number in map(str, range(1, len(said.REASONS) + 1)):
            self.post_message(self.Given(said.REASONS[int(number) - 1]))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.post_message(self.Given(" ".join(message.value.split())))

    def action_leave(self) -> None:
        self.post_message(self.Left())
