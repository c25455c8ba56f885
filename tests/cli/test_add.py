"""`retain add` copies what was meant, names what it could not copy, and records the authority of what it did."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.commands import SCRIPT, Run, on_terminal
from tests.sandbox.den import wait_for


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
    assert done.code == 0 and done.json()["added"] == ["raw/articles/paper.md"]
    assert raw(vault) == ["raw/articles/old.md", "raw/articles/paper.md"]
    assert "skipped in ..: other, vault (a vault)" in done.stderr


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
    assert done.code == 2 and "a vault" in done.stderr
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
    assert done.code == 1, done.stderr
    assert [p.rsplit("/", 1)[-1] for p in done.json()["added"]] == ["a.md", "z.md"]
    (refused,) = done.json()["refused"]
    assert unreadable in refused["path"] and refused["reason"] and unreadable in done.stderr
    assert authorities(vault) == ["raw/articles/a.md", "raw/articles/z.md"]


def many_files(folder: Path, count: int) -> Path:
    """Return `folder` with so many small files, some in a folder of their own."""
    (folder / "deep/er").mkdir(parents=True)
    for n in range(count):
        (folder / ("deep/er" if n % 2 else "") / f"{n:04}.md").write_text(f"# {n}")
    return folder


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_an_add_that_is_stopped_leaves_nothing_half_added(vault: Path, tmp_path: Path, ending: signal.Signals) -> None:
    given = many_files(tmp_path / "many", 3000)
    (vault / "raw/articles/0001.md").write_text("# mine")
    before = raw(vault)
    adding = subprocess.Popen(
        [SCRIPT, "add", str(given), "--yes", "--authority", "3"], cwd=vault, stderr=subprocess.PIPE
    )
    with adding:
        wait_for(lambda: len(raw(vault)) >= 20, "twenty copies")
        adding.send_signal(ending)
        _, told = adding.communicate(timeout=600)
    assert adding.returncode == 130 and b"stopped: removing the" in told
    assert raw(vault) == before and not (vault / "raw/articles/deep").exists()
    assert authorities(vault) == [] and (vault / "raw/articles/0001.md").read_text() == "# mine"


def test_the_add_after_a_killed_one_completes_and_records_it(run: Run, vault: Path, tmp_path: Path) -> None:
    given = many_files(tmp_path / "many", 1500)
    with subprocess.Popen([SCRIPT, "add", str(given)], cwd=vault, stderr=subprocess.PIPE) as adding:
        wait_for(lambda: len(raw(vault)) >= 20, "twenty copies")
        adding.kill()
    copied = [p for p in raw(vault) if "/." not in p]
    assert len(copied) < 1500 and all((vault / p).read_text().startswith("# ") for p in copied)
    done = run("add", str(given), "--json", cwd=vault)
    assert done.code == 0 and len(done.json()["added"]) + len(done.json()["unchanged"]) == 1500
    events = [json.loads(line) for line in (vault / "ledger/decisions.jsonl").read_text().splitlines()]
    recorded = [path for event in events if event["type"] == "added" for path in event["paths"]]
    assert sorted(recorded) == [p for p in raw(vault) if p != "raw/articles/old.md"]


def test_many_files_are_counted_and_copied_only_on_request(run: Run, vault: Path, tmp_path: Path) -> None:
    given = many_files(tmp_path / "many", 2001)
    before = raw(vault)
    asked = run("add", str(given), cwd=vault)
    assert asked.code == 2 and "2,001 files" in asked.stderr and "--yes" in asked.stderr and raw(vault) == before
    big = tmp_path / "big.pdf"
    with big.open("wb") as file:
        file.truncate(600_000_000)  # takes no room until it is copied
    asked = run("add", str(big), "--json", cwd=vault)
    assert asked.code == 2 and "1 file, 600.0 MB" in json.loads(asked.stderr)["what"] and raw(vault) == before
    with big.open("wb") as file:
        file.truncate(1 << 43)
    refused = run("add", str(big), "--yes", cwd=vault)
    assert refused.code == 3 and "not enough disk space for 1 file, 8796.1 GB" in refused.stderr
    assert raw(vault) == before


def test_what_is_in_the_vault_already_is_not_asked_about_again(run: Run, vault: Path, tmp_path: Path) -> None:
    given = many_files(tmp_path / "many", 2001)
    assert run("add", str(given), "--yes", cwd=vault).code == 0
    (given / "new.md").write_text("# New\n")
    again = run("add", str(given), cwd=vault)
    assert again.code == 0 and any(name.endswith("new.md") for name in raw(vault)), again.stderr


def test_a_link_to_a_great_folder_is_asked_about(vault: Path, tmp_path: Path) -> None:
    many_files(tmp_path / "many", 2001)
    (tmp_path / "link").symlink_to(tmp_path / "many")
    shown = on_terminal("add", str(tmp_path / "link"), cwd=vault, typed="n\n", NO_COLOR="1")
    assert re.search(r"Copy 2,001 files, \d+\.\d kB into raw/\? \[y/N\]", shown) and "nothing was added" in shown
    assert raw(vault) == ["raw/articles/old.md"]


def test_what_a_folder_holds_and_is_left_out_is_named(run: Run, vault: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    (given / "deep/.obsidian").mkdir(parents=True)
    (given / "a.md").write_text("# a")
    (given / "deep/.draft.md").write_text("# draft")
    (given / "linked.md").symlink_to(given / "a.md")
    (given / "elsewhere").symlink_to(tmp_path)
    os.mkfifo(given / "pipe.md")
    done = run("add", str(given), "--json", cwd=vault)
    assert done.code == 0 and done.json()["added"] == ["raw/articles/a.md"]
    skipped = {one["path"].removeprefix(f"{given}/"): one["reason"] for one in done.json()["skipped"]}
    assert skipped == {
        "elsewhere": "a link",
        "linked.md": "a link",
        "pipe.md": "not a regular file",
        "deep/.obsidian": "hidden",
        "deep/.draft.md": "hidden",
    }
    (line,) = [line for line in done.stderr.splitlines() if "skipped in" in line]
    assert all(path in line for path in skipped) and "elsewhere, linked.md (a link)" in line


def test_pictures_of_notes_stay_beside_them_and_pictures_alone_go_to_images(
    run: Run, vault: Path, tmp_path: Path
) -> None:
    for folder in ("notes/img", "photos"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "notes/one.md").write_text("![](img/a.png)")
    (tmp_path / "notes/numbers.csv").write_text("a,b")
    run("add", str(tmp_path / "notes"), str(tmp_path / "photos"), cwd=vault)
    assert set(raw(vault)) - {"raw/articles/old.md"} == {
        "raw/articles/one.md",
        "raw/articles/img/a.png",
        "raw/datasets/numbers.csv",
        "raw/images/a.png",
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [("", "the name is empty"), ("www.example.org/foo", "with https://"), ("example.org/foo", "with https://")],
)
def test_a_name_that_is_no_file_is_told_as_what_it_may_be(run: Run, vault: Path, given: str, words: str) -> None:
    done = run("add", given, cwd=vault)
    assert done.code == 2 and words in done.stderr and raw(vault) == ["raw/articles/old.md"]
    assert "https" not in run("add", "notes/foo.md", cwd=vault).stderr


def test_nothing_added_has_nothing_next(run: Run, vault: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    done = run("add", str(tmp_path / "pipe.md"), cwd=vault)
    assert done.code == 1 and "0 added" in done.stderr and "next" not in done.stderr
    assert "next: `retain compile`" in run("add", str(vault.parent / "paper.md"), cwd=vault).stderr


def test_the_ledger_knows_when_files_were_copied_in(run: Run, vault: Path) -> None:
    for _ in range(2):
        assert run("add", str(vault.parent / "paper.md"), cwd=vault).code == 0
    events = [json.loads(line) for line in (vault / "ledger/decisions.jsonl").read_text().splitlines()]
    assert [(e["type"], e["paths"]) for e in events] == [("added", ["raw/articles/paper.md"])]


def test_pictures_that_a_document_shows_and_that_are_not_there_are_named(run: Run, vault: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text(
        '# Sleep\n\n![a](img/one.png) ![[two.jpg]] <img src="three.svg"> ![far](https://example.org/4.png)\n'
    )
    (tmp_path / "two.jpg").write_bytes(b"\xff\xd8\xff")
    done = run("add", str(note), str(tmp_path / "two.jpg"), cwd=vault)
    assert done.code == 0
    assert "raw/articles/note.md: 2 pictures not in raw/: img/one.png, three.svg" in done.stderr
    assert "add their files or their folder with `retain add`" in done.stderr
    again = run("add", str(note), "--json", cwd=vault)
    assert again.json()["missing"] == []  # it was there already
