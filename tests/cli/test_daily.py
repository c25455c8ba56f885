"""`retain daily` compiles, checks what changed and shows what today needs; also as a timer runs it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import SCRIPT, Run

NEW = "# Anchors\n\nAn anchor is a weight that holds a ship in its place. An anchor has flukes that hold.\n"


@pytest.fixture
def vault(compiled: Path) -> Path:
    (compiled / "raw/articles").mkdir(parents=True, exist_ok=True)
    (compiled / "raw/articles/anchors.md").write_text(NEW)
    return compiled


def test_what_is_new_is_compiled_once_and_the_screen_says_what_today_needs(run: Run, vault: Path) -> None:
    first = run("daily", cwd=vault)
    assert first.code in (0, 1) and first.stdout.startswith("Today: ") and "sources 1 read" in first.stdout
    assert (vault / "wiki/concepts/anchor.md").exists()
    files = {path: path.read_bytes() for path in vault.rglob("*") if path.is_file() and ".retain" not in path.parts}
    again = run("daily", cwd=vault)
    assert "Compile: nothing new" in again.stdout
    now = {path: path.read_bytes() for path in vault.rglob("*") if path.is_file() and ".retain" not in path.parts}
    assert now == files


def test_the_pages_of_queue_and_agenda_are_brought_up_to_date(run: Run, vault: Path) -> None:
    pages = ("learning/_review.md", "learning/gaps.md", "output/promotion-queue.md")
    run("daily", cwd=vault)
    before = {page: (vault / page).read_bytes() for page in pages}
    card = run("due", "--json", cwd=vault).json()["new"][0]["id"]
    for page in pages:
        (vault / page).unlink()
    run("daily", cwd=vault)
    assert {page: (vault / page).read_bytes() for page in pages} == before
    assert run("rate", card, "good", cwd=vault).code == 0
    (vault / "learning/_review.md").write_bytes(before["learning/_review.md"])  # as git may leave it after a merge
    run("daily", cwd=vault)
    assert (vault / "learning/_review.md").read_bytes() != before["learning/_review.md"]


def test_faults_in_what_changed_are_findings(run: Run, vault: Path) -> None:
    (vault / "insights").mkdir(exist_ok=True)
    (vault / "insights/mine.md").write_text("[[wiki/concepts/gone]]\n")
    told = run("daily", "--json", cwd=vault)
    assert told.code == 1 and told.json()["compile"]["articles"]["created"] >= 1
    assert "broken-link" in {each["code"] for each in told.json()["lint"]} and told.json()["today"]["new"] > 0


def test_damaged_and_lost_lines_of_a_ledger_are_findings_however_old_the_file_is(run: Run, vault: Path) -> None:
    run("daily", cwd=vault)
    ledger = vault / "ledger/builds.jsonl"
    old = ledger.read_bytes()
    stamp = ledger.stat().st_mtime_ns
    ledger.write_bytes(bytes([old[0] ^ 1]) + old[1:])
    os.utime(ledger, ns=(stamp, stamp - 10**15))
    told = run("daily", "--json", cwd=vault)
    codes = {each["code"] for each in told.json()["lint"] if each["path"].startswith("ledger/builds.jsonl")}
    assert told.code == 1 and codes == {"damaged-line", "records-lost"}
    assert "ledger/builds.jsonl" in run("daily", cwd=vault).stdout


def test_what_a_model_has_to_answer_is_named_and_the_rest_is_shown(run: Run, tmp_path: Path) -> None:
    by_model = tmp_path / "compiled"
    shutil.copytree(Path(__file__).parents[2] / "examples/compiled", by_model)
    (by_model / "raw/otters.md").write_text("# Otters\n\nAn otter is a mammal that swims in rivers.\n")
    told = run("daily", cwd=by_model)
    assert told.code in (0, 1) and told.stdout.startswith("Today: ")
    assert "no answer (" in told.stdout and "Read next" in told.stdout


def test_a_timer_runs_it_without_terminal_home_or_locale(vault: Path) -> None:
    command = [sys.executable, "-c", "from cli.main import main; main()", "--vault", str(vault), "daily"]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode in (0, 1) and done.stdout.startswith(b"Today: ") and b"Traceback" not in done.stderr


def test_a_name_that_is_not_ascii_is_the_same_source_in_a_locale_that_is_not_utf_8(vault: Path) -> None:
    ascii_ = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    (vault / "raw/articles/anchors.md").rename(vault / "raw/articles/änker-錨.md")
    command = [sys.executable, "-c", "from cli.main import main; main()", "--vault", str(vault), "daily", "--json"]
    plain = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=plain | ascii_, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    told = json.loads(done.stdout)
    assert told["compile"]["sources"]["read"] == 1 and told["compile"]["failures"] == []
    assert '"key":"raw/articles/änker-錨.md"' in (vault / "ledger/ids.jsonl").read_text("utf-8")
    again = subprocess.run(command, env=plain, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert json.loads(again.stdout)["compile"]["written"] == []


def test_runs_that_overlap_leave_the_vault_as_one_would(run: Run, vault: Path) -> None:
    command = [SCRIPT, "--vault", str(vault), "daily", "--json"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    told = []
    for each in runs:
        out, err = each.communicate(timeout=600)
        assert each.returncode in (0, 1) and b"Traceback" not in err and b"internal error" not in err
        told.append(json.loads(out))
    assert sum(bool(each["compile"] and each["compile"]["written"]) for each in told) == 1
    assert all(each["not_compiled"].startswith("locked by") for each in told if each["compile"] is None)
    assert "Compile: nothing new" in run("daily", cwd=vault).stdout
    assert run("verify", cwd=vault).code == 0


def test_a_disk_that_is_full_is_named_and_the_next_run_completes_it(
    run: Run, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("vault.files.guard.write_all", full)
        told = run("daily", cwd=vault)
    assert told.code == 3 and "not written: the disk is full" in told.stderr and "free some disk space" in told.stderr
    assert "Traceback" not in told.stderr
    assert run("daily", cwd=vault).code in (0, 1) and (vault / "wiki/concepts/anchor.md").exists()
    assert run("verify", cwd=vault).code == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_the_units_of_the_manual_are_valid(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/daily.md").read_text()
    blocks = [block.partition("```")[0] for block in page.split("```ini\n")[1:]]
    units = {block.partition("\n")[0].removeprefix("# "): block for block in blocks}
    assert set(units) == {"retain.service", "retain.timer", "retain-watch.service"}
    for name, text in units.items():
        (tmp_path / name).write_text(text.replace("%h/.local/bin/retain", SCRIPT))
    paths = [str(tmp_path / name) for name in units]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--recursive-errors=no", *paths],
        env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == ""
    due = subprocess.run(["systemd-analyze", "calendar", "*-*-* 06:30"], capture_output=True, check=False)
    assert due.returncode == 0
    spoiled = units["retain.timer"].replace("OnCalendar=*-*-* 06:30", "OnCalendar=every morning")
    (tmp_path / "retain.timer").write_text(spoiled)
    assert (
        "every morning"
        in subprocess.run(
            ["systemd-analyze", "verify", "--user", str(tmp_path / "retain.timer")],
            env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        ).stderr
    )
