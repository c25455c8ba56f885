"""The index files: opened as they were left, made anew in any doubt, in the cache folder of a read-only vault."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from vault.errors import Refused
from vault.index.database import IndexDamaged, IndexUnwritable, Schema, open_database
from vault.index.place import index_root, is_on_network
from vault.vault import Vault, open_vault

SCHEMA = Schema("words", 1, "CREATE TABLE word(text TEXT PRIMARY KEY, n INTEGER NOT NULL);")


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "v"
    root.mkdir()
    (root / "retain.toml").write_text(
        '[vault]\nschema = "2.3.0"\nid = "01J000000000000000000000AA"\n', encoding="utf-8"
    )
    return open_vault(str(root), None, tmp_path)


def _filled(vault: Vault, schema: Schema = SCHEMA) -> bool:
    """Open the index and fill it if need be; return whether it was empty."""
    with open_database(vault, schema) as database:
        is_empty = not database.rows("SELECT 1 FROM word")
        if is_empty:
            database.run("INSERT INTO word VALUES('one', 1)")
        return is_empty


def _words(vault: Vault) -> list[tuple[object, ...]]:
    with open_database(vault, SCHEMA) as database:
        return database.rows("SELECT * FROM word ORDER BY text")


def _file(vault: Vault) -> Path:
    return vault.root / ".retain/words.sqlite3"


def test_what_was_filled_and_changed_is_there_the_next_time(vault: Vault) -> None:
    assert _filled(vault)
    with open_database(vault, SCHEMA) as database:
        database.run("INSERT INTO word VALUES('two', 2)")
    assert not _filled(vault)
    assert _words(vault) == [("one", 1), ("two", 2)]


@pytest.mark.parametrize("where", [0, 100, 4096, 5000, -1])
def test_a_flipped_byte_makes_it_anew(vault: Vault, where: int) -> None:
    _filled(vault)
    data = bytearray(_file(vault).read_bytes())
    data[where] ^= 0xFF
    _file(vault).write_bytes(data)
    assert _filled(vault)
    assert _words(vault) == [("one", 1)]


def test_a_copy_of_another_vault_makes_it_anew(vault: Vault, tmp_path: Path) -> None:
    _filled(vault)
    other = tmp_path / "other"
    shutil.copytree(vault.root, other)
    with sqlite3.connect(_file(vault)) as connection:
        connection.execute("UPDATE word SET n = 9")
    connection.close()
    assert _filled(vault)
    assert _filled(open_vault(str(other), None, other))


def test_another_version_makes_it_anew(vault: Vault) -> None:
    _filled(vault)
    assert _filled(vault, Schema("words", 2, SCHEMA.tables))
    assert _filled(vault)


def test_other_tables_make_it_anew(vault: Vault) -> None:
    _filled(vault)
    assert _filled(vault, Schema("words", 1, SCHEMA.tables + "CREATE TABLE more(x);"))


def test_a_killed_writer_loses_what_it_had_not_committed_and_nothing_else(vault: Vault) -> None:
    _filled(vault)
    code = """
import os, sys
from pathlib import Path
from tests.vault.test_index import SCHEMA
from vault.index.database import open_database
from vault.vault import open_vault
database = open_database(open_vault(sys.argv[1], None, Path()), SCHEMA)
database.run("INSERT INTO word VALUES('two', 2)")
with database.transaction():
    database.run("INSERT INTO word VALUES('three', 3)")
    os.kill(os.getpid(), 9)
"""
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", code, str(vault.root)], cwd=root, check=False)
    assert killed.returncode == -9
    assert not _filled(vault)
    assert _words(vault) == [("one", 1), ("two", 2)]


def test_two_that_are_open_see_each_others_commits(vault: Vault) -> None:
    _filled(vault)
    with open_database(vault, SCHEMA) as one, open_database(vault, SCHEMA) as other:
        one.run("INSERT INTO word VALUES('two', 2)")
        assert len(other.rows("SELECT * FROM word")) == 2
        other.run("INSERT INTO word VALUES('three', 3)")
        assert len(one.rows("SELECT * FROM word")) == 3
    assert not _filled(vault)
    assert len(_words(vault)) == 3


def test_a_block_that_fails_changes_nothing(vault: Vault) -> None:
    _filled(vault)
    with open_database(vault, SCHEMA) as database:
        with pytest.raises(ZeroDivisionError), database.transaction():
            database.run("INSERT INTO word VALUES('two', 2)")
            raise ZeroDivisionError
        assert len(database.rows("SELECT * FROM word")) == 1


def test_what_sqlite_finds_damaged_is_empty_when_it_is_opened_again(vault: Vault) -> None:
    _filled(vault)
    with pytest.raises(IndexDamaged), open_database(vault, SCHEMA) as database:
        database.rows("SELECT * FROM no_such_table")
    assert _filled(vault)


def test_one_that_another_connection_writes_is_busy_and_no_worse_for_it(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault.index.database._WAIT_S", 0.1)
    _filled(vault)
    with open_database(vault, SCHEMA) as one, open_database(vault, SCHEMA) as other, one.transaction():
        with pytest.raises(IndexUnwritable):
            other.run("INSERT INTO word VALUES('two', 2)")
        other.close()  # waits for nobody
        one.run("INSERT INTO word VALUES('three', 3)")
    assert _words(vault) == [("one", 1), ("three", 3)]


def test_where_the_disk_is_full_a_copy_in_memory_serves(vault: Vault) -> None:
    _filled(vault)
    code = """
import resource, signal, sys
from pathlib import Path
from tests.vault.test_index import SCHEMA
from vault.index.database import IndexUnwritable, open_database
from vault.vault import open_vault
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, 16_384))
vault = open_vault(sys.argv[1], None, Path())
try:
    with open_database(vault, SCHEMA) as database:
        database.run_many("INSERT INTO word VALUES(?, 1)", ((f"{n} of many",) for n in range(5_000)))
except IndexUnwritable:
    with open_database(vault, SCHEMA) as database:
        database.run_many("INSERT INTO word VALUES(?, 1)", ((f"{n} of many",) for n in range(5_000)))
        print(database.is_stored, database.one("SELECT count(*) FROM word WHERE text LIKE '% of many'"))
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code, str(vault.root)], cwd=root, capture_output=True, check=False)
    assert done.stdout == b"False (5000,)\n", done.stderr
    assert _words(vault) in ([("one", 1)], []), "unchanged, or empty"


def test_a_stamp_that_is_no_file_counts_for_nothing(vault: Vault) -> None:
    _filled(vault)
    stamp = vault.root / ".retain/words.sqlite3.stamp"
    stamp.unlink()
    os.mkfifo(stamp)
    assert _filled(vault)


@pytest.mark.parametrize("name", ["words.sqlite3", "words.sqlite3-wal"])
def test_a_link_in_its_place_is_not_followed(vault: Vault, tmp_path: Path, name: str) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"")
    _filled(vault)
    (vault.root / ".retain" / name).unlink(missing_ok=True)
    (vault.root / ".retain" / name).symlink_to(theirs)
    _filled(vault)
    assert theirs.read_bytes() == b""


def test_the_folder_as_a_link_leaves_what_it_leads_to(vault: Vault, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "words.sqlite3").write_text("mine", encoding="utf-8")
    (vault.root / ".retain").symlink_to(theirs)
    assert _filled(vault)
    assert (theirs / "words.sqlite3").read_text(encoding="utf-8") == "mine"


def test_settings_that_are_only_tried_leave_no_index(vault: Vault) -> None:
    tried = Vault(vault.root, vault.settings, keeps_caches=False)
    assert _filled(tried)
    assert not (vault.root / ".retain").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_of_a_read_only_vault_it_is_in_the_users_cache_folder(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    vault.root.chmod(0o500)
    try:
        assert _filled(vault)
        assert not _filled(vault)
        assert not (vault.root / ".retain").exists()
    finally:
        vault.root.chmod(0o700)


def test_where_the_vault_cannot_be_written_the_cache_folder_is_its_place(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("vault.index.place.is_writable", lambda root: False)
    assert _filled(vault)
    assert not _filled(vault)
    assert not (vault.root / ".retain").exists()
    made = index_root(vault)
    assert made.is_relative_to(tmp_path / "cache")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_where_nothing_can_be_written_the_vaults_own_index_is_read(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _filled(vault)
    before = _file(vault).read_bytes()
    (tmp_path / "no-folder").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-folder"))
    monkeypatch.setattr("vault.index.place.is_writable", lambda root: False)
    assert _words(vault) == [("one", 1)]
    with open_database(vault, SCHEMA) as database:
        database.run("INSERT INTO word VALUES('two', 2)")
    assert _file(vault).read_bytes() == before
    _file(vault).write_bytes(before)
    assert _filled(vault)


MOUNTS = """
22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home/shared rw - nfs4 server:/x rw
33 22 0:43 / /mnt/my\\040nas rw - cifs //server/x rw
31 30 0:41 / /home/shared/local rw - ext4 /dev/sdb1 rw
32 22 0:42 / /mnt/far rw - fuse.sshfs user@host: rw
"""


@pytest.mark.parametrize(
    ("root", "far"),
    [
        ("/home/me/v", False),
        ("/home/shared/v", True),
        ("/home/shared/local/v", False),
        ("/home/sharedness", False),
        ("/mnt/far", True),
        ("/mnt/my nas/v", True),
    ],
)
def test_a_network_file_system_is_recognized_by_the_mount_above(root: str, far: bool) -> None:
    assert is_on_network(Path(root), MOUNTS.strip()) is far


def test_only_files_of_the_folder_for_what_can_be_made_again_are_deleted_unread(vault: Vault) -> None:
    from vault.files.guard import Scope

    with pytest.raises(Refused):
        vault.guard(Scope.LOG).discard("ledger/ids.jsonl")
