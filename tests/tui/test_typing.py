"""Answers in writing: typed before the card's is shown, compared or graded, and rated by the human all the same."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Static

from tests.compiler.messages_server import message, said, serving
from tui.app import RetainApp
from tui.context import Context
from tui.preferences import Preferences
from tui.screens.review import ReviewScreen
from tui.views.card import CardView
from tui.views.rating import RatingBar
from tui.views.typed_answer import TypedAnswer
from tui.views.verdict import Verdict
from tui.widgets.notice import Notice
from vault.log.events import Graded, LogEvent, Rating, Review, Undo
from vault.log.review_log import live
from vault.vault import Vault

Logged = Callable[[], list[LogEvent]]
Settled = Callable[[Pilot[int]], Awaitable[None]]
PassTime = Callable[[float], None]
Clock = Callable[[], datetime]
Compare = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])
MINE = "How retention falls over time, steeply at first"
SAME = "How retention falls over time without review: steeply in the first hours, then ever more slowly."
GOOD = {
    "points": [
        {
            "point": "Retention falls",
            "quote": "retention falls over time",
            "met": True,
            "said": "retention falls over time",
        },
        {"point": "Steeply at first", "quote": "steeply in the first hours", "met": True, "said": "steeply at first"},
    ],
    "rating": "good",
    "why": "All of it is there.",
}
HALF = {
    **GOOD,
    "points": [GOOD["points"][0], {**GOOD["points"][1], "met": False, "said": ""}],  # type: ignore[dict-item]
    "rating": "hard",
}


@pytest.fixture(autouse=True)
def settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own settings, in a folder of the test's: none yet."""
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key alone selects nobody")
    (folder / "retain").mkdir()
    return folder / "retain" / "config.toml"


def configure(settings: Path, url: str) -> None:
    settings.write_text(f'[engine]\nuse = "claude"\nbase_url = "{url}"\n[engine.models]\ngrade = "scripted-1"\n')


def card(app: RetainApp) -> Mapping[str, str]:
    """The words of each part of the card on the screen."""
    return app.screen.query_one(CardView).shown


def words(app: RetainApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).content)


def suggested(app: RetainApp) -> list[str]:
    cells = [said.split("\n")[0] for said in app.screen.query_one(RatingBar).offered.values()]
    return [said.removeprefix("▸ ") for said in cells if said.startswith("▸ ")]


def typing(app: RetainApp) -> bool:
    return bool(app.screen.query(TypedAnswer))


async def write(pilot: Pilot[int], settled: Settled, text: str) -> None:
    """Types `text` and asks for the answer."""
    await settled(pilot)
    await pilot.press("t")
    await pilot.pause()
    pilot.app.screen.query_one(TypedAnswer).insert(text)
    await pilot.press("ctrl+s")
    await settled(pilot)


async def test_an_answer_is_typed_compared_and_rated_by_the_human(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await write(pilot, settled, MINE)
        assert not typing(review) and review.screen.query(Verdict)
        assert "retention falls over time" in words(review, "#verdict-yours")
        assert words(review, "#verdict-missing") == "without · review · hours · slowly"
        assert suggested(review) == []
        pass_time(1)
        await pilot.press("space")  # nothing is suggested, so that there is nothing to take
        assert logged() == []
        assert "Press 1 Again, 2 Hard, 3 Good or 4 Easy" in str(review.screen.query_one(Notice).render())
        await pilot.press("2")
        rated, noted = logged()
        assert isinstance(rated, Review) and rated.rating is Rating.HARD
        assert isinstance(noted, Graded)
        assert (noted.review, noted.suggested, noted.given) == (rated.id, None, Rating.HARD)
        assert (noted.engine, noted.met, noted.missed) == ("comparison/1", 5, 4)
        assert not review.screen.query(Verdict)


async def test_the_cards_own_words_are_good_and_one_key_takes_it(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await write(pilot, settled, SAME)
        assert suggested(review) == ["3 Good"]
        pass_time(1)
        await pilot.press("space")
        rated, noted = logged()
        assert isinstance(rated, Review) and rated.rating is Rating.GOOD
        assert isinstance(noted, Graded) and noted.suggested is Rating.GOOD is noted.given


async def test_the_question_stays_while_one_writes_after_the_card_was_edited(
    review: RetainApp, settled: Settled
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("e")
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
        await pilot.press("t")
        await pilot.pause()
        review.screen.query_one(TypedAnswer).insert(MINE)
        await settled(pilot)
        assert review.screen.query_one(TypedAnswer).size.height <= 8
        assert review.screen.query_one(CardView).size.height >= 10
        assert review.screen.query_one("KeyBar").region.bottom == 24


async def test_letters_and_digits_go_into_the_answer_and_escape_leaves_it(
    review: RetainApp, logged: Logged, settled: Settled
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("t", "u", "x", "1", "question_mark", "q")
        assert review.screen.query_one(TypedAnswer).text == "ux1?q" and logged() == []
        await pilot.press("escape")
        assert not typing(review) and "shows the answer" in review.screen.query_one(RatingBar).prompt
        await pilot.press("space")
        assert "answer" in card(review) and not review.screen.query(Verdict)
        await pilot.press("3")
        assert [type(event) for event in logged()] == [Review]


async def test_enter_on_an_empty_line_shows_the_answer(review: RetainApp, settled: Settled) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("t", "enter", "a", "enter")
        assert typing(review)
        await pilot.press("enter")
        assert not typing(review) and review.screen.query(Verdict)


async def test_whoever_always_types_is_asked_for_it_at_every_card(
    vault: Vault, clock: Clock, settled: Settled, logged: Logged
) -> None:
    app = RetainApp(Context(vault, clock, preferences=replace(Preferences(), type_answers=True)), "review")
    app.hold_review()
    async with app.run_test() as pilot:
        await settled(pilot)
        assert typing(app)
        await pilot.press("a", "ctrl+s", "1")
        assert typing(app) and app.screen.query_one(TypedAnswer).text == ""
        assert [type(event) for event in logged()] == [Review, Graded]
    app.end_session()


async def test_undo_takes_back_the_rating_of_a_typed_answer_and_the_card_is_there_again(
    review: RetainApp, logged: Logged, settled: Settled
) -> None:
    async with review.run_test() as pilot:
        await write(pilot, settled, MINE)
        asked = card(review)["question"]
        await pilot.press("3", "u")
        assert card(review)["question"] == asked and not review.screen.query(Verdict)
        assert [type(event) for event in logged()] == [Review, Graded, Undo]
        assert [type(event) for event in live(logged())] == [Graded]


async def test_what_is_pasted_is_cleaned(review: RetainApp, settled: Settled) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("t")
        review.post_message(Paste("a\x1b]52;c;eA==\x07b\u202e"))
        await settled(pilot)
        assert review.screen.query_one(TypedAnswer).text == "a\ufffd]52;c;eA==\ufffdb\ufffd"


# --- with a model -----------------------------------------------------------------------------------------------------


async def test_a_model_that_the_user_named_grades_and_its_suggestion_is_one_key_away(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime, settings: Path
) -> None:
    with serving(said(HALF)) as server:
        configure(settings, server.url)
        async with review.run_test() as pilot:
            await write(pilot, settled, MINE)
            assert suggested(review) == ["2 Hard"]
            shown = words(review, "#verdict-points")
            assert "✓ Retention falls" in shown and "✗ Steeply at first" in shown
            assert server.url in words(review, "#verdict-note") and "120 tokens" in words(review, "#verdict-note")
            pass_time(1)
            await pilot.press("enter")
    rated, noted = logged()
    assert isinstance(rated, Review) and rated.rating is Rating.HARD
    assert isinstance(noted, Graded) and noted.engine == "claude/1 scripted-1 grade/1"
    assert (noted.suggested, noted.given, noted.met, noted.missed) == (Rating.HARD, Rating.HARD, 1, 1)


async def test_another_rating_than_was_suggested_is_one_key_too_and_is_written_down(
    review: RetainApp, logged: Logged, settled: Settled, settings: Path
) -> None:
    with serving(said(GOOD)) as server:
        configure(settings, server.url)
        async with review.run_test() as pilot:
            await write(pilot, settled, MINE)
            assert suggested(review) == ["3 Good"]
            await pilot.press("1")
    noted = logged()[-1]
    assert isinstance(noted, Graded) and (noted.suggested, noted.given) == (Rating.GOOD, Rating.AGAIN)
    assert MINE not in (noted.engine + repr(noted))


async def test_no_model_is_asked_where_only_a_key_lies_about(review: RetainApp, settled: Settled) -> None:
    with serving(said(GOOD)) as server:
        async with review.run_test() as pilot:
            await write(pilot, settled, MINE)
            assert "Compared word by word" in words(review, "#verdict-note")
    assert server.asked == []


async def test_a_model_that_fails_leaves_what_can_be_said_without_it(
    review: RetainApp, settled: Settled, settings: Path, logged: Logged
) -> None:
    with serving(message("no", stop="refusal")) as server:
        configure(settings, server.url)
        async with review.run_test() as pilot:
            await write(pilot, settled, MINE)
            assert "declined" in words(review, "#verdict-note") and suggested(review) == []
            await pilot.press("3")
    noted = logged()[-1]
    assert isinstance(noted, Graded) and noted.engine == "comparison/1"


async def test_a_model_that_overlooks_another_number_suggests_nothing(
    vault: Vault, clock: Clock, settled: Settled, settings: Path
) -> None:
    deck = vault.root / "learning/flashcards/forgetting-curve.md"
    deck.write_text(deck.read_text().replace("steeply in the first hours", "steeply in the first 9 hours"))
    app = RetainApp(Context(vault, clock), "review")
    app.hold_review()
    points = [{"point": "Hours", "quote": "the first 9 hours", "met": True, "said": "the first 5 hours"}]
    with serving(said({"points": points, "rating": "good"})) as server:
        configure(settings, server.url)
        async with app.run_test() as pilot:
            await write(pilot, settled, "steeply in the first 5 hours")
            assert suggested(app) == [] and "You say 5; the card says 9." in words(app, "#verdict-note")
    app.end_session()


async def test_whoever_does_not_wait_for_the_model_rates_and_goes_on(
    review: RetainApp, settled: Settled, settings: Path, logged: Logged
) -> None:
    with serving(said(GOOD)) as server:
        server.hold = threading.Event()
        configure(settings, server.url)
        try:
            async with review.run_test() as pilot:
                await settled(pilot)
                await pilot.press("t", "a", "ctrl+s")
                assert "asking" in words(review, "#verdict-note")
                await pilot.press("4")
                await settled(pilot)
                assert not review.screen.query(Verdict) and suggested(review) == []
        finally:
            server.hold.set()
    assert [type(event) for event in logged()] == [Review, Graded]


async def test_hostile_words_of_a_model_are_inert(review: RetainApp, settled: Settled, settings: Path) -> None:
    evil = "[@click=app.quit]x[/] \x1b]0;t\x07 \u202e[bold]"
    point = {**GOOD["points"][0], "point": evil}  # type: ignore[dict-item]
    with serving(said({"points": [point], "rating": "good", "why": evil})) as server:
        configure(settings, server.url)
        async with review.run_test() as pilot:
            await write(pilot, settled, MINE)
            for part in ("#verdict-points", "#verdict-note"):
                assert "[@click=app.quit]x[/]" in words(review, part)
                assert not {"\x1b", "\x07", "\u202e"} & set(words(review, part))


async def test_settings_that_cannot_be_read_are_named_and_the_review_goes_on(
    review: RetainApp, settled: Settled, settings: Path
) -> None:
    settings.write_text('[engine]\nbase_url = "http://elsewhere.example"\n')
    async with review.run_test() as pilot:
        await write(pilot, settled, MINE)
        assert "config.toml:2" in str(review.screen.query_one(Notice).content)
        assert review.screen.query(Verdict)


@SIZES
def test_typing_looks_as_it_should(
    snap_compare: Compare, review: RetainApp, settled: Settled, size: tuple[int, int]
) -> None:
    async def run(pilot: Pilot[int]) -> None:
        await settled(pilot)
        await pilot.press("t")
        area = pilot.app.screen.query_one(TypedAnswer)
        area.cursor_blink = False
        area.insert(MINE)
        await settled(pilot)

    assert snap_compare(review, run_before=run, terminal_size=size)


@SIZES
def test_a_comparison_looks_as_it_should(
    snap_compare: Compare, review: RetainApp, settled: Settled, size: tuple[int, int]
) -> None:
    async def run(pilot: Pilot[int]) -> None:
        await write(pilot, settled, MINE)

    assert snap_compare(review, run_before=run, terminal_size=size)


def test_a_suggestion_looks_as_it_should(snap_compare: Compare, review: RetainApp, settled: Settled) -> None:
    async def run(pilot: Pilot[int]) -> None:
        await write(pilot, settled, SAME)

    assert snap_compare(review, run_before=run, terminal_size=(80, 24))


async def test_a_card_that_goes_while_one_types_makes_room_for_the_next_and_its_field(
    vault: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    app = RetainApp(Context(vault, clock, preferences=Preferences(type_answers=True)), "review")
    app.hold_review()
    async with app.run_test() as pilot:
        await settled(pilot)
        first = card(app)["question"]
        await pilot.press("x", "y")
        assert isinstance(app.screen, ReviewScreen)
        app.screen.action_bury()  # as the palette does
        await settled(pilot)
        assert card(app)["question"] != first
        assert [field.text for field in app.screen.query(TypedAnswer)] == [""] and typing(app)
    app.end_session()
