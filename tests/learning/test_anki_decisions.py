"""What a user decides in Anki besides answering comes home: tags, flags, burying, forgetting and due dates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki
from learning.anki.import_package import ImportReport
from learning.cards.actions import do, tagging
from learning.cards.workspace import open_desk, rate, undo_last
from learning.memory.state import MemoryState, Phase
from tests.learning.anki_packages import brought_in
from tests.learning.test_anki_import import A1, clock, collection, give_out, on_the_phone, take_in
from vault.errors import NotFound
from vault.ids import CardId
from vault.log.events import Rating
from vault.vault import Vault


def with_notes(folder: Path, tags: list[list[str]], then: Callable[[Any, list[int]], None] | None = None) -> Path:
    """A package of notes with these tags, after `then` was done to their cards."""
    with collection(folder / "desktop") as col:
        for number, words in enumerate(tags):
            note = col.new_note(col.models.by_name("Basic"))
            note["Front"], note["Back"], note.tags = f"question {number}?", "answer", words
            col.add_note(note, col.decks.id("Biology"))
        if then is not None:
            then(col, list(col.find_cards("")))
        return give_out(col, folder / "deck.apkg")


def brought(vault: Vault, path: Path, **options: Any) -> ImportReport:
    return brought_in(vault, path, clock(), **options)


def imported(vault: Vault) -> dict[str, CardId]:
    cards = open_desk(vault, clock()).cards.values()
    return {p.card.question: p.id for p in cards if p.card.question.startswith("question")}


def state_of(vault: Vault, card: CardId) -> MemoryState:
    return open_desk(vault, clock()).state(card)


def tags_of(vault: Vault, card: CardId) -> set[str]:
    desk = open_desk(vault, clock())
    return {*desk.state(card).tags, *desk.cards[card].deck.properties.texts("tags")}


def log(vault: Vault) -> bytes:
    return vault.read_bytes("learning/reviews.jsonl") or b""


def studied(col: Any, card: int, *eases: int) -> None:
    for ease in eases:
        answered = col.get_card(card)
        answered.start_timer()
        col.sched.answerCard(answered, ease)


def test_notes_that_all_have_other_tags_keep_every_tag(vault: Vault, tmp_path: Path) -> None:
    tags = [["bio", f"chapter::{number}", f"page-{number * 7}"] for number in range(12)] + [["marked"], []]
    deck = with_notes(tmp_path, tags)
    first = brought(vault, deck)
    assert first.cards["created"] == 14 and first.marks["tagged"] == 13 and len(first.files) == 1
    cards = imported(vault)
    for number, words in enumerate(tags):
        assert tags_of(vault, cards[f"question {number}?"]) == {word.replace("::", "/") for word in words}
    before = log(vault)
    assert not any(brought(vault, deck).marks.values()) and log(vault) == before


def test_a_tag_that_changes_in_anki_changes_here_and_one_removed_here_stays_away(vault: Vault, tmp_path: Path) -> None:
    brought(vault, with_notes(tmp_path, [["old", "kept"], ["other"]]))
    card = imported(vault)["question 0?"]
    do(desk := open_desk(vault, clock()), tagging(desk, [card], ["mine"], via="cli"))
    with collection(tmp_path / "desktop") as col:
        (note,) = col.find_notes('"question 0?"')
        found = col.get_note(note)
        found.tags = ["kept", "new"]
        col.update_note(found)
        col.db.execute("update notes set mod = mod + 1 where id = ?", note)
        later = give_out(col, tmp_path / "later.apkg")
    assert brought(vault, later).marks["tagged"] == 1
    assert {"kept", "new", "mine"} <= tags_of(vault, card)
    do(desk := open_desk(vault, clock() + timedelta(seconds=5)), tagging(desk, [card], [], ["new"], via="cli"))
    assert brought(vault, later).marks["tagged"] == 0
    assert "new" not in state_of(vault, card).tags


def test_a_note_that_was_edited_and_tagged_in_anki_keeps_its_words_when_the_next_package_comes(
    vault: Vault, tmp_path: Path
) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        note = col.get_note(next(n for n in col.find_notes("") if col.get_note(n)["CardId"] == A1))
        note["Answer"], note.tags = "edited there", [*note.tags, "exam"]
        col.update_note(note)
        col.db.execute("update notes set mod = mod + 60 where id = ?", note.id)
        given = give_out(col, tmp_path / "home.apkg")
        assert brought_in(vault, given, clock() + timedelta(minutes=10)).marks["tagged"] == 1
        out = tmp_path / "next.apkg"
        for minutes in range(15, 20):
            later = clock() + timedelta(minutes=minutes)
            do(desk := open_desk(vault, later), tagging(desk, [A1], [f"mine{minutes}"], via="cli"))
            export_anki(open_desk(vault, later), out)
            take_in(col, out)
        assert col.get_note(note.id)["Answer"] == "edited there" and "exam" in col.get_note(note.id).tags
        # New words here are newer than those there.
        deck = vault.root / open_desk(vault, clock()).card(A1).deck.path
        deck.write_text(deck.read_text().replace(open_desk(vault, clock()).card(A1).card.answer, "Reworded here."))
        export_anki(open_desk(vault, clock() + timedelta(minutes=30)), out)
        take_in(col, out)
        assert col.get_note(note.id)["Answer"] == "Reworded here."


def test_a_card_forgotten_in_anki_is_new_here_and_learns_from_then_on(vault: Vault, tmp_path: Path) -> None:
    def then(col: Any, cards: list[int]) -> None:
        studied(col, cards[0], 4)
        studied(col, cards[1], 4)
        col.sched.schedule_cards_as_new([cards[0], cards[1]])
        studied(col, cards[1], 1)

    deck = with_notes(tmp_path, [[], [], []], then)
    assert brought(vault, deck).marks["forgotten"] == 2
    cards = imported(vault)
    assert state_of(vault, cards["question 0?"]) == MemoryState()
    again = state_of(vault, cards["question 1?"])
    assert (again.phase, again.reps, again.step) == (Phase.LEARNING, 1, 0)
    before = log(vault)
    assert not any(brought(vault, deck).marks.values()) and log(vault) == before


@pytest.mark.parametrize("legacy", [False, True])
def test_a_due_date_set_in_anki_is_the_due_date_here(vault: Vault, tmp_path: Path, legacy: bool) -> None:
    def then(col: Any, cards: list[int]) -> None:
        for card in cards:
            studied(col, card, 4)
        col.sched.set_due_date(cards[:2], "40")
        col.sched.set_due_date([cards[1]], "3")

    with_notes(tmp_path, [[], [], []], then)
    with collection(tmp_path / "desktop") as col:
        deck = give_out(col, tmp_path / "dated.apkg", legacy=legacy)
    assert brought(vault, deck).marks["rescheduled"] == 2
    calendar = open_desk(vault, clock()).scheduler.calendar
    today = (clock().astimezone() - timedelta(hours=4)).date().toordinal()  # Anki's day, in the zone of the machine
    for name, days in (("question 0?", 40), ("question 1?", 3)):
        state = state_of(vault, imported(vault)[name])
        assert state.due == calendar.start(today + days), date.fromordinal(today)
        assert state.reps == 1 and state.phase is Phase.REVIEW
    before = log(vault)
    assert not any(brought(vault, deck).marks.values()) and log(vault) == before


def test_flags_and_buried_cards_come_home_and_a_flag_taken_away_goes(vault: Vault, tmp_path: Path) -> None:
    def then(col: Any, cards: list[int]) -> None:
        col.set_user_flag_for_cards(1, [cards[0]])
        col.sched.bury_cards([cards[1]])
        col.db.execute("update cards set mod = mod - 10")  # so that what comes later is in a later second

    deck = with_notes(tmp_path, [[], [], []], then)
    told = brought(vault, deck).marks
    assert (told["flagged"], told["buried"], told["unflagged"]) == (1, 1, 0)
    cards = imported(vault)
    assert state_of(vault, cards["question 0?"]).flagged
    assert state_of(vault, cards["question 1?"]).hidden(clock())
    before = log(vault)
    assert not any(brought(vault, deck).marks.values()) and log(vault) == before
    with collection(tmp_path / "desktop") as col:
        col.set_user_flag_for_cards(0, col.find_cards(""))
        col.db.execute("update cards set mod = mod + 5")
        later = give_out(col, tmp_path / "later.apkg")
    assert brought(vault, later).marks["unflagged"] == 1
    assert not state_of(vault, cards["question 0?"]).flagged


def test_undo_leaves_what_was_done_in_anki(vault: Vault, tmp_path: Path) -> None:
    _, mine = rate(open_desk(vault, clock()), A1, Rating.GOOD, via="cli")
    brought(
        vault, with_notes(tmp_path, [[], ["marked"]], lambda col, cards: col.set_user_flag_for_cards(2, cards) and None)
    )
    card = imported(vault)["question 0?"]
    _, _, voided = undo_last(open_desk(vault, clock()), via="cli")
    assert voided == (mine,) and state_of(vault, card).flagged
    with pytest.raises(NotFound):
        undo_last(open_desk(vault, clock()), via="cli")


def test_a_tag_and_a_flag_on_a_card_of_ours_come_home_from_the_phone(vault: Vault, tmp_path: Path) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        (number,) = col.find_cards(f"CardId:{A1}")
        note = col.get_card(number).note()
        note.tags = [*note.tags, "exam", "marked"]
        col.update_note(note)
        col.set_user_flag_for_cards(4, [number])
        back = give_out(col, tmp_path / "back.apkg")
    told = brought(vault, back)
    assert (told.marks["tagged"], told.marks["flagged"]) == (1, 1)
    assert state_of(vault, A1).tags == ("exam", "marked") and state_of(vault, A1).flagged
    before = log(vault)
    assert not any(brought(vault, back).marks.values()) and log(vault) == before
