"""In the review v shows where the card's picture lies, and pressed again opens it; never what the answer would show."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.tui.test_pictures import asset
from tui.app import RetainApp
from tui.context import Context
from tui.strings import review as said
from tui.widgets.notice import Notice
from vault.vault import Vault

DECK = "learning/flashcards/forgetting-curve.md"
SUMMARY = "wiki/summaries/memory.md"


def picture(vault: Vault, colour: str) -> str:
    out = BytesIO()
    Image.new("RGB", (4, 4), colour).save(out, "PNG")
    return asset(vault, out.getvalue())


def put(vault: Vault, path: str, before: str, after: str) -> None:
    file = vault.root / path
    words = file.read_text(encoding="utf-8")
    assert before in words
    file.write_text(words.replace(before, after, 1), encoding="utf-8")


def first_words(vault: Vault, mark: str) -> str:
    """The first line of the deck that begins a question or an answer."""
    lines = (vault.root / DECK).read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(mark))


def told(app: RetainApp) -> str:
    return str(app.screen.query_one(Notice).content)


@pytest.fixture
def app(vault: Vault, clock: Callable[[], datetime], tmp_path: Path) -> RetainApp:
    """In the review, on a desktop whose viewer writes what it was given to a pipe."""
    asked = tmp_path / "asked"
    os.mkfifo(asked)
    for opener in ("xdg-open", "open"):
        (tmp_path / opener).write_text(f'#!/bin/sh\nprintf "%s" "$*" > "{asked}"\n', encoding="utf-8")
        (tmp_path / opener).chmod(0o755)
    return RetainApp(Context(vault, clock, environment={"PATH": str(tmp_path)}), "review")


async def test_a_picture_of_the_question_is_named_and_then_opened(vault: Vault, app: RetainApp, tmp_path: Path) -> None:
    path = picture(vault, "red")
    question = first_words(vault, "Q: ")
    put(vault, DECK, question, f"{question} ![[{path}]]")
    async with app.run_test() as pilot:
        await pilot.app.workers.wait_for_complete()
        await pilot.press("v")
        assert said.picture(path) in told(app)
        await pilot.press("v")
        assert (tmp_path / "asked").read_text(encoding="utf-8") == str(vault.root / path)  # waits until it is written
        assert not app.screen.query_one(Notice).display


async def test_a_picture_of_the_answer_waits_for_the_answer(vault: Vault, app: RetainApp) -> None:
    path = picture(vault, "red")
    answer = first_words(vault, "A: ")
    put(vault, DECK, answer, f"{answer} ![[{path}]]")
    async with app.run_test() as pilot:
        await pilot.app.workers.wait_for_complete()
        await pilot.press("v")
        assert told(app) == said.NO_PICTURE
        await pilot.press("space", "v")
        assert said.picture(path) in told(app)


async def test_what_the_source_shows_beside_the_quote_is_the_cards_picture_too(vault: Vault, app: RetainApp) -> None:
    path = picture(vault, "blue")
    file = vault.root / SUMMARY
    lines = file.read_text(encoding="utf-8").split("\n")
    quotes = [n for n, line in enumerate(lines) if line == ">"]
    for n in reversed(quotes):  # below the words of each quote, above what is said of it
        lines[n:n] = [">", f"> ![[{path}]]"]
    file.write_text("\n".join(lines), encoding="utf-8")
    async with app.run_test() as pilot:
        await pilot.app.workers.wait_for_complete()
        await pilot.press("space", "v")
        assert said.picture(path) in told(app)


async def test_a_file_that_is_no_picture_is_not_handed_on(vault: Vault, app: RetainApp) -> None:
    path = "wiki/assets/plot-0123456789ab.png"
    (vault.root / "wiki/assets").mkdir(parents=True)
    (vault.root / path).write_text("#!/bin/sh\n", encoding="utf-8")
    question = first_words(vault, "Q: ")
    put(vault, DECK, question, f"{question} ![[{path}]]")
    async with app.run_test() as pilot:
        await pilot.app.workers.wait_for_complete()
        await pilot.press("v", "v")
        assert "is not a PNG, JPEG, GIF or WebP picture" in told(app)
