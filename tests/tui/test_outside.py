"""Programs that get the terminal for a while: what they said last, and what is typed to stop them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from tui.app import RetainApp
from tui.context import Context
from tui.process.suspended import run_program
from tui.views.card import CardView
from tui.widgets.notice import Notice
from vault.process.signals import lent
from vault.vault import Vault

_RETAIN = "import os, sys; sys.stdin = open(os.devnull); from cli.main import run; sys.exit(run(sys.argv[1:]))"
_INTERRUPTS = "import os, signal, sys; os.kill(os.getppid(), signal.SIGINT); sys.exit(130)"


def app_with(vault: Vault, clock: Callable[[], datetime], script: str, monkeypatch: pytest.MonkeyPatch) -> RetainApp:
    """The app in the review, with `script` in the place of `retain`; a test has no terminal to hand over."""
    monkeypatch.setattr(RetainApp, "suspend", lambda self: nullcontext())
    app = RetainApp(Context(vault, clock, program=(sys.executable, "-c", script)), "review")
    app.hold_review()
    return app


def notice(pilot: Pilot[int]) -> str:
    found = pilot.app.screen.query_one(Notice)
    return str(found.render()) if found.display else ""


async def test_what_the_other_program_refused_is_said_on_the_screen(
    vault: Vault,
    clock: Callable[[], datetime],
    settled: Callable[..., Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EDITOR", "/nowhere/to/be/found")
    app = app_with(vault, clock, _RETAIN, monkeypatch)
    async with app.run_test(size=(120, 24)) as pilot:
        await settled(pilot)
        await pilot.press("E")
        await pilot.pause()
        assert "an editor needs a terminal" in notice(pilot)
        assert "--from FILE" in notice(pilot)
    app.end_session()


async def test_a_program_that_fails_without_a_word_is_told_by_its_code(
    vault: Vault,
    clock: Callable[[], datetime],
    settled: Callable[..., Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    app = app_with(vault, clock, "raise SystemExit(7)", monkeypatch)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("E")
        await pilot.pause()
        assert "code 7" in notice(pilot)
    app.end_session()


async def test_ctrl_c_in_the_other_program_leaves_the_app_alone(
    vault: Vault,
    clock: Callable[[], datetime],
    settled: Callable[..., Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    app = app_with(vault, clock, _INTERRUPTS, monkeypatch)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("E")
        for _ in range(3):
            await pilot.pause()
        assert "code 130" in notice(pilot)
        assert app.is_running and app.return_code is None
        await pilot.press("space")
        assert app.screen.query("RatingBar")
    app.end_session()


def test_what_was_said_in_passing_comes_back_in_order_and_the_error_last() -> None:
    script = (
        "import os; from cli import output; from vault.errors import Refused\n"
        "assert 'RETAIN_TELL' not in os.environ\n"
        "output.say('one'); output.say('two')\n"
        "raise SystemExit(output.failed(Refused('no', where='x.md:3', hint='try again')))"
    )
    ended = run_program([sys.executable, "-c", script], os.environ)
    assert (ended.code, ended.notes) == (3, ("one", "two"))
    assert ended.error is not None and str(ended.error) == "x.md:3: no (try again)"


@pytest.mark.parametrize("script", ["print('{', file=open(3, 'w'))", "pass", "import os; os.write(2, b'x' * 100)"])
def test_what_is_no_message_counts_for_nothing(script: str) -> None:
    ended = run_program([sys.executable, "-c", script + "\nraise SystemExit(0)"], os.environ)
    assert ended.notes == () and ended.error is None


def test_a_program_with_too_much_to_tell_waits_for_nobody() -> None:
    script = "from cli import output as report\nfor _ in range(500): report.say('x' * 900)"
    ended = run_program([sys.executable, "-c", script], os.environ)
    assert ended.code == 0 and ended.notes[0] == "x" * 900


def test_a_signal_that_ends_us_comes_when_the_other_program_is_done(tmp_path: Path) -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        with lent():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            assert came == []
        assert came == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


async def test_a_card_edited_on_another_screen_lies_on_the_table_in_its_new_words(
    review: RetainApp, vault: Vault, settled: Callable[..., Awaitable[None]]
) -> None:
    async with review.run_test() as pilot:
        await settled(pilot)
        screen = review.screen
        shown = screen.query_one(CardView).shown["question"]
        await pilot.press("question_mark")
        await pilot.pause()
        assert review.screen is not screen
        (deck,) = [d for d in vault.decks() for c in d.cards if c.question == shown]
        path = vault.root / deck.path
        path.write_text(path.read_text().replace(shown, "Which words are new?"))
        await pilot.press("escape")
        await pilot.pause()
        assert screen.query_one(CardView).shown["question"] == "Which words are new?"


async def test_without_an_editor_the_card_is_edited_here(
    vault: Vault,
    clock: Callable[[], datetime],
    settled: Callable[..., Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    app = app_with(vault, clock, "raise SystemExit(7)", monkeypatch)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("E")
        await settled(pilot)
        assert app.screen.query_one("#edit-question", TextArea).text
        await pilot.press("escape")
        await settled(pilot)
        assert app.screen.query("RatingBar")
    app.end_session()
