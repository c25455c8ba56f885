"""What `retain doctor` sees of the process that reads documents: shut in by the same call, and each mutant noticed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli import doctor
from cli.main import run
from tests.jail.shut_in import need_filter, need_landlock
from vault.jail import landlock

FAIL, SUCCEED = "fail", "succeed"


@pytest.fixture
def vaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A vault, where one stands, beside a personal one with a note."""
    need_landlock(3)
    need_filter()
    assert run(["init", str(tmp_path / "vault"), "--no-git", "--personal", str(tmp_path / "mine")]) == 0
    (tmp_path / "mine/note.md").write_text("my own\n")
    monkeypatch.chdir(tmp_path / "vault")
    capsys.readouterr()
    return tmp_path


@pytest.fixture
def examine(capsys: pytest.CaptureFixture[str]) -> Callable[[], tuple[int, Any]]:
    """The exit code of `retain doctor`, and what it says as JSON."""

    def call() -> tuple[int, Any]:
        code = run(["doctor", "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def tree(root: Path) -> dict[str, bytes | None]:
    return {str(p): p.read_bytes() if p.is_file() else None for p in root.rglob("*") if ".retain" not in p.parts}


def test_what_the_process_that_reads_documents_promises_is_tried(
    vaults: Path, examine: Callable[[], tuple[int, Any]]
) -> None:
    before = tree(vaults)
    code, found = examine()
    assert code == 0 and found["findings"] == []
    tried = found["guard"]["reading"]
    assert [(each["act"], each["where"], each["must"]) for each in tried] == [
        ("write", f"{vaults}/mine", FAIL),
        ("list", f"{vaults}/mine", FAIL),
        ("read", f"{vaults}/mine/note.md", FAIL),
        ("socket", "", FAIL),
        ("local socket", "", FAIL),
        ("process", "", FAIL),
        ("list", f"{vaults}/vault/raw", SUCCEED),
    ]
    assert all(each["free"] for each in tried), "it is the jail that refused it"
    assert {each["error"] for each in tried[:5]} == {"Permission denied (EACCES)"}
    assert tried[5]["error"] == "Operation not permitted (EPERM)" and tried[6]["error"] == ""
    assert tree(vaults) == before, "nothing stays"


def test_insights_in_the_vault_are_tried_as_the_personal_vault_is(
    vaults: Path, examine: Callable[[], tuple[int, Any]]
) -> None:
    (vaults / "vault/insights").mkdir(exist_ok=True)
    _, found = examine()
    tried = [(each["act"], each["where"]) for each in found["guard"]["reading"] if each["error"]]
    assert {("write", f"{vaults}/vault/insights"), ("list", f"{vaults}/vault/insights")} <= {*tried}
    assert {("write", f"{vaults}/mine"), ("list", f"{vaults}/mine")} <= {*tried}


def test_it_is_said_in_words_what_was_tried_and_no_more(vaults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor"]) == 0
    said = capsys.readouterr().out
    assert f"must fail     read {vaults}/mine/note.md: Permission denied (EACCES)\n" in said
    assert "must fail     start a process: Operation not permitted (EPERM)\n" in said
    assert f"must succeed  list {vaults}/vault/raw: done\n" in said and "not before" not in said


# How the jail is weakened, and what the process could do then, or could not.
_REAL = "real = {0}\n{0} = lambda *w, **o: real("
_MUTANTS = {
    "it is not shut in at all": (
        "self_jail.restrict_worker = lambda raw: self_jail.Jail(7, True)",
        ["write", "list", "read", "socket", "local socket", "process"],
    ),
    "it may read everything": (
        f"{_REAL.format('landlock.restrict')}*w, **o | {{'readable': None}})",
        ["list", "read"],
    ),
    "it may write everywhere": (f"{_REAL.format('landlock.restrict')}['/'], **o)", ["write", "list", "read"]),
    "it may make sockets": (
        f"{_REAL.format('seccomp.forbid_escapes')}**o | {{'sockets': True}})",
        ["socket", "local socket"],
    ),
    "it may start processes": (f"{_REAL.format('seccomp.forbid_escapes')}**o | {{'company': True}})", ["process"]),
    "it may not read its documents": (f"{_REAL.format('self_jail.restrict_worker')}None)", ["raw"]),
}


@pytest.mark.parametrize("mutant", _MUTANTS)
def test_a_jail_that_lost_a_part_is_a_finding(
    vaults: Path, examine: Callable[[], tuple[int, Any]], monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    change, passed = _MUTANTS[mutant]
    script = f"from vault.jail import landlock, seccomp, self_jail, trial\n{change}\ntrial.main()"
    monkeypatch.setattr(doctor, "_READER", (sys.executable, "-I", "-c", script, "reader"))
    before = tree(vaults)
    code, found = examine()
    assert code == 1 and {each["code"] for each in found["findings"]} == {"jail-open"}
    wrong = [each for each in found["guard"]["reading"] if bool(each["error"]) is not (each["must"] == FAIL)]
    assert ["raw" if each["must"] == SUCCEED else each["act"] for each in wrong] == passed
    assert len(found["findings"]) == len(passed)
    assert ("could not list" if passed == ["raw"] else "could ") in found["findings"][0]["message"]
    assert tree(vaults) == before, "what it could write is taken away at once"


_SPEAKING_MUTANTS = {
    "it is not shut in at all": (
        "self_jail.restrict_speaker = lambda: self_jail.Jail(7, True)",
        {"write", "list", "read", "process"},
    ),
    "it may read everything": (
        f"{_REAL.format('landlock.restrict')}*w, **o | {{'readable': None}})",
        {"list", "read"},
    ),
    "it may start processes": (f"{_REAL.format('seccomp.forbid_escapes')}**o | {{'company': True}})", {"process"}),
    "it has no network": (f"{_REAL.format('seccomp.forbid_escapes')}**o | {{'sockets': False}})", {"socket"}),
}


def test_what_speaks_to_a_model_reaches_the_network_and_no_file_of_the_humans(
    vaults: Path, examine: Callable[[], tuple[int, Any]]
) -> None:
    code, found = examine()
    tried = found["guard"]["speaking"]
    assert code == 0 and {each["act"] for each in tried} == {"write", "list", "read", "process", "socket"}
    assert all(bool(each["error"]) is (each["must"] == FAIL) for each in tried)
    assert all(each["free"] for each in tried)


@pytest.mark.parametrize("mutant", _SPEAKING_MUTANTS)
def test_a_jail_of_the_speaking_process_that_lost_a_part_is_a_finding(
    vaults: Path, examine: Callable[[], tuple[int, Any]], monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    change, passed = _SPEAKING_MUTANTS[mutant]
    script = f"from vault.jail import landlock, seccomp, self_jail, trial\n{change}\ntrial.main()"
    monkeypatch.setattr(doctor, "_SPEAKER", (sys.executable, "-I", "-c", script, "speaker"))
    before = tree(vaults)
    code, found = examine()
    assert code == 1 and {each["code"] for each in found["findings"]} == {"jail-open"}
    wrong = {each["act"] for each in found["guard"]["speaking"] if bool(each["error"]) is not (each["must"] == FAIL)}
    assert wrong == passed and "speaks to a model" in found["findings"][0]["message"]
    assert tree(vaults) == before


def test_what_could_not_be_done_before_either_is_said_to_show_nothing(
    vaults: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "import os; from vault.jail import trial\nos.access = lambda *_: False\ntrial.main()"
    monkeypatch.setattr(doctor, "_READER", (sys.executable, "-I", "-c", script, "reader"))
    assert run(["doctor"]) == 0
    said = capsys.readouterr().out
    assert f"write in {vaults}/mine: Permission denied (EACCES) (not before it was shut in, either)\n" in said


@pytest.mark.parametrize("script", ["raise SystemExit('no memory')", "print('nonsense')"])
def test_a_trial_that_tells_nothing_is_a_finding(
    vaults: Path, examine: Callable[[], tuple[int, Any]], monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(doctor, "_READER", (sys.executable, "-I", "-c", script))
    code, found = examine()
    assert code == 1 and [each["code"] for each in found["findings"]] == ["not-proved"]
    assert found["guard"]["reading"] == []


def test_where_nothing_is_shut_in_nothing_is_tried(
    vaults: Path, examine: Callable[[], tuple[int, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    assert examine()[1]["guard"]["reading"] == []
