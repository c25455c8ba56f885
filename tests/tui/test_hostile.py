"""Words that would like to act: on every screen they are only words."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content
from textual.pilot import Pilot

from tui.app import RetainApp
from tui.context import Context
from tui.text import content
from tui.text.markdown import HEADS
from tui.theme import LINK
from vault.ids import GapId
from vault.model.gaps import Gap, GapKind, render_agenda
from vault.vault import Vault

EVIL = (
    "\x1b]52;c;UFdORUQ=\x07\x1b[31mA \x9b2J \x08\x7f \u202etxt\u2066\u200f"
    " [red]B[/red] [@click=app.exit(9)]C[/] [link=file:///etc/passwd]D[/link] [bold $primary [/ \\[x] :boom: {E}"
)
CITES = "[[wiki/summaries/evil#^c-aaaaaaaaa1|1]] [[wiki/summaries/evil#^c-zzzzzzzzzz|1]]"
CARD = f"# Title {EVIL}\n\n## Applied\n\nQ: Ask {EVIL}\nA: Tell {EVIL}\n> {CITES}\n<!-- card aaaaaaaaa1 -->\n"
SUMMARY = (
    'type: summary\nsource: "raw/articles/[red]\\e]52;c;UFdO\\a[@click=app.exit(9)]x.md"\n---\n\n'
    f"> [!quote]\n> Said {EVIL}\n>\n> fact · current · place {EVIL}\n\n^c-aaaaaaaaa1\n"
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def evil(bare: Vault) -> Vault:
    """A vault whose every name and word is hostile."""
    (bare.root / "learning/flashcards/evil.md").write_text(CARD, encoding="utf-8")
    (bare.root / "wiki/summaries/evil.md").write_text("---\n" + SUMMARY, encoding="utf-8")
    mention = "[[wiki/concepts/x|Now [red]see[/red] \x1b[31m[@click=app.exit(9)]x]]"
    gap = Gap(GapId("gaaaaaaaaa"), GapKind.STRUCTURAL, "WHAT", "MISSING", "FILL", (mention,))
    agenda = render_agenda([gap])
    for word in ("WHAT", "MISSING", "FILL"):
        agenda = agenda.replace(word, f"{word.lower()} {EVIL}")
    (bare.root / "learning/gaps.md").write_text(agenda, encoding="utf-8")
    return replace(bare, settings=replace(bare.settings, name=f"vault {EVIL}"))


def painted(app: RetainApp) -> Iterator[tuple[str, object]]:
    """Every piece of the screen: its text and its style."""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            yield segment.text, segment.style


def assert_inert(app: RetainApp, *expected: str) -> None:
    pieces = list(painted(app))
    whole = "".join(piece for piece, _ in pieces)
    assert not _CONTROL.search(whole)
    words = re.sub(r"[\s│▌]", "", whole)  # a long word may be folded over several lines
    for word in expected:
        assert re.sub(r"\s", "", word) in words
    for _, style in pieces:
        assert getattr(style, "link", None) is None
        assert "@click" not in (getattr(style, "meta", None) or {})


async def test_hostile_words_only_show_on_every_screen(
    evil: Vault, clock: Callable[[], datetime], settled: Callable[[Pilot[int]], Awaitable[None]]
) -> None:
    app = RetainApp(Context(evil, clock))
    async with app.run_test(size=(100, 48)) as pilot:
        await settled(pilot)
        assert_inert(app, "vault ", "what ", "[red]B[/red]")
        await pilot.press("g")
        await pilot.pause()
        assert_inert(app, "what ", "missing ", "fill ", "[red]see[/red]")
        await pilot.press("p")
        assert_inert(app, "planned")
        await pilot.press("escape", "enter")
        await settled(pilot)
        assert_inert(app, "Title ", "Ask ", "[@click=app.exit(9)]C[/]")
        await pilot.press("space", "s")
        assert_inert(app, "Tell ", "Said ", "[@click=app.exit(9)]x.md", "no longer in wiki/summaries/evil.md")
        for y in range(2, 30, 4):  # whatever is clicked, nothing of it acts
            await pilot.click(offset=(20, y))
        assert app.is_running
    assert app.return_value is None


async def test_hostile_names_of_files_in_errors_only_show(
    evil: Vault, clock: Callable[[], datetime], settled: Callable[[Pilot[int]], Awaitable[None]]
) -> None:
    (evil.root / "learning/flashcards/[red]\x1b]0;x\x07[@click=app.exit(9)]y[.md").write_bytes(b"\xff")
    app = RetainApp(Context(evil, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert_inert(app, "[@click=app.exit(9)]y[.md", "not UTF-8")


@given(st.text(max_size=200))
def test_prose_is_inert_and_keeps_its_styles_inside(words: str) -> None:
    shown = content.prose(words)
    assert not _CONTROL.search(shown.plain.replace("\n", "").replace("\t", ""))
    assert all(0 <= span.start <= span.end <= len(shown.plain) for span in shown.spans)
    ours = {
        content.CODE,
        content.MATH,
        content.DIM,
        LINK,
        "bold",
        "italic",
        "bold italic",
        "strike",
        "$foreground 40%",
        *HEADS.values(),
    }
    assert {span.style for span in shown.spans if isinstance(span.style, str)} <= ours
    assert all(set(span.style.meta) == {"target"} for span in shown.spans if not isinstance(span.style, str))


@given(st.text(st.sampled_from("ab`$\\*[]|#>-~ \n"), max_size=60))
def test_prose_takes_any_markdown(words: str) -> None:
    shown = content.prose(words)
    assert isinstance(shown, Content)
    assert all(span.end <= len(shown.plain) for span in shown.spans)


def test_pictures_are_named_where_none_can_be_shown() -> None:
    shown = content.prose("Look:\n![[wiki/assets/a-0123456789ab.png|A [bold]plot\x1b[2J]]\n![[b.png]]")
    assert "[picture: b.png]" in shown.plain and "\x1b" not in shown.plain
    assert content.prose("![[wiki/assets/a.png|A plot]]").plain == "[picture: A plot, wiki/assets/a.png]"


def test_prose_reads_what_cards_hold() -> None:
    shown = content.prose(
        "Use `a[0]` and $x_1$ \\*not\\* **so**:\n- one\n```py\nif x:\n    y\n```\nsee [[wiki/a|A]] \\Q: 5"
    )
    assert shown.plain == "Use a[0] and x₁ *not* so:\n• one\npy\n  if x:\n      y\nsee A \\Q: 5"
    styles = {shown.plain[span.start : span.end]: span.style for span in shown.spans if isinstance(span.style, str)}
    assert styles == {
        "a[0]": content.CODE,
        "x₁": content.MATH,
        "so": "bold",
        "• ": content.DIM,
        "py": content.DIM,
        "if x:": "$foreground",
        "if": "$text-primary",
        "    y": "$foreground",
        "A": LINK,
    }


def test_a_text_without_end_is_cut_and_says_so() -> None:
    assert len(content.prose("x" * 10**6)) < content.MOST + 100
    assert content.prose("x" * 10**6).plain.endswith("the file has the rest)")
