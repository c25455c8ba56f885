"""`retain concept` as a user runs it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from tests.builders import vault_with_sources
from tests.commands import Run
from tests.compiler.scripted import Scripted

CURVE = "wiki/concepts/forgetting-curve.md"
NOTES = {
    "one.md": "# Database\n\nA database is an organised collection of records kept for later retrieval.\n",
    "two.md": "# Ledger hall\n\nA ledger hall is a room where clerks copied every payment into heavy books.\n",
}


def test_a_concept_is_renamed_shown_and_given_its_name_back(run: Run, compiled: Path) -> None:
    before = (compiled / CURVE).read_bytes()
    tried = run("concept", "rename", "forgetting curve", "Ebbinghaus curve", "--dry-run", cwd=compiled)
    assert tried.code == 0 and f"would remove  {CURVE}" in tried.stdout and (compiled / CURVE).read_bytes() == before
    done = run("concept", "rename", "forgetting curve", "Ebbinghaus curve", cwd=compiled)
    assert done.code == 0 and "Forgetting curve renamed to Ebbinghaus curve" in done.stdout
    assert not (compiled / CURVE).exists() and (compiled / "wiki/concepts/ebbinghaus-curve.md").exists()
    shown = run("concept", "show", "forgetting curve", "--json", cwd=compiled).json()
    assert (shown["title"], shown["aliases"]) == ("Ebbinghaus curve", ["Forgetting curve"])
    assert [d["op"] for d in shown["deeds"]] == ["rename"]
    assert run("verify", cwd=compiled).code == 0
    undone = run("concept", "undo", cwd=compiled)
    assert undone.code == 0 and (compiled / CURVE).read_bytes() == before
    listed = run("concept", "actions", cwd=compiled).stdout
    assert "[undone]" in listed
    assert run("concept", "deeds", cwd=compiled).stdout == listed, "the former name still works"
    assert "deeds" not in run("concept", "--help", cwd=compiled).stdout
    again = run("compile", cwd=compiled)
    assert "nothing changed, nothing written" in again.stdout


def test_how_soon_a_page_is_looked_at_again_is_set_kept_and_undone(run: Run, compiled: Path) -> None:
    before = (compiled / CURVE).read_bytes()
    done = run("concept", "freshness", "forgetting curve", "fast", cwd=compiled)
    assert done.code == 0 and "Forgetting curve due for a check after 30 days (fast)" in done.stdout
    set_ = (compiled / CURVE).read_bytes()
    assert set_ == before.replace(b"freshness: normal", b"freshness: fast") != before
    assert run("rebuild", cwd=compiled).code == 0 and (compiled / CURVE).read_bytes() == set_
    assert run("concept", "undo", cwd=compiled).code == 0 and (compiled / CURVE).read_bytes() == before
    assert run("concept", "freshness", "forgetting curve", "weekly", cwd=compiled).code == 2


def test_every_listing_speaks_json(run: Run, compiled: Path) -> None:
    listed = run("concept", "list", "--json", cwd=compiled).json()["concepts"]
    assert {"id", "title", "aliases", "path", "line", "reason"} <= set(listed[0])
    done = run("concept", "merge", listed[0]["id"], listed[1]["id"], "--json", cwd=compiled).json()
    assert done["deed"]["op"] == "merge" and done["waiting"] is None and done["stale_links"] == []
    assert listed[0]["path"] in done["removed"] and done["concepts"][0]["id"] == listed[1]["id"]
    assert run("concept", "actions", "--json", cwd=compiled).json()["deeds"][0]["deed"] == done["deed"]["deed"]


def test_links_in_own_notes_are_named_with_where_they_lead_now(run: Run, compiled: Path) -> None:
    (compiled / "insights/mine.md").write_text("see [[wiki/concepts/forgetting-curve]]\n", encoding="utf-8")
    done = run("concept", "rename", "forgetting curve", "Ebbinghaus curve", cwd=compiled)
    assert "insights/mine.md:1" in done.stderr and "wiki/concepts/ebbinghaus-curve" in done.stderr
    assert (compiled / "insights/mine.md").read_text(encoding="utf-8") == "see [[wiki/concepts/forgetting-curve]]\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("rename", "forgetting curve", "../../insights/x"),
        ("rename", "forgetting curve", "\x1b]0;owned\x07"),
        ("rename", "\u202enothing", "Something"),
        ("alias", "forgetting curve", "x" * 10_000),
        ("alias", "forgetting curve", "<b>bold</b>"),
        ("merge", "forgetting curve", "nobody knows"),
        ("merge", "forgetting curve", "spacing effect", "--never", "--into", "spacing effect"),
        ("split", "forgetting curve", "--as", "Curve (of a road)"),
        ("undo",),
    ],
)
def test_what_makes_no_sense_exits_with_2_and_changes_nothing(run: Run, compiled: Path, arguments: list[str]) -> None:
    before = {p: p.read_bytes() for p in compiled.rglob("*") if p.is_file() and ".retain" not in p.parts}
    done = run("concept", *arguments, cwd=compiled)
    assert done.code == 2 and done.stderr and len(done.stderr) < 2_000
    assert not {"\x1b", "\x07", "\u202e"} & {*done.stderr, *done.stdout}
    assert {p: p.read_bytes() for p in compiled.rglob("*") if p.is_file() and ".retain" not in p.parts} == before


def test_a_source_that_means_something_else_gets_a_page_of_its_own_until_that_is_undone(
    run: Run, compiled: Path
) -> None:
    note = "# Loose talk\n\nThe spacing effect is the finding that spread reviews last.\n"
    (compiled / "raw/articles/loose.md").write_text(note, encoding="utf-8")
    assert run("compile", cwd=compiled).code == 0
    split = ("concept", "split", "spacing effect", "--source", "loose", "--as", "Spacing effect (of talk)")
    done = run(*split, "--json", cwd=compiled)
    assert done.code == 0
    assert {c["title"] for c in done.json()["concepts"]} >= {"Spacing effect (of talk)"}
    assert (compiled / "wiki/concepts/spacing-effect-of-talk.md").exists()
    assert run("concept", "undo", cwd=compiled).code == 0
    assert not (compiled / "wiki/concepts/spacing-effect-of-talk.md").exists()


def test_a_decision_that_leaves_questions_open_says_how_many_of_which_type_and_what_finishes_it(
    run: Run, tmp_path: Path
) -> None:
    vault = vault_with_sources(tmp_path / "read-by-a-model", NOTES)
    at = datetime(2026, 11, 21, 9, tzinfo=UTC)
    compile_vault(vault, Options("claude"), at, lambda event: None, backend=Scripted())
    merge = ("concept", "merge", "ledger hall", "database")
    tried = run(*merge, "--dry-run", cwd=vault.root)
    assert (
        "1 write" in tried.stdout
        and "would be open" in tried.stdout
        and "retain compile --engine claude" in tried.stdout
    )
    done = run(*merge, cwd=vault.root)
    assert "the decision is saved; 1 question (1 write) is open" in done.stderr
    assert "Run `retain compile --engine claude` (or `--engine agent`)" in done.stderr
    orders = run("agent", "next", "--as", "one", "--json", cwd=vault.root).json()["orders"]
    assert [order["type"] for order in orders] == ["write"]
    for command in ("merge", "split"):
        assert "retain compile --engine" in run("concept", command, "-h", cwd=vault.root).stdout
