"""What Anki knows of each card outlasts `.retain/`, merges by union, and is taken over from older vaults."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import templates
from compiler.agents.watched import watched
from learning.anki.export_package import export_anki, fields_digest
from learning.anki.note_log import NoteRecord, fold, read_notes
from learning.anki_connect.client import connected
from learning.anki_connect.sync import Synced, sync
from learning.cards.edit import last_edit
from learning.cards.workspace import open_desk
from tests.builders import copy_vault
from tests.commands import retain
from tests.learning.connect_server import ConnectServer, serving
from tests.learning.test_anki import NOON, all_notes, exported, flashcards, rows
from tests.learning.test_anki_import import brought, clock, collection, give_out, take_in
from vault.files.guard import Scope
from vault.ids import CardId, vault_digest
from vault.log.ledger import EDITS, NOTES, decode
from vault.log.older_files import move_older_files
from vault.vault import Vault

CHECKOUT = Path(__file__).resolve().parents[2]
A1, A2, B1 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2"), CardId("bbbbbbbbb1")
VAULT_ID = "01KB0000000000000000000000"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ConnectServer]:
    """A real collection behind an add-on that takes no packages, so that Anki chooses the GUIDs."""
    with collection(tmp_path / "running") as col, serving(ConnectServer(col)) as listening:
        yield listening


def synced(vault: Vault, server: ConnectServer) -> Synced:
    return sync(open_desk(vault, clock()), connected(server.url))


EVENTS = st.fixed_dictionaries(
    {
        "v": st.just(1),
        "type": st.sampled_from(["export", "sync", "create", "suspension", "tags", "of a later version"]),
        "card": st.sampled_from([A1, B1]) | st.integers(),
        "at": st.sampled_from(["1970-01-01T00:00:00.000Z", "9000-01-01T00:00:00.000Z"])
        | st.integers(0, 3).map(lambda n: f"2026-11-21T09:30:0{n}.000Z"),
        "vault": st.sampled_from([vault_digest(VAULT_ID)] * 5 + ["0" * 10]),
    },
    optional={
        "note": st.sampled_from(["one", "two"]) | st.none(),
        "fields": st.sampled_from(["one", "two", "\ud800"]),
        "number": st.sampled_from([1, 2, "3"]),
        "guid": st.sampled_from(["", "a", "b", "\ud800"]),
        "tags": st.lists(st.sampled_from(["exam", "late"]), max_size=2),
    },
)


@given(st.lists(EVENTS, max_size=12), st.randoms(use_true_random=False))
def test_the_state_does_not_depend_on_the_order_of_lines_or_their_repetition(
    events: list[Any], dice: random.Random
) -> None:
    mixed = [*events, *dice.choices(events or [{}], k=len(events))]
    dice.shuffle(mixed)
    assert fold(mixed, VAULT_ID) == fold(events, VAULT_ID)


def test_a_note_given_out_with_other_words_in_one_second_by_two_clones_is_given_out_anew() -> None:
    def event(digest: str) -> dict[str, Any]:
        at = "2026-11-21T09:30:00.000Z"
        facts = {"v": 1, "type": "export", "card": A1, "at": at, "vault": vault_digest(VAULT_ID)}
        return facts | {"note": digest, "fields": digest}

    known = fold([event("one"), event("two"), event("one")], VAULT_ID)[A1]
    assert (known.digest, known.given) == ("", {"one", "two"})


def test_notes_made_by_a_sync_are_known_without_the_folder_that_may_be_deleted(
    vault: Vault, server: ConnectServer, tmp_path: Path
) -> None:
    def forget() -> None:
        shutil.rmtree(vault.root / ".retain", ignore_errors=True)

    synced(vault, server)
    forget()
    assert synced(vault, server).created == [] and server.col.note_count() == 3
    forget()
    assert brought(vault, give_out(server.col, tmp_path / "back.apkg")).notes == {"ours": 3, "strange": 0}
    forget()
    flashcards(vault).write_text(flashcards(vault).read_text().replace("*remembered*", "kept"))
    assert export_anki(open_desk(vault, clock()), tmp_path / "out.apkg").doubled == ()
    take_in(server.col, tmp_path / "out.apkg")
    assert server.col.note_count() == 3
    server.col.remove_notes(server.col.find_notes(f"CardId:{B1}"))
    forget()
    assert synced(vault, server).plan.gone == (B1,)


def test_a_second_export_and_a_second_sync_record_nothing(vault: Vault, server: ConnectServer, tmp_path: Path) -> None:
    synced(vault, server)
    before = vault.read_bytes(NOTES)
    for _ in range(2):
        synced(vault, server)
        export_anki(open_desk(vault, clock()), tmp_path / "out.apkg")
    assert vault.read_bytes(NOTES) == before


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "x")


def test_two_clones_that_both_exported_agree_after_a_merge_and_double_no_note(vault: Vault, tmp_path: Path) -> None:
    for name in ("gitattributes", "gitignore"):
        (vault.root / f".{name}").write_text(templates.read(name))
    git(vault.root, "init", "--initial-branch", "main")
    commit(vault.root)
    other = copy_vault(vault.root, tmp_path / "other" / "vault")
    with collection(tmp_path / "anki") as col:
        take_in(col, exported(vault, NOON))
        flashcards(other).write_text(flashcards(other).read_text().replace("*remembered*", "kept"))
        take_in(col, exported(other, NOON + timedelta(days=1)))
        for one in (vault, other):
            commit(one.root)
        for one, two in ((vault, other), (other, vault)):
            git(one.root, "pull", "--no-rebase", "--no-edit", str(two.root), "main")
        assert read_notes(vault) == read_notes(other)
        after = [exported(each, NOON + timedelta(days=2)) for each in (vault, other)]
        assert after[0].read_bytes() == after[1].read_bytes()
        take_in(col, after[0])
        assert col.note_count() == 3 and "kept" in all_notes(col)[A1]["Answer"]


def test_the_copy_that_a_sync_program_makes_of_the_log_is_read_and_watched(vault: Vault, tmp_path: Path) -> None:
    export_anki(open_desk(vault, clock()), tmp_path / "out.apkg")
    log, known = vault.root / NOTES, read_notes(vault)
    before = watched(vault)
    log.rename(log.with_name("notes.sync-conflict-20261121-093000-ABCDEFG.jsonl"))
    assert known and read_notes(vault) == known
    assert {path for path, _ in set(watched(vault).items()) ^ set(before.items())} == {
        NOTES,
        NOTES.replace("notes", "notes.sync-conflict-20261121-093000-ABCDEFG"),
    }


def test_lines_that_are_torn_or_of_no_sense_do_not_matter(vault: Vault) -> None:
    exported(vault, NOON)
    known, log = read_notes(vault), vault.root / NOTES
    log.write_bytes(b'<<<<<<< mine\n[]\n{"v":1}\n' + log.read_bytes() + b'{"v":1,"type":"expo')
    (log.parent / "notes (copy of a sync program).jsonl").write_bytes(log.read_bytes())
    assert read_notes(vault) == known
    exported(vault, NOON + timedelta(days=1), "b.apkg")
    assert read_notes(vault) == known


# --- what older versions kept in .retain/ -------------------------------------------------------------------------


def older(vault: Vault) -> dict[str, bytes]:
    """Write the files of an older version that exported all cards, synced one, created one and edited one."""
    words = fields_digest(["words in Anki"])
    kept: dict[str, Any] = {
        "anki.json": {A1: ["d1", 1_763_700_000, 1, "x", words], A2: ["d2", 1_763_700_005, 2, "y"], B1: [3]},
        "anki-sync.json": {"vault": f"retain::vault::{vault_digest(VAULT_ID)}", A1: words},
        "anki-notes.json": {A1: [1_763_700_000_123, "g"], A2: [1_763_700_000_124, ""], B1: ["x", ""]},
        "anki-heard.json": {A1: 1_763_700_001, B1: "x"},
    }
    files = {name: json.dumps(value, indent=0).encode() for name, value in kept.items()}
    was = ["What is the spacing effect?", "Spread-out study is *remembered* longer."]
    edits = [(["Zero?", "No."], ["One?", "Yes."]), (["One?", "Yes."], was)]
    lines = [json.dumps({"card": A1, "path": "p", "before": one, "after": two}) for one, two in edits]
    files["card-edits.jsonl"] = ("\n".join([*lines, '{"card": "aaaa']) + "\n").encode()
    (vault.root / ".retain").mkdir(exist_ok=True)
    for name, data in files.items():
        (vault.root / ".retain" / name).write_bytes(data)
    return files


def moved(vault: Vault) -> dict[str, str]:
    return move_older_files(vault.guard(Scope.LOG), VAULT_ID)


def test_what_an_older_version_kept_is_known_before_it_is_moved_and_after(vault: Vault) -> None:
    files = older(vault)
    words = fields_digest(["words in Anki"])
    known = read_notes(vault)
    assert known[A1] == NoteRecord(
        "d1", 1_763_700_000, {"x", words}, {words}, {1_763_700_000_123: "g"}, 1_763_700_001, 1, fields=words
    )
    assert (known[A2].modified, known[A2].lacks_guid, B1 in known) == (1_763_700_005, True, False)
    edit = last_edit(vault, A1)
    assert edit.before.question == "One?"
    assert set(moved(vault)) == {f".retain/{name}" for name in files}
    assert (read_notes(vault), last_edit(vault, A1)) == (known, edit)
    unread = [name for name in files if (vault.root / ".retain" / name).exists()]
    assert unread == ["anki.json", "anki-notes.json", "anki-heard.json", "card-edits.jsonl"], "entries of no sense"
    logs = vault.read_bytes(NOTES), vault.read_bytes(EDITS)
    older(vault)  # as if killed before the files were deleted
    assert set(moved(vault)) == {".retain/anki-sync.json"} and moved(vault) == {}
    assert (vault.read_bytes(NOTES), vault.read_bytes(EDITS)) == logs


# A child that dies just before its nth call that writes, as if by SIGKILL, in a copy of the vault of its own.
_DIE_AT_EACH_CALL = """
import itertools, os, shutil, sys
from pathlib import Path
from vault.files.guard import Guard, Scope
from vault.log.older_files import move_older_files
def dying(real, left):
    def call(*args, **kwargs):
        left[0] -= 1
        if not left[0]:
            os._exit(9)
        return real(*args, **kwargs)
    return call
for number in itertools.count(1):
    copy = Path(f"{sys.argv[1]}-{number}")
    shutil.copytree(sys.argv[1], copy)
    child = os.fork()
    if not child:
        left = [number]
        for name in "write fsync rename link unlink mkdir ftruncate".split():
            setattr(os, name, dying(getattr(os, name), left))
        move_older_files(Guard(copy, Scope.LOG), "01KB0000000000000000000000")
        os._exit(0)
    if not os.waitpid(child, 0)[1]:
        break
print(number)
"""


def test_a_move_that_is_killed_at_any_call_loses_nothing(vault: Vault) -> None:
    older(vault)
    known, edit = read_notes(vault), last_edit(vault, A1)
    script = [sys.executable, "-c", _DIE_AT_EACH_CALL, str(vault.root)]
    tries = int(subprocess.run(script, cwd=CHECKOUT, check=True, capture_output=True, timeout=600).stdout)
    assert tries > 10
    for number in range(1, tries + 1):
        one = replace(vault, root=Path(f"{vault.root}-{number}"))
        assert (read_notes(one), last_edit(one, A1)) == (known, edit)
        moved(one)
        assert (read_notes(one), last_edit(one, A1)) == (known, edit)
        for path in (NOTES, EDITS):
            lines = (one.read_bytes(path) or b"").splitlines()
            assert decode(b"\n".join(lines), path)[1] == [] and len(lines) == len(set(lines))


@pytest.mark.parametrize("damaged", [b"", b"[]", b"{", b"\xff", b'{"aaaaaaaaa1": 1e999}', b"[" * 5000 + b"]"])
def test_a_damaged_older_file_stays_and_holds_nothing(vault: Vault, damaged: bytes) -> None:
    older(vault)
    for name in ("anki.json", "anki-notes.json", "anki-heard.json", "card-edits.jsonl"):
        (vault.root / ".retain" / name).write_bytes(damaged)
    (vault.root / ".retain/anki-sync.json").write_text(f'{{"vault": "retain::vault::of another", "{A1}": "x"}}')
    assert read_notes(vault) == {} and moved(vault) == {}
    assert (vault.root / ".retain/anki.json").read_bytes() == damaged


def test_the_first_command_that_writes_moves_them_and_says_so_once(vault: Vault) -> None:
    older(vault)
    assert "moved" not in retain("due", cwd=vault.root).stderr + retain("upgrade", "--dry-run", cwd=vault.root).stderr
    done = retain("card", "edit", B1, "--answer", "Mixing.", cwd=vault.root)
    line = f"moved from .retain/ to {NOTES} and {EDITS}; commit them to git"
    assert done.code == 0 and done.stderr.count(line) == 1
    assert line not in retain("card", "edit", B1, "--restore", cwd=vault.root).stderr
    assert rows(exported(vault, NOON), "select count(*) from notes") == [(3,)]


def test_upgrade_moves_them_and_has_them_merged_by_union(vault: Vault) -> None:
    older(vault)
    (vault.root / ".gitattributes").write_text("*.x -text\nledger/** merge=union")
    would = retain("upgrade", "--dry-run", cwd=vault.root).stdout
    assert f"would move .retain/anki.json to {NOTES}" in would and (vault.root / ".retain/anki.json").exists()
    done = retain("upgrade", cwd=vault.root)
    assert done.code == 0 and f"moved .retain/card-edits.jsonl to {EDITS}" in done.stdout
    lines = (vault.root / ".gitattributes").read_text().splitlines()
    assert lines[:2] == ["*.x -text", "ledger/** merge=union"]
    assert "learning/anki/*.jsonl text eol=lf merge=union" in lines
    assert not [line for line in lines[2:] if line.startswith("ledger")]
    assert "nothing to do" in retain("upgrade", cwd=vault.root).stdout
