"""A card edited here and in Anki: nothing is overwritten until the user has decided in the inbox, which shows both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.anki_connect.client import connected
from learning.anki_connect.sync import Synced, sync
from learning.cards.workspace import open_desk
from tests.learning.connect_server import ConnectServer, serving
from tests.learning.test_anki_import_strangers import add, brought, made
from vault.errors import EditedMeanwhile, NotFound, Refused
from vault.ids import CardId
from vault.inbox.decisions import decide, undo
from vault.inbox.events import Choice
from vault.inbox.listing import items
from vault.vault import Vault

B1 = CardId("bbbbbbbbb1")
HERE, THERE = "Mixing kinds of task in one go.", "Mixing <b>many</b> kinds and topics."
DECK = "learning/flashcards/interleaving.md"


@pytest.fixture
def server(vault: Vault, tmp_path: Path) -> Iterator[ConnectServer]:
    """Anki with the vault's cards, of which one was then edited there and here."""
    from anki.collection import Collection

    col = Collection(str(tmp_path / "collection.anki2"))
    with serving(ConnectServer(col)) as listening:
        synced(vault, listening)
        note = card_there(listening)
        note["Answer"] = THERE
        col.update_note(note)
        file = vault.root / DECK
        file.write_text(file.read_text().replace("Mixing kinds of problem in one sitting.", HERE))
        yield listening
    col.close()


def synced(vault: Vault, server: ConnectServer, **options: Any) -> Synced:
    return sync(open_desk(vault, datetime.now(UTC)), connected(server.url), **options)


def card_there(server: ConnectServer) -> Any:
    (number,) = server.col.find_notes(f"CardId:{B1}")
    return server.col.get_note(number)


def answer_here(vault: Vault) -> str:
    return open_desk(vault, datetime.now(UTC)).card(B1).card.answer


def test_an_edit_on_both_sides_waits_in_the_inbox_with_both_texts(vault: Vault, server: ConnectServer) -> None:
    for _ in range(2):
        done = synced(vault, server)
        assert [note.card for _, note in done.plan.conflicts] == [B1] and not done.plan.update
        (item,) = items(vault)
        assert HERE in item.views[0].mine and "Mixing **many** kinds and topics." in item.views[0].offered
    assert card_there(server)["Answer"] == THERE and answer_here(vault) == HERE


def test_keeping_the_words_of_here_sends_them(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    decide(vault, [items(vault)[0].id], Choice.KEEP, datetime.now(UTC))
    assert items(vault) == []
    synced(vault, server)
    assert card_there(server)["Answer"] == HERE and answer_here(vault) == HERE
    assert items(vault) == [] and not synced(vault, server).plan.conflicts


def test_accepting_ankis_words_takes_them_and_can_be_undone(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    before = (vault.root / DECK).read_bytes()
    decide(vault, [items(vault)[0].id], Choice.ACCEPT, datetime.now(UTC))
    assert answer_here(vault) == "Mixing **many** kinds and topics."
    undo(vault, datetime.now(UTC) + timedelta(seconds=1))
    assert (vault.root / DECK).read_bytes() == before and len(items(vault)) == 1
    decide(vault, [items(vault)[0].id], Choice.ACCEPT, datetime.now(UTC) + timedelta(seconds=2))
    synced(vault, server)
    assert "many" in card_there(server)["Answer"] and items(vault) == []
    assert not synced(vault, server).plan.conflicts


def test_another_edit_in_anki_asks_again_and_the_same_words_settle_it(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    old = items(vault)[0].id
    note = card_there(server)
    note["Answer"] = "Something else."
    server.col.update_note(note)
    synced(vault, server)
    (item,) = items(vault)
    assert item.id != old and "Something else." in item.views[0].offered
    with pytest.raises(NotFound):
        decide(vault, [old], Choice.KEEP, datetime.now(UTC))
    note["Answer"] = HERE
    server.col.update_note(note)
    synced(vault, server)
    assert items(vault) == []


def test_an_edit_while_the_user_decides_is_not_lost(vault: Vault, server: ConnectServer) -> None:
    synced(vault, server)
    shown = items(vault)[0].id
    file = vault.root / DECK
    file.write_text(file.read_text().replace(HERE, "A third wording."))
    with pytest.raises((NotFound, EditedMeanwhile)):
        decide(vault, [shown], Choice.ACCEPT, datetime.now(UTC))
    assert answer_here(vault) == "A third wording."


def test_an_edit_of_an_imported_cloze_is_not_taken_for_question_and_answer(vault: Vault, tmp_path: Path) -> None:
    from anki.collection import Collection

    brought(vault, made(tmp_path, lambda col: add(col, "Cloze", ["{{c1::one}} and more"])))
    with closing(Collection(str(tmp_path / "mine.anki2"))) as col, serving(ConnectServer(col)) as server:
        synced(vault, server, imported=True)
        note = col.get_note(col.find_notes("more")[0])
        note["Text"] = "{{c1::one}} and much more"
        col.update_note(note)
        (deck,) = {path for path in (vault.root / "learning/flashcards").glob("*.md") if "and more" in path.read_text()}
        deck.write_text(deck.read_text().replace("and more", "and less"))
        synced(vault, server, imported=True)
        (item,) = items(vault)
        with pytest.raises(Refused, match="cloze"):
            decide(vault, [item.id], Choice.ACCEPT, datetime.now(UTC))
        decide(vault, [item.id], Choice.KEEP, datetime.now(UTC))
        synced(vault, server, imported=True)
        assert col.get_note(note.id)["Text"] == "{{c1::one}} and less"
