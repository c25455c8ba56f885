"""Cards made by hand: written into decks, siblings of their block, deleted and put back; and on the way to Anki."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki
from learning.anki_connect.client import connected
from learning.anki_connect.sync import sync
from learning.cards.delete import delete_cards, last_deletion, restore_cards
from learning.cards.edit import Words, edit_card, last_edit, restore
from learning.cards.new import Added, Draft, add_card
from learning.cards.workspace import open_desk, rate
from tests.learning.connect_server import ConnectServer, serving
from tests.learning.test_anki_import import brought, collection, give_out, imported, on_the_phone, take_in
from vault.errors import NotFound, Refused, UsageError
from vault.ids import CardId
from vault.log.events import Rating
from vault.model.card import CardKind
from vault.vault import Vault, open_vault

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DECK = "learning/flashcards/spacing-effect.md"
CLOZE = "The {{c1::mitochondrion}} makes {{c2::ATP::molecule}} from {{c3::a sugar}}."


def added(vault: Vault, question: str, answer: str | None = None, **options: Any) -> Added:
    return add_card(vault, Draft(Words(question, answer), **options), NOW, via="test")[0]


def text_of(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text()


def test_a_new_card_is_due_as_a_new_one_with_its_tags_and_its_deck_is_found_again(vault: Vault) -> None:
    first = added(vault, "Capital of Kenya?", "Nairobi", deck="Geography", tags=("africa", "#exam"))
    second = added(vault, "Capital of Peru?", "Lima", deck="geography", kind=CardKind.APPLIED)
    third = added(vault, "Capital of Chad?", "N'Djamena", deck="geography")
    assert first.is_new_deck and not second.is_new_deck and {second.path, third.path} == {first.path}
    desk = open_desk(vault, NOW)
    assert desk.state(first.cards[0]).tags == ("africa", "exam")
    assert {*first.cards, *second.cards, *third.cards} <= {item.card for item in desk.queue.new}
    assert [desk.cards[each.cards[0]].kind for each in (first, second, third)] == ["", "applied", ""]
    assert added(vault, "Capital of Kenya?", "Mombasa?", deck="Geography").alike == first.cards[0]


def test_a_card_for_a_concept_joins_its_deck_and_cites_the_claim_that_is_named(vault: Vault) -> None:
    before = text_of(vault, DECK)
    new = added(vault, "When?", "Before an exam.", deck="Spacing effect", kind=CardKind.APPLIED, source="^c-7f3a9c1e2k")
    assert new.path == DECK and text_of(vault, DECK).startswith(before.rstrip("\n"))
    card = open_desk(vault, NOW).cards[new.cards[0]].card
    assert [cite.claim for cite in card.support] == ["7f3a9c1e2k"] and card.kind is CardKind.APPLIED
    other = added(vault, "And?", "So.", deck="Spacing effect", source="https://example.org/a b")
    assert "> Source: https" in open_desk(vault, NOW).cards[other.cards[0]].card.answer
    assert open_desk(vault, NOW).cards[other.cards[0]].card.kind is None, "not under the heading of the last kind"


def test_the_cards_of_a_block_are_siblings_and_those_of_a_deck_of_ones_own_are_not(vault: Vault) -> None:
    cloze, both, one = added(vault, CLOZE), added(vault, "Wasser", "water", is_reversed=True), added(vault, "Q?", "A.")
    cards = open_desk(vault, NOW).cards
    groups = [{cards.group(card) for card in each.cards} for each in (cloze, both, one)]
    assert [len(each.cards) for each in (cloze, both, one)] == [3, 2, 1]
    assert all(len(group) == 1 for group in groups) and len(set.union(*groups)) == 3
    alone = Vault(vault.root, replace(vault.settings, bury_siblings=True), ())
    rate(open_desk(alone, NOW), cloze.cards[0], Rating.GOOD, via="test")
    today = {item.card for item in open_desk(alone, NOW).queue.today}
    assert not today & set(cloze.cards[1:]), "siblings of a card that was seen wait until tomorrow"
    assert len(today & set(both.cards)) == 1 and one.cards[0] in today


@pytest.mark.parametrize(
    ("words", "options", "error"),
    [
        (Words("no gap"), {}, Refused),
        (Words("Q?", " "), {}, Refused),
        (Words("```py", "A"), {}, Refused),
        (Words("{{c1::x}}"), {"is_reversed": True}, UsageError),
        (Words("Q?", "A."), {"source": "raw/nowhere.md"}, UsageError),
        (Words("Q?", "A."), {"source": f"raw/{'a' * 300}.md"}, UsageError),
        (Words("Q?", "A."), {"tags": (" ",)}, UsageError),
    ],
)
def test_what_cannot_be_a_card_is_refused_and_nothing_is_written(
    vault: Vault, words: Words, options: dict[str, Any], error: type[Exception]
) -> None:
    before = {p: p.read_bytes() for p in vault.root.rglob("*") if p.is_file() and ".retain" not in p.parts}
    with pytest.raises(error):
        add_card(vault, Draft(words, **options), NOW, via="test")
    assert {p: p.read_bytes() for p in vault.root.rglob("*") if p.is_file() and ".retain" not in p.parts} == before


def test_words_that_look_like_a_deck_stay_words(vault: Vault) -> None:
    nasty = "A: b\nQ: c\nC: {{c1::d}}\n# Applied\n<!-- card aaaaaaaaa1 -->"
    new = added(vault, f"Which?\n{nasty}", nasty, deck="Spacing effect", is_reversed=True)
    there, back = (open_desk(vault, NOW).cards[card].card for card in new.cards)
    assert there.question == back.answer and there.answer == back.question
    assert "C: {{c1::d}}" in there.answer and len(open_desk(vault, NOW).cards) == 5


def test_a_cloze_is_edited_as_its_text_and_a_deletion_more_is_a_card_more(vault: Vault) -> None:
    new = added(vault, CLOZE)
    rate(open_desk(vault, NOW), new.cards[1], Rating.GOOD, via="test")
    edit_card(vault, new.cards[1], f"{CLOZE} {{{{c4::More}}}}.", None, NOW)
    desk = open_desk(vault, NOW)
    assert len([c for c in desk.cards.values() if c.deck.path == new.path]) == 4
    assert desk.state(new.cards[1]).reps == 1
    assert restore(vault, last_edit(vault, new.cards[1]), NOW).after == Words(CLOZE)
    assert len([c for c in open_desk(vault, NOW).cards.values() if c.deck.path == new.path]) == 3
    with pytest.raises(Refused, match=r"a cloze card .* cannot be changed"):
        edit_card(vault, new.cards[0], "Q?", "A.", NOW)


def test_a_deleted_note_comes_back_byte_for_byte_with_its_history(vault: Vault) -> None:
    new = added(vault, CLOZE, deck="Spacing effect")
    added(vault, "Last?", "Yes.", deck="Spacing effect")
    rate(open_desk(vault, NOW), new.cards[0], Rating.GOOD, via="test")
    before = text_of(vault, DECK)
    gone = delete_cards(vault, [new.cards[2], "aaaaaaaaa1"], NOW)
    assert set(gone.cards) == {*new.cards, "aaaaaaaaa1"}
    assert not set(gone.cards) & open_desk(vault, NOW).cards.keys()
    assert set(restore_cards(vault, gone, NOW)) == set(gone.cards)
    assert text_of(vault, DECK) == before
    assert open_desk(vault, NOW).state(new.cards[0]).reps == 1
    assert restore_cards(vault, gone, NOW) == ()
    assert text_of(vault, DECK) == before, "twice is once"


def test_a_card_comes_back_into_a_deck_that_has_changed_since(vault: Vault) -> None:
    delete_cards(vault, ["aaaaaaaaa1"], NOW)
    file = vault.root / DECK
    file.write_text(file.read_text() + "\nA remark.\n")
    restore_cards(vault, last_deletion(vault, "aaaaaaaaa1"), NOW)
    back = open_desk(vault, NOW).cards[CardId("aaaaaaaaa1")]
    assert (back.card.question, back.kind) == ("What is the spacing effect?", "definitional")
    assert "A remark." in file.read_text()
    with pytest.raises(NotFound):
        delete_cards(vault, ["aaaaaaaaa2", "zzzzzzzzzz"], NOW)
    assert CardId("aaaaaaaaa2") in open_desk(vault, NOW).cards, "nothing is deleted where one is not found"


def _of_type(col: Any, name: str) -> Any:
    (note,) = [note for id_ in col.find_notes("") if (note := col.get_note(id_)).note_type()["name"] == name]
    return note


def test_a_cloze_arrives_in_anki_as_one_note_and_its_reviews_come_home_to_the_right_sibling(
    vault: Vault, tmp_path: Path
) -> None:
    cloze = added(vault, CLOZE, deck="Cells::Parts", source="Campbell, p. 20")
    both = added(vault, "Wasser", "water", deck="German", is_reversed=True)
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        assert (col.note_count(), col.card_count()) == (5, 3 + 3 + 2)
        note, pair = _of_type(col, "retain cloze"), _of_type(col, "retain (and reversed)")
        assert note.note_type()["type"] == 1 and note["Text"] == CLOZE
        assert col.decks.name(note.cards()[0].did) == "retain::Mind::Cells::Parts"
        hides_atp = note.cards()[1]
        assert "[molecule]" in hides_atp.question() and "Campbell" not in hides_atp.question()
        assert "Campbell" in hides_atp.answer() and "mitochondrion" in hides_atp.question()
        assert "water" in pair.cards()[1].question() and "Wasser" not in pair.cards()[1].question()
        for card, ease in ((note.cards()[1], 3), (note.cards()[2], 1), (pair.cards()[1], 4)):
            card.start_timer()
            col.sched.answerCard(card, ease)
        col.sched.suspend_cards([note.cards()[0].id])
        back = give_out(col, tmp_path / "back.apkg")
        assert col.fix_integrity()[1]
    done = brought(vault, back)
    assert done.reviews["added"] == 3 and done.notes == {"ours": 5, "strange": 0}
    assert sorted(imported(vault).values()) == sorted([(cloze.cards[1], 3), (cloze.cards[2], 1), (both.cards[1], 4)])
    desk = open_desk(vault, datetime.now(UTC) + timedelta(days=1))
    assert [desk.state(card).suspended for card in cloze.cards] == [True, False, False]
    assert brought(vault, back).reviews["added"] == 0


def test_a_deletion_more_is_a_card_more_in_anki_and_the_others_keep_their_schedule(
    vault: Vault, tmp_path: Path
) -> None:
    new = added(vault, "{{c1::One}} and {{c2::two}}.")
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        studied = _of_type(col, "retain cloze").cards()[1]
        studied.start_timer()
        col.sched.answerCard(studied, 4)
        edit_card(vault, new.cards[0], "One and {{c2::two}} and {{c3::three}}.", None, datetime.now(UTC))
        take_in(col, on_the_phone(vault, tmp_path))
        note = _of_type(col, "retain cloze")
        assert note["Text"] == "One and {{c2::two}} and {{c3::three}}."
        cards = {card.ord: card for card in note.cards()}
        assert {1, 2} <= cards.keys() and cards[1].id == studied.id and cards[1].reps == 1
        third = cards[2]
        third.start_timer()
        col.sched.answerCard(third, 3)
        back = give_out(col, tmp_path / "back.apkg")
    brought(vault, back)
    made = next(c for c in open_desk(vault, NOW).cards.values() if c.card.variant == "c3")
    assert sorted(imported(vault).values()) == sorted([(new.cards[1], 4), (made.id, 3)])


def test_the_schedule_of_each_sibling_goes_to_its_own_card_in_anki(vault: Vault, tmp_path: Path) -> None:
    new = added(vault, CLOZE)
    desk, _ = rate(open_desk(vault, datetime.now(UTC) - timedelta(days=2)), new.cards[1], Rating.EASY, via="test")
    export_anki(open_desk(vault, datetime.now(UTC)), tmp_path / "out.apkg", scheduled=True)
    with collection(tmp_path / "phone") as col:
        take_in(col, tmp_path / "out.apkg")
        cards = _of_type(col, "retain cloze").cards()
        assert [card.reps for card in cards] == [0, 1, 0]
        assert cards[1].ivl == desk.state(new.cards[1]).interval_days > 0
        assert col.fix_integrity()[1]


@pytest.mark.parametrize("imports", [True, False])
def test_a_running_anki_gets_the_note_and_gives_its_reviews_back(vault: Vault, tmp_path: Path, imports: bool) -> None:
    from anki.collection import Collection

    new = added(vault, CLOZE)
    col = Collection(str(tmp_path / "collection.anki2"))
    with serving(ConnectServer(col, imports=imports)) as server:

        def synced() -> Any:
            return sync(
                open_desk(open_vault(str(vault.root), None, vault.root), datetime.now(UTC)), connected(server.url, "")
            )

        assert len(synced().plan.create) == 4
        note = _of_type(col, "retain cloze")
        assert len(note.cards()) == 3
        card = note.cards()[2]
        card.start_timer()
        col.sched.answerCard(card, 3)
        col.sched.suspend_cards([note.cards()[1].id])
        done = synced()
        assert (len(done.plan.create), len(done.plan.unchanged), done.plan.edited) == (0, 4, ())
        assert list(imported(vault).values()) == [(new.cards[2], 3)]
    col.close()
    desk = open_desk(vault, datetime.now(UTC))
    assert [desk.state(card).suspended for card in new.cards] == [False, True, False]
