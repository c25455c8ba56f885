"""The statistics screen: recall, forecast, workload, mastery, each with its meaning."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, get_current_worker

from learning.cards.workspace import Desk, open_desk, queued
from learning.stats import wording
from learning.stats.material import material_of, narrowed
from learning.stats.outlook import USUAL, Outlook, backlog_words, meaning
from learning.stats.stats import Material, Stats, stats_of_states, with_reviews
from learning.stats.stored import StoredStats
from learning.store.freshness import look
from tui.context import Context
from tui.keys import STATS
from tui.models import charts
from tui.models.charts import Load
from tui.process.background import read_in_background
from tui.screen import Page
from tui.strings import stats as strings
from tui.text import content
from tui.widgets.bars import KeyBar, Sections, TopBar
from tui.widgets.notice import Notice

_LOAD = strings.SECTIONS.index(strings.WORKLOAD)
_AT_ONCE = frozenset(
    map(strings.SECTIONS.index, (strings.FORECAST, strings.MASTERY))
)  # as no review is looked at for them
_ALL = frozenset(range(len(strings.SECTIONS)))
_ABOVE = 8  # rows that are neither the picture's nor the sections'
_DAYS = 90  # that a forecast of the load looks ahead
_MEANS = (
    wording.retention_means,
    wording.calibration_means,
    wording.forecast_means,
    None,
    wording.time_means,
    lambda stats: wording.hours_mean(stats.activity.hours),
    wording.growth_means,
    wording.mastery_means,
    wording.leeches_mean,
)


@dataclass(frozen=True, slots=True)
class Filter:
    """The cards of a topic or tag; all cards with neither."""

    topic: str = ""
    tag: str = ""

    @property
    def words(self) -> str:
        if not self.topic and not self.tag:
            return strings.ALL
        return strings.only(strings.TOPIC, self.topic) if self.topic else strings.only(strings.TAG, self.tag)


class _Unwanted(Exception):
    """The result is no longer needed."""


def _go_on() -> None:
    """Raise _Unwanted in a worker thread that was cancelled."""
    if get_current_worker().is_cancelled:
        raise _Unwanted


class StatsScreen(Page, key="stats"):
    @dataclass
    class Step(Message):
        """A message about a step that takes a while."""

        words: str

    @dataclass
    class Read(Message):
        """The data of all figures has been read."""

        desk: Desk
        material: Material

    @dataclass
    class Counted(Message):
        """Figures, complete for the sections `ready`."""

        stats: Stats
        of: Filter
        ready: frozenset[int]

    @dataclass
    class Played(Message):
        load: Load

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._at = 0
        self._filter = Filter()
        self._wanted = self._filter  # asked for last; what is shown may still be another
        self._filters = [self._filter]
        self._desk: Desk | None = None
        self._material: Material | None = None
        self._stats: Stats | None = None
        self._ready: frozenset[int] = frozenset()
        self._load: Load | None = None
        self._step = strings.READING
        self._working: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        yield TopBar("Stats")
        yield Sections(strings.SECTIONS)
        with VerticalScroll(id="stats", can_focus=False), Vertical(classes="column"):
            yield Static(markup=False, id="means")
            yield Static(markup=False, id="picture")
        yield OptionList(markup=False, compact=True, id="choose")
        yield Notice()
        yield KeyBar(STATS)

    def on_mount(self) -> None:
        self._show()
        self._working = self.run_worker(read_in_background(self._read), exclusive=True)

    def on_unmount(self) -> None:
        if self._working is not None:
            self._working.cancel()
        self._desk = self._material = None  # they are large, and the screen may linger

    # --- finding it, away from the screen -----------------------------------------------------------------------------

    def _read(self) -> None:
        with suppress(_Unwanted), self.posting_errors():
            seen = look(self.context.vault.root)
            desk = open_desk(self.context.vault, self.context.clock(), queued=False)
            stored = StoredStats(desk, seen)
            known = stored.get()
            if known is not None:
                self.post_message(self.Counted(known, Filter(), _ALL))
            _go_on()
            material = material_of(desk)
            _go_on()
            self.post_message(self.Read(desk, material))
            if known is None:
                stored.put(self._count(desk, material, Filter()))
            self._play(desk)

    def _count(self, desk: Desk, material: Material, wanted: Filter) -> Stats:
        """Compute all figures, the quick ones first; return them. Raises: _Unwanted."""
        _go_on()
        self.post_message(self.Step(strings.COUNTING))
        if wanted.topic or wanted.tag:
            stems = material.topics.get(wanted.topic) if wanted.topic else None
            material = narrowed(material, stems, wanted.tag)
        _go_on()
        stats = stats_of_states(material, desk.scheduler, desk.now)
        self.post_message(self.Counted(stats, wanted, _AT_ONCE))
        stats = with_reviews(stats, material, desk.scheduler, _go_on)
        self.post_message(self.Counted(stats, wanted, _ALL))
        return stats

    def _play(self, desk: Desk) -> None:
        """Simulate the future for each retention. Raises: _Unwanted."""
        _go_on()
        outlook = Outlook(queued(desk), _DAYS)
        forecasts = {}
        for retention in sorted({*USUAL, outlook.own}):
            _go_on()
            self.post_message(self.Step(strings.playing(retention)))
            forecasts[retention] = outlook.at(retention)
        own, plan = forecasts[outlook.own], outlook.backlog()
        backlog = backlog_words(plan, outlook.today) if plan is not None else ""
        every = tuple(forecasts.values())
        means = meaning(every, own)
        self.post_message(self.Played(Load(every, own, f"{means[:1].upper()}{means[1:]}.", outlook.date(0), backlog)))

    # --- what is known, as it comes -----------------------------------------------------------------------------------

    def on_stats_screen_step(self, message: Step) -> None:
        self._step = message.words
        self._show()

    def on_stats_screen_read(self, message: Read) -> None:
        self._desk, self._material = message.desk, message.material
        tags = sorted({tag for card in message.material.cards for tag in card.tags}, key=str.casefold)
        topics = sorted(message.material.topics, key=str.casefold)
        filters = [Filter(), *(Filter(topic=topic) for topic in topics), *(Filter(tag=tag) for tag in tags)]
        chooser = self.query_one(OptionList)
        chooser.clear_options()
        chooser.add_options([Option(content.line(each.words)) for each in filters])
        self._filters = filters
        self.query_one(Notice).show_findings(message.desk.diagnostics)

    def on_stats_screen_counted(self, message: Counted) -> None:
        if message.of != self._wanted:
            return  # something else has been asked for since
        self._stats, self._filter, self._ready = message.stats, message.of, message.ready
        self._show()

    def on_stats_screen_played(self, message: Played) -> None:
        self._load = message.load
        self._show()

    def on_page_failed(self, message: Page.Failed) -> None:
        self._step, self._wanted = strings.FAILED, self._filter
        self._show()

    # --- what is shown ------------------------------------------------------------------------------------------------

    def on_resize(self, _event: Resize) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        self.query_one(Sections).show(self._at)
        self.query_one(TopBar).show_status(self._filter.words)
        means, picture = self._of_section()
        self.query_one("#means", Static).update(means)
        self.query_one("#picture", Static).update(picture)

    def _of_section(self) -> tuple[Content, Content]:
        """Return the meaning of the section and its chart."""
        width = self.query_one("#picture", Static).content_size.width or 74
        height = max(8, self.size.height - _ABOVE - self.query_one(Sections).size.height)
        stats = self._stats
        if stats is None or (self._at != _LOAD and self._at not in self._ready):
            return content.plain(self._step, content.DIM), Content("")
        if self._ready >= _ALL and not stats.activity.reviews:
            return content.plain(strings.NOTHING if stats.phases.total else strings.NO_CARDS), Content("")
        if self._at == _LOAD:
            if self._load is None:
                return content.plain(self._step, content.DIM), Content("")
            text = Content("\n").join(map(content.plain, filter(None, (self._load.means, self._load.backlog))))
            return text, charts.load(self._load, width, height)
        mean, draw = _MEANS[self._at], charts.PICTURES[self._at]
        assert mean is not None and draw is not None
        return content.plain(mean(stats)), draw(stats, width, height)

    # --- keys and choices ---------------------------------------------------------------------------------------------

    def action_section(self, number: int) -> None:
        self._at = number - 1
        self.query_one("#stats", VerticalScroll).scroll_home(animate=False)
        self._show()

    def action_turn(self, by: int) -> None:
        self.action_section((self._at + by) % len(strings.SECTIONS) + 1)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#stats", VerticalScroll).scroll_relative(y=rows, animate=False)

    def action_choose(self) -> None:
        """Open or close the list of topics and tags."""
        chooser = self.query_one(OptionList)
        chooser.display = not chooser.display and self._material is not None
        if chooser.display:
            chooser.highlighted = self._filters.index(self._filter)
            chooser.focus()

    def action_back(self) -> None:
        """Close the list, else the screen."""
        chooser = self.query_one(OptionList)
        if chooser.display:
            chooser.display = False
        else:
            super().action_back()

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.query_one(OptionList).display = False
        wanted = self._filters[message.option_index]
        desk, material = self._desk, self._material
        if desk is None or material is None or wanted == self._wanted:
            return
        self._wanted = wanted

        def count() -> None:
            with suppress(_Unwanted), self.posting_errors():
                self._count(desk, material, wanted)
                if self._load is None:
                    self._play(desk)

        self._working = self.run_worker(read_in_background(count), exclusive=True)

    def on_sections_chosen(self, message: Sections.Chosen) -> None:
        self.action_section(message.number + 1)
