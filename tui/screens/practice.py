"""Practice: choose cards beyond today's queue, how many, and how."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static

from learning.cards.workspace import open_desk
from learning.review.choices import Choice, choices
from learning.review.more_new import USUAL, allow_more
from learning.review.plan import Mode, Plan
from tui.context import Context
from tui.keys import PRACTISE
from tui.screen import Page
from tui.strings import review as said
from tui.text import content
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.grouped_list import move_cursor
from tui.widgets.notice import Notice

_LIMITS = (0, 5, 10, 20, 50, 100, 200)
_DAYS = (1, 2, 3, 5, 7, 14, 30)
_MODES = (Mode.CRAM, Mode.PREVIEW, Mode.AHEAD, Mode.REVIEW)
_NAME = 38  # columns of a filter's name


class PractiseScreen(Page, key="practise"):
    @dataclass
    class Read(Message):
        """The topics and tags to choose from have been read."""

        choices: list[Choice]

    class ModeName(Static):
        """One way to practise."""

        @dataclass
        class Clicked(Message):
            mode: Mode

        def __init__(self, mode: Mode) -> None:
            super().__init__(content.plain(said.MODES[mode][0]), markup=False)
            self.mode = mode

        def on_click(self) -> None:
            self.post_message(self.Clicked(self.mode))

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._choices: list[Choice] = []
        self._allowing = False  # more new cards are being allowed
        self._mode = _MODES[0]
        self._limit, self._days = 3, 0  # places in _LIMITS and _DAYS

    def compose(self) -> ComposeResult:
        yield TopBar(said.PRACTISE)
        with Container(id="practise"), Vertical(classes="column"):
            with Container(id="modes"):
                for mode in _MODES:
                    yield self.ModeName(mode)
            yield Static(markup=False, id="mode-about")
            yield Static(markup=False, id="how-many")
            yield OptionList(markup=False, id="choices")
        yield Notice()
        yield KeyBar(PRACTISE)

    def on_mount(self) -> None:
        self._show()
        self.query_one(TopBar).show_status(said.READING)
        self.run_worker(self._read, thread=True)

    def _read(self) -> None:
        with self.posting_errors():
            self.post_message(self.Read(choices(open_desk(self.context.vault, self.context.clock()))))

    def on_practise_screen_read(self, message: Read) -> None:
        self._choices = message.choices
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([_row(choice) for choice in self._choices])
        options.highlighted = 0
        options.focus()
        self.query_one(TopBar).show_status("")
        if not self._choices[0].cards:
            self.query_one(Notice).show_message(said.NO_CARDS)

    def on_page_failed(self, message: Page.Failed) -> None:
        self._allowing = False
        self.query_one(TopBar).show_status("")

    # --- what is chosen ---------------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """Return the plan that enter starts."""
        chosen = self.query_one(OptionList).highlighted
        tag = self._choices[chosen].tag if chosen is not None and self._choices else ""
        ahead = self._mode is Mode.AHEAD
        return Plan(self._mode, tag, _LIMITS[self._limit] if not ahead else 0, _DAYS[self._days] if ahead else 0)

    def _show(self) -> None:
        for name in self.query(self.ModeName):
            name.set_class(name.mode is self._mode, "-chosen")
        self.query_one("#mode-about", Static).update(content.plain(said.MODES[self._mode][1], content.DIM))
        ahead = self._mode is Mode.AHEAD
        number = said.days(_DAYS[self._days]) if ahead else said.at_most(_LIMITS[self._limit])
        label = content.plain(f"{said.HOW_FAR if ahead else said.HOW_MANY}  ", content.DIM)
        keys = content.plain("  + -", "bold $text-accent")
        self.query_one("#how-many", Static).update(Content.assemble(label, content.plain(number, "bold"), keys))

    def action_mode(self, step: int) -> None:
        self._mode = _MODES[(_MODES.index(self._mode) + step) % len(_MODES)]
        self._show()

    def on_practise_screen_mode_name_clicked(self, message: ModeName.Clicked) -> None:
        self._mode = message.mode
        self._show()

    def action_number(self, step: int) -> None:
        """Change the number of cards or days; 0 cards means all."""
        if self._mode is Mode.AHEAD:
            self._days = min(max(self._days + step, 0), len(_DAYS) - 1)
        else:
            self._limit = (self._limit + step) % len(_LIMITS)
        self._show()

    def action_move(self, rows: int) -> None:
        move_cursor(self.query_one(OptionList), rows)

    def action_more_new(self) -> None:
        """Let 10 more new cards of what is chosen into today's queue, and review them."""
        if not self._allowing:
            self._allowing = True
            self.run_worker(lambda tag=self.plan.tag: self._allow_more(tag), thread=True)

    def _allow_more(self, tag: str) -> None:
        with self.posting_errors():
            allow_more(open_desk(self.context.vault, self.context.clock(), tag=tag), USUAL, via="tui")
            self.go("review", str(Plan(tag=tag)))

    def action_start(self) -> None:
        if self._choices:
            self.go("review", str(self.plan))

    def on_option_list_option_selected(self) -> None:
        self.action_start()


def _row(choice: Choice) -> Content:
    name = content.line(choice.name or said.EVERYTHING)
    name = name.truncate(_NAME, ellipsis=True, pad=True)
    group = content.plain(f"{said.group(choice.group) if choice.group else '':<9}", content.DIM)
    return Content.assemble(
        name, " ", group, content.plain(said.number_of(choice.cards, choice.due, choice.new), content.DIM)
    )
