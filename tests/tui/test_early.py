"""The first question before the framework has loaded: only what still holds is painted, and no key is lost."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._cells import cell_len

from learning import first_card
from learning.first_card import FirstCard
from learning.sitting import Sitting
from tests.tui.test_terminal import PATIENCE_S, RETAIN, environment
from tui import early_paint, text
from vault import kept_answer
from vault.log_event import Rating, Review
from vault.store import Vault

DRESS = " ".join(["#102030"] * 7)


def words(markdown: str) -> str:
    return text.prose(markdown).plain


def keep(vault: Vault, at: datetime | None = None) -> None:
    first_card.keep(vault, at or datetime.now(UTC), words, DRESS)


def kept(vault: Vault) -> FirstCard | None:
    return first_card.first_card(str(vault.root))


def test_the_card_that_is_kept_is_the_one_a_sitting_deals(vault: Vault) -> None:
    keep(vault)
    found, dealt = kept(vault), Sitting.at(vault, lambda: datetime.now(UTC), None).table()
    assert found is not None and dealt is not None
    assert (found.card, found.kind, found.head) == (dealt.id, dealt.kind, dealt.title)
    assert found.question == words(dealt.card.question)


def test_on_the_next_day_it_is_that_days_card(vault: Vault) -> None:
    keep(vault, datetime.now(UTC) - timedelta(days=3))
    dealt = Sitting.at(vault, lambda: datetime.now(UTC), None).table()
    found = kept(vault)
    assert found is not None and dealt is not None and found.card == dealt.id


def test_after_a_month_nothing_is_painted(vault: Vault) -> None:
    keep(vault, datetime.now(UTC) - timedelta(days=40))
    assert kept(vault) is None


@pytest.mark.parametrize(
    "path", ["retain.toml", "learning/reviews.jsonl", "learning/reviews.conflict-1.jsonl", "ledger/ids.jsonl", "DECK"]
)
def test_what_rests_on_files_that_changed_is_not_painted(vault: Vault, path: str) -> None:
    keep(vault)
    found = kept(vault)
    assert found is not None
    decks = (vault.root / "learning/flashcards").iterdir()
    deck = next(deck for deck in decks if str(found.card) in deck.read_text("utf-8"))
    changed = deck if path == "DECK" else vault.root / path
    with changed.open("a", encoding="utf-8") as file:
        file.write("\n")
    assert kept(vault) is None


def test_a_cache_from_a_strangers_vault_is_not_painted(vault: Vault) -> None:
    keep(vault)
    path = vault.root / first_card.CACHE
    settings = vault.root / "retain.toml"
    settings.write_bytes(settings.read_bytes())  # as a copy has it: the same words under another instant
    assert path.is_file() and kept(vault) is None


@pytest.mark.parametrize("evil", ["\x1b]52;c;UFdORUQ=\x07", "\x9b2J", "a\u202eb", "a\rb"])
def test_no_escape_of_a_cache_reaches_the_terminal(vault: Vault, evil: str) -> None:
    keep(vault)
    path = vault.root / first_card.CACHE
    parts = kept_answer.unsealed(str(path), first_card._KIND, first_card._MOST_BYTES)
    assert parts is not None and kept(vault) is not None
    for n in (2, 7):
        spoilt = [*parts[:n], parts[n] + evil.encode(), *parts[n + 1 :]]
        path.write_bytes(kept_answer.sealed(first_card._KIND, spoilt))
        assert kept(vault) is None


@pytest.mark.parametrize("at", range(0, 400, 7))
def test_a_damaged_cache_is_no_cache(vault: Vault, at: int) -> None:
    keep(vault)
    path = vault.root / first_card.CACHE
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))
    assert kept(vault) is None


# --- the painting ---------------------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=["C", "Z"]) | st.sampled_from(" \n"), max_size=300), st.integers(4, 90))
def test_rows_fit_and_no_letter_is_lost(question: str, width: int) -> None:
    rows = early_paint.folded(question, width)
    assert all(cell_len(row) <= width for row in rows if row.isascii())
    assert "".join(rows).replace(" ", "") == question.replace(" ", "").replace("\n", "")


@given(
    st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]) | st.just("\n"), max_size=2_000),
    st.integers(1, 200),
    st.integers(1, 60),
    st.sampled_from([{}, {"COLORTERM": "truecolor"}, {"TERM": "xterm-256color"}, {"NO_COLOR": "1"}]),
)
def test_a_painting_stays_on_the_screen(question: str, width: int, height: int, environment: dict[str, str]) -> None:
    card = FirstCard("a", "applied", "Title", question, DRESS)
    paint = early_paint.painted(card, width, height, environment)
    places = [tuple(map(int, place)) for place in re.findall(r"\x1b\[(\d+);(\d+)H", paint)]
    assert all(1 <= row <= height and 1 <= column <= width for row, column in places)
    left = re.sub(r"\x1b\[[?0-9;]*[HJhlm]", "", paint)
    assert "\x1b" not in left and "\n" not in left
    assert bool(paint) == (width >= 40 and height >= 12)


def test_without_colours_none_is_painted() -> None:
    card = FirstCard("a", "applied", "Title", "Why?", DRESS)
    assert "38;" not in early_paint.painted(card, 80, 24, {"NO_COLOR": "1", "COLORTERM": "truecolor"})
    assert "\x1b[38;2;16;32;48m" in early_paint.painted(card, 80, 24, {"COLORTERM": "truecolor"})
    assert "\x1b[38;5;" in early_paint.painted(card, 80, 24, {"TERM": "screen-256color"})


# --- the real program -----------------------------------------------------------------------------------------------


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, vault: Vault, *arguments: str) -> None:
        self.ours, self.theirs = pty.openpty()
        termios.tcsetwinsize(self.theirs, (24, 80))
        self.mode = termios.tcgetattr(self.theirs)
        self.seen = b""
        self.process = subprocess.Popen(
            [*RETAIN, *arguments],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            env=environment(vault),
            start_new_session=True,
        )

    def until(self, words: bytes) -> bytes:
        """All that was written, as soon as `words` are among it."""
        end = time.monotonic() + PATIENCE_S
        while words not in self.seen and time.monotonic() < end:
            self._read()
        assert words in self.seen, self.seen[-2000:]
        return self.seen

    def left(self) -> int:
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, self.seen[-2000:]
            self._read()
        self._read()
        return self.process.returncode

    def _read(self) -> None:
        if select.select([self.ours], [], [], 0.1)[0]:
            self.seen += os.read(self.ours, 65536)

    def press(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def terminal(vault: Vault) -> Iterator[Callable[[], Terminal]]:
    opened: list[Terminal] = []

    def start() -> Terminal:
        opened.append(Terminal(vault, "review"))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def test_a_key_pressed_at_the_first_sight_of_the_question_shows_its_answer(
    vault: Vault, terminal: Callable[[], Terminal], logged: Callable[[], list[object]]
) -> None:
    keep(vault)
    card = kept(vault)
    assert card is not None
    here = terminal()
    word = card.question.split()[-1].encode()
    assert (
        word in here.until(word).partition(b"\x1b[?1004h")[0]
    )  # the framework asks for focus events as soon as it runs
    here.press(b" ")
    here.until(b"Easy")
    here.press(b"3")
    here.until(b"1 done")
    here.press(b"\x03")
    assert here.left() == 130
    (event,) = logged()
    assert isinstance(event, Review) and (event.card, event.rating) == (card.card, Rating.GOOD)
    assert termios.tcgetattr(here.theirs)[3] == here.mode[3]


def test_a_review_that_cannot_begin_gives_the_terminal_back_before_it_says_why(
    vault: Vault, terminal: Callable[[], Terminal], clock: Callable[[], datetime]
) -> None:
    from vault.locks import lock

    keep(vault)
    with lock(vault.root, "review", purpose="reviewing", now=clock()):
        here = terminal()
        assert here.left() == 3
    shown, _, told = here.seen.partition(b"\x1b[?1049l")
    assert b"\x1b[?1049h" in shown and b"retain:" in told and b"\x1b[?1049" not in told
    assert termios.tcgetattr(here.theirs) == here.mode


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_at_the_first_sight_of_the_question_leaves_the_terminal_as_it_was(
    vault: Vault, terminal: Callable[[], Terminal], number: signal.Signals
) -> None:
    keep(vault)
    card = kept(vault)
    assert card is not None
    here = terminal()
    here.until(card.question.split()[-1].encode())
    here.process.send_signal(number)
    assert here.left() in (-number, 128 + number)
    assert termios.tcgetattr(here.theirs)[3] == here.mode[3]
    assert here.seen.rindex(b"\x1b[?1049l") > here.seen.rindex(b"\x1b[?1049h")


def test_a_terminal_that_goes_away_without_a_signal_ends_the_app(vault: Vault) -> None:
    here = Terminal(vault, "review")
    try:
        here.until(b"shows the answer")
        os.close(here.theirs)
        os.close(here.ours)
        assert here.process.wait(PATIENCE_S) == 129
    finally:
        here.process.kill()
        here.process.wait()
