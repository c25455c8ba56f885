"""What reaches a terminal or a pipe is harmless, whatever a deck says and however the pipe ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli import output
from tests.commands import SCRIPT, Run

EVIL = "a\x1b\x9b31m\x7f\u061c\u200e\u200f\u2028\u2029\u202e\u2066\u2069\ufff9é注🧠"
_RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]")


def test_json_carries_control_and_direction_marks_only_as_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_json({EVIL: [EVIL]})
    output.Progress("jsonl")({"event": "source", "path": EVIL})
    told = capsys.readouterr()
    assert not _RAW.search(told.out) and not _RAW.search(told.err)
    assert "é注🧠" in told.out
    assert json.loads(told.out) == {EVIL: [EVIL]} and json.loads(told.err)["path"] == EVIL


def test_the_line_of_progress_says_stage_items_tokens_money_and_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with output.Progress(None) as progress:
        progress({"event": "source", "done": 2, "of": 2, "path": "raw/lease.md"})
        progress({"event": "read", "done": 0, "of": 12, "tokens": 0, "usd": 0.0})
        progress({"event": "write", "done": 12, "of": 12, "tokens": 45_000, "usd": 0.0123, "seconds_left": 540})
        progress({"event": "check", "done": 0, "of": 3, "tokens": 45_000, "usd": 0.0, "seconds_left": 30})
        progress({"event": "save", "done": 3, "of": 3, "path": "wiki/a.md"})
    assert capsys.readouterr().err.split("\r\x1b[K") == [
        "reading 2/2  lease.md",
        "finding concepts 0/12",
        "writing pages 12/12  45,000 tokens  $0.0123  about 9 min left",
        "checking sentences 0/3  45,000 tokens  about 30 s left",
        "saving 3/3  a.md",
        "",
    ]


def test_a_terminal_that_knows_ascii_alone_is_told_everything(run_process: Run, compiled: Path) -> None:
    deck = next((compiled / "learning/flashcards").iterdir())
    deck.write_text(deck.read_text() + "\n### Applied\n\nQ: Wann übt man 注意?\nA: Täglich.\n\nQ: Und?\n")
    ascii_ = {"PYTHONIOENCODING": "ascii"}
    shown = run_process("due", cwd=compiled, env=ascii_)
    assert shown.code == 0 and r"Wann \xfcbt man \u6ce8\u610f?" in shown.stdout
    titles = {g["what"] for g in run_process("gaps", "list", "--json", cwd=compiled).json()["gaps"]}
    assert {g["what"] for g in run_process("gaps", "list", "--json", cwd=compiled, env=ascii_).json()["gaps"]} == titles
    card = re.search(r"(\w{10})  .*Wann", shown.stdout)
    assert card is not None
    told = run_process("card", "show", card[1], "--json", cwd=compiled, env=ascii_)
    assert told.stdout.isascii() and told.json()["question"] == "Wann übt man 注意?"


def reader_that_leaves(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """`command` in bash, which tells the exit code of the first part of the pipe on its last line of stderr."""
    script = f'{command}; echo "code ${{PIPESTATUS[0]}}" >&2'
    env = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | {
        "PATH": f"{Path(SCRIPT).parent}:{os.environ['PATH']}"
    }
    return subprocess.run(["bash", "-c", script], cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [
        "retain due | head -1",
        "retain due | true",
        "retain due --json | head -1",
        "retain gaps list --all | true",
        "retain -h | true",
        "PYTHONUNBUFFERED=1 retain gaps list --all | true",
    ],
)
def test_a_reader_that_leaves_early_is_no_failure(compiled: Path, command: str) -> None:
    done = reader_that_leaves(command, compiled)
    assert done.stderr == "code 0\n"


def test_standard_error_that_is_gone_too_is_no_failure(compiled: Path) -> None:
    (compiled / "learning/flashcards/odd.md").write_text("Q: no answer\n" * 3)
    assert reader_that_leaves("PYTHONUNBUFFERED=1 retain due 2>&1 | true", compiled).stderr == "code 0\n"


@pytest.mark.parametrize("buffer", ["", "1"])
def test_a_full_disk_below_standard_output_is_a_failure(compiled: Path, buffer: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    env = os.environ | {"PYTHONUNBUFFERED": buffer}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [SCRIPT, "due"], cwd=compiled, env=env, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 3 and "No space left" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("words", "code"), [("due", 0), ("no-such-command", 2)])
def test_standard_error_that_takes_nothing_changes_no_exit_code(
    compiled: Path, streams: str, words: str, code: int
) -> None:
    assert reader_that_leaves(f"retain {words} {streams}", compiled).stderr == f"code {code}\n"
