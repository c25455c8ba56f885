"""Two vaults: the human's own beside the agents', named by `init`, known to this user on this machine alone."""

from __future__ import annotations

import errno
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.guard import audit
from cli.main import run as run_command
from tests.cli.test_auditing import Said
from vault.config.personal import checked_apart
from vault.config.user import CONFIG, config_folder, personal_vault, state_folder
from vault.errors import Damaged, Refused, UsageError
from vault.files.guard import Scope
from vault.vault import open_vault

ID = "01JD0000000000000000000000"
Call = Callable[..., Said]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Said:
        capsys.readouterr()
        code = run_command(list(arguments))
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return command


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(p): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def test_init_makes_both_and_writes_the_place_of_one_nowhere_in_the_other(call: Call, tmp_path: Path) -> None:
    said = call("init", "know", "--personal", "notes", "--no-git")
    assert said.code == 0 and str(tmp_path / "notes") in said.err
    assert list((tmp_path / "notes").iterdir()) == []
    assert not (tmp_path / "know/insights").exists()
    held = b"".join(data or b"" for data in tree(tmp_path / "know").values())
    assert os.fsencode(tmp_path / "notes") not in held
    vault = open_vault(str(tmp_path / "know"), None, tmp_path)
    assert vault.personal == tmp_path / "notes"
    settings = tomllib.loads((config_folder() / CONFIG).read_text(encoding="utf-8"))
    assert settings == {"vaults": {vault.settings.vault_id: {"personal": str(tmp_path / "notes")}}}


def test_the_audit_begins_with_the_vault(call: Call, tmp_path: Path) -> None:
    """One that was never begun would protect nothing."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("a", encoding="utf-8")
    said = call("init", "know", "--personal", "notes", "--no-git")
    assert said.code == 0 and "1 file with backups" in said.err
    (tmp_path / "notes/a.md").write_text("changed", encoding="utf-8")
    assert "changed" in call("guard", "audit", "--vault", "know").out
    assert call("init", "plain", "--no-git").code == 0
    (tmp_path / "plain/insights/x.md").write_text("x", encoding="utf-8")
    assert "appeared" in call("guard", "audit", "--vault", "plain").out
    said = call("init", "plain", "--personal", "others")
    (tmp_path / "others/y.md").write_text("y", encoding="utf-8")
    assert f"appeared  {tmp_path}/others/y.md" in call("guard", "audit", "--vault", "plain").out


def test_many_files_are_left_to_the_human_but_not_before_an_agent(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_QUICK", (1, 1 << 20))
    (tmp_path / "notes").mkdir()
    for name in ("a.md", "b.md"):
        (tmp_path / "notes" / name).write_text("a", encoding="utf-8")
    assert "run `retain guard audit` once" in call("init", "know", "--personal", "notes", "--no-git").err
    vault = open_vault(str(tmp_path / "know"), None, tmp_path)
    assert audit.first_look(vault) and not audit.first_look(vault)
    (tmp_path / "notes/a.md").unlink()
    assert "vanished" in call("guard", "audit", "--vault", "know").out


def test_a_first_look_that_fails_is_told_and_stops_nothing(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "know/output"))
    said = call("init", "know", "--no-git")
    assert said.code == 0 and "could not start" in said.err and "inside a vault" in said.err


def test_notes_that_stay_in_insights_are_named_until_they_are_moved(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call("init", "know", "--no-git")
    for name in ("a.md", "b.md", ".gitkeep"):
        (tmp_path / "know/insights" / name).write_text("mine", encoding="utf-8")
    words = f"agents can still read 2 notes in insights/; move them to {tmp_path}/notes"
    assert words in call("init", "know", "--personal", "notes").err
    assert words in call("status", "--vault", "know").err
    audit.before_agent(open_vault(str(tmp_path / "know"), None, tmp_path))
    assert words in capsys.readouterr().err
    monkeypatch.setenv("RETAIN_CAGED", "1")
    assert "agents can still read" not in call("status", "--vault", "know").err
    monkeypatch.delenv("RETAIN_CAGED")
    for name in ("a.md", "b.md"):
        (tmp_path / "know/insights" / name).rename(tmp_path / "notes" / name)
    assert "agents can still read" not in call("status", "--vault", "know").err


def test_without_it_insights_are_in_the_vault_and_no_settings_are_made(call: Call, tmp_path: Path) -> None:
    assert call("init", "know", "--no-git").code == 0
    assert (tmp_path / "know/insights").is_dir() and not config_folder().exists()
    assert call("status", "--vault", "know", "--json").json["vault"]["personal"] is None
    assert "insights/" in call("status", "--vault", "know").out


def test_a_vault_of_notes_that_is_there_already_is_not_touched(call: Call, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / ".obsidian").mkdir(parents=True)
    (notes / ".obsidian/app.json").write_text("{}", encoding="utf-8")
    (notes / "a.md").write_text("a", encoding="utf-8")
    before = tree(notes)
    assert call("init", "know", "--personal", "notes", "--no-git").code == 0
    assert tree(notes) == before


def test_on_another_machine_only_the_settings_change(call: Call, tmp_path: Path) -> None:
    call("init", "know", "--no-git")
    assert call("status", "--vault", "know").code == 0
    before = tree(tmp_path / "know")
    said = call("init", "know", "--personal", "notes")
    assert said.code == 0 and "on this machine" in said.err
    assert tree(tmp_path / "know") == before
    assert call("init", "know", "--personal", "notes").code == 0, "the same once more"
    said = call("init", "know", "--personal", "others")
    assert said.code == 3 and "notes" in said.err and not (tmp_path / "others").exists()
    assert call("init", "know").code == 3, "without --personal it is a vault already"


def test_status_shows_both_and_whether_one_can_be_reached(call: Call, tmp_path: Path) -> None:
    call("init", "know", "--personal", "notes", "--no-git")
    assert str(tmp_path / "notes") in call("status", "--vault", "know").out
    (tmp_path / "notes").rmdir()
    assert "unavailable" in call("status", "--vault", "know").out
    told = call("status", "--vault", "know", "--json").json["vault"]
    assert told["personal"] == {"path": str(tmp_path / "notes"), "reachable": False}


def test_settings_that_are_not_there_are_a_finding_and_commands_go_on(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user, another machine, a lost settings file: what is to be hidden from agents is not known."""
    call("init", "know", "--personal", "notes", "--no-git")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.chdir(tmp_path / "know")
    words = "not known on this machine"
    for command in (["status"], ["guard", "status"]):
        said = call(*command)
        assert said.code == 0 and words in said.out and words in said.err and "--personal" in said.err
    assert call("status", "--json").json["vault"]["personal"] == {"path": None, "reachable": False}
    said = call("doctor", "--json")
    assert said.code == 1 and "personal-unknown" in [each["code"] for each in said.json["findings"]]
    said = call("guard", "audit")
    assert said.code == 1 and "no personal vault is set" in said.out
    assert call("due").code == 0
    said = call("guard", "run", "--", "cat", str(tmp_path / "notes/secret.md"))
    assert said.code == 125 and words in said.err and "--personal" in said.err
    monkeypatch.setenv("RETAIN_CAGED", "1")
    for command in (["status"], ["guard", "status"]):
        said = call(*command)
        assert "not available in" in said.out and words not in said.out + said.err, "there, it must not be known"
    monkeypatch.delenv("RETAIN_CAGED")
    (tmp_path / "know/insights").mkdir()
    assert words not in call("status").out + call("guard", "status").err


def test_a_wrong_line_for_another_vault_stops_nobody(call: Call, tmp_path: Path) -> None:
    call("init", "know", "--personal", "notes", "--no-git")
    with (config_folder() / CONFIG).open("a", encoding="utf-8") as file:
        file.write(f'[vaults.{ID}]\npersonal = "~/notes"\n')
    said = call("status", "--vault", "know")
    assert said.code == 0 and str(tmp_path / "notes") in said.out


@pytest.mark.parametrize("code", [errno.EACCES, errno.ENOTCONN, errno.EIO])
def test_a_disk_that_died_is_not_reachable_and_no_defect(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    call("init", "know", "--personal", "notes", "--no-git")
    real = os.stat

    def dead(path: Any, *rest: Any, **more: Any) -> os.stat_result:
        if str(path).startswith(str(tmp_path / "notes")):
            raise OSError(code, os.strerror(code), str(path))
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "stat", dead)
    for words in (["status"], ["guard", "status"]):
        said = call(*words, "--vault", "know")
        assert said.code == 0 and "unavailable" in said.out, said.err
    found = call("doctor", "--vault", "know", "--json")
    assert found.code == 1 and "personal-unreachable" in [each["code"] for each in found.json["findings"]]
    vault = open_vault(str(tmp_path / "know"), None, tmp_path)
    vault.guard(Scope.LOG).append("learning/reviews.jsonl", b"{}\n")


PLACES = ("know", "know/wiki", "know/output/x", "know/learning", "know/.retain/x", "know/raw/articles", "know/insights")


@pytest.mark.parametrize("place", [*PLACES, "know/new", "know/../know/wiki", ".", "link", "link/deep", "other/wiki/x"])
def test_neither_vault_lies_in_the_other(call: Call, tmp_path: Path, place: str) -> None:
    call("init", "other", "--no-git")
    (tmp_path / "know").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "know/wiki")
    (tmp_path / "know/wiki").mkdir()
    before = tree(tmp_path)
    said = call("init", "know", "--adopt", "--personal", place, "--no-git")
    assert said.code == 3 and place in said.err
    assert tree(tmp_path) == before and not config_folder().exists()


@pytest.mark.parametrize(
    "place", ["/", "~", "~/..", "/etc", "/etc/notes", "/usr/share/notes", "/proc/self", "~/.config/retain"]
)
def test_a_place_that_is_no_vaults_is_refused(call: Call, tmp_path: Path, own_home: Path, place: str) -> None:
    said = call("init", "know", "--personal", place, "--no-git")
    assert said.code == 3 and place in said.err
    assert not (tmp_path / "know").exists() and not config_folder().exists()


def test_the_folders_that_retain_keeps_for_itself_are_no_place(tmp_path: Path) -> None:
    for place in (config_folder(), config_folder().parent, state_folder(ID), state_folder(ID).parent / "x"):
        with pytest.raises(Refused):
            checked_apart(tmp_path / "know", place, ID)


def test_a_file_is_no_folder_and_a_name_that_is_no_text_cannot_be_taken_down(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert call("init", "know", "--personal", "file", "--no-git").code == 2
    with pytest.raises(UsageError):
        checked_apart(tmp_path / "know", tmp_path / "caf\udce9", ID)


def test_folders_beside_each_other_are_fine_whatever_they_are_called(tmp_path: Path) -> None:
    for given in ("know-2", "knowledge", "kno", "a b", "~x", "日記"):
        assert checked_apart(tmp_path / "know", tmp_path / given, ID) == tmp_path / given


def test_a_link_is_resolved_so_that_nobody_can_turn_it_elsewhere_later(call: Call, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert call("init", "know", "--personal", "link", "--no-git").code == 0
    vault = open_vault(str(tmp_path / "know"), None, tmp_path)
    assert vault.personal == tmp_path / "real"


def test_agents_get_no_new_vault_in_or_around_a_personal_one(call: Call, tmp_path: Path) -> None:
    assert call("init", "know", "--personal", "mine/notes", "--no-git").code == 0
    for place in ("mine/notes/agents", "mine/notes", "mine"):
        said = call("init", place, "--adopt", "--no-git")
        assert said.code == 3 and "personal" in said.err
    assert list((tmp_path / "mine/notes").iterdir()) == []


def test_settings_that_cannot_be_read_stop_what_writes_and_name_the_line(call: Call, tmp_path: Path) -> None:
    call("init", "know", "--personal", "notes", "--no-git")
    path = config_folder() / CONFIG
    path.write_text("[vaults\n", encoding="utf-8")
    (tmp_path / "a.md").write_text("a", encoding="utf-8")
    said = call("add", "--vault", "know", "a.md")
    assert said.code == 3 and f"{path}:1" in said.err
    with pytest.raises(Damaged):
        open_vault(str(tmp_path / "know"), None, tmp_path).guard(Scope.PUBLISHER)


@pytest.mark.parametrize(("kind", "name"), [("anki", "deck.apkg"), ("csv", "cards.csv")])
def test_an_export_does_not_go_into_the_personal_vault(call: Call, tmp_path: Path, kind: str, name: str) -> None:
    call("init", "know", "--personal", "notes", "--no-git")
    (tmp_path / "notes/deep").mkdir()
    for place in (f"notes/{name}", f"notes/deep/{name}"):
        assert call("export", kind, "--vault", "know", place).code == 3
        assert not (tmp_path / place).exists()
    assert call("export", kind, "--vault", "know", name).code == 0
    assert (tmp_path / name).exists()


def test_a_hand_for_the_personal_vault_writes_there_and_no_other_does(call: Call, tmp_path: Path) -> None:
    call("init", "know", "--personal", "notes", "--no-git")
    vault = open_vault(str(tmp_path / "know"), None, tmp_path)
    assert vault.guard(Scope.PERSONAL).write("a.md", b"a", expect=None)
    assert (tmp_path / "notes/a.md").read_bytes() == b"a"
    (tmp_path / "know/wiki/concepts").rmdir()
    (tmp_path / "notes").rename(tmp_path / "know/wiki/concepts")  # as a bind mount of it there would look
    (tmp_path / "notes").symlink_to(tmp_path / "know/wiki/concepts")
    with pytest.raises(Refused):
        vault.guard(Scope.PUBLISHER).write("wiki/concepts/b.md", b"b", expect=None)
    assert personal_vault(vault.settings.vault_id) == tmp_path / "notes"


def test_without_a_personal_vault_there_is_no_hand_for_it(call: Call, tmp_path: Path) -> None:
    call("init", "know", "--no-git")
    with pytest.raises(Refused, match="--personal"):
        open_vault(str(tmp_path / "know"), None, tmp_path).guard(Scope.PERSONAL)
