"""What one can do in the review besides rating: flag, mend, take back, practise, go away and come back."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static, TextArea

from tui.app import RetainApp
from tui.context import Context
from tui.preferences import Preferences
from tui.screens.edit import EditScreen
from tui.screens.practice import PractiseScreen
from tui.screens.review import ReviewScreen
from tui.views.card import CardView
from tui.views.flag import FlagLine, Reason
from tui.views.rating import RatingBar
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.log.events import Flag, LogEvent, Rating, Review, Undo
from vault.log.review_log import LOG_PATH
from vault.vault import Vault

Logged = Callable[[], list[LogEvent]]
Settled = Callable[[Pilot[int]], Awaitable[None]]
PassTime = Callable[[float], None]
Clock = Callable[[], datetime]
Compare = Callable[..., bool]
DECK = "learning/flashcards/forgetting-curve.md"
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])


def card(app: RetainApp) -> Mapping[str, str]:
    """The words of each part of the card on the screen."""
    return app.screen.query_one(CardView).shown


def words(app: RetainApp, selector: str) -> str:
    """The text that a widget shows."""
    return str(app.screen.query_one(selector, Static).content)


def on_screen(app: RetainApp) -> type:
    return type(app.screen)


def told(app: RetainApp) -> str:
    return str(app.screen.query_one(Notice).content)


def answer_shown(app: RetainApp) -> bool:
    return "answer" in card(app)


def reasons(events: list[LogEvent]) -> list[str]:
    return [event.reason for event in events if isinstance(event, Flag)]


async def press(pilot: Pilot[int], settled: Settled, *keys: str) -> None:
    await settled(pilot)
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


# --- flags ------------------------------------------------------------------------------------------------------------


async def test_a_flag_takes_a_reason_by_its_number_and_the_card_stays_as_it_was(
    review: RetainApp, logged: Logged, settled: Settled
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "space", "f")
        assert review.screen.query(FlagLine) and not review.screen.query_one(RatingBar).display
        await press(pilot, settled, "2")
        assert reasons(logged()) == ["unclear"]
        assert not review.screen.query(FlagLine) and review.screen.query_one(RatingBar).display
        assert answer_shown(review) and "Flagged: unclear" in told(review)
        await press(pilot, settled, "3")
        assert [type(event) for event in logged()] == [Flag, Review]


async def test_a_flag_takes_words_of_ones_own_on_one_line(review: RetainApp, logged: Logged, settled: Settled) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "f")
        await pilot.press(*"u 3 x", "enter")
        await settled(pilot)
        assert reasons(logged()) == ["u 3 x"]
        await press(pilot, settled, "f", "enter")
        assert reasons(logged()) == ["u 3 x", ""]


async def test_a_flag_that_is_left_flags_nothing_and_the_mouse_chooses_a_reason(
    review: RetainApp, logged: Logged, settled: Settled
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "f", "w", "escape")
        assert logged() == [] and on_screen(review) is ReviewScreen and not review.screen.query(FlagLine)
        await press(pilot, settled, "f")
        reason = list(review.screen.query(Reason))[3]
        await pilot.click(reason)
        await settled(pilot)
        assert reasons(logged()) == ["gives away the answer"]


async def test_undo_of_a_flag_says_so_and_leaves_the_answer_where_it_was(
    review: RetainApp, logged: Logged, settled: Settled
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "space", "f", "1", "u")
        assert told(review) == "Removed the flag (wrong)." and answer_shown(review)
        flag, undo = logged()
        assert isinstance(undo, Undo) and undo.voids == flag.id


# --- edits ------------------------------------------------------------------------------------------------------------


async def edit_answer(review: RetainApp, pilot: Pilot[int], settled: Settled, answer: str) -> None:
    """Opens the card, gives it that answer and saves it."""
    await press(pilot, settled, "e")
    assert on_screen(review) is EditScreen
    review.screen.query_one("#edit-answer", TextArea).load_text(answer)
    await press(pilot, settled, "ctrl+s")
    assert on_screen(review) is ReviewScreen


async def test_a_card_is_edited_in_place_and_comes_back_as_it_was_with_its_new_words(
    review: RetainApp, vault: Vault, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "space")
        pass_time(3)
        await edit_answer(review, pilot, settled, "It falls.")
        assert answer_shown(review) and card(review)["answer"] == "It falls."
        assert "A: It falls.\n" in (vault.root / DECK).read_text("utf-8") and logged() == []
        pass_time(2)
        await press(pilot, settled, "3")
        (rated,) = logged()
        assert isinstance(rated, Review) and rated.ms == 5000


async def test_undo_goes_back_over_ratings_marks_and_edits_in_their_order(
    review: RetainApp, vault: Vault, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    before = (vault.root / DECK).read_text("utf-8")
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled)
        first = card(review)["question"]
        await edit_answer(review, pilot, settled, "It falls.")
        await press(pilot, settled, "f", "5", "space")
        pass_time(2)
        await press(pilot, settled, "4", "b", "x")
        said = []
        for _ in range(5):
            await press(pilot, settled, "u")
            said.append(told(review))
        assert said == [
            "Unsuspended the card.",
            "Unburied the card.",
            "Undid the rating Easy.",
            "Removed the flag (not worth knowing).",
            "Undid the edit.",
        ]
        assert card(review)["question"] == first
        assert (vault.root / DECK).read_text("utf-8") == before
        assert len(logged()) == 8
        await press(pilot, settled, "u")
        assert "nothing to undo" in told(review)


async def test_an_edit_of_a_card_that_changed_meanwhile_is_refused_and_the_words_stay(
    review: RetainApp, vault: Vault, settled: Settled
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "e")
        path = vault.root / DECK
        path.write_text(path.read_text("utf-8").replace("A: How retention", "A: Elsewhere, how retention"), "utf-8")
        area = review.screen.query_one("#edit-answer", TextArea)
        area.load_text("Mine.")
        await press(pilot, settled, "ctrl+s")
        assert on_screen(review) is EditScreen and area.text == "Mine."
        assert "the card was changed in the meantime" in told(review)
        assert "Mine." not in path.read_text("utf-8")


async def test_words_that_are_not_saved_are_left_only_when_asked_twice(
    review: RetainApp, vault: Vault, settled: Settled
) -> None:
    before = (vault.root / DECK).read_text("utf-8")
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "e", "escape")
        assert on_screen(review) is ReviewScreen  # nothing was changed
        await press(pilot, settled, "e", "x", "escape")
        assert on_screen(review) is EditScreen and "The changes are not saved yet" in told(review)
        await press(pilot, settled, "escape")
        assert on_screen(review) is ReviewScreen
    assert (vault.root / DECK).read_text("utf-8") == before


# --- the source -------------------------------------------------------------------------------------------------------


async def test_a_quote_stands_among_the_lines_around_it(review: RetainApp, vault: Vault, settled: Settled) -> None:
    lines = [
        "Ebbinghaus learnt syllables.",
        "Here, retention falls steeply in the first hours and then levels off.",
        "So.",
    ]
    (vault.root / "raw/articles/On memory (1885).md").write_text("\n".join(lines) + "\n", "utf-8")
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "space", "s")
        shown = words(review, "#quotes")
        before, quote, after = (shown.index(each) for each in ("Ebbinghaus", "“retention falls", "So."))
        assert before < quote < after
        await press(pilot, settled, "s")  # the other quote, which the source does not hold
        assert words(review, "#quotes").startswith("“each act") and "Ebbinghaus" not in words(review, "#quotes")


# --- time -------------------------------------------------------------------------------------------------------------


async def test_the_time_away_does_not_count(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        pass_time(4)
        review.app_focus = False
        await pilot.pause()
        pass_time(600)
        review.app_focus = True
        await pilot.pause()
        pass_time(3)
        await press(pilot, settled, "space")
        pass_time(3600)  # nobody presses a key
        await press(pilot, settled, "3")
        (event,) = logged()
        assert isinstance(event, Review) and event.ms == 67_000


async def test_the_timer_is_shown_to_those_who_want_it_and_says_when_it_stands_still(
    vault: Vault, clock: Clock, settled: Settled, pass_time: PassTime
) -> None:
    app = RetainApp(Context(vault, clock, preferences=Preferences(show_timer=True)), "review")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        pass_time(7)
        screen._tick()
        assert app.screen.query_one(TopBar).status.endswith(" · 0:07")
        pass_time(70)
        screen._tick()
        assert app.screen.query_one(TopBar).status.endswith(" · paused")


# --- keys pressed early -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pressed", "revealed"), [([0], True), ([0, 3], True), ([3], False), ([0, 0], True)])
async def test_keys_pressed_before_the_vault_was_read_show_the_first_answer_and_rate_none(
    vault: Vault,
    clock: Clock,
    logged: Logged,
    settled: Settled,
    monkeypatch: pytest.MonkeyPatch,
    pressed: list[int],
    revealed: bool,
) -> None:
    """0 asks for the answer; the others are ratings."""
    mounted = ReviewScreen.on_mount

    def on_mount(screen: ReviewScreen) -> None:
        mounted(screen)
        for key in pressed:
            screen.action_rate(key) if key else screen.action_reveal()

    monkeypatch.setattr(ReviewScreen, "on_mount", on_mount)
    app = RetainApp(Context(vault, clock), "review")
    app.hold_review()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert answer_shown(app) is revealed
    app.end_session()
    assert logged() == []


# --- practice ---------------------------------------------------------------------------------------------------------


def of_plan(vault: Vault, clock: Clock, plan: str) -> RetainApp:
    return RetainApp(Context(vault, clock), "review", plan)


async def test_a_cram_asks_until_all_are_recalled_and_leaves_no_log(
    vault: Vault, clock: Clock, settled: Settled, pass_time: PassTime
) -> None:
    app = of_plan(vault, clock, "cram")
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "space")
        cells = [said.split("\n")[1] for said in app.screen.query_one(RatingBar).offered.values()]
        assert cells == ["shown again", "recalled", "recalled", "recalled"]
        await press(pilot, settled, "1")
        assert app.screen.query_one(TopBar).status == "0 recalled · 4 left · not scheduled"
        await press(pilot, settled, "space", "3", "u")
        assert told(app) == "Undid the rating Good."
        await press(pilot, settled, "b")
        assert "nothing is saved" in told(app)
        for _ in range(4):
            await press(pilot, settled, "space", "3")
        assert app.screen.has_class("-ended") and "scheduled or saved" in words(app, "#ended")
    assert not (vault.root / LOG_PATH).exists()


async def test_a_plan_that_is_none_leads_home_with_the_reason(vault: Vault, clock: Clock, settled: Settled) -> None:
    app = of_plan(vault, clock, "cram faster")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "not a review plan" in told(app)


async def test_practise_offers_what_there_is_and_begins_with_what_was_chosen(
    vault: Vault, clock: Clock, settled: Settled
) -> None:
    app = RetainApp(Context(vault, clock), "practise")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, PractiseScreen)
        rows = [str(option.prompt) for option in app.screen.query_one(OptionList).options]
        assert re.match(r"All cards +4 cards, 0 due, 4 new", rows[0])
        assert any(row.startswith("memory ") and " tag " in row for row in rows)
        assert str(screen.plan) == "cram limit:20"
        await press(pilot, settled, "j", "m", "plus")
        assert str(screen.plan) == "preview limit:50 tag:memory"
        await press(pilot, settled, "m", "plus")
        assert str(screen.plan) == "ahead days:2 tag:memory"
        await press(pilot, settled, "m", "m", "enter")
        assert on_screen(app) is ReviewScreen
        assert app.screen.query_one(TopBar).status == "0 recalled · 2 left · not scheduled"
        await press(pilot, settled, "escape")
        assert on_screen(app) is PractiseScreen


# --- the end ----------------------------------------------------------------------------------------------------------


async def test_the_end_tells_what_was_learnt_and_what_was_hard_and_leads_on(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await press(pilot, settled, "space", "1")
        for _ in range(4):
            pass_time(5)
            await press(pilot, settled, "space", "4")
        shown = words(review, "#ended")
        assert "5 ratings in under a minute" in shown
        assert re.search(r"Learned +4 cards of ", shown)
        assert re.search(r"Hardest +What does the forgetting curve describe\?  forgotten once", shown)
        await press(pilot, settled, "l")
        assert review.screen.query_one(TopBar).status == "0 done · 1 left: 0 new, 0 learning, 1 review"
        assert len([event for event in logged() if isinstance(event, Review)]) == 5
        assert next(event.rating for event in logged() if isinstance(event, Review)) is Rating.AGAIN


# --- how it looks -----------------------------------------------------------------------------------------------------


def pressing(settled: Settled, *keys: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def run(pilot: Pilot[int]) -> None:
        await settled(pilot)
        for area in pilot.app.screen.query(Input):
            area.cursor_blink = False
        await press(pilot, settled, *keys)
        for field in (*pilot.app.screen.query(Input), *pilot.app.screen.query(TextArea)):
            field.cursor_blink = False
        await pilot.pause()

    return run


@SIZES
@pytest.mark.parametrize("keys", ["space f", "e", "space s s", "space f 2"], ids=["flag", "edit", "source", "flagged"])
def test_the_deeds(
    snap_compare: Compare, review: RetainApp, settled: Settled, size: tuple[int, int], keys: str
) -> None:
    assert snap_compare(review, run_before=pressing(settled, *keys.split()), terminal_size=size)


@SIZES
def test_cram(snap_compare: Compare, vault: Vault, clock: Clock, settled: Settled, size: tuple[int, int]) -> None:
    app = of_plan(vault, clock, "cram")
    assert snap_compare(app, run_before=pressing(settled, "space"), terminal_size=size)
