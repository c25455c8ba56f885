"""The home screen: today's cards, figures, news and gaps; in an empty vault, what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import Worker, get_current_worker

from learning.cards.workspace import open_desk
from learning.pages.today import Figures, Overview, backlog_of, figures_of, overview_of, proposed, topics_of
from learning.stats.catch_up import Offer
from tui.context import Context
from tui.keys import HOME, Key
from tui.models import home_rows
from tui.process.background import read_in_background
from tui.screen import Page
from tui.screens.home_plan import PlanActions
from tui.strings import home as strings
from tui.text import content
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.fact import Fact, Tile
from tui.widgets.notice import Notice
from vault.errors import RetainError

_FACTS = {  # by id: its name, and where a click on it leads
    "streak": (strings.STREAK, "stats"),
    "recalled": (strings.RECALLED, "stats"),
    "coming": (strings.COMING, "stats"),
    "since": (strings.SINCE, ""),
    "agenda": (strings.AGENDA, "gaps"),
    "topics": (strings.TOPICS, "stats"),
    "year": (strings.YEAR, "stats"),
}


class HomeScreen(PlanActions, key="home"):
    @dataclass
    class Read(Message):
        """The overview of today has been read."""

        overview: Overview

    @dataclass
    class Found(Message):
        """The figures are ready; topics and backlog may still be missing."""

        figures: Figures
        last: bool = False

    @dataclass
    class Proposed(Message):
        """The plan for the backlog is ready; None where there is no need of one."""

        offer: Offer | None

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about, classes="-bare")
        self._problem: RetainError | None = None
        self._said = ""  # to be shown once the vault is read again
        self._figures: Figures | None = None
        self._reading: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        yield TopBar("Home")
        with VerticalScroll(id="home", can_focus=False), Vertical(classes="column"):
            with Container(id="halves"):
                with Vertical(id="first"):
                    with Horizontal(id="today"):
                        for name in ("due", "new", "minutes"):
                            yield Tile(id=f"tile-{name}")
                    yield Static(markup=False, id="advice")
                    yield Input(id="per-day", compact=True, type="integer", max_length=4)
                    yield from self._facts("streak", "recalled", "coming")
                with Vertical(id="second"):
                    yield from self._facts("since", "agenda", "topics")
            yield from self._facts("year")
            yield Static(markup=False, id="holdings")
        yield Notice()
        yield KeyBar(HOME)

    def _facts(self, *names: str) -> ComposeResult:
        for name in names:
            yield Fact(_FACTS[name][0], id=name)

    def on_mount(self) -> None:
        self.query_one("#advice", Static).update(content.plain(strings.READING, content.DIM))

    def on_screen_resume(self) -> None:
        """Read the vault again: another screen may have changed it."""
        self._begin_reading()

    def on_screen_suspend(self) -> None:
        """Stop reading while another screen is in front."""
        if self._reading is not None:
            self._reading.cancel()

    def action_refresh(self) -> None:
        """Clear the notice and read the vault again."""
        self._problem = None
        self._begin_reading()

    def _begin_reading(self) -> None:
        """Read the vault in the background: first the overview, then the figures that take longer."""
        self._reading = self.run_worker(read_in_background(self._read), exclusive=True)

    def _read(self) -> None:
        worker = get_current_worker()
        with self.posting_errors():
            desk = open_desk(self.context.vault, self.context.clock(), tag=self.context.tag)
            seen = overview_of(desk)
            self.post_message(self.Read(seen))
            if worker.is_cancelled or not seen.cards:
                return
            self.post_message(self.Proposed(proposed(desk)))
            figures = figures_of(desk)
            self.post_message(self.Found(figures))
            if not worker.is_cancelled:
                figures = replace(figures, topics=topics_of(desk))
                self.post_message(self.Found(figures))
            if not worker.is_cancelled:
                self.post_message(self.Found(replace(figures, backlog=backlog_of(desk)), last=True))

    def on_home_screen_read(self, message: Read) -> None:
        self._seen = message.overview
        self._show(message.overview)
        notice = self.query_one(Notice)
        if self._problem is not None:
            notice.show_error(self._problem)
        elif self._said:
            notice.show_message(self._said)
            self._said = ""
        else:
            notice.show_findings((*self.context.preferences.found, *message.overview.diagnostics))

    def on_home_screen_proposed(self, message: Proposed) -> None:
        self._offer = message.offer
        self._show_advice()

    def on_plan_actions_decided(self, message: PlanActions.Decided) -> None:
        self._offer, self._deciding = None, False
        if message.review:
            self.go("review")
            return
        self._said = message.words
        self.action_refresh()

    def on_home_screen_found(self, message: Found) -> None:
        figures, before = message.figures, self._figures
        if before is not None and not message.last:  # what is shown stands until the new is there
            topics = before.topics if figures.topics is None else figures.topics
            figures = replace(figures, topics=topics, backlog=before.backlog)
        self._figures = figures
        self._show_figures()

    def on_page_failed(self, message: Page.Failed) -> None:
        self.query_one("#advice", Static).update(content.plain(strings.UNREADABLE, "bold"))

    def show_error(self, problem: RetainError) -> None:
        """Show an error until the user refreshes or leaves."""
        self._problem = problem
        self.query_one(Notice).show_error(problem)

    # --- what is shown ------------------------------------------------------------------------------------------------

    def _show(self, seen: Overview) -> None:
        self.query_one(TopBar).show_status(home_rows.dated(self.context.vault.settings.name, seen.date))
        self.set_class(not seen.cards, "-bare")
        self.set_class(home_rows.is_done(seen), "-done")
        self.query_one(KeyBar).show(self._keys(seen))
        self.query_one("#tile-due", Tile).show(seen.due, strings.DUE)
        self.query_one("#tile-new", Tile).show(seen.new, strings.NEW)
        minutes = strings.MINUTE if seen.minutes == 1 else strings.MINUTES
        self.query_one("#tile-minutes", Tile).show(seen.minutes, minutes)
        self._show_advice()
        self._show_agenda(seen)
        holdings = strings.holdings(seen.cards, seen.concepts, seen.tomorrow) if seen.cards else ""
        self.query_one("#holdings", Static).update(content.line(holdings))

    def _show_advice(self) -> None:
        if self._seen is not None:
            self.query_one("#advice", Static).update(home_rows.advice(self._seen, self.context.tag, self._offer))

    def _show_figures(self) -> None:
        """Show each figure in its row."""
        seen, found = self._seen, self._figures
        if seen is None or found is None:
            return
        wide = self._wide
        self._fact("streak").show(home_rows.streak(found))
        self._fact("recalled").show(home_rows.recalled(found, seen.desired))
        self._drawn("since", lambda columns: home_rows.since(found, wide, columns))
        self._drawn("coming", lambda columns: home_rows.coming(found, columns, is_planned=self._offer is not None))
        self._drawn("topics", lambda columns: home_rows.topics(found, columns))
        self._drawn("year", lambda columns: home_rows.year(found, columns))

    def _show_agenda(self, seen: Overview) -> None:
        width = self._fact("agenda").words.content_size.width
        self._fact("agenda").show(home_rows.agenda(seen, self._wide, width))

    def _drawn(self, name: str, draw: Callable[[int], Content]) -> None:
        """Show a row whose content depends on its width."""
        fact = self._fact(name)
        width = fact.words.content_size.width
        if width:
            fact.show(draw(width))

    def on_fact_resized(self, message: Fact.Resized) -> None:
        message.stop()
        if self._seen is not None:
            self._show_agenda(self._seen)
        self._show_figures()

    @property
    def _wide(self) -> bool:
        return self.has_class("-wide")

    def _fact(self, name: str) -> Fact:
        return self.query_one(f"#{name}", Fact)

    # --- where to -----------------------------------------------------------------------------------------------------

    def on_fact_clicked(self, message: Fact.Clicked) -> None:
        where = _FACTS[message.fact.id or ""][1]
        if where:
            self.go(where)

    def _keys(self, seen: Overview) -> list[Key]:
        """Return the keys; in a vault without cards, enter takes the first step."""
        first = next(iter(home_rows.steps(seen)), None)
        return [replace(key, words=first.name) if first and key.action == "review" else key for key in HOME]

    def offers(self, key: Key) -> bool:
        if key.group != strings.STEPS:
            return True
        steps = home_rows.steps(self._seen) if self._seen is not None else ()
        return int(key.id.rpartition("_")[2]) <= len(steps)

    def action_review(self) -> None:
        """Review; in a vault without cards, take the first step."""
        if self._seen is not None and home_rows.steps(self._seen):
            self.action_step(1)
        else:
            super().action_review()

    def action_step(self, number: int) -> None:
        """Take a step of a vault without cards."""
        steps = home_rows.steps(self._seen) if self._seen is not None else ()
        if number <= len(steps):
            self.go(steps[number - 1].where, steps[number - 1].about)

    def action_go(self, where: str) -> None:
        self.go(where)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#home").scroll_relative(y=rows, animate=False)

    def action_page(self, pages: int) -> None:
        home = self.query_one("#home")
        home.scroll_relative(y=pages * max(1, home.size.height - 1), animate=False)

    def action_back(self) -> None:
        """Leave the field for the reviews a day."""
        self._close_ask()

    def action_quit(self) -> None:
        self.app.exit(0)
