"""A session shows what the decks say now, and reads no deck again of which it knows that nothing has changed."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from learning.cards.workspace import open_desk, rate
from learning.review.plan import Mode, Plan
from learning.review.study_session import StudySession
from tests.learning.marks import mark
from vault.errors import EditedMeanwhile, UsageError, WriteFailed
from vault.ids import CardId
from vault.index import stamps
from vault.log import ledger
from vault.log.events import Rating, Suspend
from vault.log.review_log import LOG_PATH
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DECK = "learning/flashcards/spacing-effect.md"


@pytest.fixture
def study_session(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> StudySession:
    """A session whose decks count as old enough for their stamps."""
    monkeypatch.setattr(stamps, "RACY_NS", -(10**10))
    return StudySession.at(vault, lambda: NOON, "spacing-effect")


def replaced(vault: Vault, old: str, new: str) -> None:
    """Edits the deck as an editor does that leaves size and instant of the file as they were."""
    path = vault.root / DECK
    before = path.stat()
    time.sleep(0.02)  # a clock of the file system ticks
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_an_edit_that_keeps_size_and_instant_of_the_file_is_shown_at_once(
    study_session: StudySession, vault: Vault
) -> None:
    first = study_session.table()
    assert first is not None
    replaced(vault, "What is the spacing effect?", "What is the SPACING effect?")
    again = study_session.table()
    assert again is not None
    assert again.card.question == "What is the SPACING effect?"


def test_the_next_card_is_read_ahead_and_an_edit_after_that_is_shown_all_the_same(
    study_session: StudySession, vault: Vault
) -> None:
    assert study_session.table() is not None
    study_session.reveal()
    assert len(study_session.upcoming()) == 1
    replaced(vault, "Why does spacing work?", "How does spacing work?")
    study_session.rate(Rating.EASY)
    following = study_session.table()
    assert following is not None
    assert following.card.question == "How does spacing work?"


def test_a_deck_that_goes_after_it_was_read_ahead_takes_its_cards_along(
    study_session: StudySession, vault: Vault
) -> None:
    assert study_session.table() is not None
    study_session.reveal()
    assert len(study_session.upcoming()) == 1
    (vault.root / DECK).unlink()
    study_session.rate(Rating.EASY)
    assert (study_session.table(), study_session.problems) == (None, [])


def test_a_deck_that_cannot_be_read_ahead_is_told_of_when_its_turn_comes(
    study_session: StudySession, vault: Vault
) -> None:
    assert study_session.table() is not None
    (vault.root / DECK).write_bytes(b"\xff\n")
    study_session.reveal()
    assert (study_session.upcoming(), study_session.problems) == ([], [])
    study_session.rate(Rating.EASY)
    assert study_session.table() is None
    assert [problem.where for problem in study_session.problems] == [f"{DECK}:1"]


def test_a_card_of_a_sitting_that_began_before_midnight_is_previewed_for_the_new_day(vault: Vault) -> None:
    now = [NOON]
    study_session = StudySession.at(vault, lambda: now[0], None)
    assert study_session.table() is not None
    before = study_session.previews()[Rating.EASY].due
    now[0] += timedelta(days=1)
    after = study_session.previews()[Rating.EASY].due
    assert before is not None
    assert after == before + timedelta(days=1)


def shown(study_session: StudySession) -> str:
    placed = study_session.table()
    assert placed is not None
    return placed.id


def test_a_card_that_was_suspended_or_rated_elsewhere_meanwhile_is_not_shown(vault: Vault) -> None:
    study_session = StudySession.at(vault, lambda: NOON, None)
    first = shown(study_session)
    ahead = list(study_session.session.to_come())[1:]
    mark(open_desk(vault, NOON), ahead[0], Suspend, via="cli")
    rate(open_desk(vault, NOON), ahead[1], Rating.EASY, via="cli")
    assert shown(study_session) == first  # it stays on the table
    study_session.reveal()
    study_session.rate(Rating.EASY)
    assert set(ahead[:2]).isdisjoint(study_session.session.to_come())
    study_session.undo()
    assert shown(study_session) == first
    assert set(ahead[:2]).isdisjoint(study_session.session.to_come())  # what others did is not undone


def test_a_card_rated_ahead_of_its_time_does_not_come_back_when_others_write(vault: Vault) -> None:
    desk = open_desk(vault, NOON)
    for card in list(desk.cards)[:3]:
        desk, _ = rate(desk, card, Rating.EASY, via="cli")
    study_session = StudySession.at(vault, lambda: NOON + timedelta(days=1), None, plan=Plan(Mode.AHEAD, days=3000))
    first = CardId(shown(study_session))
    study_session.reveal()
    study_session.rate(Rating.GOOD)
    second, *rest = study_session.session.to_come()
    mark(open_desk(vault, NOON + timedelta(days=1)), rest[0], Suspend, via="cli")
    assert shown(study_session) == second and rest[0] not in list(study_session.session.to_come())
    assert first not in list(study_session.session.to_come())
    study_session.undo()
    assert first in list(study_session.session.to_come())


def test_a_fact_that_changes_during_a_sitting_is_shown_as_changed(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "RACY_NS", -(10**10))
    card = next(iter(open_desk(vault, NOON - timedelta(days=30), tag="spacing-effect").queue.new)).card
    rate(open_desk(vault, NOON - timedelta(days=30)), card, Rating.EASY, via="cli")
    study_session = StudySession.at(vault, lambda: NOON, "spacing-effect")
    assert card in set(study_session.session.to_come())
    change = {"v": 1, "type": "change", "of": "card", "id": card, "at": "2026-11-21T11:00:00.000Z", "how": "fact"}
    words = {"q": "What is it?", "a": "Now this.", "was": {"q": "What is it?", "a": "Once that."}}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(change | words))
    while shown(study_session) != card:
        study_session.reveal()
        study_session.rate(Rating.EASY)
    state = study_session.session.state(CardId(card))
    assert state.changed
    found = study_session.changes.of(CardId(card), state)
    assert found is not None and found.how == "fact"


def test_a_sitting_alone_reads_the_vault_once(study_session: StudySession, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the vault was read again")

    monkeypatch.setattr("learning.cards.workspace.open_desk", refused)
    while study_session.table() is not None and study_session.session.done < 4:
        study_session.reveal()
        study_session.rate(Rating.EASY)
    assert study_session.session.done


def test_a_deck_that_is_paused_meanwhile_is_passed_over(study_session: StudySession, vault: Vault) -> None:
    shown(study_session)
    path = vault.root / DECK
    text = path.read_text()
    path.write_text("---\nlearning: false\n" + (text[4:] if text.startswith("---\n") else f"---\n{text}"))
    assert (study_session.table(), study_session.problems) == (None, [])


def edited(vault: Vault, old: str, new: str, *, card: str) -> None:
    """What a compile does when a fact has changed: the deck, then the ledger."""
    replaced(vault, old, new)
    words = {"q": "?", "a": new, "was": {"q": "?", "a": old}}
    change = {"v": 1, "type": "change", "of": "card", "id": card, "at": "2026-11-21T11:59:00.000Z", "how": "fact"}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(change | words))


def test_an_answer_that_changes_before_it_is_shown_is_dealt_anew(study_session: StudySession, vault: Vault) -> None:
    first = study_session.table()
    assert first is not None
    answer = first.card.answer
    edited(vault, answer, f"No longer {answer}", card=first.id)
    assert not study_session.reveal()
    again = study_session.table()
    assert again is not None and again.card.answer == f"No longer {answer}"
    assert study_session.reveal() and study_session.session.revealed


def test_a_card_that_changes_while_its_answer_is_read_is_not_rated(study_session: StudySession, vault: Vault) -> None:
    first = study_session.table()
    assert first is not None and study_session.reveal()
    before = (vault.root / LOG_PATH).read_bytes() if (vault.root / LOG_PATH).exists() else b""
    edited(vault, first.card.answer, f"No longer {first.card.answer}", card=first.id)
    with pytest.raises(EditedMeanwhile, match="changed while you were reading it"):
        study_session.rate(Rating.GOOD)
    assert not study_session.session.revealed
    assert ((vault.root / LOG_PATH).read_bytes() if (vault.root / LOG_PATH).exists() else b"") == before
    assert study_session.table() is not None and study_session.reveal()
    study_session.rate(Rating.GOOD)
    assert study_session.session.done == 1


def test_what_changes_elsewhere_disturbs_no_answer(study_session: StudySession, vault: Vault) -> None:
    assert study_session.table() is not None and study_session.reveal()
    birth = {"v": 1, "type": "birth", "of": "gap", "id": "zzzzzzzzzz", "at": "2026-11-21T11:00:00.000Z", "key": "k"}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(birth))
    study_session.rate(Rating.GOOD)
    assert study_session.session.done == 1


def test_a_card_that_only_moved_down_in_its_file_is_the_same(study_session: StudySession, vault: Vault) -> None:
    first = study_session.table()
    assert first is not None
    replaced(vault, f"Q: {first.card.question}", f"A line.\n\nQ: {first.card.question}")
    birth = {"v": 1, "type": "birth", "of": "gap", "id": "zzzzzzzzzz", "at": "2026-11-21T11:00:00.000Z", "key": "k"}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(birth))
    assert study_session.reveal()
    again = study_session.session.current
    assert again == first.id


# --- a rating that is shown as given before it is on disk -------------------------------------------------------------


class Disk:
    """What of the log is on disk, by its syncs; while it is `broken`, a sync of the log fails."""

    def __init__(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log, self.synced, self.broken = log, b"", False
        self._sync = os.fsync
        monkeypatch.setattr(os, "fsync", self.sync)

    def sync(self, handle: int) -> None:
        if self.log.exists() and os.path.samestat(os.fstat(handle), self.log.stat()):
            if self.broken:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            self.synced = self.log.read_bytes()
        self._sync(handle)


ACTIONS: list[Callable[[StudySession], object]] = [
    StudySession.confirm,
    StudySession.reveal,
    lambda session: session.rate(Rating.HARD),
    StudySession.bury,
    StudySession.suspend,
    StudySession.flag,
    StudySession.undo,
    StudySession.finish,
]


@pytest.mark.parametrize("action", ACTIONS)
def test_a_rating_is_on_disk_before_anything_else_is_done(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, action: Callable[[StudySession], object]
) -> None:
    disk = Disk(vault.root / LOG_PATH, monkeypatch)
    study_session = StudySession.at(vault, lambda: NOON, None)
    first = shown(study_session)
    study_session.reveal()
    study_session.rate(Rating.EASY, sync=False)
    assert shown(study_session) != first
    written = disk.log.read_bytes()
    assert written.count(b"\n") == 1 and disk.synced == b""
    with suppress(UsageError):  # a rating before its answer was shown
        action(study_session)
    assert disk.synced.startswith(written)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_rating_that_never_reached_the_disk_is_reported_by_the_next_action_and_its_card_comes_back(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, action: Callable[[StudySession], object]
) -> None:
    disk = Disk(vault.root / LOG_PATH, monkeypatch)
    study_session = StudySession.at(vault, lambda: NOON, None)
    first = shown(study_session)
    study_session.reveal()
    study_session.rate(Rating.EASY, sync=False)
    assert shown(study_session) != first
    disk.broken = True
    with pytest.raises(WriteFailed, match="the disk reported an error"):
        action(study_session)
    assert (shown(study_session), study_session.revealed, study_session.done) == (first, True, 0)
    assert disk.log.read_bytes() == b""
    disk.broken = False
    study_session.rate(Rating.EASY)
    assert disk.synced == disk.log.read_bytes() and disk.synced.count(b"\n") == 1
