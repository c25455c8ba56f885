"""Home: what today holds, what is missing, and, where there is nothing yet, what to do."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui import text, words
from tui.context import Context
from tui.going import Go
from tui.keys import HOME, bindings
from tui.overview import Overview, overview
from tui.page import Page
from tui.widgets.agenda_list import ABOUT
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.notice import Notice
from tui.widgets.tile import Tile
from vault.agenda import Gap
from vault.errors import RetainError

_PRESSING = 2  # gaps named, of each kind


class HomeScreen(Page):
    NAME = "home"
    BINDINGS = bindings(HOME)  # type: ignore[assignment]

    @dataclass
    class Read(Message):
        """The vault has been read."""

        overview: Overview

    @dataclass
    class Failed(Message):
        error: RetainError

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._problem: RetainError | None = None

    def compose(self) -> ComposeResult:
        yield TopBar("Home")
        with VerticalScroll(id="home", can_focus=False), Vertical(classes="column"):
            with Horizontal(id="today"):
                for name in ("due", "new", "minutes"):
                    yield Tile(id=f"tile-{name}")
            yield Static(text.plain("Reading the vault …", text.DIM), markup=False, id="advice")
            yield Static(markup=False, id="agenda")
            yield Static(markup=False, id="holdings")
        yield Notice()
        yield KeyBar(HOME)

    def on_mount(self) -> None:
        self.query_one("#agenda").border_title = "Reading agenda"
        self.query_one("#agenda").display = self.query_one("#today").display = False

    def on_screen_resume(self) -> None:
        """Whenever home comes back, the vault may have changed."""
        self._begin_reading()

    def greet(self, problem: RetainError | None) -> None:
        """What to say as soon as home is back and the vault has been read."""
        self._problem = problem

    def action_refresh(self) -> None:
        """Asked for by the human, who has read what was said."""
        self._problem = None
        self._begin_reading()

    def _begin_reading(self) -> None:
        """Reads the vault without holding up the screen."""
        self.run_worker(self._read, thread=True, exclusive=True)

    def _read(self) -> None:
        try:
            self.post_message(self.Read(overview(self.context.vault, self.context.clock(), self.context.tag)))
        except RetainError as error:
            self.post_message(self.Failed(error))

    def on_home_screen_read(self, message: Read) -> None:
        self._show(message.overview)
        notice = self.query_one(Notice)
        if self._problem is not None:
            notice.failure(self._problem)
        else:
            notice.found(message.overview.diagnostics)

    def on_home_screen_failed(self, message: Failed) -> None:
        self.query_one("#advice", Static).update(text.plain("The vault cannot be read.", "bold"))
        self.say(message.error)

    def say(self, problem: RetainError) -> None:
        """Shows what went wrong, until the human refreshes or goes on."""
        self._problem = problem
        self.query_one(Notice).failure(problem)

    def _show(self, seen: Overview) -> None:
        self.query_one(TopBar).say(f"{self.context.vault.settings.name} · {seen.date}")
        self.query_one("#today").display = seen.cards > 0
        self.query_one("#tile-due", Tile).show(seen.due, "due")
        self.query_one("#tile-new", Tile).show(seen.new, "new")
        self.query_one("#tile-minutes", Tile).show(seen.minutes, "minute" if seen.minutes == 1 else "minutes")
        self.query_one("#advice", Static).update(_advice(seen, self.context.tag))
        agenda = self.query_one("#agenda", Static)
        agenda.display = seen.open_gaps > 0
        agenda.update(_agenda(seen))
        self.query_one("#holdings", Static).update(text.line(_holdings(seen)))

    def action_review(self) -> None:
        self.post_message(Go("review"))

    def action_go(self, where: str) -> None:
        self.post_message(Go(where))

    def action_quit(self) -> None:
        self.app.exit(0)


def _advice(seen: Overview, tag: str) -> Content:
    if not seen.has_sources:
        return _steps(
            "This vault is empty. Three commands fill it:",
            ("retain add FILE...", "copies your documents into raw/"),
            ("retain compile", "makes articles and flashcards of them"),
            ("retain review", "starts with the first ones"),
        )
    if not seen.cards:
        return _steps("There are documents, but no cards yet:", ("retain compile", "makes articles and flashcards"))
    done = f"{words.counted(seen.done, 'card')} reviewed today." if seen.done else ""
    if seen.due + seen.new:
        head = Content.assemble("Press ", text.plain("enter", "bold $text-accent"), " to begin.")
        more = f"{seen.waiting} more wait for another day." if seen.waiting else ""
        notes = [f"Only {tag}." if tag else "", done, more]
    else:
        head = text.plain("Done for today." if seen.done else "Nothing is due.", "bold")
        notes = [f"The next card comes back {seen.next_due}." if seen.next_due else "", done]
    return Content(" ").join([head, *(text.line(note, text.DIM) for note in notes if note)])


def _steps(head: str, *steps: tuple[str, str]) -> Content:
    rows = [text.plain(head, "bold"), Content("")]
    width = max(len(command) for command, _ in steps) + 3
    for number, (command, gives) in enumerate(steps, 1):
        name = text.plain(command.ljust(width), "$text-accent")
        rows.append(Content.assemble(text.plain(f"  {number}  ", text.DIM), name, gives))
    return Content("\n").join(rows)


def _agenda(seen: Overview) -> Content:
    opens = Content.assemble(("g", "bold $text-accent"), text.plain(" opens the agenda", text.DIM))
    rows = [Content.assemble(words.counted(seen.open_gaps, "open gap"), text.plain("  ·  ", text.DIM), opens)]
    for kind, gaps in seen.gaps.items():
        if gaps:
            rows.append(
                Content.assemble(text.plain(f"{len(gaps):>3} {kind}", "bold"), text.plain(f"  {ABOUT[kind]}", text.DIM))
            )
            rows += [_gap(gap) for gap in gaps[:_PRESSING]]
    return Content("\n").join(rows)


def _gap(gap: Gap) -> Content:
    return Content.assemble("    ", text.line(gap.what), text.plain(": ", text.DIM), text.line(gap.missing, text.DIM))


def _holdings(seen: Overview) -> str:
    if not seen.cards:
        return ""
    tomorrow = f" · {seen.tomorrow} due by tomorrow" if seen.tomorrow else ""
    return f"{words.counted(seen.cards, 'card')} on {words.counted(seen.concepts, 'concept')}{tomorrow}"
