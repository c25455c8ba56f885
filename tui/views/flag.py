"""What is wrong with a card: five reasons at hand, or the human's own words."""

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
    """One of the reasons at hand."""

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
    """Stands where the ratings do, and is as high."""

    BINDINGS = [Binding("escape", "leave", show=False)]  # noqa: RUF012

    @dataclass
    class Given(Message):
        """The reason, on one line; "" if the human gives none."""

        reason: str

    class Left(Message):
        """The card is not flagged after all."""

    def compose(self) -> ComposeResult:
        hint = content.plain(f"  {said.IN_YOUR_WORDS}", content.DIM)
        yield Static(Content.assemble(content.plain(said.WHAT_IS_WRONG, "bold"), hint), markup=False)
        with Horizontal(id="reasons"):
            for number in range(1, len(said.REASONS) + 1):
                yield Reason(number)
        yield Input(compact=True, max_length=200)

    def ask(self) -> None:
        """Takes the keys."""
        self.query_one(Input).focus()

    def on_reason_chosen(self, message: Reason.Chosen) -> None:
        message.stop()
        self.post_message(self.Given(said.REASONS[message.number - 1]))

    def on_input_changed(self, message: Input.Changed) -> None:
        """A number that is all that was typed chooses its reason."""
        message.stop()
        number = message.value
        if len(number) == 1 and number in map(str, range(1, len(said.REASONS) + 1)):
            self.post_message(self.Given(said.REASONS[int(number) - 1]))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.post_message(self.Given(" ".join(message.value.split())))

    def action_leave(self) -> None:
        self.post_message(self.Left())
