"""Cards go to a running Anki and reviews come home: a real collection behind AnkiConnect's protocol."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki, guid_of, vault_tag
from learning.anki_connect.client import AnkiConnect, AnkiNotReached, AnkiRefused, connected
from learning.anki_connect.push import RETRACTED
from learning.anki_connect.sync import Synced, sync
from learning.cards.workspace import open_desk, rate
from tests.learning.connect_server import ConnectServer, serving
from vault.ids import CardId
from vault.log.events import Import, Rating
from vault.log.ledger import NOTES
from vault.log.review_log import read_log
from vault.vault import Vault, open_vault

VAULT_ID = "01KB0000000000000000000000"
A1, A2, B1 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2"), CardId("bbbbbbbbb1")
READING = {
    *("requestPermission", "version", "findNotes", "notesInfo", "getReviewsOfCards"),
    *(
        "findCards",
        "cardsInfo",
        "modelNames",
        "modelFieldNames",
        "getMediaFilesNames",
        "multi",
        "areSuspended",
        "cardsModTime",
    ),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ConnectServer]:
    from anki.collection import Collection

    col = Collection(str(tmp_path / "collection.anki2"))
    with serving(ConnectServer(col)) as listening:  # one that takes no packages, where nothing else is said
        yield listening
    col.close()


def synced(vault: Vault, server: ConnectServer, **options: Any) -> Synced:
    return sync(open_desk(vault, datetime.now(UTC)), connected(server.url, server.key), **options)


def counts(done: Synced) -> tuple[int, int, int, int]:
    """Notes made, changed and unchanged; reviews that came home."""
    plan = done.plan
    return len(plan.create), len(plan.update) + len(plan.retag), len(plan.unchanged), len(done.home.new)


def notes(server: ConnectServer) -> dict[str, Any]:
    found = [server.col.get_note(id_) for id_ in server.col.find_notes("")]
    assert len({note["CardId"] for note in found}) == len(found)
    return {note["CardId"]: note for note in found}


def answer(server: ConnectServer, card: CardId, ease: int) -> Any:
    """The card as Anki has it once it was answered there."""
    studied = notes(server)[card].cards()[0]
    studied.start_timer()
    server.col.sched.answerCard(studied, ease)
    studied.load()
    time.sleep(0.002)  # Anki tells its reviews apart by the millisecond
    return studied


def imported(vault: Vault) -> list[Import]:
    return [event for event in read_log(vault.root).events if isinstance(event, Import)]


def edit(vault: Vault, old: str, new: str) -> None:
    file = vault.root / "learning/flashcards/spacing-effect.md"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_new_notes_are_made_once_with_deck_tags_and_note_type(vault: Vault, server: ConnectServer) -> None:
    assert counts(synced(vault, server)) == (3, 0, 0, 0)
    note = notes(server)[A1]
    assert note["Question"] == "What is the spacing effect?" and note["Source"] == "The spacing effect, line 14"
    assert note.note_type()["name"] == "retain"
    ours = ["memory", "retain::concept::spacing-effect", "retain::kind::definitional", vault_tag(VAULT_ID)]
    assert sorted(note.tags) == sorted(ours)
    card = note.cards()[0]
    assert server.col.decks.name(card.did) == "retain::Mind::memory"
    assert "line 14" not in card.question() and "blockquote" in card.answer()
    assert counts(synced(vault, server)) == (0, 0, 3, 0)
    assert len(notes(server)) == 3


def test_every_review_comes_home_once(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    for card, ease in ((A1, 3), (A1, 4), (B1, 1)):
        answer(server, card, ease)
    assert counts(synced(vault, server)) == (0, 0, 3, 3)
    assert [(event.card, int(event.rating)) for event in imported(vault)] == [(A1, 3), (A1, 4), (B1, 1)]
    again = synced(vault, server)
    assert (len(again.home.new), again.home.known) == (0, 3)
    assert open_desk(vault, datetime.now(UTC)).state(A1).reps == 2
    (vault.root / "learning/reviews.jsonl").unlink()
    assert len(synced(vault, server).home.new) == 3


def test_an_edit_here_changes_the_note_there_and_keeps_its_schedule(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    studied = answer(server, A1, 4)
    edit(vault, "What is the spacing effect?", "What does *spacing* do?")
    assert counts(synced(vault, server)) == (0, 1, 2, 1)
    note = notes(server)[A1]
    after = note.cards()[0]
    assert note["Question"] == "What does <em>spacing</em> do?"
    assert (after.id, after.reps, after.ivl, after.due) == (studied.id, 1, studied.ivl, studied.due)
    assert counts(synced(vault, server)) == (0, 0, 3, 0)


def test_an_edit_there_stays_until_the_user_decides(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    note = notes(server)[A1]
    note["Answer"] = "mine"
    note.tags.append("leech")
    server.col.update_note(note)
    for _ in range(2):
        done = synced(vault, server)
        assert done.plan.edited == (A1,) and counts(done) == (0, 0, 2, 0)
    assert notes(server)[A1]["Answer"] == "mine"
    edit(vault, "*remembered*", "kept")
    done = synced(vault, server)
    assert counts(done) == (0, 0, 2, 0) and [note.card for _, note in done.plan.conflicts] == [A1]
    assert notes(server)[A1]["Answer"] == "mine"
    assert counts(synced(vault, server, newer=True)) == (0, 1, 2, 0)
    note = notes(server)[A1]
    assert "kept" in note["Answer"] and "leech" in note.tags


def test_notes_that_came_by_a_package_are_the_same_notes(vault: Vault, server: ConnectServer, tmp_path: Path) -> None:
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    apkg = tmp_path / "deck.apkg"
    export_anki(open_desk(vault, datetime.now(UTC)), apkg)
    options = ImportAnkiPackageOptions(merge_notetypes=False, with_scheduling=False)
    server.col.import_anki_package(ImportAnkiPackageRequest(package_path=str(apkg), options=options))
    guids = {card: note.guid for card, note in notes(server).items()}
    assert counts(synced(vault, server)) == (0, 0, 3, 0)
    edit(vault, "*remembered*", "kept")
    assert counts(synced(vault, server)) == (0, 1, 2, 0)
    assert {card: note.guid for card, note in notes(server).items()} == guids


def test_a_dry_run_only_reads_and_says_what_would_be_done(vault: Vault, server: ConnectServer) -> None:
    assert counts(synced(vault, server, dry_run=True)) == (3, 0, 0, 0)
    assert notes(server) == {} and not (vault.root / NOTES).exists()
    synced(vault, server)
    answer(server, A1, 3)
    edit(vault, "*remembered*", "kept")
    server.calls.clear()
    assert counts(synced(vault, server, dry_run=True)) == (0, 1, 2, 1)
    assert set(server.calls) <= READING and imported(vault) == []
    assert counts(synced(vault, server)) == (0, 1, 2, 1)


def test_a_retracted_card_is_suspended_there_once_and_its_reviews_still_come_home(
    vault: Vault, server: ConnectServer
) -> None:
    synced(vault, server)
    answer(server, A1, 3)
    event = {"v": 1, "type": "retire", "of": "card", "id": A1, "at": "2026-11-20T12:00:00.000Z"}
    (vault.root / "ledger/ids.jsonl").write_text(json.dumps(event) + "\n")
    done = synced(vault, server)
    assert [one.card for one in done.plan.retracted] == [A1] and counts(done) == (0, 0, 2, 1)
    note = notes(server)[A1]
    assert note.cards()[0].queue == -1 and RETRACTED in note.tags
    server.col.sched.unsuspend_cards([note.cards()[0].id])  # the human wants it back
    assert synced(vault, server).plan.retracted == ()
    assert notes(server)[A1].cards()[0].queue != -1


def test_a_sync_that_breaks_off_is_ended_by_the_next_one(vault: Vault, server: ConnectServer) -> None:
    for stop in range(3):
        server.break_after = stop
        with pytest.raises(AnkiNotReached):
            synced(vault, server)
    server.break_after = None
    synced(vault, server)
    answer(server, A2, 3)
    assert counts(synced(vault, server)) == (0, 0, 3, 1)
    assert len(notes(server)) == 3


def test_pictures_are_sent_once_and_two_cards_may_ask_the_same(vault: Vault, server: ConnectServer) -> None:
    (vault.root / "raw").mkdir()
    (vault.root / "raw/dot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    (vault.root / "learning/flashcards/same.md").write_text(
        "Q: Which?\nA: ![[dot.png]]\n<!-- card ccccccccc1 -->\n\nQ: Which?\nA: Other.\n<!-- card ccccccccc2 -->\n"
    )
    first = synced(vault, server)
    assert (counts(first), first.media, first.failed) == ((5, 0, 0, 0), 1, ())
    shown = notes(server)["ccccccccc1"]["Answer"]
    assert '<img src="retain-' in shown and server.col.media.check().missing == []
    again = synced(vault, server)
    assert (counts(again), again.media) == ((0, 0, 5, 0), 0)


def test_new_notes_go_as_a_package_where_the_add_on_takes_one_and_have_the_guids_of_the_export(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    server.imports = True
    (vault.root / "raw").mkdir()
    (vault.root / "raw/dot.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    edit(vault, "*remembered*", "![[dot.png]]")
    assert counts(synced(vault, server)) == (3, 0, 0, 0)
    assert "addNote" not in server.calls and server.col.media.check().missing == []
    assert not list((vault.root / ".retain").glob("*.apkg"))
    assert {card: note.guid for card, note in notes(server).items()} == {
        card: guid_of(VAULT_ID, card) for card in (A1, A2, B1)
    }
    assert counts(synced(vault, server)) == (0, 0, 3, 0)
    note = notes(server)[A1]
    note["Answer"] = "mine"
    server.col.update_note(note)
    apkg = tmp_path / "deck.apkg"
    export_anki(open_desk(vault, datetime.now(UTC) + timedelta(days=1)), apkg)
    server.do_importPackage(str(apkg))
    assert notes(server)[A1]["Answer"] == "mine" and len(notes(server)) == 3


def test_letters_that_anki_composes_are_no_edit(vault: Vault, server: ConnectServer) -> None:
    edit(vault, "What is the spacing effect?", "Wie u\u0308ben?")
    synced(vault, server)
    assert counts(synced(vault, server)) == (0, 0, 3, 0)


def test_a_note_type_of_that_name_without_our_fields_is_refused_by_name(vault: Vault, server: ConnectServer) -> None:
    server.do_createModel("retain", ["Front"], [{"Name": "c", "Front": "{{Front}}", "Back": "x"}], "")
    with pytest.raises(AnkiRefused, match="Question"):
        synced(vault, server)
    assert notes(server) == {}


def test_what_anki_will_not_take_is_named_and_the_rest_is_taken(vault: Vault, server: ConnectServer) -> None:
    class Choosy(ConnectServer):
        def do_addNote(self, note: dict[str, Any]) -> int:
            if note["fields"]["CardId"] == A2:
                raise ValueError("cannot\x1b[2J create note")
            return super().do_addNote(note)

    with serving(Choosy(server.col)) as choosy:
        done = synced(vault, choosy)
        assert len(done.failed) == 1 and done.failed[0].id == A2 and "\x1b" not in done.failed[0].reason
        assert set(notes(choosy)) == {A1, B1}
    assert counts(synced(vault, server)) == (1, 0, 2, 0)


def test_a_note_of_another_vault_is_let_alone_and_one_that_is_there_twice_is_named(
    vault: Vault, server: ConnectServer
) -> None:
    synced(vault, server)
    for card in ("zzzzzzzzz9", A1):
        note = server.col.new_note(server.col.models.by_name("retain"))
        note["Question"], note["CardId"] = "x", card
        server.col.add_note(note, server.col.decks.id("Other"))
    done = synced(vault, server)
    assert done.plan.twice == (A1,) and done.plan.create == ()


def test_the_notes_of_two_vaults_with_the_same_cards_are_kept_apart(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    settings = vault.root / "retain.toml"
    settings.write_text(settings.read_text().replace(VAULT_ID, VAULT_ID[:-1] + "1"))
    other = open_vault(str(vault.root), None, vault.root)
    assert counts(synced(other, server)) == (3, 0, 0, 0)
    assert server.col.note_count() == 6
    assert counts(synced(other, server)) == counts(synced(vault, server)) == (0, 0, 3, 0)


def test_reviews_here_and_there_are_one_history_in_the_order_of_time(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    rate(open_desk(vault, datetime.now(UTC) - timedelta(hours=1)), A1, Rating.GOOD, via="cli")
    answer(server, A1, 1)
    synced(vault, server)
    state = open_desk(vault, datetime.now(UTC)).state(A1)
    assert state.reps == 2
    assert [int(e.rating) for e in read_log(vault.root).events if e.type in ("review", "import")] == [3, 1]  # type: ignore[attr-defined]


@pytest.mark.parametrize("told", [None, 3, [1, "x"], [{"noteId": 1}], {"x": 1}, [{"noteId": 1, "fields": {}}]])
def test_answers_of_another_form_are_named(vault: Vault, told: Any) -> None:
    class Odd(ConnectServer):
        def do_findNotes(self, query: str) -> Any:
            return told if told in (None, 3) else [1]

        def do_notesInfo(self, notes: list[int]) -> Any:
            return told

    with serving(Odd(None)) as server, pytest.raises(AnkiNotReached, match="unexpected response"):
        synced(vault, server)
    assert not (vault.root / NOTES).exists() and imported(vault) == []


def test_a_review_of_a_card_that_nobody_asked_for_is_refused(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    row = {"id": 1_700_000_000_000, "ease": 3, "time": 1000, "type": 1, "factor": 2500}
    odd_answers: list[Any] = [{"12": [row]}, {"x": []}, [row], {"1": [{**row, "ease": "3"}]}, {"1": [[1]]}]
    for said in odd_answers:

        class Odd(ConnectServer):
            def do_getReviewsOfCards(self, cards: list[int], said: Any = said) -> Any:
                return {str(cards[0]): said["1"]} if isinstance(said, dict) and "1" in said else said

        with serving(Odd(server.col)) as odd, pytest.raises(AnkiNotReached, match="unexpected response"):
            synced(vault, odd)
    assert imported(vault) == []


def test_the_client_is_a_value() -> None:
    assert AnkiConnect("127.0.0.1", 1) == AnkiConnect("127.0.0.1", 1)
