"""Every screen as it looks at 80x24 in the dark theme: look at the difference before you accept one.

Some are shown wide too, and one in each other theme; `test_theme` measures the colours of all themes.
`--snapshot-update` makes the pictures anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static, TextArea, Tooltip

from learning.agenda.gap_rules import gap_id
from learning.cards import workspace as desks
from tests.tui.conftest import GAPS as SOME
from tests.tui.conftest import PATIENCE_S
from tests.tui.test_article import FORGETTING, GRAPH, RAW, SPACING
from tests.tui.test_changed import learn_then_change, stamp
from tests.tui.test_inbox import offered
from tests.tui.test_stats_screen import TOPIC, a_year, log
from tui import palette
from tui.app import RetainApp
from tui.context import Context
from tui.preferences import Preferences
from tui.screen import Go
from tui.screens.browse import BrowseScreen
from tui.state.job_state import begun, ended
from tui.views.evidence import SupportPanel
from vault.errors import RetainError
from vault.files.guard import Scope
from vault.ids import CardId
from vault.inbox.suggestions import Suggestion, save
from vault.layout import GAPS
from vault.log.events import Rating
from vault.log.review_log import LOG_PATH
from vault.model.gaps import Gap, GapKind, render_agenda
from vault.vault import Vault

Clock = Callable[[], datetime]
Compare = Callable[..., bool]
COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
OTHER_THEMES = ("light", "contrast", "contrast-light", "terminal")
NARROW, WIDE = (80, 24), (140, 45)
WRITTEN = ("h", "o", "w", "space", "m", "e", "m", "o", "r", "y", "space", "f", "a", "l", "l", "s")


def lived(vault: Vault, now: datetime) -> None:
    """A year of reviews, a topic, articles, and a gap of the learner's."""
    log(vault, a_year(now))
    read(vault, now)
    deck = ("[[learning/flashcards/spacing-effect|Spacing effect]]",)
    trouble = "forgotten 3 of 5 times in 90 days; likely cause: lapse"
    learner = Gap(gap_id("spacing-effect"), GapKind.LEARNER, "Spacing effect", trouble, "read it again", deck)
    (vault.root / GAPS).write_text(render_agenda([*SOME, learner]), encoding="utf-8")


def read(vault: Vault, _: datetime) -> None:
    """Articles, a topic, and what connects them; nothing has been reviewed."""
    for folder in ("wiki/topics", "wiki/concepts"):
        (vault.root / folder).mkdir()
    files = {
        "wiki/topics/memory.md": TOPIC,
        "wiki/concepts/forgetting-curve.md": FORGETTING,
        "wiki/concepts/spacing-effect.md": SPACING,
        "wiki/_graph.md": GRAPH,
        "raw/articles/On memory (1885).md": RAW.replace("Retention", "retention"),
    }
    for path, words in files.items():
        (vault.root / path).write_text(words, encoding="utf-8")


def changed(vault: Vault, _: datetime) -> None:
    """The fact behind a card that was learnt is another since yesterday."""
    stamp(vault)
    learn_then_change(vault, "fact")


def failing(vault: Vault, now: datetime) -> None:
    """A card that keeps being forgotten."""
    lived(vault, now)
    (vault.root / LOG_PATH).unlink()
    desk = desks.open_desk(vault, datetime(2026, 11, 22, 9, 0, tzinfo=UTC))
    for days, rating in ((-20, Rating.EASY), (-9, Rating.AGAIN), (-8, Rating.GOOD), (-4, Rating.AGAIN)):
        desk, _ = desks.rate(desk, CardId("bbbbbbbbb2"), rating, via="cli", dated=desk.now + timedelta(days=days))


def emptied(vault: Vault, _: datetime) -> None:
    """Nothing but folders."""
    for path in vault.root.rglob("*.md"):
        path.unlink()


def suggested(vault: Vault, now: datetime) -> None:
    """Cards are suggested, one of them for an article."""
    lived(vault, now)
    said = "Each act of retrieval makes the trace more durable than another reading would."
    rows = [
        Suggestion(
            id=f"saaaaaaaa{n}",
            concept="Forgetting curve",
            article="wiki/concepts/forgetting-curve.md",
            form=form,
            kind="mechanistic",
            question=question,
            answer=answer,
            score=0.4,
            claim="aaaaaaaaa1",
            claim_kind="mechanism",
            quote="retention falls steeply in the first hours and then levels off",
            source="raw/articles/On memory (1885).md",
            source_title="Memory",
            place="line 1",
        )
        for n, (form, question, answer) in enumerate(
            [("condition", "How does [b]retention fall in the first hours?", "Steeply."), ("reason", "Why?", said)], 1
        )
    ]
    save(vault.guard(Scope.PUBLISHER), rows, queued=())


def worked(context: Context) -> None:
    """A compile has ended."""
    told = (
        b'{"sources": {"read": 17, "failed": 1}, "articles": {"created": 136}, "cards": {"created": 141, "kept": 0},'
        b' "gaps": {"structural": 2, "epistemic": 117}, "cost": {"input_tokens": 0, "output_tokens": 0, "usd": 0},'
        b' "failures": [{"path": "raw/[b]x.pdf", "line": 0, "reason": "the file is empty", "hint": "take it away"}]}'
    )
    context.jobs.state = ended(begun(("compile",), context.clock() - timedelta(seconds=75)), 1, told, context.clock())


def full_disk(context: Context) -> None:
    """The log cannot be written."""
    (context.vault.root / LOG_PATH).mkdir()


@dataclass(frozen=True)
class Picture:
    """A screen as it is after `keys`, in a vault that `made` made; `then` happens once the screen is there."""

    name: str
    screen: str
    keys: tuple[str, ...] = ()
    about: str = ""
    made: Callable[[Vault, datetime], None] = lived
    before: Callable[[Context], None] | None = None
    then: Callable[[Context], None] | None = None


PICTURES = (
    Picture("home", "home"),
    Picture("home-new", "home", made=read),
    Picture("home-empty", "home", made=emptied),
    Picture("front", "review", made=read),
    Picture("source", "review", ("space", "s"), made=read),
    Picture("changed", "review", ("space",), made=changed),
    Picture("typed", "review", ("t", *WRITTEN, "ctrl+s"), made=read),
    Picture("refused", "review", ("space", "3"), made=read, then=full_disk),
    Picture("end", "review", ("space", "1", *("space", "4") * 4), made=read),
    Picture("practise", "practise"),
    Picture("edit", "edit", about="aaaaaaaaa2"),
    Picture("new", "new", (*"Why?", "tab", *"So."), about="learning/flashcards/spacing-effect.md", made=read),
    Picture("new-cloze", "new", ("ctrl+n", "ctrl+n", *"The {{c1::cell}}.", "ctrl+o"), made=read),
    Picture("info", "info", about="aaaaaaaaa2"),
    Picture("article", "article", about="wiki/concepts/forgetting-curve.md"),
    Picture("quote", "article", ("tab", "enter"), "wiki/concepts/forgetting-curve.md"),
    Picture("gaps", "gaps", ("p",)),
    Picture("gaps-learner", "gaps", ("3",), made=failing),
    Picture("inbox", "inbox", made=offered),
    Picture("inbox-card", "inbox", ("down", "r", *"too", "space", *"long"), made=offered),
    Picture("inbox-home", "home", made=offered),
    Picture("suggest", "suggest", made=suggested),
    Picture("suggest-article", "article", about="wiki/concepts/forgetting-curve.md", made=suggested),
    Picture("browse", "browse", ("space", "down")),
    Picture("browse-search", "browse", ("slash", *"spacing", "tab", "o")),
    Picture("browse-card", "browse", ("enter",)),
    Picture("stats-recall", "stats", ("1",)),
    Picture("stats-load", "stats", ("4",)),
    Picture("stats-mastery", "stats", ("8",)),
    Picture("settings", "settings"),
    Picture("help", "review", ("question_mark",), made=read),
    Picture("work", "work"),
    Picture("worked", "work", before=worked),
    Picture("quiz", "quiz", made=read),
    Picture("ask", "ask", made=read),
    Picture("search", "search", (*"spacing", "enter"), made=read),
)
BY_NAME = {picture.name: picture for picture in PICTURES}
LOOKS = [
    *((picture, "dark", NARROW) for picture in PICTURES),
    *((BY_NAME[name], "dark", WIDE) for name in ("home", "source", "article", "browse", "stats-recall", "settings")),
    *((BY_NAME["home"], theme, NARROW) for theme in OTHER_THEMES),
]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The place of one's own settings, as the screens name it, is the same wherever the tests run."""
    monkeypatch.setattr("vault.config.engine._config_path", lambda: "~/.config/retain/config.toml")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


async def rest(pilot: Pilot[int]) -> None:
    """Waits until nothing is read or searched any more, and nothing blinks."""
    await pilot.pause()
    end = monotonic() + PATIENCE_S
    while pilot.app.workers or busy(pilot):
        assert monotonic() < end, "something is still read or searched"
        with suppress(Exception):
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()
    for field in (*pilot.app.screen.query(Input), *pilot.app.screen.query(TextArea)):
        field.cursor_blink = False
    await pilot.pause()


def busy(pilot: Pilot[int]) -> bool:
    found = pilot.app.screen
    return isinstance(found, BrowseScreen) and (found._loading or found._searching or found._looking)


def reading_markup(screen: Screen[Any]) -> list[Widget]:
    """Return the widgets of the screen that read markup in the text they are given."""
    texts = [w for w in screen.walk_children(Static) if w._render_markup and not isinstance(w, Tooltip)]
    tooltips = [w for w in screen.walk_children(Widget) if w.tooltip is not None]
    return [*texts, *tooltips, *(w for w in screen.walk_children(OptionList) if w._markup)]


def posing(picture: Picture, context: Context) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Return what brings the screen to how it is shown; no text there is read as markup, as it may be a document's."""

    async def run(pilot: Pilot[int]) -> None:
        await rest(pilot)
        if picture.then is not None:
            picture.then(context)
        for key in picture.keys:
            await pilot.press(key)
            await rest(pilot)
        assert reading_markup(pilot.app.screen) == []

    return run


def app_for(picture: Picture, vault: Vault, clock: Clock, theme: str) -> RetainApp:
    picture.made(vault, clock())
    context = Context(vault, clock, environment=COLOURS, preferences=Preferences(theme=theme))
    if picture.before is not None:
        picture.before(context)
    app = RetainApp(context, picture.screen, picture.about)
    if picture.screen == "review":
        app.hold_review()
    return app


@pytest.mark.parametrize(
    ("picture", "theme", "size"), LOOKS, ids=[f"{p.name}-{theme}-{size[0]}x{size[1]}" for p, theme, size in LOOKS]
)
def test_looks(
    snap_compare: Compare, vault: Vault, clock: Clock, picture: Picture, theme: str, size: tuple[int, int]
) -> None:
    app = app_for(picture, vault, clock, theme)
    try:
        assert snap_compare(app, run_before=posing(picture, app.context), terminal_size=size)
    finally:
        with suppress(RetainError):
            app.end_session()


def test_every_place_has_its_picture() -> None:
    assert {picture.screen for picture in PICTURES} == set(palette.PLACES)


@pytest.mark.parametrize("place", palette.PLACES)
async def test_keys_pressed_at_once_go_to_nothing_that_is_not_shown(vault: Vault, clock: Clock, place: str) -> None:
    lived(vault, clock())
    app = RetainApp(Context(vault, clock, environment=COLOURS))
    async with app.run_test(size=(80, 24)) as pilot:
        await rest(pilot)
        app.post_message(Go(place))
        await pilot.pause()
        taking = app.screen.focused
        assert taking is None or all(node.display for node in taking.ancestors_with_self)
    app.end_session()


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "140x45"])
async def test_the_words_of_the_source_stand_on_the_screen(vault: Vault, clock: Clock, size: tuple[int, int]) -> None:
    picture = BY_NAME["source"]
    app = app_for(picture, vault, clock, "dark")
    async with app.run_test(size=size) as pilot:
        await posing(picture, app.context)(pilot)
        panel = app.screen.query_one(SupportPanel)
        assert panel.region.area > 0 and app.screen.region.contains_region(panel.region)
    app.end_session()
