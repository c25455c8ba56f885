"""Which notes in Anki count as ours: those of our GUIDs, and those that a sync wrote down to have made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki, vault_tag
from learning.anki.import_package import ImportReport
from learning.anki.note_log import read_notes
from learning.anki.note_types import BASIC
from learning.anki_connect.client import connected
from learning.anki_connect.sync import Synced, sync
from learning.cards.workspace import open_desk
from tests.learning.anki_packages import brought_in
from tests.learning.connect_server import ConnectServer, serving
from tests.learning.test_anki_import import answer, clock, collection, give_out, on_the_phone, take_in
from vault.ids import CardId
from vault.log.ledger import NOTES
from vault.vault import Vault, open_vault

A1, A2, B1 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2"), CardId("bbbbbbbbb1")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ConnectServer]:
    """A real collection behind an add-on that takes no packages: notes are made one by one, with GUIDs of Anki's."""
    with collection(tmp_path / "running") as col, serving(ConnectServer(col)) as listening:
        yield listening


def synced(vault: Vault, server: ConnectServer) -> Synced:
    return sync(open_desk(vault, clock()), connected(server.url))


def brought(vault: Vault, path: Path, **options: Any) -> ImportReport:
    return brought_in(vault, path, clock(), **options)


def doubled(vault: Vault) -> set[CardId]:
    return set(export_anki(open_desk(vault, clock()), vault.root.parent / "doubled.apkg").doubled)


def edit(vault: Vault, old: str, new: str) -> None:
    file = vault.root / "learning/flashcards/spacing-effect.md"
    file.write_text(file.read_text().replace(old, new))


def forged(folder: Path, vault: Vault) -> Path:
    """A stranger's deck of our note type, with our tag and ids of our cards, and reviews."""
    with collection(folder / "forger") as col:
        take_in(col, on_the_phone(vault, folder))
        model = col.models.by_name(BASIC.name)
        for card in (A1, B1):
            note = col.new_note(model)
            note["Question"], note["CardId"], note.tags = "q", card, [vault_tag(vault.settings.vault_id)]
            col.add_note(note, 1)
        col.remove_notes([id_ for id_ in col.find_notes("") if not col.get_note(id_).tags[0].startswith("retain::v")])
        assert len(col.find_notes("")) == 2
        answer(col, 1, 6)
        return give_out(col, folder / "forged.apkg")


def test_a_forged_deck_passes_no_reviews_off_as_ours(vault: Vault, tmp_path: Path) -> None:
    path = forged(tmp_path, vault)
    decks = {p: p.read_bytes() for p in (vault.root / "learning/flashcards").iterdir()}
    report = brought(vault, path)
    assert report.notes == {"ours": 0, "strange": 0} and report.reviews["added"] == 0
    assert [r.reason.partition(",")[0] for r in report.reported] == ["2 notes are marked as coming from this vault"]
    assert {p: p.read_bytes() for p in (vault.root / "learning/flashcards").iterdir()} == decks


def test_notes_that_a_sync_made_one_by_one_are_ours_in_a_package(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    synced(vault, server)
    numbers = {card: list(one.created) for card, one in read_notes(vault).items()}
    assert numbers == {card: server.col.find_notes(f"CardId:{card}") for card in (A1, A2, B1)}
    answer(server.col, 2, 5)
    report = brought(vault, give_out(server.col, tmp_path / "back.apkg"))
    assert (report.notes, report.reviews["added"]) == ({"ours": 3, "strange": 0}, 5)
    assert len(synced(vault, server).home.new) == 0
    (vault.root / NOTES).unlink()
    report = brought(vault, tmp_path / "back.apkg")
    assert (report.notes, report.reviews["added"]) == ({"ours": 0, "strange": 0}, 0)


def test_once_a_package_has_told_their_guids_an_export_doubles_no_note(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    synced(vault, server)
    assert doubled(vault) == {A1, A2, B1}
    brought(vault, give_out(server.col, tmp_path / "back.apkg"), dry_run=True)
    assert doubled(vault) == {A1, A2, B1}
    brought(vault, tmp_path / "back.apkg")
    assert doubled(vault) == set()
    edit(vault, "*remembered*", "kept")
    export_anki(open_desk(vault, clock()), tmp_path / "out.apkg")
    take_in(server.col, tmp_path / "out.apkg")
    assert len(server.col.find_notes("")) == 3
    assert [one.card for one, _ in synced(vault, server).plan.update] == [A1]  # Anki keeps to its own note type
    (id_,) = server.col.find_notes(f"CardId:{A1}")
    assert "kept" in server.col.get_note(id_)["Answer"]


def test_a_card_exported_but_not_imported_is_no_edit_of_anki_s(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    take_in(server.col, on_the_phone(vault, tmp_path))
    edit(vault, "*remembered*", "kept")
    on_the_phone(vault, tmp_path)  # never taken in
    done = synced(vault, server)
    assert (done.plan.edited, [one.card for one, _ in done.plan.update]) == ((), [A1])
    (id_,) = server.col.find_notes(f"CardId:{A1}")
    note = server.col.get_note(id_)
    assert "kept" in note["Answer"]
    note["Answer"] = "mine"
    server.col.update_note(note)
    assert synced(vault, server).plan.edited == (A1,)


def test_notes_of_another_vault_are_named_and_go_back_to_anki_from_neither(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    server.imports = True
    synced(vault, server)
    root = tmp_path / "other"
    (root / "learning/flashcards").mkdir(parents=True)
    (root / "ledger").mkdir()
    settings = (vault.root / "retain.toml").read_text()
    (root / "retain.toml").write_text(settings.replace(vault.settings.vault_id, vault.settings.vault_id[:-1] + "1"))
    (root / "learning/flashcards/own.md").write_text("Q: My own?\nA: Yes.\n<!-- card zzzzzzzzz9 -->\n")
    other = open_vault(str(root), None, tmp_path)
    assert len(synced(other, server).created) == 1
    both = give_out(server.col, tmp_path / "both.apkg")
    for each, count in ((vault, "1 note comes"), (other, "3 notes come")):
        report = brought(each, both)
        assert [r.reason.partition(" from another")[0] for r in report.reported if "another vault" in r.reason] == [
            count
        ]
    for each in (vault, other):
        done = synced(each, server)
        assert done.created == [] and done.left_out
    assert server.col.note_count() == 4
