"""The plain review works wherever lines can be read and written, and saves each rating before it goes on."""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.review.plain_review import review_plainly
from vault.config.settings import Settings, render_settings
from vault.errors import LockHeld, WriteFailed
from vault.layout import REVIEW_PAGE
from vault.locks import lock
from vault.log.events import Rating, Review, Suspend, Undo
from vault.log.review_log import LOG_PATH, read_log
from vault.vault import Vault, open_vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DECK = """\
# Spacing effect

## Definitional

Q: What is spread-out study \\[called\\]?
A: The spacing effect.
> [[wiki/summaries/s#^c-7f3a9c1e2k|1]]
<!-- card aaaaaaaaa1 -->

## Applied

Q: When is it used?\x1b]52;c;x\x07
A: In revision.
With a second line.
<!-- card aaaaaaaaa2 -->
"""
SUMMARY = """\
---
type: summary
title: On spacing
source: raw/articles/on-spacing.md
---

> [!quote]
> study that is spread out lasts
>
> definition · current · line 14

^c-7f3a9c1e2k
"""


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "mind"
    for folder in ("learning/flashcards", "wiki/summaries"):
        (root / folder).mkdir(parents=True)
    (root / "retain.toml").write_text(render_settings(Settings("01KB0000000000000000000000", "Mind")))
    (root / "learning/flashcards/spacing-effect.md").write_text(DECK)
    (root / "wiki/summaries/s.md").write_text(SUMMARY)
    return open_vault(str(root), None, root)


def ticking() -> Callable[[], datetime]:
    """A clock that goes on by a second whenever it is read."""
    seconds = iter(range(10**6))
    return lambda: NOON + timedelta(seconds=next(seconds))


class Typist:
    """Types line after line; things may happen between two of them."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines

    def readline(self) -> str:
        return next((f"{line}\n" for line in self._lines), "")


class Disk:
    """A disk that is full at times."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.real, self.well = os.fsync, True
        patch.setattr(os, "fsync", self.fsync)

    def fsync(self, handle: int) -> None:
        if not self.well:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.real(handle)

    def typing(self, *script: tuple[str, bool]) -> Iterator[str]:
        """Lines, each with whether the disk is well from there on."""
        for line, self.well in script:
            yield line


def sit(vault: Vault, *keys: str, tag: str = "") -> tuple[str, int]:
    """What a session prints that is given these lines, and its exit code."""
    out = io.StringIO()
    code = review_plainly(vault, tag=tag, clock=ticking(), source=io.StringIO("".join(f"{k}\n" for k in keys)), out=out)
    return out.getvalue(), code


def rated(vault: Vault) -> list[tuple[str, Rating]]:
    return [(e.card, e.rating) for e in read_log(vault.root).events if isinstance(e, Review)]


def test_two_cards_from_question_to_rating(vault: Vault) -> None:
    out, code = sit(vault, "", "4", "", "4")
    assert code == 0
    assert rated(vault) == [("aaaaaaaaa1", Rating.EASY), ("aaaaaaaaa2", Rating.EASY)]
    for words in (
        "0 due, 2 new",
        "[2 to go] Spacing effect · definitional",
        "Q: What is spread-out study [called]?",
        "A: The spacing effect.",
        "1 again 1 min   2 hard 6 min   3 good 10 min   4 easy 10 d",
        "A: In revision.\n   With a second line.",
        "2 rated: 2 easy. 0 to go",
    ):
        assert words in out
    assert "definitional | 2026-11-27" in (vault.root / REVIEW_PAGE).read_text()
    event = read_log(vault.root).events[0]
    assert isinstance(event, Review)
    assert event.stamp.via == "plain"
    assert event.ms >= 1000


def test_nothing_from_a_document_reaches_the_terminal_as_an_escape(vault: Vault) -> None:
    out, _ = sit(vault, "", "4", "", "4")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", out)


def test_the_answer_comes_before_rating_and_source(vault: Vault) -> None:
    out, _ = sit(vault, "3", "s", "")
    assert rated(vault) == []
    assert out.count("show the answer first") == 2
    assert out.index("show the answer first") < out.index("A: The spacing effect.")


def test_the_source_is_shown_on_demand(vault: Vault) -> None:
    out, _ = sit(vault, "", "s", "4", "", "s")
    assert "> study that is spread out lasts\n  On spacing, line 14 (raw/articles/on-spacing.md)" in out
    assert "no source: " in out


def test_a_failed_card_comes_back_in_the_same_session(vault: Vault) -> None:
    out, _ = sit(vault, "", "1", "", "4", "", "3", "", "3")
    assert [card for card, _ in rated(vault)] == ["aaaaaaaaa1", "aaaaaaaaa2", "aaaaaaaaa1", "aaaaaaaaa1"]
    assert "0 to go" in out


def test_undo_brings_the_last_card_back(vault: Vault) -> None:
    out, code = sit(vault, "", "1", "u", "", "4", "q")
    events = read_log(vault.root).events
    assert isinstance(events[1], Undo)
    assert events[1].voids == events[0].id
    assert rated(vault) == [("aaaaaaaaa1", Rating.AGAIN), ("aaaaaaaaa1", Rating.EASY)]
    assert ("1 rated: 1 easy. 1 to go" in out, code) == (True, 0)
    out, code = sit(vault, "u", "q")
    assert ("nothing to undo in this session" in out, code) == (True, 0)


def test_cards_are_buried_suspended_and_flagged(vault: Vault) -> None:
    out, _ = sit(vault, "f", "b", "!", "u")
    assert "flagged" in out
    assert [e.type for e in read_log(vault.root).events] == ["flag", "bury", "suspend"]
    assert isinstance(read_log(vault.root).events[-1], Suspend)
    assert sit(vault)[0].startswith("No cards due")


@pytest.mark.parametrize("keys", [(), ("",), ("", "zzz", "?"), ("q",), ("", "q")])
def test_the_end_of_the_input_ends_the_session(vault: Vault, keys: tuple[str, ...]) -> None:
    out, code = sit(vault, *keys)
    assert code == 0
    assert "0 rated. 2 to go" in out
    assert not (vault.root / LOG_PATH).exists()


def test_a_tag_narrows_the_session(vault: Vault) -> None:
    out, _ = sit(vault, "", "4", tag="applied")
    assert rated(vault) == [("aaaaaaaaa2", Rating.EASY)]
    assert "definitional" not in out


def test_each_rating_is_on_disk_before_the_next_card_shows(vault: Vault) -> None:
    seen: list[int] = []

    class Watcher(io.StringIO):
        def write(self, text: str) -> int:
            if "Q: " in text:
                seen.append(len(rated(vault)))
            return super().write(text)

    review_plainly(vault, clock=ticking(), source=io.StringIO("\n4\n\n4\n"), out=Watcher())
    assert seen == [0, 1]


def test_a_card_edited_meanwhile_is_shown_as_it_is_now_and_a_deleted_one_not_at_all(vault: Vault) -> None:
    deck = vault.root / "learning/flashcards/spacing-effect.md"

    def typing() -> Iterator[str]:
        deck.write_text(deck.read_text().replace("When is it used?", "When is it of use?"))
        yield from ("", "4", "")
        deck.write_text(DECK.split("## Applied")[0])
        yield "1"

    out = io.StringIO()
    review_plainly(vault, clock=ticking(), source=Typist(typing()), out=out)
    assert "When is it of use?" in out.getvalue()
    assert len(rated(vault)) == 2


def test_a_disk_that_refuses_costs_no_rating_and_the_session_goes_on(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = Disk(monkeypatch)
    out = io.StringIO()
    source = Typist(disk.typing(("", True), ("4", False), ("4", True), ("q", True)))
    code = review_plainly(vault, clock=ticking(), source=source, out=out)
    assert "not saved; showing the card again" in out.getvalue()
    assert "the disk is full" in capsys.readouterr().err
    assert rated(vault) == [("aaaaaaaaa1", Rating.EASY)]
    assert code == 0


def test_a_rating_that_was_never_saved_shows_in_the_exit_code(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Typist(Disk(monkeypatch).typing(("", True), ("4", False), ("q", True)))
    assert review_plainly(vault, clock=ticking(), source=source, out=io.StringIO()) == 3
    assert rated(vault) == []


def test_a_vault_that_cannot_be_written_is_refused_before_the_first_card(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "mkdir", refuse)
    out = io.StringIO()
    with pytest.raises(WriteFailed):
        review_plainly(vault, clock=ticking(), source=io.StringIO("\n4\n"), out=out)
    assert out.getvalue() == ""


def test_a_second_session_is_told_who_holds_the_first(vault: Vault) -> None:
    with lock(vault.root, "review", purpose="reviewing"), pytest.raises(LockHeld, match=rf"process {os.getpid()}"):
        sit(vault, "", "4")


def test_a_damaged_line_of_the_log_is_named_and_the_session_goes_on(
    vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault.root / LOG_PATH).write_bytes(b"garbage\n")
    _, code = sit(vault, "", "4", "q")
    assert f"{LOG_PATH}:1" in capsys.readouterr().err
    assert (code, len(rated(vault))) == (0, 1)


def test_a_terminal_of_few_letters_gets_what_it_can_show(vault: Vault) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    review_plainly(vault, clock=ticking(), source=io.StringIO("\nq\n"), out=out)
    out.flush()
    assert b"Spacing effect ? definitional" in raw.getvalue()


def test_a_flag_takes_its_reason_by_number_or_in_words_and_undo_says_what_it_took_back(vault: Vault) -> None:
    out = io.StringIO()
    lines = io.StringIO("f 2\nf It Asks two things\nu\nq\n")
    assert review_plainly(vault, clock=lambda: NOON, source=lines, out=out) == 0
    flags = [event.reason for event in read_log(vault.root).events if event.type == "flag"]  # type: ignore[attr-defined]
    assert flags == ["unclear", "It Asks two things"]
    assert "Removed the flag (It Asks two things)." in out.getvalue()


def test_a_card_gets_other_words_and_undo_gives_it_back_its_own(vault: Vault) -> None:
    decks = {path: path.read_bytes() for path in (vault.root / "learning/flashcards").iterdir()}
    out = io.StringIO()
    lines = io.StringIO("e\nWhat, newly?\n\nu\nq\n")
    assert review_plainly(vault, clock=lambda: NOON, source=lines, out=out) == 0
    assert "Q: What, newly?" in out.getvalue() and "Undid the edit" in out.getvalue()
    assert {path: path.read_bytes() for path in decks} == decks


def test_a_card_whose_answer_is_shown_is_edited_twice_in_a_row(vault: Vault) -> None:
    out = io.StringIO()
    lines = io.StringIO("\ne\nOnce?\n\ne\nTwice?\n\nq\n")
    assert review_plainly(vault, clock=lambda: NOON, source=lines, out=out) == 0
    assert any(card.question == "Twice?" for deck in vault.decks() for card in deck.cards)


def test_a_cram_asks_again_and_writes_nothing(vault: Vault) -> None:
    out = io.StringIO()
    lines = io.StringIO("\n1\nb\n\n3\n\n3\n")
    assert review_plainly(vault, plan="cram", clock=lambda: NOON, source=lines, out=out) == 0
    assert "Nothing was scheduled or saved." in out.getvalue()
    assert not (vault.root / LOG_PATH).exists()
