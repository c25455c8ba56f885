"""`retain lint` prints what is wrong, by rule, with place, reason and remedy, and changes nothing."""

from __future__ import annotations

import os
import re
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
    assert (
        f"{NOTE}:3: [[wiki/concepts/gone|a page]] links to a file that does not exist (change the link in your note)"
        in shown.stdout
    )
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


def files(vault: Path) -> dict[str, bytes]:
    """Return the files of a vault by path, but for the ledger, reports and what follows from the cards."""
    kept = ("wiki", "learning/flashcards", "output/proposals", "insights", "raw")
    found = (path for folder in kept for path in (vault / folder).rglob("*") if path.is_file())
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def spoilt(compiled: Path) -> Path:
    """A vault with a page too sure of itself that no index lists, one deleted, and one that the user edited."""
    pages = sorted((compiled / "wiki/concepts").glob("*.md"))
    pages[0].unlink()
    pages[1].write_text(pages[1].read_text().replace("confidence: low", "confidence: high"))
    pages[2].write_text(pages[2].read_text() + "\nSee [[wiki/concepts/no-such-page|this]].\n")
    for index in (compiled / "wiki").glob("_*.md"):
        lines = index.read_text().split("\n")
        index.write_text("\n".join(line for line in lines if f"[[wiki/concepts/{pages[1].stem}|" not in line))
    return compiled


def test_a_fix_writes_generated_pages_again_and_one_undo_takes_it_back(run: Run, spoilt: Path) -> None:
    sound = {"lost", "confidence", "unindexed"}
    assert sound <= {each["code"] for each in run("lint", "--json", cwd=spoilt).json()["findings"]}
    before = files(spoilt)
    done = run("lint", "--fix", "--json", cwd=spoilt)
    assert done.code == 1 and sound <= {each["code"] for each in done.json()["fixed"]}
    left = {each["code"] for each in done.json()["findings"]}
    assert not sound & left and "broken-link" in left, "what the user wrote stays, and stays a finding"
    edited = next(path for path, data in before.items() if b"no-such-page" in data)
    assert (spoilt / edited).read_bytes() == before[edited]
    assert run("lint", "--fix", cwd=spoilt).stdout.startswith("nothing to rewrite")
    undone = run("lint", "--undo", cwd=spoilt)
    assert undone.code == 0 and "the last fix was undone" in undone.stdout
    assert files(spoilt) == before
    again = run("lint", "--undo", cwd=spoilt)
    assert again.code == 2 and "there is no fix to undo" in again.stderr


def test_a_finding_that_a_fix_only_moves_to_another_line_does_not_count_as_fixed(run: Run, spoilt: Path) -> None:
    note = spoilt / "insights/mine.md"
    index = spoilt / "wiki/_index.md"
    index.write_text("See [[wiki/concepts/nowhere]].\n\n" + index.read_text())
    note.write_text("See [[wiki/concepts/nowhere]].\n")
    done = run("lint", "--fix", "--json", cwd=spoilt).json()
    still = {(each["code"], each["path"], each["message"]) for each in done["findings"]}
    assert done["fixed"] and not [e for e in done["fixed"] if (e["code"], e["path"], e["message"]) in still]
    assert "wiki/_index.md" in {each["path"] for each in done["fixed"] if each["code"] == "broken-link"}
    assert "insights/mine.md" not in {each["path"] for each in done["fixed"]}


def test_an_undo_works_after_a_question_and_a_compile(run: Run, spoilt: Path) -> None:
    before = files(spoilt)
    written = run("lint", "--fix", "--json", cwd=spoilt).json()["fix"]["written"]
    run("ask", "What is a gradient?", "--file-back", cwd=spoilt)
    (spoilt / "raw/new.md").write_text("# Anchor\n\nAn anchor is a weight that holds a ship in its place.\n")
    assert run("compile", cwd=spoilt).code == 0
    listed = (spoilt / "wiki/_index.md").read_bytes()
    undone = run("lint", "--undo", "--json", cwd=spoilt)
    assert undone.code == 0, undone.stderr
    pages = [path for path in written if path.startswith("wiki/concepts/")]
    assert pages and all((spoilt / path).exists() is (path in before) for path in pages)
    assert all((spoilt / path).read_bytes() == before[path] for path in pages if path in before)
    assert (spoilt / "wiki/_index.md").read_bytes() == listed, "the next compile writes it from the pages"


def test_an_undo_refuses_and_names_what_changed_since(run: Run, spoilt: Path) -> None:
    written = run("lint", "--fix", "--json", cwd=spoilt).json()["fix"]["written"]
    page = spoilt / next(path for path in written if path.startswith("wiki/concepts/"))
    page.write_text(page.read_text() + "\n> [!human] Mine.\n")
    before = files(spoilt)
    refused = run("lint", "--undo", cwd=spoilt)
    assert refused.code == 3 and page.name in refused.stderr and files(spoilt) == before


def test_a_fix_leaves_it_to_a_compile_to_take_in_what_is_new(run: Run, spoilt: Path) -> None:
    (spoilt / "raw/new.md").write_text("# Anchor\n\nAn anchor is a weight that holds a ship in its place.\n")
    before = files(spoilt)
    refused = run("lint", "--fix", cwd=spoilt)
    assert refused.code == 3 and "run `retain compile`" in refused.stderr and files(spoilt) == before


def test_the_report_of_a_day_has_the_same_bytes_for_the_same_findings(run: Run, faulty: Path) -> None:
    first = run("lint", "--report", "--json", cwd=faulty).json()["report"]
    text = (faulty / first).read_text()
    assert (
        first.startswith("output/reports/lint-2")
        and "## broken" in text
        and "links to a file that does not exist" in text
    )
    assert run("lint", "--report", "--json", cwd=faulty).json()["report"] == first
    assert (faulty / first).read_text() == text
    (faulty / first).write_text(text + "\nMy remark.\n")
    second = run("lint", "--report", "--json", cwd=faulty).json()["report"]
    assert second == first.replace(".md", "-2.md") and (faulty / first).read_text().endswith("My remark.\n")


def test_a_page_past_its_time_is_a_gap_until_it_is_new_again(run: Run, compiled: Path) -> None:
    page = sorted((compiled / "wiki/concepts").glob("*.md"))[0]
    text = page.read_text()
    page.write_text(re.sub("^updated: .*$", 'updated: "2020-01-01"', text, flags=re.MULTILINE))
    assert run("lint", "--report", cwd=compiled).code == 1
    agenda = (compiled / "learning/gaps.md").read_text()
    assert "is more than 90 days old" in agenda
    assert run("lint", "--report", cwd=compiled).code == 1
    assert (compiled / "learning/gaps.md").read_text() == agenda, "no gap twice"
    page.write_text(text)
    run("lint", "--report", cwd=compiled)
    closed = (compiled / "learning/gaps.md").read_text()
    assert "(epistemic, filled)" in closed
    run("compile", cwd=compiled)
    assert (compiled / "learning/gaps.md").read_text() == closed


DISAGREEING = {
    "one.md": "# Quartz clock\n\nA quartz clock is a clock that counts the swings of a crystal.\n"
    "A quartz clock loses time in a room of the observatory.\n",
    "two.md": "# Clocks\n\nA quartz clock is a clock with a small crystal.\n"
    "Once it is cleaned, a quartz clock gains time in a room of the observatory.\n",
}


def test_an_agent_is_asked_once_what_rules_leave_in_doubt(run: Run, tmp_path: Path) -> None:
    vault = tmp_path / "clocks"
    assert run("init", str(vault), "--no-git").code == 0
    for name, text in DISAGREEING.items():
        (vault / "raw" / name).write_text(text)
    assert run("compile", cwd=vault).code == 0
    assert "contradiction" not in run("lint", cwd=vault).stdout
    waiting = run("lint", "--engine", "agent", cwd=vault)
    assert waiting.code == 4 and "retain agent next" in waiting.stderr
    order = run("agent", "next", "--as", "reader", cwd=vault).stdout
    answer = next(word.strip("`") for word in order.split() if word.strip("`").endswith(".answer.txt"))
    (vault / answer).parent.mkdir(parents=True, exist_ok=True)
    (vault / answer).write_text("1 CONFLICT what it loses\n")
    assert run("agent", "submit", answer, "--as", "reader", cwd=vault).code == 0
    judged = run("lint", "--engine", "agent", "--rule", "contradiction", cwd=vault)
    assert judged.code == 1 and "loses time" in judged.stdout and "gains time" in judged.stdout
    assert run("lint", "--rule", "contradiction", cwd=vault).code == 1, "the answer is kept"
