"""`retain guard audit` and `retain guard status` as a human uses them: what they say, what they do, how they exit."""

from __future__ import annotations

import itertools
import json
import random
import re
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.guard import diff
from cli.main import run as run_command
from vault.audit.database import newest
from vault.config.settings import read_settings
from vault.config.user import CONFIG, config_folder, state_folder

SECRET = "what only I may read"


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Said]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], vault: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """One command line, in this process, in the vault."""
    monkeypatch.chdir(vault)

    def command(*arguments: str) -> Said:
        capsys.readouterr()
        code = run_command(list(arguments))
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return command


@pytest.fixture
def vault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Path]:
    """A vault with a personal vault beside it, a note or two in each of the human's folders, and no look taken yet."""
    root = tmp_path / "vault"
    assert run_command(["init", str(root), "--personal", str(tmp_path / "mine"), "--no-git"]) == 0
    for name, text in (("mine/own.md", SECRET), ("mine/deep/b.md", "b\n"), ("vault/raw/articles/a.md", "one\ntwo\n")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    database(root).unlink()  # `init` took the first look
    capsys.readouterr()
    yield root


@pytest.fixture
def mine(vault: Path) -> Path:
    return vault.parent / "mine"


@pytest.fixture
def watched(call: Call) -> None:
    """The first look has been taken."""
    assert call("guard", "audit").code == 0


def database(vault: Path) -> Path:
    settings, _ = read_settings((vault / "retain.toml").read_text(encoding="utf-8"))
    return newest(settings.vault_id)


def test_the_first_look_says_so_and_a_look_at_what_did_not_change_says_that(call: Call, vault: Path) -> None:
    first = call("guard", "audit")
    assert first.code == 0 and "Baseline created: 3 files backed up" in first.err and first.out == ""
    again = call("guard", "audit")
    assert again.code == 0 and "No changes in 3 files" in again.err
    assert vault not in database(vault).parents


@pytest.mark.usefixtures("watched")
def test_each_change_is_a_line_and_the_exit_code_tells(call: Call, vault: Path, mine: Path) -> None:
    (mine / "own.md").write_text("gone", encoding="utf-8")
    (mine / "deep/b.md").rename(mine / "b.md")
    (vault / "raw/articles/a.md").unlink()
    (vault / "raw/new.md").write_text("new", encoding="utf-8")
    said = call("guard", "audit")
    assert said.code == 1
    lines = {line.split(None, 1)[0]: line for line in said.out.splitlines()}
    assert lines.keys() == {"changed", "moved", "vanished", "appeared"}
    assert str(mine / "own.md") in lines["changed"] and "  4 bytes; 20 bytes on 20" in lines["changed"]
    assert f"{mine}/b.md  was {mine}/deep/b.md" in lines["moved"]
    assert "raw/articles/a.md" in lines["vanished"] and "raw/new.md" in lines["appeared"]
    assert "--restore" in said.err and "4 changes" in said.err
    told = call("guard", "audit", "--json")
    assert told.code == 1 and told.json["unconfirmed"] == 4
    assert {(c["id"], c["path"]) for c in told.json["changes"]} == {
        ("changed", str(mine / "own.md")),
        ("moved", str(mine / "b.md")),
        ("vanished", "raw/articles/a.md"),
        ("appeared", "raw/new.md"),
    }
    assert all(isinstance(c["line"], int) and c["reason"] for c in told.json["changes"])


@pytest.mark.usefixtures("watched")
def test_restore_puts_back_and_leaves_what_appeared_until_it_is_named(call: Call, vault: Path, mine: Path) -> None:
    (mine / "own.md").write_text("gone", encoding="utf-8")
    (mine / "deep/b.md").rename(mine / "b.md")
    new = vault / "raw/new.md"
    new.write_text("new", encoding="utf-8")
    said = call("guard", "audit", "--restore")
    assert said.code == 1 and "appeared  raw/new.md" in said.out
    assert f"restored  {mine}/own.md" in said.out and f"removed   {mine}/b.md" in said.out
    assert (mine / "own.md").read_text(encoding="utf-8") == SECRET
    assert (mine / "deep/b.md").exists() and not (mine / "b.md").exists() and new.exists()
    assert call("guard", "audit", "--restore", "raw").code == 1 and new.exists(), "a folder does not name it"
    said = call("guard", "audit", "--restore", "raw/new.md")
    assert said.code == 0 and "removed   raw/new.md" in said.out and not new.exists()
    undone = call("guard", "audit", "--undo")
    assert undone.code == 1 and new.read_text(encoding="utf-8") == "new"


@pytest.mark.usefixtures("watched")
def test_accept_is_the_humans_word_for_one_path_or_for_all(
    call: Call, vault: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (mine / "x.md", mine / "deep/y.md", vault / "raw/z.md"):
        path.write_text("x", encoding="utf-8")
    said = call("guard", "audit", "--accept", "raw/z.md")
    assert said.code == 1 and "accepted  raw/z.md" in said.out
    monkeypatch.chdir(mine / "deep")
    said = call("guard", "audit", "--vault", str(vault), "--accept", "y.md")
    assert said.code == 1 and f"accepted  {mine}/deep/y.md" in said.out
    said = call("guard", "audit", "--vault", str(vault), "--accept", "--json")
    assert said.code == 0 and said.json["accepted"] == [str(mine / "x.md")] and said.json["unconfirmed"] == 0
    assert call("guard", "audit", "--vault", str(vault)).code == 0


@pytest.mark.usefixtures("watched")
def test_several_things_to_do_at_once_are_a_mistake_and_none_is_done(call: Call, mine: Path) -> None:
    """The last one used to win: `--restore --accept` confirmed every change."""
    (mine / "own.md").write_text("gone", encoding="utf-8")
    for pair in itertools.permutations(("--restore", "--accept", "--diff", "--undo"), 2):
        said = call("guard", "audit", *pair)
        assert said.code == 2 and all(word in said.err for word in pair) and said.out == ""
    assert (mine / "own.md").read_text(encoding="utf-8") == "gone"
    assert call("guard", "audit", "--json").json["unconfirmed"] == 1


@pytest.mark.usefixtures("watched")
def test_a_difference_in_json_is_in_the_one_object(call: Call, vault: Path, mine: Path) -> None:
    said = call("guard", "audit", "--diff", "--json")
    assert said.code == 0 and said.json["changes"] == []
    (vault / "raw/articles/a.md").write_text("one\n2\n", encoding="utf-8")
    (mine / "bytes").write_bytes(b"\0\xff")
    said = call("guard", "audit", "--diff", "--json")
    assert said.code == 1
    told = {each["path"]: (each["kind"], each["diff"]) for each in said.json["changes"]}
    assert told["raw/articles/a.md"][0] == "changed" and "-two\n+2\n" in told["raw/articles/a.md"][1]
    assert told[str(mine / "bytes")][0] == "appeared" and "not text" in told[str(mine / "bytes")][1]
    said = call("guard", "audit", "--diff", "--json", "raw")
    assert [each["path"] for each in said.json["changes"]] == ["raw/articles/a.md"]
    assert all("diff" not in each for each in call("guard", "audit", "--json").json["changes"])


@pytest.mark.usefixtures("watched")
def test_a_path_at_which_nothing_changed_is_a_mistake(call: Call) -> None:
    said = call("guard", "audit", "--restore", "raw/articles/a.md")
    assert said.code == 2 and "nothing has changed there" in said.err
    assert call("guard", "audit", "--undo", "raw").code == 2
    assert call("guard", "audit", "--undo").code == 2


@pytest.mark.usefixtures("watched")
def test_a_difference_is_shown_line_by_line_and_harmless(
    call: Call, vault: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault / "raw/articles/a.md").write_text("one\nt\x1b]52;c;wo\x07\n", encoding="utf-8")
    said = call("guard", "audit", "--diff", "raw/articles/a.md")
    assert said.code == 1
    assert said.out.splitlines()[:2] == ["--- raw/articles/a.md (recorded)", "+++ raw/articles/a.md (now)"]
    assert "-two" in said.out and "+t\ufffd]52;c;wo\ufffd" in said.out and "\x1b" not in said.out
    (mine / "own.md").chmod(0o600)
    (mine / "deep/b.md").unlink()
    (mine / "bytes").write_bytes(b"\0\xff")
    said = call("guard", "audit", "--diff")
    assert "mode 0644 became 0600" in said.out and "-b" in said.out and "not text" in said.out
    monkeypatch.setattr(diff, "MAX_LINES", 1)
    assert "too long" in call("guard", "audit", "--diff", "raw/articles/a.md").out


@pytest.mark.usefixtures("watched")
def test_what_cannot_be_reached_is_said_in_that_word_and_restored_only_by_force(call: Call, mine: Path) -> None:
    away = mine.with_name("away")
    mine.rename(away)
    said = call("guard", "audit", "--restore")
    assert said.code == 1 and said.out.startswith("unavailable  ") and str(mine) in said.out
    assert not mine.exists()
    told = call("guard", "audit", "--json").json
    assert [one["path"] for one in told["unreachable"]] == [str(mine)] and told["changes"] == []
    mine.mkdir()
    assert "unavailable" in call("guard", "audit", "--restore").out
    assert call("guard", "audit", "--restore", "--force").code == 0
    assert (mine / "own.md").read_text(encoding="utf-8") == SECRET


@pytest.mark.usefixtures("watched")
def test_a_damaged_database_is_left_named_and_replaced(call: Call, vault: Path) -> None:
    path = database(vault)
    path.write_bytes(b"garbage" * 1_000)
    said = call("guard", "audit")
    assert said.code == 0 and str(path) in said.err and "Baseline created" in said.err and "new baseline" in said.err
    assert path.read_bytes() == b"garbage" * 1_000 and database(vault).name == "copies-2.sqlite3"
    assert call("guard", "audit").code == 0


def test_what_add_copies_is_confirmed_and_what_anything_else_lays_there_is_not(
    call: Call, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "first.md").write_text("first", encoding="utf-8")
    (tmp_path / "paper.md").write_text("paper", encoding="utf-8")
    assert call("add", str(tmp_path / "first.md")).code == 0
    assert not database(vault).exists(), "before the first look there is nothing to confirm"
    call("guard", "audit")
    assert call("add", str(tmp_path / "paper.md")).code == 0
    assert call("guard", "audit").code == 0
    (vault / "raw/articles/forged.md").write_text("forged", encoding="utf-8")
    said = call("guard", "audit")
    assert said.code == 1 and len(said.out.splitlines()) == 1 and "forged" in said.out


def test_an_add_whose_file_cannot_be_confirmed_is_done_all_the_same(call: Call, vault: Path, tmp_path: Path) -> None:
    call("guard", "audit")
    database(vault).write_bytes(b"garbage" * 1_000)
    (tmp_path / "paper.md").write_text("paper", encoding="utf-8")
    said = call("add", str(tmp_path / "paper.md"))
    assert said.code == 0 and "guard audit" in said.err
    assert (vault / "raw/articles/paper.md").exists()


def test_an_agent_may_not_audit_and_hears_of_no_personal_vault(
    call: Call, vault: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("guard", "audit")
    monkeypatch.setenv("RETAIN_CAGED", "1")
    for words in (["guard", "audit"], ["guard", "audit", "--accept"]):
        assert call(*words).code == 3
    for words in (["status"], ["status", "--json"], ["guard", "status"], ["guard", "status", "--json"]):
        said = call(*words)
        assert said.code == 0, said.err
        assert str(mine) not in said.out + said.err and SECRET not in said.out + said.err
    assert call("guard", "status", "--json").json["vault"]["personal"] == {"path": None, "reachable": False}


def test_the_status_of_the_guard_is_whole_and_says_when_the_last_look_was(call: Call, vault: Path, mine: Path) -> None:
    said = call("guard", "status")
    assert said.code == 0 and "not scanned yet" in said.out and str(mine) in said.out
    assert "wiki, output, learning/flashcards, .retain/work" in said.out
    call("guard", "audit")
    (mine / "own.md").unlink()
    call("guard", "audit")
    quarantine = vault / "output/quarantine/run"
    quarantine.mkdir(parents=True)
    (quarantine / "page.md").write_text("x", encoding="utf-8")
    said = call("guard", "status")
    assert re.search(r"your files: 2, last scanned on \d{4}-\d\d-\d\d \d\d:\d\d; 1 change not accepted", said.out)
    assert "1 file by agents in output/quarantine/" in said.out
    facts = call("guard", "status", "--json").json
    assert facts["level"] in ("full", "bubblewrap", "landlock", "none")
    assert facts["vault"] == {"root": str(vault), "personal": {"path": str(mine), "reachable": True}}
    assert facts["last_look"]["changes"] == 1 and facts["runs"] == [] and facts["quarantined"] == 1


def test_the_state_is_in_the_users_own_folder_and_nothing_of_it_in_a_vault(
    call: Call, vault: Path, mine: Path, own_home: Path
) -> None:
    call("status")  # makes the index, which is in the vault
    before = {str(path) for folder in (vault, mine) for path in folder.rglob("*")}
    call("guard", "audit")
    call("guard", "audit")
    assert {str(path) for folder in (vault, mine) for path in folder.rglob("*")} == before
    assert own_home in state_folder(database(vault).parent.name).parents
    assert own_home in (config_folder() / CONFIG).parents


@pytest.mark.usefixtures("watched")
def test_a_full_disk_is_told_and_nothing_is_half_done(call: Call, mine: Path, vault: Path) -> None:
    (mine / "large.md").write_bytes(random.Random(1).randbytes(400_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (database(vault).stat().st_size + 50_000, before[1]))
    try:
        said = call("guard", "audit", "--accept")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert said.code == 3 and "not written" in said.err and str(database(vault)) in said.err
    again = call("guard", "audit")
    assert again.code == 1 and "large.md" in again.out
    assert call("guard", "audit", "--accept").code == 0
