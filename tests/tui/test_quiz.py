"""A quiz with a scripted model: it asks, points, ends; nothing is rated, nothing given away, nothing acts."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from textual.pilot import Pilot
from textual.widgets import Static

from cli.main import run
from compiler.engines.grading.tutor import QuizTurn, turn_of
from tests.compiler.messages_server import Reply, error, said, serving
from tests.tui.conftest import until
from tui.app import RetainApp
from tui.context import Context
from tui.screens.quiz import QuizScreen
from tui.views.typed_answer import TypedAnswer
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.log.events import LogEvent
from vault.log.grading import Cost, QuizRequest, Reading, Speaker, Turn
from vault.vault import Vault

Logged = Callable[[], list[LogEvent]]
Settled = Callable[[Pilot[int]], Awaitable[None]]
Clock = Callable[[], datetime]
Compare = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])
CITE = "[[wiki/summaries/memory#^c-aaaaaaaaa1|1]]"
ARTICLE = f"""---
type: concept
id: cccccccccc
title: Forgetting curve
---

# Forgetting curve

Retention falls steeply in the first hours and then levels off. {CITE} Every retrieval slows down forgetting. {CITE}
"""
ASKS = {"says": "What happens to what you learnt in the first hours?"}
FOLLOWS = {"says": "Steadily? Think of the first hours.", "article": "Forgetting curve"}
ENDS = {
    "says": "Well done.",
    "ended": True,
    "right": [{"point": "That it falls", "quote": "Retention falls steeply"}],
    "missing": [
        {"point": "What slows it down", "quote": "every retrieval slows down forgetting"},
        {"point": "Invented", "quote": "sleep doubles memory"},
    ],
}


@pytest.fixture(autouse=True)
def settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    (folder / "retain").mkdir()
    return folder / "retain" / "config.toml"


@pytest.fixture
def quiz(vault: Vault, clock: Clock) -> RetainApp:
    (vault.root / "wiki/concepts").mkdir()
    (vault.root / "wiki/concepts/forgetting-curve.md").write_text(ARTICLE, encoding="utf-8")
    return RetainApp(Context(vault, clock), "quiz", "forgetting curve")


def configure(settings: Path, url: str) -> None:
    settings.write_text(
        f'[engine]\nuse = "claude"\nbase_url = "{url}"\n[engine.models]\nquiz = "scripted-{url[-5:]}"\n'
    )


def shown(app: RetainApp) -> str:
    return str(app.screen.query_one("#said", Static).content)


async def say(pilot: Pilot[int], settled: Settled, words: str) -> None:
    area = pilot.app.screen.query_one(TypedAnswer)
    area.cursor_blink = False
    area.insert(words)
    await pilot.press("enter")
    await settled(pilot)


async def test_a_quiz_asks_follows_up_and_ends_with_what_was_right_and_what_was_missing(
    quiz: RetainApp, settled: Settled, settings: Path, logged: Logged
) -> None:
    with serving(said(ASKS), said(FOLLOWS), said(ENDS)) as server:
        configure(settings, server.url)
        async with quiz.run_test() as pilot:
            await settled(pilot)
            assert "What happens to what you learnt" in shown(quiz)
            await say(pilot, settled, "it falls steadily")
            assert "You\nit falls steadily" in shown(quiz) and "→ Forgetting curve (ctrl+o opens the article)" in shown(
                quiz
            )
            assert server.url in quiz.screen.query_one(TopBar).status
            await pilot.press("ctrl+n")
            await settled(pilot)
            assert "✓ That it falls" in shown(quiz) and "✗ What slows it down" in shown(quiz)
            assert "Invented" not in shown(quiz) and not quiz.screen.query_one(TypedAnswer).display
            assert "360 tokens" in quiz.screen.query_one(TopBar).status
    first, second, last = server.asked
    assert json.loads(first["messages"][0]["content"])["articles"][0]["title"] == "Forgetting curve"
    assert json.loads(second["messages"][2]["content"]) == {"learner": "it falls steadily"}
    assert '"end": true' in last["messages"][-1]["content"] and logged() == []


async def test_the_article_that_the_tutor_points_to_is_one_key_away(
    quiz: RetainApp, settled: Settled, settings: Path
) -> None:
    with serving(said(FOLLOWS)) as server:
        configure(settings, server.url)
        async with quiz.run_test() as pilot:
            await settled(pilot)
            await pilot.press("ctrl+o")
            await settled(pilot)
            assert not isinstance(quiz.screen, QuizScreen)
            await pilot.press("escape")
            await settled(pilot)
            assert isinstance(quiz.screen, QuizScreen) and "Steadily?" in shown(quiz)


async def test_without_a_model_it_says_so_and_what_to_write_where(quiz: RetainApp, settled: Settled) -> None:
    async with quiz.run_test() as pilot:
        await settled(pilot)
        assert "no model is configured" in str(quiz.screen.query_one(Notice).content)
        assert 'quiz = "NAME OF A MODEL"' in shown(quiz)


def test_the_command_says_so_too_with_its_own_exit_code(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(vault.root)
    assert run(["quiz", "memory"]) == 4
    assert "no model is configured" in capsys.readouterr().err


async def test_a_tutor_that_fails_is_named_and_asked_again_by_enter(
    quiz: RetainApp, settled: Settled, settings: Path
) -> None:
    with serving(error(404, "not_found_error", "no such model"), said(ASKS)) as server:
        configure(settings, server.url)
        async with quiz.run_test() as pilot:
            await settled(pilot)
            assert "no such model" in str(quiz.screen.query_one(Notice).content)
            await pilot.press("enter")
            await settled(pilot)
            assert "What happens to what you learnt" in shown(quiz)


async def test_waiting_for_the_tutor_can_be_given_up(quiz: RetainApp, settled: Settled, settings: Path) -> None:
    with serving(said(ASKS)) as server:
        server.hold = threading.Event()
        configure(settings, server.url)
        async with quiz.run_test() as pilot:
            try:
                await until(
                    pilot, lambda: quiz.screen.query("#said") and "waiting for the model" in shown(quiz), "a wait"
                )
                await pilot.press("escape")
                await settled(pilot)
                assert isinstance(quiz.screen, QuizScreen) and "waiting for the model" not in shown(quiz)
            finally:
                server.hold.set()


async def test_hostile_words_of_a_tutor_are_inert(quiz: RetainApp, settled: Settled, settings: Path) -> None:
    evil = "[@click=app.quit]x[/] \x1b]0;t\x07 \u202e[bold]"
    with serving(said({"says": evil, "article": "../../etc/passwd"})) as server:
        configure(settings, server.url)
        async with quiz.run_test() as pilot:
            await settled(pilot)
            assert "[@click=app.quit]x[/]" in shown(quiz) and "passwd" not in shown(quiz)
            assert not {"\x1b", "\x07", "\u202e"} & set(shown(quiz))


READING = Reading("wiki/concepts/a.md", "A", "Retention falls steeply in the first hours and then levels off for good.")


def turn(says: str, *turns: Turn, **more: Any) -> Turn:
    reply = QuizTurn.model_validate({"says": says, **more})
    return turn_of(QuizRequest("A", (READING,), turns), reply, Cost()).turn


def test_a_sentence_that_gives_the_answer_away_is_left_out_and_the_article_named() -> None:
    given = "Retention falls steeply in the first hours and then levels off. What follows from that?"
    assert turn(given) == Turn(Speaker.TUTOR, "What follows from that?", "wiki/concepts/a.md")
    learner = Turn(Speaker.LEARNER, "retention falls steeply in the first hours and then levels off")
    assert turn(given, learner).words == given


@SIZES
def test_a_quiz_looks_as_it_should(
    snap_compare: Compare,
    quiz: RetainApp,
    settled: Settled,
    settings: Path,
    size: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script: list[Reply] = [said(ASKS), said(FOLLOWS), said(ENDS)]
    with serving(*script) as server:
        configure(settings, server.url)
        monkeypatch.setattr("tui.strings.quiz.above", lambda topic, engine, place, cost: topic)  # a port changes

        async def go(pilot: Pilot[int]) -> None:
            await settled(pilot)
            await say(pilot, settled, "it falls steadily")

        assert snap_compare(quiz, run_before=go, terminal_size=size)


def test_the_end_of_a_quiz_looks_as_it_should(
    snap_compare: Compare, quiz: RetainApp, settled: Settled, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(said(ENDS)) as server:
        configure(settings, server.url)
        monkeypatch.setattr("tui.strings.quiz.above", lambda topic, engine, place, cost: topic)
        assert snap_compare(quiz, run_before=settled, terminal_size=(80, 24))


def test_help_tells_what_is_sent_and_that_nothing_is_rated() -> None:
    from cli.review.quiz import quiz as command

    told = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert "No card is rated" in told and "are sent to it" in told
