"""A sitting shows what the decks say now, and reads no deck again of which it knows that nothing has changed."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from learning.cards.workspace import open_desk, rate
from learning.review.plan import Mode, Plan
from learning.review.sitting import Sitting
from tests.learning.marks import mark
from vault.cache import stamps
from vault.errors import EditedMeanwhile
from vault.ids import CardId
from vault.log import ledger
from vault.log.events import Rating, Suspend
from vault.log.review_log import LOG_PATH
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DECK = "learning/flashcards/spacing-effect.md"


@pytest.fixture
def sitting(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Sitting:
    """A sitting whose decks count as old enough for their stamps."""
    monkeypatch.setattr(stamps, "RACY_NS", -(10**10))
    return Sitting.at(vault, lambda: NOON, "spacing-effect")


def replaced(vault: Vault, old: str, new: str) -> None:
    """Edits the deck as an editor does that leaves size and instant of the file as they were."""
    path = vault.root / DECK
    before = path.stat()
    time.sleep(0.02)  # a clock of the file system ticks
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_an_edit_that_keeps_size_and_instant_of_the_file_is_shown_at_once(sitting: Sitting, vault: Vault) -> None:
    first = sitting.table()
    assert first is not None
    replaced(vault, "What is the spacing effect?", "What is the SPACING effect?")
    again = sitting.table()
    assert again is not None
    assert again.card.question == "What is the SPACING effect?"


def test_the_next_card_is_read_ahead_and_an_edit_after_that_is_shown_all_the_same(
    sitting: Sitting, vault: Vault
) -> None:
    assert sitting.table() is not None
    sitting.reveal()
    replaced(vault, "Why does spacing work?", "How does spacing work?")
    sitting.rate(Rating.EASY)
    following = sitting.table()
    assert following is not None
    assert following.card.question == "How does spacing work?"


def test_a_deck_that_goes_after_it_was_read_ahead_takes_its_cards_along(sitting: Sitting, vault: Vault) -> None:
    assert sitting.table() is not None
    sitting.reveal()
    (vault.root / DECK).unlink()
    sitting.rate(Rating.EASY)
    assert (sitting.table(), sitting.problems) == (None, [])


def test_a_deck_that_cannot_be_read_ahead_is_told_of_when_its_turn_comes(sitting: Sitting, vault: Vault) -> None:
    assert sitting.table() is not None
    (vault.root / DECK).write_bytes(b"\xff\n")
    sitting.reveal()
    assert sitting.problems == []
    sitting.rate(Rating.EASY)
    assert sitting.table() is None
    assert [problem.where for problem in sitting.problems] == [f"{DECK}:1"]


def test_a_card_of_a_sitting_that_began_before_midnight_is_previewed_for_the_new_day(vault: Vault) -> None:
    now = [NOON]
    sitting = Sitting.at(vault, lambda: now[0], None)
    assert sitting.table() is not None
    before = sitting.previews()[Rating.EASY].due
    now[0] += timedelta(days=1)
    after = sitting.previews()[Rating.EASY].due
    assert before is not None
    assert after == before + timedelta(days=1)


def shown(sitting: Sitting) -> str:
    placed = sitting.table()
    assert placed is not None
    return placed.id


def test_a_card_that_was_suspended_or_rated_elsewhere_meanwhile_is_not_shown(vault: Vault) -> None:
    sitting = Sitting.at(vault, lambda: NOON, None)
    first = shown(sitting)
    ahead = list(sitting.session.to_come())[1:]
    mark(open_desk(vault, NOON), ahead[0], Suspend, via="cli")
    rate(open_desk(vault, NOON), ahead[1], Rating.EASY, via="cli")
    assert shown(sitting) == first  # it stays on the table
    sitting.reveal()
    sitting.rate(Rating.EASY)
    assert set(ahead[:2]).isdisjoint(sitting.session.to_come())
    sitting.undo()
    assert shown(sitting) == first
    assert set(ahead[:2]).isdisjoint(sitting.session.to_come())  # what others did is not undone


def test_a_card_rated_ahead_of_its_time_does_not_come_back_when_others_write(vault: Vault) -> None:
    desk = open_desk(vault, NOON)
    for card in list(desk.cards)[:3]:
        desk, _ = rate(desk, card, Rating.EASY, via="cli")
    sitting = Sitting.at(vault, lambda: NOON + timedelta(days=1), None, plan=Plan(Mode.AHEAD, days=3000))
    first = CardId(shown(sitting))
    sitting.reveal()
    sitting.rate(Rating.GOOD)
    second, *rest = sitting.session.to_come()
    mark(open_desk(vault, NOON + timedelta(days=1)), rest[0], Suspend, via="cli")
    assert shown(sitting) == second and rest[0] not in list(sitting.session.to_come())
    assert first not in list(sitting.session.to_come())
    sitting.undo()
    assert first in list(sitting.session.to_come())


def test_a_fact_that_changes_during_a_sitting_is_shown_as_changed(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "RACY_NS", -(10**10))
    card = next(iter(open_desk(vault, NOON - timedelta(days=30), tag="spacing-effect").queue.new)).card
    rate(open_desk(vault, NOON - timedelta(days=30)), card, Rating.EASY, via="cli")
    sitting = Sitting.at(vault, lambda: NOON, "spacing-effect")
    assert card in set(sitting.session.to_come())
    change = {"v": 1, "type": "change", "of": "card", "id": card, "at": "2026-11-21T11:00:00.000Z", "how": "fact"}
    words = {"q": "What is it?", "a": "Now this.", "was": {"q": "What is it?", "a": "Once that."}}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(change | words))
    while shown(sitting) != card:
        sitting.reveal()
        sitting.rate(Rating.EASY)
    state = sitting.session.state(CardId(card))
    assert state.changed
    found = sitting.changes.of(CardId(card), state)
    assert found is not None and found.how == "fact"


def test_a_sitting_alone_reads_the_vault_once(sitting: Sitting, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the vault was read again")

    monkeypatch.setattr("learning.cards.workspace.open_desk", refused)
    while sitting.table() is not None and sitting.session.done < 4:
        sitting.reveal()
        sitting.rate(Rating.EASY)
    assert sitting.session.done


def test_a_deck_that_is_paused_meanwhile_is_passed_over(sitting: Sitting, vault: Vault) -> None:
    shown(sitting)
    path = vault.root / DECK
    text = path.read_text()
    path.write_text("---\nlearning: false\n" + (text[4:] if text.startswith("---\n") else f"---\n{text}"))
    assert (sitting.table(), sitting.problems) == (None, [])


def edited(vault: Vault, old: str, new: str, *, card: str) -> None:
    """What a compile does when a fact has changed: the deck, then the ledger."""
    replaced(vault, old, new)
    words = {"q": "?", "a": new, "was": {"q": "?", "a": old}}
    change = {"v": 1, "type": "change", "of": "card", "id": card, "at": "2026-11-21T11:59:00.000Z", "how": "fact"}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(change | words))


def test_an_answer_that_changes_before_it_is_shown_is_dealt_anew(sitting: Sitting, vault: Vault) -> None:
    first = sitting.table()
    assert first is not None
    answer = first.card.answer
    edited(vault, answer, f"No longer {answer}", card=first.id)
    assert not sitting.reveal()
    again = sitting.table()
    assert again is not None and again.card.answer == f"No longer {answer}"
    assert sitting.reveal() and sitting.session.revealed


def test_a_card_that_changes_while_its_answer_is_read_is_not_rated(sitting: Sitting, vault: Vault) -> None:
    first = sitting.table()
    assert first is not None and sitting.reveal()
    before = (vault.root / LOG_PATH).read_bytes() if (vault.root / LOG_PATH).exists() else b""
    edited(vault, first.card.answer, f"No longer {first.card.answer}", card=first.id)
    with pytest.raises(EditedMeanwhile, match="changed while you read it"):
        sitting.rate(Rating.GOOD)
    assert not sitting.session.revealed
    assert ((vault.root / LOG_PATH).read_bytes() if (vault.root / LOG_PATH).exists() else b"") == before
    assert sitting.table() is not None and sitting.reveal()
    sitting.rate(Rating.GOOD)
    assert sitting.session.done == 1


def test_what_changes_elsewhere_disturbs_no_answer(sitting: Sitting, vault: Vault) -> None:
    assert sitting.table() is not None and sitting.reveal()
    birth = {"v": 1, "type": "birth", "of": "gap", "id": "zzzzzzzzzz", "at": "2026-11-21T11:00:00.000Z", "key": "k"}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(birth))
    sitting.rate(Rating.GOOD)
    assert sitting.session.done == 1


def test_a_card_that_only_moved_down_in_its_file_is_the_same(sitting: Sitting, vault: Vault) -> None:
    first = sitting.table()
    assert first is not None
    replaced(vault, f"Q: {first.card.question}", f"A line.\n\nQ: {first.card.question}")
    birth = {"v": 1, "type": "birth", "of": "gap", "id": "zzzzzzzzzz", "at": "2026-11-21T11:00:00.000Z", "key": "k"}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(birth))
    assert sitting.reveal()
    again = sitting.session.current
    assert again == first.id
