"""The triage of suggested cards: one at a time beside its passage, each key decides, kept cards reach their decks."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from compiler.build.compile import Options, compile_vault
from tests.in_process import only_suggestions
from tests.tui.conftest import until
from tui.app import RetainApp
from tui.context import Context
from tui.palette import commands
from tui.screen import Go, Page
from tui.screens.suggest import SuggestScreen
from tui.views.evidence import SupportPanel
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.fact import Fact
from tui.widgets.notice import Notice
from vault.inbox.suggestion_events import Decision
from vault.inbox.suggestions import SITTING, Suggestion, decide, offered
from vault.layout import SUGGESTIONS
from vault.log.ledger import BUILDS
from vault.vault import Vault

Clock = Callable[[], datetime]
Settled = Callable[[Pilot[int]], Awaitable[None]]
SIZE = (120, 40)
SOURCE = """\
# Harbours

Ships wait outside until the tide is high enough.
A breakwater is a wall in the sea that shelters a harbour from waves.
Its \x1b[31mstones are laid from barges.
A buoy is a float that marks a channel for ships.
"""
# The command in a process of its own, with the engine as it is in these tests.
PROGRAM = """\
import sys
from cli.main import run
from compiler.workers import pool
from tests.in_process import DirectWorker, only_suggestions
pool.start_worker = DirectWorker
with only_suggestions():
    sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture(autouse=True)
def uncertain() -> Iterator[None]:
    """The embedded engine suggests every card, and queues none."""
    with only_suggestions():
        yield


@pytest.fixture
def harbour(bare: Vault, clock: Clock) -> Vault:
    """A vault of one document with suggestions."""
    write(bare, "harbours.md", SOURCE, clock)
    return bare


def write(vault: Vault, name: str, text: str, clock: Clock) -> None:
    (vault.root / "raw/articles" / name).write_text(text, encoding="utf-8")
    compile_vault(vault, Options(), clock() - timedelta(days=1), lambda event: None)


def app_on(vault: Vault, clock: Clock, start: str = "suggest", about: str = "") -> RetainApp:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return RetainApp(
        Context(vault, clock, program=(sys.executable, "-c", PROGRAM), environment=environment), start, about
    )


def text(app: RetainApp, id_: str) -> str:
    return str(app.screen.query_one(f"#{id_}", Static).content)


def status(app: RetainApp) -> str:
    return app.screen.query_one(TopBar).status


def notice(app: RetainApp) -> str:
    return str(app.screen.query_one(Notice).content)


def in_decks(vault: Vault) -> dict[str, tuple[str, str]]:
    return {str(card.id): (card.question, card.answer) for deck in vault.decks() for card in deck.cards}


def decided(vault: Vault) -> int:
    return len([e for e in vault.ledger_events("ledger/decisions.jsonl")[0] if e["type"] == "suggestion"])


async def test_a_card_is_shown_beside_its_passage_and_clean(harbour: Vault, clock: Clock, settled: Settled) -> None:
    app = app_on(harbour, clock)
    shown = list(offered(harbour).suggestions)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert status(app) == f"1 of {len(shown)}"
        for n, one in enumerate(shown, 1):
            assert (text(app, "suggestion-question"), text(app, "suggestion-answer")) == (one.question, one.answer)
            assert text(app, "suggestion-about") == f"{one.concept} · {one.form}"
            await until(pilot, lambda: "stones are laid" in text(app, "quotes"), "the lines around the quote")
            assert one.quote in text(app, "quotes")
            title = str(app.screen.query_one(SupportPanel).border_title)
            assert "harbours.md · Harbours, line" in title and "\x1b" not in title + text(app, "quotes")
            await pilot.press("s")
            await settled(pilot)
            assert n == len(shown) or status(app) == f"{n + 1} of {len(shown)}"
        assert f"{len(shown)} skipped" in text(app, "nothing")
    assert decided(harbour) == 0


async def test_keys_keep_drop_and_undo_and_leaving_writes_what_was_kept(
    harbour: Vault, clock: Clock, settled: Settled
) -> None:
    first, second, third, *_ = offered(harbour).suggestions
    app = app_on(harbour, clock, "home")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        waiting = len(offered(harbour).suggestions)
        assert f"1  Suggested cards   {waiting} to keep" in text(app, "advice")
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, SuggestScreen), "the triage")
        await settled(pilot)
        await pilot.press("k")
        assert notice(app) == f"kept: {first.question} (press u to undo)"
        await pilot.press("d")
        assert notice(app).startswith("dropped, not suggested again")
        await pilot.press("u")
        assert (
            notice(app) == f"undid the decision: {second.question}"
            and text(app, "suggestion-question") == second.question
        )
        await pilot.press("d", "k")
        assert in_decks(harbour) == {}
        await pilot.press("escape")
        await until(pilot, lambda: app.context.jobs.state is not None and not app.context.jobs.running, "a compile")
        assert app.context.jobs.state is not None and app.context.jobs.state.code == 0
        await pilot.press("r")
        left = f"{len(offered(harbour).suggestions)} suggested card (t)"
        await until(pilot, lambda: left in str(app.screen.query_one("#since", Fact).words.content), "the figures")
    assert {(q, a) for q, a in in_decks(harbour).values()} == {(s.question, s.answer) for s in (first, third)}
    assert not {first.id, second.id, third.id} & {each.id for each in offered(harbour).suggestions}


async def test_a_card_is_worded_in_place_and_kept_so(harbour: Vault, clock: Clock, settled: Settled) -> None:
    one = offered(harbour).suggestions[0]
    app = app_on(harbour, clock)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("e")
        question, answer = (
            app.screen.query_one("#suggestion-q", TextArea),
            app.screen.query_one("#suggestion-a", TextArea),
        )
        assert app.screen.focused is question
        await pilot.press("k", "d")  # letters go into the card
        assert question.text.startswith("kd") and decided(harbour) == 0
        answer.load_text("")
        await pilot.press("ctrl+s")
        assert "the answer is empty" in notice(app) and decided(harbour) == 0
        await pilot.press("escape")
        assert "The changes are not saved yet" in notice(app) and app.screen.has_class("-editing")
        await pilot.press("escape")
        assert not app.screen.has_class("-editing")
        await pilot.press("e")
        question.load_text("Mine?")
        answer.load_text("Mine.")
        await pilot.press("ctrl+s")
        assert notice(app).startswith("kept with your changes") and not app.screen.has_class("-editing")
        await pilot.press("escape")
        await until(pilot, lambda: app.context.jobs.state is not None and not app.context.jobs.running, "a compile")
    assert in_decks(harbour) == {one.id: ("Mine?", "Mine.")}


async def test_a_card_decided_elsewhere_meanwhile_is_passed_over(
    harbour: Vault, clock: Clock, settled: Settled
) -> None:
    one, other, *_ = offered(harbour).suggestions
    app = app_on(harbour, clock)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        decide(harbour, one.id, Decision.DROP, clock())
        await pilot.press("k")
        assert "no suggested card has that id" in notice(app)
        assert text(app, "suggestion-question") == other.question and decided(harbour) == 1


async def test_words_for_a_card_that_is_gone_meanwhile_stay_in_the_form(
    harbour: Vault, clock: Clock, settled: Settled
) -> None:
    one, other, *_ = offered(harbour).suggestions
    app = app_on(harbour, clock)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("e")
        app.screen.query_one("#suggestion-a", TextArea).load_text("Mine.")
        decide(harbour, one.id, Decision.DROP, clock())
        await pilot.press("ctrl+s")
        assert "no longer suggested" in notice(app) and "copy your text" in notice(app)
        assert app.screen.has_class("-editing") and app.screen.focused is app.screen.query_one("#suggestion-q")
        assert app.screen.query_one("#suggestion-a", TextArea).text == "Mine."
        await pilot.press("escape", "escape", "k")
        assert text(app, "suggestion-question") == other.question and decided(harbour) == 1


async def test_undo_leaves_a_later_decision_from_elsewhere(harbour: Vault, clock: Clock, settled: Settled) -> None:
    one, other, *_ = offered(harbour).suggestions
    app = app_on(harbour, clock)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("d")
        decide(harbour, other.id, Decision.DROP, clock() + timedelta(minutes=1))
        await pilot.press("u")
        assert notice(app) == f"undid the decision: {one.question}"
    waiting = {each.id for each in offered(harbour).suggestions}
    assert one.id in waiting and other.id not in waiting


async def test_a_key_that_is_held_down_decides_once(
    harbour: Vault, clock: Clock, settled: Settled, pass_time: Callable[[float], None]
) -> None:
    app = app_on(harbour, clock)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        for _ in range(3):
            await pilot.press("d")
            pass_time(0.05)
        assert decided(harbour) == 1


@pytest.mark.torture
async def test_a_sitting_has_twenty_and_n_begins_the_next(
    bare: Vault, clock: Clock, settled: Settled, pass_time: Callable[[float], None]
) -> None:
    names = [chr(97 + n) * 3 + "ite" for n in range(15)]  # two suggestions each
    mines = "\n\n".join(
        f"{name.capitalize()} is a rock that comes from mine number {n}." for n, name in enumerate(names)
    )
    write(bare, "rocks.md", f"# Rocks\n\n{mines}\n", clock)
    waiting = len(offered(bare).suggestions)
    assert waiting > SITTING
    app = app_on(bare, clock)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert status(app) == f"1 of {SITTING} · {waiting - SITTING} more"
        for _ in range(SITTING):
            pass_time(1)
            await pilot.press("d")
        assert f"{SITTING} dropped" in text(app, "nothing") and "press n for the next" in text(app, "nothing")
        await pilot.press("n")
        await settled(pilot)
        left = waiting - SITTING
        assert status(app) == f"1 of {left}"
        await pilot.press("u")
        assert status(app) == f"1 of {left + 1}"
        pass_time(1)
        await pilot.press("d")
        assert status(app) == f"2 of {left + 1}"
        await pilot.press("escape")
        await pilot.pause()
        assert app.context.jobs.state is None  # nothing was kept
    assert len(offered(bare).suggestions) == waiting - SITTING


async def test_the_article_says_how_many_are_suggested_and_opens_them(
    harbour: Vault, clock: Clock, settled: Settled
) -> None:
    mine: list[Suggestion] = [s for s in offered(harbour).suggestions if s.concept.lower() == "buoy"]
    app = app_on(harbour, clock, "article", "wiki/concepts/buoy.md")
    async with app.run_test(size=SIZE) as pilot:
        said = f"{len(mine)} suggested cards (t)"
        await until(pilot, lambda: said in text(app, "article-head"), "the line on the article")
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, SuggestScreen), "the triage")
        await settled(pilot)
        assert status(app) == f"1 of {len(mine)}" and text(app, "suggestion-about").lower().startswith("buoy")
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, Page) and app.screen.NAME == "article", "the article")


async def test_the_palette_leads_there_and_offers_only_keys_that_do_something(
    harbour: Vault, clock: Clock, settled: Settled
) -> None:
    app = app_on(harbour, clock, "home")
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert "Suggested cards" in [c.title for c in commands(app, app.screen, app.apply_theme)]
        app.screen.post_message(Go("suggest"))
        await until(pilot, lambda: isinstance(app.screen, SuggestScreen), "the triage")
        await settled(pilot)
        offers = [c.title for c in commands(app, app.screen, app.apply_theme)]
        assert {"Keep", "Edit", "Drop", "Skip", "Undo"} <= set(offers) and not {"Save", "Next"} & set(offers)
        assert "k Keep  e Edit  d Drop  s Skip  u Undo" in app.screen.query_one(KeyBar).line(SIZE[0]).plain


def built_by_model(vault: Vault) -> None:
    """The last build was by a model; the suggestions are of the one before."""
    line = '{"v":1,"type":"build","id":"x","at":"2099-01-01T00:00:00.000Z","command":"compile","engine":"journal/1"}'
    (vault.root / BUILDS).write_text(f"{line}\n")


async def test_a_vault_that_a_model_wrote_has_no_suggestions(harbour: Vault, clock: Clock, settled: Settled) -> None:
    built_by_model(harbour)
    app = app_on(harbour, clock)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert "compiled by a model or an agent" in text(app, "nothing")


async def test_leaving_starts_no_compile_where_a_model_wrote_the_vault_meanwhile(
    harbour: Vault, clock: Clock, settled: Settled
) -> None:
    app = app_on(harbour, clock)
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        await pilot.press("k")
        built_by_model(harbour)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, SuggestScreen), "home")
        assert app.context.jobs.state is None and decided(harbour) == 1


@pytest.mark.parametrize(
    ("cache", "words"),
    [
        (None, "There are no suggestions on this machine"),
        ('{"queued":[],"suggestions":[]}', "No suggested cards."),
    ],
)
async def test_without_suggestions_the_screen_says_why(
    harbour: Vault, clock: Clock, settled: Settled, cache: str | None, words: str
) -> None:
    path = harbour.root / SUGGESTIONS
    if cache is None:
        path.unlink()
    else:
        path.write_text(cache)
    app = app_on(harbour, clock)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert words in text(app, "nothing")
        await pilot.press("k", "d", "e", "s", "u", "a", "n")
        assert decided(harbour) == 0
