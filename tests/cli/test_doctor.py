"""`retain doctor`: what it proves, what it finds, what it asks once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cli.main import run
from cli.maintenance import doctor as checks
from tests.commands import SCRIPT
from tests.sandbox.shut_in import need_landlock
from vault.config.settings import SCHEMA_VERSION
from vault.ids import CardId
from vault.locks import lock
from vault.log.events import Rating, Review, Stamp, encode
from vault.sandbox import capabilities, landlock, selftest
from vault.sandbox.capabilities import Level, SandboxSupport

DEADLINE_S = 120.0


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A new vault, and the working directory."""
    assert run(["init", str(tmp_path / "vault"), "--no-git"]) == 0
    monkeypatch.chdir(tmp_path / "vault")
    capsys.readouterr()
    return tmp_path / "vault"


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Any:
    """`doctor(...)`: the exit code and the object that `--json` prints."""

    def call(*words: str) -> tuple[int, Any]:
        code = run(["doctor", "--json", *words])
        return code, json.loads(capsys.readouterr().out)

    return call


def codes(found: Any) -> list[str]:
    return [each["code"] for each in found["findings"]]


def tree(root: Path) -> dict[str, bytes | None]:
    files = (p for p in root.rglob("*") if root / ".retain" not in (p, *p.parents))
    return {p.relative_to(root).as_posix(): p.read_bytes() if p.is_file() else None for p in files}


def need_full_cage() -> None:
    found = capabilities.sandbox_support()
    if found.level is Level.FULL:
        return
    if os.environ.get("CI") and sys.platform == "linux":
        pytest.fail(f"no full cage here: {found.reasons}")
    pytest.skip(f"no full cage here: {found.reasons}")


# --- what it proves -------------------------------------------------------------------------------------------------


def test_the_sandbox_of_agents_is_tested_and_nothing_stays(vault: Path, doctor: Any) -> None:
    need_full_cage()
    before = tree(vault)
    code, found = doctor()
    assert code == 0 and found["findings"] == []
    assert found["guard"]["level"] == "full" and found["guard"]["reasons"] == []
    assert found["guard"]["self_test"] is True
    assert tree(vault) == before and not [*(vault / ".retain/work").iterdir()]


def test_where_its_own_words_go_is_no_part_of_the_self_test(vault: Path) -> None:
    """A sandbox refuses to start with a file of the human's open; `retain doctor >FILE` is no such start."""
    need_full_cage()
    with (vault / "report.txt").open("wb") as out:
        done = subprocess.run([SCRIPT, "doctor"], cwd=vault, stdin=subprocess.DEVNULL, stdout=out, check=False)
    said = (vault / "report.txt").read_text()
    assert done.returncode == 0 and "(cannot write to insights/, can write to wiki/): passed" in said
    assert f"schema {SCHEMA_VERSION}" in said and str(vault) in said and "findings: none" in said


@pytest.mark.parametrize(
    ("writable", "wrong"),
    [(("wiki", "insights"), "could write to insights/"), (("output",), "could not write to wiki/")],
)
def test_a_sandbox_that_does_not_hold_is_a_finding(
    vault: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch, writable: tuple[str, ...], wrong: str
) -> None:
    need_full_cage()
    script = f"""
import sys
from pathlib import Path
from vault.sandbox import sandbox, selftest
from vault.sandbox.capabilities import Level
real, sandbox.Sandbox = sandbox.Sandbox, None
sandbox.Sandbox = lambda root, level, **more: real(root, level, tuple(root / each for each in {writable!r}), **more)
sys.exit(selftest._main(Path(sys.argv[1]), Level[sys.argv[2]], None))"""
    monkeypatch.setattr(selftest, "_COMMAND", (sys.executable, "-I", "-c", script))
    before = tree(vault)
    code, found = doctor()
    assert code == 1 and codes(found) == ["jail-open"] and wrong in found["findings"][0]["message"]
    assert found["guard"]["self_test"] is False
    assert tree(vault) == before, "what it could write is deleted at once"


def test_a_self_test_that_does_not_run_is_a_finding(vault: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    need_landlock(3)
    monkeypatch.setattr(selftest, "_COMMAND", (sys.executable, "-c", "raise SystemExit('no memory')"))
    code, found = doctor()
    assert code == 1 and codes(found) == ["not-proved"] and found["guard"]["self_test"] is None
    assert "no memory" in found["findings"][0]["message"]


def test_a_machine_that_can_shut_in_nothing_is_told_what_is_left(
    vault: Path, doctor: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    none = SandboxSupport(Level.NONE, ("bubblewrap: gone", "Landlock: gone"))
    monkeypatch.setattr(checks, "sandbox_support", lambda: none)
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    monkeypatch.setattr(sys, "platform", "linux")
    code, found = doctor()
    assert code == 1 and codes(found) == ["no-cage", "jail-open"] and found["guard"]["self_test"] is None
    assert "bubblewrap: gone; Landlock: gone" in found["findings"][0]["message"]
    run(["doctor"])
    assert "without a sandbox" in capsys.readouterr().out


def test_outside_a_vault_the_machine_is_looked_at_all_the_same(
    tmp_path: Path, doctor: Any, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_landlock(3)
    monkeypatch.chdir(tmp_path)
    code, found = doctor()
    assert code == 0 and found["vault"] is None
    assert found["guard"]["self_test"] is None and [*own_home.rglob("*")] == []


def test_a_vault_that_is_named_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--vault", str(tmp_path / "nowhere")]) == 2
    assert "is not a vault" in capsys.readouterr().err


# --- what it finds --------------------------------------------------------------------------------------------------


def test_a_vault_that_cannot_be_opened_is_a_finding_and_the_rest_is_told(vault: Path, doctor: Any) -> None:
    (vault / "retain.toml").write_text("[vault\n")
    code, found = doctor()
    assert code == 1 and codes(found) == ["vault"] and found["findings"][0]["path"].startswith("retain.toml")
    assert found["vault"] is None and found["python"]


def test_a_vault_where_nothing_can_be_written_is_a_finding(vault: Path, doctor: Any, tmp_path: Path) -> None:
    (vault / ".retain").mkdir(exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    (vault / ".retain/work").symlink_to(tmp_path / "elsewhere")
    code, found = doctor()
    assert code == 1 and "not-writable" in codes(found)
    assert [*(tmp_path / "elsewhere").iterdir()] == []


def test_conflict_copies_and_leftovers_are_found(vault: Path, doctor: Any) -> None:
    copy = vault / "wiki/concepts/rope.sync-conflict-20261122-120000-ABCDEFG.md"
    copy.write_text("x")
    (vault / "wiki/concepts/.retain-tmp-0123456789abcdef").write_text("x")
    code, found = doctor()
    assert code == 1 and codes(found) == ["conflict-copy"]
    assert found["findings"][0]["path"] == copy.relative_to(vault).as_posix()
    assert len(found["vault"]["leftovers"]) == 2


def test_folders_stacked_up_by_the_thousand_are_named_once_and_stop_no_command(
    vault: Path, doctor: Any, stack_up: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    for top in ("output", "learning", ".retain/work"):
        stack_up(vault / top)
    for words in (["compile"], ["rebuild"], ["status"]):
        assert run(words) == 0, capsys.readouterr().err
    capsys.readouterr()
    code, found = doctor()
    assert code == 1 and codes(found) == ["too-deep"]
    assert found["findings"][0]["path"] == "output/d/d/…"


def test_a_repository_whose_logs_would_conflict_is_found(vault: Path, doctor: Any) -> None:
    (vault / ".git").mkdir()
    assert doctor()[0] == 0
    text = (vault / ".gitattributes").read_text()
    (vault / ".gitattributes").write_text(text.replace("ledger/** text eol=lf merge=union\n", ""))
    code, found = doctor()
    assert code == 1 and codes(found) == ["union-merge"] and "ledger/**" in found["findings"][0]["message"]
    assert found["vault"]["git"]["repository"] and not found["vault"]["git"]["union_merge"]


def test_who_holds_a_lock_is_named_with_its_age(vault: Path, doctor: Any) -> None:
    with lock(vault, "publish", purpose="compiling"):
        _, found = doctor()
    (held,) = found["vault"]["locks"]
    assert (held["name"], held["pid"], held["purpose"]) == ("publish", os.getpid(), "compiling")
    assert isinstance(held["age_s"], int) and held["age_s"] >= 0
    assert doctor()[1]["vault"]["locks"] == []


def test_the_personal_vault_is_shown_and_missed(
    tmp_path: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    personal = tmp_path / "mine"
    assert run(["init", str(tmp_path / "vault"), "--no-git", "--personal", str(personal)]) == 0
    capsys.readouterr()
    monkeypatch.chdir(tmp_path / "vault")
    code, found = doctor()
    assert code == 0 and found["vault"]["personal"] == {"path": str(personal), "reachable": True}
    personal.rename(tmp_path / "gone")
    code, found = doctor()
    assert code == 1 and codes(found) == ["personal-unreachable"]
    (tmp_path / "vault/wiki/mine").mkdir()
    personal.symlink_to(tmp_path / "vault/wiki/mine")
    code, found = doctor()
    assert code == 1 and "personal-inside" in codes(found)


def test_a_run_of_an_agent_that_nobody_settled_is_found(vault: Path, doctor: Any) -> None:
    from vault.config import user

    state = user.state_folder(json_id(vault)) / "runs"
    state.mkdir(parents=True)
    (state / "01M7YQ1WHVB8Y923KQT94BC7Z3.json").write_text("{")
    code, found = doctor()
    assert code == 1 and "run-unsettled" in codes(found)


def json_id(vault: Path) -> str:
    from vault.vault import open_vault

    return open_vault(str(vault), None, vault).settings.vault_id


def test_in_a_cage_it_tells_that_and_not_where_the_personal_vault_is(
    tmp_path: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", str(tmp_path / "vault"), "--no-git", "--personal", str(tmp_path / "mine")]) == 0
    monkeypatch.chdir(tmp_path / "vault")
    shutil.rmtree(tmp_path / "vault/insights", ignore_errors=True)
    monkeypatch.setenv("RETAIN_CAGED", "1")
    capsys.readouterr()
    _, found = doctor()
    assert found["guard"]["caged"] and found["vault"]["personal"]["path"] is None
    assert str(tmp_path / "mine") not in json.dumps(found)
    assert found["guard"]["self_test"] is None
    run(["doctor"])
    assert "running inside a sandbox" in capsys.readouterr().out


def test_what_is_dated_ahead_of_the_clock_is_found(vault: Path, doctor: Any) -> None:
    stamp = Stamp("7ZZZZZZZZZ0000000000000000", datetime(9000, 1, 1, tzinfo=UTC))
    (vault / "learning/reviews.jsonl").write_bytes(encode(Review(stamp, CardId("k000000001"), Rating.GOOD)) + b"\n")
    line = b'{"v":1,"type":"birth","of":"concept","id":"k000000002","at":"9000-01-01T00:00:00.000Z","key":"x"}\n'
    (vault / "ledger/ids.jsonl").write_bytes(line)
    code, told = doctor()
    assert code == 1
    ahead = [(f["path"], f["code"]) for f in told["findings"] if f["code"].endswith("-ahead")]
    assert ahead == [("learning/reviews.jsonl", "log-ahead"), ("ledger/ids.jsonl", "ledger-ahead")]
