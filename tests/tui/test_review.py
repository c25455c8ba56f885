"""The review on a real vault, by the keys a human presses."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from textual.content import Content
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Static

from tests.tui.conftest import until
from tui.app import RetainApp
from tui.context import Context
from tui.screens.home import HomeScreen
from tui.screens.review import ReviewScreen
from tui.views.card import CardView, Face
from tui.views.evidence import SupportPanel, _fitted
from tui.views.rating import RatingBar
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.errors import LockHeld
from vault.layout import REVIEW_PAGE
from vault.log.events import Bury, LogEvent, Rating, Review, Suspend, Undo
from vault.log.review_log import LOG_PATH, live
from vault.vault import Vault

Logged = Callable[[], list[LogEvent]]
Settled = Callable[[Pilot[int]], Awaitable[None]]
PassTime = Callable[[float], None]


def card(app: RetainApp) -> Mapping[str, str]:
    """The words of each part of the card on the screen."""
    return app.screen.query_one(CardView).shown


def words(app: RetainApp, selector: str) -> str:
    """The text that a widget shows."""
    return str(app.screen.query_one(selector, Static).content)


def on_screen(app: RetainApp) -> type:
    return type(app.screen)


def answer_shown(app: RetainApp) -> bool:
    return "answer" in card(app)


def source_shown(app: RetainApp) -> bool:
    return bool(app.screen.query_one(SupportPanel).display)


async def test_a_card_is_asked_answered_and_rated(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        assert card(review)["head"] == "Forgetting curve  ·  definitional"
        assert card(review)["question"] == "What does the forgetting curve describe?"
        assert not answer_shown(review)
        assert review.screen.query_one(TopBar).status == "0 done · 4 left: 4 new, 0 learning, 0 review"
        await pilot.press("3")  # no rating before the answer
        assert logged() == []
        await pilot.press("space")
        assert answer_shown(review)
        assert card(review)["answer"].startswith("How retention falls over time")
        cells = list(review.screen.query_one(RatingBar).offered.values())
        assert cells == ["1 Again\n1 min", "2 Hard\n6 min", "3 Good\n10 min", "4 Easy\n6 d"]
        pass_time(5.4)
        await pilot.press("4")
        (event,) = logged()
        assert isinstance(event, Review)
        assert (event.card, event.rating, event.ms, event.stamp.via) == ("aaaaaaaaa1", Rating.EASY, 5400, "tui")
        assert card(review)["question"] != "What does the forgetting curve describe?"
        assert not answer_shown(review)


async def test_each_rating_is_in_the_log_before_the_next_card_is_shown(
    review: RetainApp, logged: Logged, settled: Settled, monkeypatch: pytest.MonkeyPatch, pass_time: PassTime
) -> None:
    on_disk: list[int] = []
    show = CardView.show

    def spy(view: CardView, face: Face) -> None:
        if not face.back:
            on_disk.append(len(logged()))
        show(view, face)

    monkeypatch.setattr(CardView, "show", spy)
    async with review.run_test() as pilot:
        await settled(pilot)
        for rating in "4432":
            pass_time(2)
            await pilot.press("enter", rating)
    assert on_disk == [0, 1, 2, 3, 4]  # the last one comes back: it is in learning


async def test_keys_that_come_at_once_are_taken_in_order_and_each_rating_is_synced_before_the_next_key(
    review: RetainApp, vault: Vault, logged: Logged, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    sync = os.fsync

    def spy(handle: int) -> None:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            synced.append(len(logged()))
        sync(handle)

    async with review.run_test() as pilot:
        await settled(pilot)
        monkeypatch.setattr(os, "fsync", spy)
        for name in ("space", "4", "space", "1"):
            review.post_message(Key(name, None))
        await until(pilot, lambda: len(synced) == 2, "both ratings are synced")
        monkeypatch.undo()
        assert synced == [1, 2]
        assert [event.rating for event in logged() if isinstance(event, Review)] == [Rating.EASY, Rating.AGAIN]
        assert review.screen.query_one(TopBar).status.startswith("2 done")


async def test_a_rating_that_cannot_be_synced_is_reported_and_its_card_is_asked_again(
    review: RetainApp, vault: Vault, logged: Logged, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    async with review.run_test() as pilot:
        await settled(pilot)
        (vault.root / LOG_PATH).touch()
        before = card(review)["question"]
        with monkeypatch.context() as broken:
            await pilot.press("space")
            broken.setattr(os, "fsync", fail)
            await pilot.press("3")
            notice = review.screen.query_one(Notice)
            await until(pilot, lambda: notice.display, "the error is shown")
        assert notice.has_class("error") and "the disk reported an error" in str(notice.content)
        assert (card(review)["question"], answer_shown(review)) == (before, True)
        assert review.screen.query_one(TopBar).status.startswith("0 done") and logged() == []
        await pilot.press("3")
        assert not notice.display and card(review)["question"] != before
        assert len(logged()) == 1


async def test_undo_goes_back_step_by_step_and_voids_each_on_disk(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        asked = [card(review)["question"]]
        for key in ("4", "b", "1"):
            await pilot.press("space", key)
            pass_time(3)
            asked.append(card(review)["question"])
        assert len(live(logged())) == 3
        for question in reversed(asked[:-1]):
            await pilot.press("u")
            assert card(review)["question"] == question
            assert not answer_shown(review)
        assert live(logged()) == []
        assert sum(isinstance(event, Undo) for event in logged()) == 3
        await pilot.press("u")
        assert "nothing to undo" in str(review.screen.query_one(Notice).content)
        assert not review.screen.query_one(Notice).has_class("error")
        await pilot.press("space")  # what was told has been read
        assert not review.screen.query_one(Notice).display
        assert len(logged()) == 6


async def test_a_rating_the_disk_refuses_keeps_the_card_and_names_the_file(
    review: RetainApp, vault: Vault, logged: Logged, settled: Settled
) -> None:
    in_the_way = vault.root / LOG_PATH
    async with review.run_test() as pilot:
        await settled(pilot)
        before = card(review)["question"]
        in_the_way.mkdir()
        for _ in range(2):
            await pilot.press("space", "3")
            notice = review.screen.query_one(Notice)
            assert notice.display and notice.has_class("error")
            assert "learning/reviews.jsonl: a link or a folder has that name" in str(notice.content)
            assert card(review)["question"] == before
            assert answer_shown(review)
            assert review.screen.query_one(TopBar).status.startswith("0 done")
        in_the_way.rmdir()
        await pilot.press("3")
        assert not review.screen.query_one(Notice).display
        assert card(review)["question"] != before
        assert len(logged()) == 1


async def test_a_log_that_is_a_link_to_a_note_is_not_written_through(
    review: RetainApp, vault: Vault, settled: Settled, tmp_path: Path
) -> None:
    note = tmp_path / "insights.md"
    note.write_text("mine\n")
    async with review.run_test() as pilot:
        await settled(pilot)
        (vault.root / LOG_PATH).symlink_to(note)
        await pilot.press("space", "3")
        assert review.screen.query_one(Notice).has_class("error")
        assert review.screen.query_one(TopBar).status.startswith("0 done")
    assert note.read_text() == "mine\n"


async def test_a_card_edited_meanwhile_shows_its_new_words(review: RetainApp, vault: Vault, settled: Settled) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        for path in (vault.root / "learning" / "flashcards").iterdir():
            text = path.read_text(encoding="utf-8")
            path.write_text("A remark.\n\n" + text.replace("Q: ", "Q: Newly put: "), encoding="utf-8")
        await pilot.press("space", "4")
        assert card(review)["question"].startswith("Newly put: ")


async def test_a_card_moved_to_another_file_is_found_and_one_that_is_gone_is_passed_over(
    review: RetainApp, vault: Vault, logged: Logged, settled: Settled
) -> None:
    decks = vault.root / "learning" / "flashcards"
    async with review.run_test() as pilot:
        await settled(pilot)
        first = decks / "forgetting-curve.md"
        moved = first.read_text(encoding="utf-8").split("## Mechanistic")[1]
        first.unlink()
        (decks / "spacing-effect.md").unlink()
        (decks / "elsewhere.md").write_text("# Elsewhere\n\n## Mechanistic" + moved, encoding="utf-8")
        await pilot.press("space", "4")
        assert card(review)["head"] == "Elsewhere  ·  mechanistic"
        await pilot.press("space", "4")
        assert review.screen.has_class("-ended")
    assert [event.card for event in logged() if isinstance(event, Review)] == ["aaaaaaaaa1", "aaaaaaaaa2"]


async def test_a_file_that_cannot_be_read_is_named_and_the_rest_goes_on(
    review: RetainApp, vault: Vault, settled: Settled
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        for name in ("forgetting-curve", "spacing-effect"):
            (vault.root / "learning" / "flashcards" / f"{name}.md").write_bytes(b"# ok\n\xff\n")
        await pilot.press("space", "4")
        assert review.screen.has_class("-ended")
        assert "flashcards/" in str(review.screen.query_one(Notice).content)
        assert "not UTF-8" in str(review.screen.query_one(Notice).content)


async def test_bury_and_suspend_take_the_card_away(review: RetainApp, logged: Logged, settled: Settled) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("b")
        assert "Buried until tomorrow. Press u to undo." in words(review, "Notice")
        await pilot.press("space", "x")
        assert "Suspended" in words(review, "Notice")
        await pilot.press("!")
        assert [type(event) for event in logged()] == [Bury, Suspend, Suspend]
        assert review.screen.query_one(TopBar).status == "0 done · 1 left: 1 new, 0 learning, 0 review"


async def test_the_source_of_an_answer_is_one_key_away(review: RetainApp, settled: Settled) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("s")
        assert not source_shown(review)  # it would give the answer away
        await pilot.press("space", "s")
        assert source_shown(review)
        quotes = words(review, "#quotes")
        assert "“retention falls steeply in the first hours and then levels off”" in quotes
        panel = review.screen.query_one(SupportPanel)
        assert str(panel.border_title) == "Source · articles/On memory (1885).md · line 12"
        assert str(panel.border_subtitle) == "quote 1 of 2"
        assert "articles/On memory (1885).md · p. 6 · disputed" in quotes
        await pilot.press("s")  # the next quote
        assert source_shown(review) and words(review, "#quotes").startswith("“each act of retrieval")
        assert str(panel.border_title) == "Source · articles/On memory (1885).md · p. 6"
        await pilot.press("s")
        assert not source_shown(review)


async def test_esc_closes_the_source_first_and_leaves_the_review_then(review: RetainApp, settled: Settled) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("space", "s", "escape")
        assert not source_shown(review) and isinstance(review.screen, ReviewScreen)
        await pilot.press("escape")
        await settled(pilot)
        assert not isinstance(review.screen, ReviewScreen)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 45)])
async def test_the_source_does_not_move_the_card(review: RetainApp, settled: Settled, size: tuple[int, int]) -> None:
    async with review.run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press("space")
        await settled(pilot)
        view = review.screen.query_one(CardView)

        def rows() -> list[str]:
            return [strip.text.rstrip() for strip in view.render_lines(view.size.region)][:8]

        before, place = rows(), view.region.offset
        await pilot.press("s")
        await settled(pilot)
        assert source_shown(review) and rows() == before and view.region.offset == place


def test_the_place_of_a_quote_fits_the_title_of_its_panel() -> None:
    parts = ["Source", "articles/2026/A very long name of a document on memory.md", "Chapter 3, line 1214"]
    for room in (30, 50, 74, 120):
        title = Content(" · ").join(_fitted(parts, room)).plain
        assert len(title) <= room and title.startswith("Source · ")
        assert room < 50 or title.endswith("Chapter 3, line 1214")


async def test_a_source_that_is_gone_is_said_so(review: RetainApp, vault: Vault, settled: Settled) -> None:
    (vault.root / "wiki" / "summaries" / "memory.md").unlink()
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("space", "s")
        assert "wiki/summaries/memory.md\nthe summary no longer exists" in words(review, "#quotes")


async def test_the_key_that_shows_the_answer_says_good_but_not_when_held_down(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        for _ in range(20):
            pass_time(0.03)
            await pilot.press("space")
        assert answer_shown(review) and logged() == []
        pass_time(2)
        await pilot.press("space")
        assert [event.rating for event in logged() if isinstance(event, Review)] == [Rating.GOOD]


async def test_the_end_says_what_was_done_and_renders_the_queue(
    review: RetainApp, vault: Vault, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        for _ in range(4):
            await pilot.press("space")
            pass_time(30)
            await pilot.press("4")
        await settled(pilot)
        assert review.screen.has_class("-ended")
        assert "4 ratings in 2 minutes" in words(review, "#ended")
        assert "Easy" in words(review, "#ended")
        assert "Tomorrow   nothing due, not counting new cards" in words(review, "#ended")
        assert not (vault.root / REVIEW_PAGE).exists()  # never within an answer
        await pilot.press("u")  # the end is not final
        assert not review.screen.has_class("-ended")
        await pilot.press("space", "3")
        pass_time(60)
        await pilot.press("space")
        assert not review.screen.has_class("-ended")  # it came back, as it is in learning
        await pilot.press("escape")
        await settled(pilot)
        assert on_screen(review) is HomeScreen
        page = (vault.root / REVIEW_PAGE).read_text(encoding="utf-8")
        assert page.count("| review |") == 3 and page.count("| learning |") == 1


async def test_a_queue_page_that_cannot_be_written_is_named_and_no_rating_is_lost(
    review: RetainApp, vault: Vault, logged: Logged, settled: Settled
) -> None:
    (vault.root / REVIEW_PAGE).mkdir()
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("space", "4", "escape")
        await settled(pilot)
        assert on_screen(review) is HomeScreen
        assert "learning/_review.md" in str(review.screen.query_one(Notice).content)
        assert len(logged()) == 1


async def test_a_second_session_is_refused_and_told_who_holds_the_first(
    review: RetainApp, home: RetainApp, settled: Settled
) -> None:
    async with home.run_test() as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert on_screen(home) is HomeScreen
        notice = str(home.screen.query_one(Notice).content)
        assert "locked by process" in notice and "reviewing since 2026-11-22T09:30:00Z" in notice
        review.end_session()
        await pilot.press("enter")
        await settled(pilot)
        assert on_screen(home) is ReviewScreen
        with pytest.raises(LockHeld):
            review.hold_review()
        await pilot.press("escape")
        await settled(pilot)
        review.hold_review()


async def test_ctrl_c_in_the_middle_loses_nothing(
    review: RetainApp, vault: Vault, logged: Logged, settled: Settled
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("space", "4", "space", "ctrl+c")
    assert review.return_value == 130
    review.end_session()
    assert len(logged()) == 1
    assert "| review |" in (vault.root / REVIEW_PAGE).read_text(encoding="utf-8")


async def test_a_resized_terminal_keeps_the_card_and_its_answer(review: RetainApp, settled: Settled) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("space", "s")
        for width, height in ((120, 40), (30, 10), (12, 4), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert card(review)["answer"].startswith("How retention falls")
        await pilot.press("4")
        assert review.screen.query_one(TopBar).status.startswith("1 done")


async def test_the_mouse_does_what_the_keys_do(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.click(RatingBar)
        assert answer_shown(review)
        await pilot.click(RatingBar, offset=(30, 1))  # a click too many: nobody has read the answer yet
        assert logged() == []
        pass_time(1)
        await pilot.click(RatingBar, offset=(30, 1))  # the second of four
        assert [event.rating for event in logged() if isinstance(event, Review)] == [Rating.HARD]
        await pilot.click("KeyBar", offset=(11, 0))  # "space Answer  u Undo ..."
        await pilot.pause()
        assert answer_shown(review)


async def test_only_what_has_the_tag_is_asked(
    vault: Vault, clock: Callable[[], object], settled: Settled, pass_time: PassTime
) -> None:
    app = RetainApp(Context(vault, clock, "memory"), "review")  # type: ignore[arg-type]
    async with app.run_test() as pilot:
        await settled(pilot)
        assert app.screen.query_one(TopBar).status == "0 done · 2 left: 2 new, 0 learning, 0 review"


async def test_a_clock_that_goes_back_refuses_nothing(
    review: RetainApp, logged: Logged, settled: Settled, pass_time: PassTime
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("space", "1", "space", "4", "space", "4", "space", "4")
        pass_time(-timedelta(days=2).total_seconds())
        await pilot.press("space", "3")
        events = logged()
        assert len(events) == 5
        assert [event.at for event in events] == sorted(event.at for event in events)
        assert isinstance(events[-1], Review) and events[-1].ms == 0


class Browser:
    """Takes down what would have been opened: the app's own hook, as a browser is no part of a test."""

    def __init__(self, app: RetainApp, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[str] = []
        monkeypatch.setattr(app, "open_url", lambda url, *, new_tab=True: self.opened.append(url))


def from_the_web(vault: Vault, address: str) -> None:
    """Lets the source of the first cards come from `address`."""
    path = vault.root / "wiki/summaries/memory.md"
    path.write_text(path.read_text("utf-8").replace("title: Memory", f"title: Memory\nurl: {address}", 1), "utf-8")


async def test_the_address_of_a_source_is_shown_first_and_opened_at_the_second_press(
    review: RetainApp, vault: Vault, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_the_web(vault, "https://example.org/memory")
    browser = Browser(review, monkeypatch)
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("o")  # the front: nothing may give the answer away
        await pilot.press("space", "o")
        assert browser.opened == []
        assert "https://example.org/memory" in words(review, "Notice")
        await pilot.press("o")
        assert browser.opened == ["https://example.org/memory"]


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "smb://host/share",
        "obsidian://open?vault=x",
        "C:/x.exe",
        "../insights/h.md",
        "'https://user:secret@example.org/'",
        '"https://example.org/\\u202egpj.exe"',
        "ftp://example.org/",
        "data:text/html,x",
    ],
)
async def test_no_other_kind_of_address_is_ever_offered(
    review: RetainApp, vault: Vault, settled: Settled, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    from_the_web(vault, address)
    browser = Browser(review, monkeypatch)
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("space", "s", "o", "o", "o")
        assert browser.opened == []
        assert "has a web address" in words(review, "Notice")


async def test_an_address_that_was_shown_is_not_opened_on_the_next_card(
    review: RetainApp, vault: Vault, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_the_web(vault, "https://example.org/memory")
    browser = Browser(review, monkeypatch)
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("space", "o", "3", "space", "o")
        assert browser.opened == []
