"""Pictures by the terminal's own graphics: only where it says so, only judged ones, in exactly these escapes."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from collections.abc import Awaitable, Callable
from datetime import datetime
from io import BytesIO

import pytest
from PIL import Image
from rich.segment import Segment
from textual.color import Color
from textual.pilot import Pilot
from textual.strip import Strip
from textual.style import Style

from tests.tui.test_pictures import asset, bomb, png
from tui.app import RetainApp
from tui.context import Context
from tui.preferences import Preferences
from tui.screens.article import ArticleScreen
from tui.text.images import Thumbnail, thumbnail
from tui.text.kitty import Gallery, cells, forgotten, has_graphics, sent
from tui.views.article import ArticleView
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
KITTY = {"TERM": "xterm-kitty", "COLORTERM": "truecolor"}
PAGE = "wiki/concepts/forgetting-curve.md"
_SEQUENCE = re.compile(r"\x1b_G([^;\x1b]*)(?:;([A-Za-z0-9+/=]*))?\x1b\\")


def fine(data: bytes) -> Thumbnail:
    found = thumbnail(data, fine=True)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("environment", "has"),
    [
        (KITTY, True),
        ({"TERM": "xterm-ghostty", "COLORTERM": "truecolor"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty", "COLORTERM": "truecolor"}, True),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "KITTY_WINDOW_ID": "1"}, False),
        (KITTY | {"TMUX": "/tmp/tmux-0/default,1,0"}, False),
        (KITTY | {"STY": "1.pts-0"}, False),
        (KITTY | {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, False),
        (KITTY | {"NO_COLOR": "1"}, False),
        ({"TERM": "xterm-kitty"}, False),
        ({}, False),
    ],
)
def test_only_a_terminal_that_says_so_with_nothing_between_is_sent_pictures(
    environment: dict[str, str], has: bool
) -> None:
    assert has_graphics(environment) is has


def test_what_is_sent_are_these_escapes_and_asks_for_no_answer() -> None:
    words = "".join(sent(0xABCDEF, b"x" * 4000, 30, 10))
    parts = _SEQUENCE.findall(words)
    assert _SEQUENCE.sub("", words) == ""
    assert [head for head, _ in parts] == [
        "a=t,f=100,i=11259375,q=2,m=1",
        "q=2,m=0",
        "a=p,U=1,i=11259375,c=30,r=10,q=2",
    ]
    assert b64decode("".join(data for _, data in parts)) == b"x" * 4000
    assert max(len(data) for _, data in parts) == 4096
    assert forgotten(7) == "\x1b_Ga=d,d=I,i=7,q=2\x1b\\"


def test_each_cell_says_which_part_of_which_picture_it_shows_and_can_be_cut_anywhere() -> None:
    rows = cells(0x123456, 72, 20)
    assert len(rows) == 20 and {row.cell_length for row in rows} == {72}
    every = {char for row in rows for char in row.plain} - {"\U0010eeee"}
    assert len(every) == 72
    for mark in every:  # so the protocol chose them
        assert (unicodedata.category(mark), unicodedata.combining(mark)) == ("Mn", 230)
        assert not unicodedata.decomposition(mark)
    strip = Strip([Segment(*each) for each in rows[3].render_segments(Style())], 72)
    left, right = strip.divide([10, 72])
    assert (left.cell_length, right.cell_length) == (10, 62)
    assert left.text + right.text == rows[3].plain and len(left.text) == 30
    assert rows[0].spans[0].style == Style(foreground=Color(0x12, 0x34, 0x56))


def test_a_picture_is_sent_once_and_again_after_another_program_had_the_terminal() -> None:
    wrote: list[str] = []
    gallery, picture = Gallery(wrote.append), fine(png(400, 200))
    first = gallery.shown(picture, 72)
    assert gallery.shown(picture, 72) == first and len(wrote) == 1
    gallery.send_again()
    assert wrote[1] == wrote[0]
    gallery.shown(picture, 20)
    assert len(wrote) == 3, "in another size it is another picture"
    gallery.close()
    assert len(wrote) == 5 and all("a=d,d=I" in words for words in wrote[3:])


def test_what_is_sent_is_a_png_made_anew_and_no_larger_than_its_cells() -> None:
    data = png(3000, 1000) + b"what a reader of PNG would not look at"
    made = fine(data).png
    with Image.open(BytesIO(made)) as image:
        assert image.format == "PNG" and image.mode == "RGB" and image.width == 720
    assert b"would not look" not in made
    assert thumbnail(bomb(), fine=True) is None


def written(vault: Vault, body: str) -> None:
    (vault.root / "wiki/concepts").mkdir(parents=True, exist_ok=True)
    (vault.root / PAGE).write_text(f"---\ntype: concept\n---\n\n# Curve\n\n{body}\n", encoding="utf-8")


async def opened(
    vault: Vault, clock: Callable[[], datetime], settled: Settled, monkeypatch: pytest.MonkeyPatch, liked: str
) -> tuple[str, str]:
    """(what went to the terminal past the screen, what the page shows)."""
    wrote: list[str] = []
    monkeypatch.setattr(ArticleScreen, "_write", lambda _self, words: wrote.append(words))
    context = Context(vault, clock, environment=KITTY, preferences=Preferences(pictures=liked))
    app = RetainApp(context, "article", PAGE)
    async with app.run_test() as pilot:
        await settled(pilot)
        shown = app.screen.query_one("#article-text", ArticleView)
        rows = "\n".join(shown.render_line(y).text for y in range(shown.size.height))
    return "".join(wrote), rows


async def test_the_reader_shows_a_judged_picture_by_the_terminal(
    vault: Vault, clock: Callable[[], datetime], settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(vault, f"![[{asset(vault, png(400, 200))}]]")
    wrote, rows = await opened(vault, clock, settled, monkeypatch, "auto")
    assert wrote.startswith("\x1b_Ga=t,f=100,i=") and "U=1" in wrote and _SEQUENCE.sub("", wrote) == ""
    assert "\U0010eeee" in rows and "▀" not in rows


@pytest.mark.parametrize("liked", ["never", "auto"])
async def test_no_other_picture_is_sent_and_none_where_they_are_not_wanted(
    vault: Vault, clock: Callable[[], datetime], settled: Settled, monkeypatch: pytest.MonkeyPatch, liked: str
) -> None:
    good = asset(vault, png(400, 200))
    (vault.root / "wiki/assets/other-0123456789ab.png").write_bytes(png(4, 4))  # not what its name promises
    written(vault, f"![[{good}]]" if liked == "never" else "![[wiki/assets/other-0123456789ab.png]]")
    wrote, rows = await opened(vault, clock, settled, monkeypatch, liked)
    assert wrote == "" and "\U0010eeee" not in rows and "▀" not in rows
