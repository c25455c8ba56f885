"""`retain lint` prints what is wrong, by rule, with place, reason and remedy, and changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands import Run

NOTE = "insights/mine.md"


@pytest.fixture
def faulty(compiled: Path) -> Path:
    (compiled / NOTE).parent.mkdir(exist_ok=True)
    (compiled / NOTE).write_text("# Mine\n\nSee [[wiki/concepts/gone|a page]].\n")
    return compiled


def test_findings_are_shown_by_rule_and_the_exit_code_says_that_there_are_some(run: Run, faulty: Path) -> None:
    shown = run("lint", cwd=faulty)
    assert shown.code == 1 and "broken-link (1)" in shown.stdout
    assert f"{NOTE}:3: [[wiki/concepts/gone|a page]] leads to no file (your note: change the link)" in shown.stdout
    found = run("lint", "--rule", "broken-link", "--json", cwd=faulty).json()["findings"]
    assert [(each["code"], each["path"], each["line"]) for each in found] == [("broken-link", NOTE, 3)]
    (faulty / NOTE).unlink()
    clean = run("lint", "--rule", "broken-link", cwd=faulty)
    assert clean.code == 0 and clean.stdout == "no findings\n"


def test_damaged_and_lost_lines_of_the_logs_are_findings(run: Run, compiled: Path) -> None:
    card = run("due", "--json", cwd=compiled).json()["new"][0]["id"]
    assert run("rate", card, "good", cwd=compiled).code == 0
    log = compiled / "learning/reviews.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"rating":3', b'"rating":2'))
    codes = {each["code"] for each in run("lint", "--json", cwd=compiled).json()["findings"]}
    assert {"damaged-line", "records-lost"} <= codes


def test_since_leaves_out_files_that_did_not_change(run: Run, faulty: Path) -> None:
    os.utime(faulty / NOTE, (1_600_000_000, 1_600_000_000))
    rules = "--rule", "broken-link", "--json"
    assert run("lint", "--since", "2020-09-13", *rules, cwd=faulty).json()["findings"]
    assert run("lint", "--since", "2020-09-15", *rules, cwd=faulty).json()["findings"] == []


def test_an_unknown_rule_is_a_usage_error_that_lists_them(run: Run, compiled: Path) -> None:
    refused = run("lint", "--rule", "brokenlink", cwd=compiled)
    assert refused.code == 2 and "broken-link" in refused.stderr and "damaged-line" in refused.stderr
