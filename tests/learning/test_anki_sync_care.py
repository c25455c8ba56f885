"""What a sync with Anki leaves alone: notes that are there already, that were deleted or edited there, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki
from learning.anki.import_package import ImportReport
from learning.anki.note_log import read_notes
from learning.anki_connect.client import AnkiNotReached, connected
from learning.anki_connect.push import RETRACTED
from learning.anki_connect.sync import Synced, sync
from learning.cards.workspace import open_desk
from tests.learning.anki_packages import brought_in
from tests.learning.connect_server import ConnectServer, serving
from tests.learning.marks import mark
from tests.learning.test_anki_import import collection, give_out
from tests.learning.test_anki_import_strangers import add
from vault.ids import CardId
from vault.log.events import Resume
from vault.log.ledger import NOTES
from vault.vault import Vault

NOTHING = ImportReport().marks
A1, A2, B1 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2"), CardId("bbbbbbbbb1")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ConnectServer]:
    from anki.collection import Collection

    col = Collection(str(tmp_path / "collection.anki2"))
    with serving(ConnectServer(col, imports=True)) as listening:
        yield listening
    col.close()


def synced(vault: Vault, server: ConnectServer, **options: Any) -> Synced:
    return sync(open_desk(vault, datetime.now(UTC)), connected(server.url, server.key), **options)


def edit(vault: Vault, old: str, new: str) -> None:
    file = vault.root / "learning/flashcards/spacing-effect.md"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def note_of(server: ConnectServer, card: CardId) -> Any:
    (id_,) = server.col.find_notes(f"CardId:{card}")
    return server.col.get_note(id_)


def notes_of_anki_s_own(vault: Vault, server: ConnectServer, folder: Path) -> list[CardId]:
    """Two notes of the running Anki, a card and a reversed pair, that were imported from it."""
    from anki.collection import ExportAnkiPackageOptions

    for type_ in ("Basic", "Basic (and reversed card)"):
        note = server.col.new_note(server.col.models.by_name(type_))
        note["Front"], note["Back"] = f"front of {type_}", "back"
        server.col.add_note(note, server.col.decks.id("Mine"))
    path = folder / "mine.apkg"
    options = ExportAnkiPackageOptions(with_scheduling=True, with_media=True, legacy=False)
    server.col.export_anki_package(out_path=str(path), options=options, limit=None)
    before = set(open_desk(vault, datetime.now(UTC)).cards)
    brought_in(vault, path, datetime.now(UTC))
    return [card for card in open_desk(vault, datetime.now(UTC)).cards if card not in before]


def test_cards_that_came_from_anki_are_not_sent_there_a_second_time(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    came = notes_of_anki_s_own(vault, server, tmp_path)
    assert len(came) == 3
    for _ in range(2):
        done = synced(vault, server)
        assert set(done.left_out) == set(came) and server.col.note_count() == 2 + 3
    assert set(done.plan.unchanged) and not done.plan.create
    assert len(synced(vault, server, imported=True).created) == 2 and server.col.note_count() == 5 + 2
    assert server.col.card_count() == 3 + 3 + 3
    assert synced(vault, server).left_out == ()  # they have a CardId there now, and are kept up to date


def test_a_note_whose_cards_need_another_type_stays_and_is_not_said_to_be_edited(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    reversed_pair = notes_of_anki_s_own(vault, server, tmp_path)[1:]
    synced(vault, server, imported=True)
    (file,) = {p for p in (vault.root / "learning/flashcards").glob("*.md") if "(and reversed card)" in p.read_text()}
    file.write_text(file.read_text().replace("Q: back", "Q: another question"))
    for newer in (False, True):
        plan = synced(vault, server, imported=True, newer=newer).plan
        assert (plan.edited, plan.conflicts, plan.update) == ((), (), ())
        assert len(plan.other_type) == 1 and plan.other_type[0] in reversed_pair
    before = note_of(server, plan.other_type[0])
    server.col.remove_notes([before.id])
    assert synced(vault, server, imported=True, newer=True).created == [*plan.other_type]
    after = note_of(server, plan.other_type[0])
    assert after.note_type()["name"] != before.note_type()["name"]
    assert not synced(vault, server, imported=True).plan.other_type


def test_a_reversed_card_that_was_sent_alone_stays_when_its_sibling_comes_in(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    path = tmp_path / "strange.apkg"
    with collection(tmp_path / "strange") as strange:
        note = add(strange, "Basic (and reversed card)", ["there", "back"])
        strange.set_deck([note.cards()[1].id], strange.decks.id("Active"))
        give_out(strange, path)
    brought_in(vault, path, datetime.now(UTC), deck="Active")
    created = synced(vault, server, imported=True).created
    (alone,) = [card for card in created if note_of(server, card)["Question"] == "back"]
    brought_in(vault, path, datetime.now(UTC))
    plan = synced(vault, server, imported=True).plan
    assert (plan.create, plan.other_type) == ((), (alone,))
    sent = note_of(server, alone)
    assert (sent["Question"], sent["Answer"]) == ("back", "there")
    (number,) = sent.card_ids()
    answered = server.col.get_card(number)
    answered.start_timer()
    server.col.sched.answerCard(answered, 3)
    synced(vault, server, imported=True)
    assert open_desk(vault, datetime.now(UTC)).state(alone).reps == 1


def test_a_note_that_anki_refused_is_tried_again_and_is_no_edit_made_there(vault: Vault, server: ConnectServer) -> None:
    class Busy(ConnectServer):
        def do_updateNoteFields(self, note: dict[str, Any]) -> None:
            raise ValueError("the browser holds this note")

    synced(vault, server)
    edit(vault, "*remembered*", "kept")
    with serving(Busy(server.col, imports=True)) as busy:
        done = synced(vault, busy)
    (failed,) = done.failed
    assert (failed.id, failed.path) == (A1, "learning/flashcards/spacing-effect.md") and failed.line > 1
    assert done.changed == [] and "browser" in failed.reason
    done = synced(vault, server)
    assert (done.plan.edited, done.changed) == ((), [A1]) and "kept" in note_of(server, A1)["Answer"]


def test_tags_that_anki_refuses_stop_nothing_else(vault: Vault, server: ConnectServer) -> None:
    class Busy(ConnectServer):
        def do_addTags(self, notes: list[int], tags: str) -> None:
            raise ValueError("not now")

    synced(vault, server)
    file = vault.root / "learning/flashcards/spacing-effect.md"
    file.write_text(file.read_text().replace("- memory", "- mind").replace("[memory]", "[mind]"))
    edit(vault, "*remembered*", "kept")
    with serving(Busy(server.col, imports=True)) as busy:
        done = synced(vault, busy)
    assert {each.id for each in done.failed} <= {A1, A2} and "kept" in note_of(server, A1)["Answer"]
    assert synced(vault, server).failed == ()


def test_a_note_deleted_in_anki_stays_deleted_until_the_vault_is_to_win(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    server.col.remove_notes([note_of(server, A1).id])
    for _ in range(2):
        done = synced(vault, server)
        assert (done.plan.gone, done.created) == ((A1,), []) and server.col.note_count() == 2
    assert synced(vault, server, newer=True).created == [A1]
    assert server.col.note_count() == 3 and synced(vault, server).plan.gone == ()


@pytest.mark.parametrize("known", [True, False])
def test_a_note_whose_card_id_was_emptied_is_not_made_again(
    vault: Vault, server: ConnectServer, tmp_path: Path, known: bool
) -> None:
    export_anki(open_desk(vault, datetime.now(UTC)), tmp_path / "out.apkg")
    server.do_importPackage(str(tmp_path / "out.apkg"))
    if known:
        synced(vault, server)
    note = note_of(server, A1)
    note["CardId"] = ""
    server.col.update_note(note)
    for _ in range(2):
        done = synced(vault, server)
        assert server.col.note_count() == 3 and done.created == []
        if known:
            assert done.plan.gone == (A1,)
        else:
            assert [each.id for each in done.failed] == [A1] and "CardId" in done.failed[0].reason
    server.col.db.execute("update notes set mod = mod - 60")  # the human did that a minute ago
    assert synced(vault, server, newer=True).created == [A1]
    assert note_of(server, A1).id == note.id and server.col.note_count() == 3


def test_an_edit_is_only_what_no_export_ever_said(vault: Vault, server: ConnectServer, tmp_path: Path) -> None:
    for number in range(3):
        edit(vault, "*remembered*" if not number else f"kept {number - 1}", f"kept {number}")
        export_anki(open_desk(vault, datetime.now(UTC)), tmp_path / f"{number}.apkg", fresh=number == 2)
    server.do_importPackage(str(tmp_path / "0.apkg"))
    done = synced(vault, server)
    assert (done.plan.edited, done.changed) == ((), [A1]) and "kept 2" in note_of(server, A1)["Answer"]
    assert len(read_notes(vault)[A1].given) == 3


def test_suspension_comes_home_and_what_is_said_here_afterwards_stands(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    (card,) = note_of(server, A1).cards()
    server.col.sched.suspend_cards([card.id])
    assert synced(vault, server, dry_run=True).marks == NOTHING | {"suspended": 1, "resumed": 0}
    assert not open_desk(vault, datetime.now(UTC)).state(A1).suspended
    assert synced(vault, server).marks == NOTHING | {"suspended": 1, "resumed": 0}
    assert open_desk(vault, datetime.now(UTC)).state(A1).suspended
    mark(open_desk(vault, datetime.now(UTC)), A1, Resume, via="cli")
    assert synced(vault, server).marks == NOTHING | {"suspended": 0, "resumed": 0}
    assert not open_desk(vault, datetime.now(UTC)).state(A1).suspended


def test_what_a_sync_suspended_is_let_go_once_its_card_counts_again(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    ledger = vault.root / "ledger/ids.jsonl"
    for type_, at in (("retire", "2026-11-20T12:00:00.000Z"), ("revive", "2026-11-20T13:00:00.000Z")):
        event = {"v": 1, "type": type_, "of": "card", "id": A1, "at": at}
        with ledger.open("a") as lines:
            lines.write(json.dumps(event) + "\n")
        done = synced(vault, server)
        note = note_of(server, A1)
        is_suspended = note.cards()[0].queue == -1
        assert (RETRACTED in note.tags, is_suspended) == (type_ == "retire", type_ == "retire")
        assert (done.suspended, done.resumed) == (([A1], []) if type_ == "retire" else ([], [A1]))
        assert done.marks == NOTHING | {"suspended": 0, "resumed": 0}


def test_a_note_edited_there_is_let_go_only_once(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    note = note_of(server, A1)
    note["Answer"], note.tags = "mine", [*note.tags, RETRACTED]
    server.col.update_note(note)
    assert synced(vault, server).resumed == [A1] and RETRACTED not in note_of(server, A1).tags
    server.col.sched.suspend_cards([card.id for card in note.cards()])
    assert synced(vault, server).resumed == [] and note_of(server, A1)["Answer"] == "mine"
    assert note_of(server, A1).cards()[0].queue == -1


def test_a_server_that_tells_of_notes_twice_or_unasked_is_refused(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    for more in ({}, {"noteId": 7}):

        class Odd(ConnectServer):
            def do_notesInfo(self, notes: list[int], more: Any = more) -> Any:
                told = super().do_notesInfo(notes)
                return [*told, {**told[0], **more}]

        with serving(Odd(server.col)) as odd, pytest.raises(AnkiNotReached, match="notesInfo"):
            synced(vault, odd)


@pytest.mark.parametrize("number", ["1" * 5000, "\u0661", "01", "-1", "1_0"])
def test_a_number_of_any_length_or_script_is_refused_as_an_answer(
    vault: Vault, server: ConnectServer, number: str
) -> None:
    synced(vault, server)

    class Odd(ConnectServer):
        def do_getReviewsOfCards(self, cards: list[int]) -> Any:
            return {number: []}

    with serving(Odd(server.col)) as odd, pytest.raises(AnkiNotReached, match="getReviewsOfCards"):
        synced(vault, odd)


@pytest.mark.parametrize("numbers", [[10**400], [1 << 63], [True], [1.0], ["1"]])
def test_what_is_none_of_anki_s_numbers_is_refused(vault: Vault, server: ConnectServer, numbers: list[Any]) -> None:
    class Odd(ConnectServer):
        def do_findNotes(self, query: str) -> Any:
            return numbers

    with serving(Odd(server.col)) as odd, pytest.raises(AnkiNotReached, match="findNotes"):
        synced(vault, odd)


def test_what_anki_took_before_it_broke_off_is_known_as_ours(vault: Vault, server: ConnectServer) -> None:
    class Broken(ConnectServer):
        def do_removeTags(self, notes: list[int], tags: str) -> None:
            raise BrokenPipeError

    deck = "".join(f"Q: Q{n}?\nA: A.\n<!-- card many{n:06d} -->\n\n" for n in range(60))
    (vault.root / "learning/flashcards/many.md").write_text(deck)
    synced(vault, server)
    server.col.tags.bulk_add(list(server.col.find_notes("Q1")), "retain::old")
    (vault.root / "learning/flashcards/many.md").write_text(deck.replace("A.", "B."))
    with serving(Broken(server.col)) as broken, pytest.raises(AnkiNotReached):
        synced(vault, broken)
    note = note_of(server, CardId("many000003"))
    assert "B." in note["Answer"]  # of the first batch, which was answered
    note["Answer"] = "mine"
    server.col.update_note(note)
    assert synced(vault, server).plan.edited == ("many000003",)


def test_many_changes_are_told_as_they_go(vault: Vault, server: ConnectServer) -> None:
    deck = "".join(f"Q: Q{n}?\nA: A.\n<!-- card many{n:06d} -->\n\n" for n in range(120))
    (vault.root / "learning/flashcards/many.md").write_text(deck)
    server.imports = False
    told: list[tuple[int, int]] = []
    done = synced(vault, server, progress=lambda *of: told.append(of))
    assert len(done.created) == 123 and told[-1][0] == told[-1][1] and len(told) == 3
    (vault.root / "learning/flashcards/many.md").write_text(deck.replace("A.", "B."))
    server.calls.clear()
    assert len(synced(vault, server).changed) == 120
    assert server.calls.count("multi") <= 5 and server.calls.count("updateNoteFields") == 120


def test_what_a_human_wrote_in_anki_stays_where_nobody_knows_what_was_sent(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    note = note_of(server, A1)
    note["Answer"] = "my own words"
    server.col.update_note(note)
    (vault.root / NOTES).unlink()  # as in a clone that was not merged
    done = synced(vault, server)
    assert done.plan.edited == (A1,) and note_of(server, A1)["Answer"] == "my own words"
    assert synced(vault, server, newer=True).changed == [A1]
    assert note_of(server, A1)["Answer"] != "my own words"
