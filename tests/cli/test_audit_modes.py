"""`retain guard audit` sees the mode of the human's folders, and gives back what nobody may read any more."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from cli.main import run as retain
from vault.audit.database import newest
from vault.config.settings import read_settings

RETAIN = [str(Path(sys.executable).parent / "retain")]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path) -> Path:
    """A vault, its personal vault beside it, that the audit has looked at."""
    root, personal = tmp_path / "vault", tmp_path / "notes"
    (personal / "deep").mkdir(parents=True)
    assert retain(["init", str(root), "--no-git", "--personal", str(personal)]) == 0
    for path in (root / "raw/articles/a.md", personal / "deep/b.md"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("words\n")
    monkeypatch.chdir(root)
    assert retain(["guard", "audit", "--accept"]) == 0
    return root


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("name", [".", "raw", "raw/articles", "../notes", "../notes/deep"])
def test_the_mode_of_a_folder_is_seen_restored_accepted_and_undone(
    vault: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(os.path.normpath(vault / name))
    before = mode(folder)
    folder.chmod(0o777)
    capsys.readouterr()
    assert retain(["guard", "audit", "--json"]) == 1
    change = json.loads(capsys.readouterr().out)["changes"]
    shown = str(folder) if name.startswith("..") else name
    assert [(each["kind"], each["path"]) for each in change] == [("mode", shown)] and "0777" in change[0]["reason"]
    assert retain(["guard", "audit", "--restore", name]) == 0 and mode(folder) == before
    assert retain(["guard", "audit"]) == 0
    assert retain(["guard", "audit", "--undo"]) == 1 and mode(folder) == 0o777
    assert retain(["guard", "audit", "--accept", name]) == 0
    assert retain(["guard", "audit"]) == 0 and mode(folder) == 0o777


def test_folders_that_come_and_go_are_no_change(vault: Path) -> None:
    (vault / "raw/new").mkdir()
    assert retain(["guard", "audit"]) == 0
    (vault / "raw/new").rmdir()
    assert retain(["guard", "audit"]) == 0
    (vault / "raw/new").mkdir(mode=0o700)
    assert retain(["guard", "audit"]) == 0


def test_what_an_older_retain_knew_is_kept(vault: Path) -> None:
    """Its database has no modes of folders: they are known from the first look on."""
    path = newest(read_settings((vault / "retain.toml").read_text(), "retain.toml")[0].vault_id)
    with closing(sqlite3.connect(path)) as database:
        database.executescript("DROP TABLE folder; PRAGMA user_version=1;")
    (vault / "raw").chmod(0o777)
    assert retain(["guard", "audit"]) == 0
    (vault / "raw").chmod(0o700)
    (vault / "raw/articles/a.md").unlink()
    assert retain(["guard", "audit", "--restore"]) == 0
    assert mode(vault / "raw") == 0o777 and (vault / "raw/articles/a.md").read_text() == "words\n"


def unprivileged(*words: str) -> subprocess.CompletedProcess[str]:
    """The command as somebody whom a mode can shut out."""
    less = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
    start = less if os.geteuid() == 0 else []
    return subprocess.run([*start, *RETAIN, *words], capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may read everything")
def test_what_nobody_may_read_any_more_is_restored(vault: Path, tmp_path: Path) -> None:
    closed = [tmp_path / "notes/deep/b.md", tmp_path / "notes/deep", vault / "raw"]
    before = [mode(path) for path in closed]
    closed[0].chmod(0)
    done = unprivileged("guard", "audit")
    assert done.returncode == 1 and f"mode      {closed[0]}" in done.stdout and "unread" not in done.stdout
    assert unprivileged("guard", "audit", "--restore").returncode == 0 and mode(closed[0]) == before[0]
    for path in closed:
        path.chmod(0)
    done = unprivileged("guard", "audit", "--restore")
    assert [mode(path) for path in closed[1:]] == before[1:], done.stdout + done.stderr
    unprivileged("guard", "audit", "--restore")  # what was in them is seen now
    assert [mode(path) for path in closed] == before
    done = unprivileged("guard", "audit")
    assert done.returncode == 0, done.stdout + done.stderr
