"""`retain daily` compiles, checks what changed and shows what today needs; also as a timer runs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import Run

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


def test_faults_in_what_changed_are_findings(run: Run, vault: Path) -> None:
    (vault / "insights").mkdir(exist_ok=True)
    (vault / "insights/mine.md").write_text("[[wiki/concepts/gone]]\n")
    told = run("daily", "--json", cwd=vault)
    assert told.code == 1 and told.json()["compile"]["articles"]["created"] >= 1
    assert "broken-link" in {each["code"] for each in told.json()["lint"]} and told.json()["today"]["new"] > 0


def test_what_a_model_has_to_answer_is_named_and_the_rest_is_shown(run: Run, tmp_path: Path) -> None:
    by_model = tmp_path / "compiled"
    shutil.copytree(Path(__file__).parents[2] / "examples/compiled", by_model)
    (by_model / "raw/otters.md").write_text("# Otters\n\nAn otter is a mammal that swims in rivers.\n")
    told = run("daily", cwd=by_model)
    assert told.code in (0, 1) and told.stdout.startswith("Today: ")
    assert "without an answer" in told.stdout and "Read next" in told.stdout


def test_a_timer_runs_it_without_terminal_home_or_locale(vault: Path) -> None:
    command = [sys.executable, "-c", "from cli.main import main; main()", "--vault", str(vault), "daily"]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode in (0, 1) and done.stdout.startswith(b"Today: ") and b"Traceback" not in done.stderr
