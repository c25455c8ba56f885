"""Terminals that are tiny, have no colours, or hang on a slow line."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.pilot import Pilot

from tui.app import RetainApp
from tui.context import Context
from tui.preferences import Preferences
from tui.strings.app import TOO_SMALL
from tui.widgets.bars import KeyBar
from tui.widgets.notice import TooSmall
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
HERE = Path(__file__).resolve().parents[2]
RETAIN = (sys.executable, "-c", "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()")
PATIENCE_S = 600.0


def painted(app: RetainApp) -> str:
    return "\n".join("".join(piece.text for piece in strip) for strip in app.screen._compositor.render_strips())


@pytest.mark.parametrize("place", ["home", "review", "gaps", "settings"])
@pytest.mark.parametrize("size", [(20, 5), (40, 10), (1, 1), (39, 40)])
async def test_a_terminal_that_is_too_small_says_so_and_comes_back(
    vault: Vault, clock: Callable[[], datetime], settled: Settled, place: str, size: tuple[int, int]
) -> None:
    app = RetainApp(Context(vault, clock), place)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        assert app.screen.query(TooSmall)
        if size[0] >= 40:
            assert TOO_SMALL in painted(app)
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert not app.screen.query(TooSmall) and " retain " in painted(app)
        await pilot.resize_terminal(*size)
        await settled(pilot)
        assert app.screen.query(TooSmall)
    app.end_session()


async def test_forty_columns_still_have_the_way_out_and_the_help(
    vault: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    app = RetainApp(Context(vault, clock), "review")
    async with app.run_test(size=(40, 12)) as pilot:
        await settled(pilot)
        foot = app.screen.query_one(KeyBar).line(40).plain
        assert "esc Home" in foot and foot.endswith("? Help ")
        await pilot.press("question_mark")
        await settled(pilot)
        assert "Keys" in painted(app)
    app.end_session()


async def test_a_click_at_the_foot_asks_for_help(vault: Vault, clock: Callable[[], datetime], settled: Settled) -> None:
    app = RetainApp(Context(vault, clock))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.click(KeyBar, offset=(77, 0))
        await settled(pilot)
        assert type(app.screen).__name__ == "HelpScreen"
        await pilot.press("escape")
        await settled(pilot)
        assert type(app.screen).__name__ == "HomeScreen"


@pytest.mark.parametrize(
    ("environment", "motion", "level"),
    [({}, True, "full"), ({}, False, "none"), ({"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, True, "none")],
)
def test_over_a_slow_line_nothing_glides(
    vault: Vault, clock: Callable[[], datetime], environment: dict[str, str], motion: bool, level: str
) -> None:
    context = Context(vault, clock, environment=environment, preferences=Preferences(motion=motion))
    assert RetainApp(context).animation_level == level


def sent(vault: Vault, script: list[tuple[bytes, bytes]], **settings: str) -> list[bytes]:
    """What the program sends to its terminal: until the first words show, then after each key until the next do."""
    terminal, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM", "TERM")}
    environment = {**kept, "PYTHONPATH": str(HERE), "RETAIN_VAULT": str(vault.root), **settings}
    process = subprocess.Popen(
        [*RETAIN, "review"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    parts: list[bytes] = []
    try:
        for expected, key in script:
            parts.append(_until(terminal, expected))
            os.write(terminal, key)
        return parts
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def _until(terminal: int, expected: bytes) -> bytes:
    seen = b""
    end = time.monotonic() + PATIENCE_S
    while expected not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536)
    assert expected in seen
    return seen


def test_without_colour_no_colour_is_sent(vault: Vault) -> None:
    parts = sent(vault, [(b"describe?", b" "), (b"Again", b"q")], TERM="xterm-256color", NO_COLOR="1")
    codes = {code for found in re.findall(rb"\x1b\[([\d;]*)m", b"".join(parts)) for code in found.split(b";")}
    assert not {code for code in codes if re.fullmatch(rb"3[0-8]|4[0-8]|9\d|10\d", code)}


def test_a_terminal_of_sixteen_colours_is_sent_no_others(vault: Vault) -> None:
    parts = sent(vault, [(b"describe?", b" "), (b"Again", b"q")], TERM="xterm")
    codes = set(re.findall(rb"\x1b\[([\d;]*)m", b"".join(parts)))
    assert not [code for code in codes if b"38;" in code or b"48;" in code]


def test_a_key_press_costs_few_bytes(vault: Vault) -> None:
    script = [(b"describe?", b" "), (b"Again", b"3"), (b"1 done", b" "), (b"Again", b"3"), (b"2 done", b"q")]
    _, *after = sent(vault, script, TERM="xterm-256color")
    assert sum(map(len, after)) / len(after) < 8_000


@pytest.mark.parametrize("place", ["gaps", "settings", "browse", "work"])
async def test_where_the_cursor_is_can_be_seen_without_colour(
    vault: Vault, clock: Callable[[], datetime], settled: Settled, place: str
) -> None:
    app = RetainApp(Context(vault, clock, environment={"TERM": "xterm-256color", "NO_COLOR": "1"}), place)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        marked = [piece.text for strip in app.screen._compositor.render_strips() for piece in strip if _marked(piece)]
        assert "".join(marked).strip()


def _marked(piece: Segment) -> bool:
    return piece.style is not None and bool(piece.style.reverse or piece.style.underline)
