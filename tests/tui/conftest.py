"""What tests of the app share: a vault of hand-written files in a folder of its own, and a clock that tests move."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from tui.app import RetainApp
from tui.context import Context
from vault.config.settings import FILE, Settings, render_settings
from vault.ids import GapId
from vault.log.events import LogEvent
from vault.log.review_log import read_log
from vault.model.gaps import Gap, GapKind, render_agenda
from vault.vault import Vault, open_vault

PATIENCE_S = 600.0  # after which what never comes about fails, rather than hangs


async def until(pilot: Pilot[Any], comes: Callable[[], object], what: str) -> None:
    """Waits until `comes()` is true, and all that follows from it is handled; `what` names it where it never is."""
    end = time.monotonic() + PATIENCE_S
    while not comes():
        assert time.monotonic() < end, f"this never came about: {what}"
        await pilot.pause(0.02)
    await pilot.pause()


SUMMARY = """---
type: summary
id: 5yyyyyyyyy
title: Memory
source: raw/articles/On memory (1885).md
---

# Memory

## Claims

> [!quote]
> retention falls steeply in the first hours and then levels off
>
> definition · current · line 12

^c-aaaaaaaaa1

> [!quote] Every retrieval slows down forgetting.
> each act of retrieval makes the trace more durable than another reading would
>
> mechanism · disputed · p. 6

^c-aaaaaaaaa2
"""
CITES = "[[wiki/summaries/memory#^c-aaaaaaaaa1|1]] [[wiki/summaries/memory#^c-aaaaaaaaa2|1]]"
FORGETTING = f"""---
type: flashcards
tags:
  - memory
---

# Forgetting curve

## Definitional

Q: What does the forgetting curve describe?
A: How retention falls over time without review: steeply in the first hours, then ever more slowly.
> {CITES}
<!-- card aaaaaaaaa1 -->

## Mechanistic

Q: Why does retrieving something slow down forgetting?
A: Retrieval makes the memory trace more durable, and the gain is larger
the closer the memory was to being lost:

- the effort is higher, so **more** is learnt
- $R = e^{{-t/S}}$ falls more slowly, as `S` grows
> {CITES}
<!-- card aaaaaaaaa2 -->
"""
SPACING = """---
type: flashcards
---

# Spacing effect

## Relational

Q: How does spacing relate to the forgetting curve?
A: Reviews placed later on the curve are harder and strengthen memory more.
<!-- card bbbbbbbbb1 -->

## Applied

Q: When should the second review of a new fact take place?
A: Just before it would be forgotten, for instance after one day.
<!-- card bbbbbbbbb2 -->
"""
GAPS = (
    Gap(
        GapId("gaaaaaaaaa"),
        GapKind.STRUCTURAL,
        "Consolidation",
        "4 articles mention it, none explains it",
        "a source that explains consolidation",
        ("[[wiki/concepts/forgetting-curve|Forgetting curve]]", "[[wiki/concepts/spacing-effect|Spacing effect]]"),
    ),
    Gap(
        GapId("gbbbbbbbbb"),
        GapKind.STRUCTURAL,
        "Interference",
        "2 articles mention it, none explains it",
        "a source that explains interference",
        ("[[wiki/concepts/forgetting-curve|Forgetting curve]]",),
    ),
    Gap(
        GapId("gccccccccc"),
        GapKind.EPISTEMIC,
        "Spacing effect",
        "no evidence of when to use it",
        "an account of the spacing effect in practice",
    ),
)


@pytest.fixture(autouse=True)
def one_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same colours and movements whatever terminal the tests are run from."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for name in ("NO_COLOR", "COLORFGBG", "SSH_CONNECTION", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def instants() -> list[datetime]:
    """The hands of the clock: the last one is now."""
    return [datetime(2026, 11, 22, 9, 30, tzinfo=UTC)]


@pytest.fixture(autouse=True)
def keys_come_by_the_clock(instants: list[datetime], monkeypatch: pytest.MonkeyPatch) -> None:
    """How long after another a key came is how far a test has moved the clock, however slow the machine."""
    hands = SimpleNamespace(get_time=lambda: instants[-1].timestamp())
    monkeypatch.setattr("textual.message._time", hands)


@pytest.fixture
def clock(instants: list[datetime]) -> Callable[[], datetime]:
    """A clock that stands still until a test moves it."""
    return lambda: instants[-1]


@pytest.fixture
def pass_time(instants: list[datetime]) -> Callable[[float], None]:
    """Moves the clock by so many seconds."""
    return lambda seconds: instants.append(instants[-1] + timedelta(seconds=seconds))


@pytest.fixture
def bare(tmp_path: Path) -> Vault:
    """A vault with nothing in it."""
    (tmp_path / FILE).write_text(render_settings(Settings("0" * 26, "my-vault")), encoding="utf-8")
    for folder in ("raw/articles", "wiki/summaries", "learning/flashcards", "ledger"):
        (tmp_path / folder).mkdir(parents=True)
    return open_vault(str(tmp_path), None, tmp_path)


@pytest.fixture
def vault(bare: Vault) -> Vault:
    """A vault with four new cards on two concepts, their sources and an agenda."""
    files = {
        "wiki/summaries/memory.md": SUMMARY,
        "learning/flashcards/forgetting-curve.md": FORGETTING,
        "learning/flashcards/spacing-effect.md": SPACING,
        "learning/gaps.md": render_agenda(GAPS),
        "raw/articles/On memory (1885).md": "Retention falls steeply in the first hours and then levels off.\n",
    }
    for path, text in files.items():
        (bare.root / path).write_text(text, encoding="utf-8")
    return bare


@pytest.fixture
def home(vault: Vault, clock: Callable[[], datetime]) -> RetainApp:
    """The app on that vault, at home."""
    return RetainApp(Context(vault, clock))


@pytest.fixture
def review(vault: Vault, clock: Callable[[], datetime]) -> Iterator[RetainApp]:
    """The app on that vault, in the review."""
    app = RetainApp(Context(vault, clock), "review")
    app.hold_review()
    yield app
    app.end_session()


@pytest.fixture
def logged(vault: Vault) -> Callable[[], list[LogEvent]]:
    """What the review log on disk holds, read anew each time."""
    return lambda: list(read_log(vault.root).events)


@pytest.fixture
def settled() -> Callable[[Pilot[int]], Awaitable[None]]:
    """Waits until the vault has been read and the screen painted."""

    async def settled(pilot: Pilot[int]) -> None:
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    return settled
