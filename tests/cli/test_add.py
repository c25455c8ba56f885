"""`retain add` copies what was meant, names what it could not copy, and records the authority of what it did."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
RETAIN = Path(sys.executable).parent / "retain"


@pytest.fixture
def vault(run: Run, tmp_path: Path) -> Path:
    assert run("init", "library/vault", "--no-git").code == 0
    (tmp_path / "library/paper.md").write_text("# Sleep")
    (tmp_path / "library/vault/insights/mine.md").write_text("what I think")
    (tmp_path / "library/vault/raw/articles/old.md").write_text("# Old")
    return tmp_path / "library" / "vault"


def raw(vault: Path) -> list[str]:
    return sorted(p.relative_to(vault).as_posix() for p in (vault / "raw").rglob("*") if p.is_file())


def authorities(vault: Path) -> list[str]:
    file = vault / "ledger/decisions.jsonl"
    events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return sorted(e["path"] for e in events if e["type"] == "authority")


def test_the_folder_around_a_vault_is_added_without_the_vault(run: Run, vault: Path) -> None:
    other = vault.parent / "other"
    (other / "insights").mkdir(parents=True)
    (other / "retain.toml").write_text("")
    (other / "insights/theirs.md").write_text("what they think")
    done = run("add", "..", "--json", cwd=vault)
    assert done.code == 0 and done.json["added"] == ["raw/articles/paper.md"]
    assert raw(vault) == ["raw/articles/old.md", "raw/articles/paper.md"]
    assert "vault: a vault, left out" in done.err and "other: a vault, left out" in done.err


def test_the_vault_is_known_by_what_it_is_not_by_its_settings_or_name(run: Run, vault: Path) -> None:
    moved = vault.parent / "shelf"
    moved.symlink_to(vault)
    done = run("add", str(vault.parent), "--json", env={"RETAIN_VAULT": str(moved)})
    assert done.code == 0 and raw(vault) == ["raw/articles/old.md", "raw/articles/paper.md"]


def test_a_vault_is_not_a_source(run: Run, vault: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "retain.toml").write_text("")
    (other / "note.md").write_text("x")
    done = run("add", str(other), cwd=vault)
    assert done.code == 2 and "a vault" in done.err
    assert run("add", str(other / "note.md"), cwd=vault).code == 0
    assert run("add", str(vault), cwd=vault).code == 2


def test_one_file_that_cannot_be_read_does_not_end_the_add(run: Run, vault: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    for name in ("a.md", "z.md"):
        (given / name).write_text(f"# {name}")
    os.mkfifo(tmp_path / "pipe.md")
    (given / "m.md").write_text("# m")
    (given / "m.md").chmod(0)
    sources = ["given"] if os.geteuid() else ["given/a.md", "given/z.md"]
    unreadable = "m.md" if os.geteuid() else "pipe.md"
    if not os.geteuid():  # root reads everything, so a file that is none stands for it
        (given / "m.md").unlink()
        sources.insert(1, "pipe.md")
    done = run("add", *sources, "--authority", "2", "--json", cwd=tmp_path, env={"RETAIN_VAULT": str(vault)})
    assert done.code == 1, done.err
    assert [p.rsplit("/", 1)[-1] for p in done.json["added"]] == ["a.md", "z.md"]
    (refused,) = done.json["refused"]
    assert unreadable in refused["path"] and refused["reason"] and unreadable in done.err
    assert authorities(vault) == ["raw/articles/a.md", "raw/articles/z.md"]


def test_what_was_added_before_an_interruption_has_its_authority(vault: Path, tmp_path: Path) -> None:
    given = tmp_path / "many"
    given.mkdir()
    for n in range(3000):
        (given / f"{n:04}.md").write_text(f"# {n}")
    adding = subprocess.Popen([RETAIN, "add", str(given), "--authority", "3"], cwd=vault, stderr=subprocess.PIPE)
    with adding:
        while len(raw(vault)) < 20:
            time.sleep(0.01)
        adding.send_signal(signal.SIGINT)
        adding.communicate(timeout=60)
    assert adding.returncode == 130
    added = [p for p in raw(vault) if "/0" in p or "/1" in p or "/2" in p]
    assert set(authorities(vault)) <= set(added)
    assert len(added) - len(authorities(vault)) <= 1 and len(added) < 3000
