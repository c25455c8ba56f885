"""`_review.md` is a product: whichever command comes next finds it missing, damaged or out of date, and renders it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.build import snapshot
from learning.store import freshness
from tests.commands import Run
from vault.config.notes import NoteRules
from vault.log.events import checksum

PAGE = "learning/_review.md"


def files(vault: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in vault.rglob("*") if p.is_file() and ".retain" not in p.parts}


def merged(page: str) -> str:
    """The page as a union merge of two clones leaves it: lines of both, and a row twice."""
    lines = page.splitlines(keepends=True)
    return "".join([*lines[:2], 'as_of: "2026-01-01T00:00:00.000Z"\n', *lines[2:], lines[-1]])


@pytest.mark.parametrize("command", [("compile",), ("due",), ("status",), ("rebuild",)])
@pytest.mark.parametrize("harm", ["missing", "merged", "conflict"])
def test_the_next_command_mends_the_page(run: Run, compiled: Path, command: tuple[str, ...], harm: str) -> None:
    page = compiled / PAGE
    right = page.read_text()
    if harm == "missing":
        page.unlink()
    else:
        page.write_text(merged(right) if harm == "merged" else f"<<<<<<< ours\n{right}=======\n>>>>>>> theirs\n")
    assert run(*command, cwd=compiled).code == 0
    assert page.read_text() == right


def test_a_log_that_grew_by_a_merge_is_shown_by_the_next_compile_with_nothing_else_to_do(
    run: Run, compiled: Path
) -> None:
    card = run("due", "--json", cwd=compiled).json()["new"][0]["id"]
    assert run("rate", card, "good", cwd=compiled).code == 0
    rated, log = (compiled / PAGE).read_text(), (compiled / "learning/reviews.jsonl").read_bytes()
    assert run("undo", cwd=compiled).code == 0
    assert (compiled / PAGE).read_text() != rated
    (compiled / "learning/reviews.jsonl").write_bytes(log)
    assert run("compile", "--dry-run", cwd=compiled).code == 0
    assert (compiled / PAGE).read_text() != rated
    assert run("compile", "--json", cwd=compiled).json()["written"] == []
    assert (compiled / PAGE).read_text() == rated


def test_one_command_undoes_what_is_dated_ahead_of_the_clock(run: Run, compiled: Path) -> None:
    first, second, third = [card["id"] for card in run("due", "--json", cwd=compiled).json()["new"][:3]]
    right = (compiled / PAGE).read_text()
    for card in (first, second):
        assert run("rate", card, "good", "--at", f"{datetime.now(UTC).year + 3}-01-01T09:00Z", cwd=compiled).code == 0
    assert "retain undo --ahead" in run("due", cwd=compiled).stderr
    done = run("undo", "--ahead", "--json", cwd=compiled)
    assert {event["card"] for event in done.json()["voided_all"]} == {first, second}
    assert (compiled / PAGE).read_text() == right
    assert run("rate", third, "good", cwd=compiled).code == 0
    again = run("undo", "--ahead", cwd=compiled)
    assert again.code != 0 and "no review is dated in the future" in again.stderr


def test_a_page_that_is_right_is_not_touched(run: Run, compiled: Path) -> None:
    before = {p: p.stat().st_ctime_ns for p in (compiled / "learning").rglob("*")}
    for command in (("compile",), ("due",), ("status",), ("compile",)):
        assert run(*command, cwd=compiled).code == 0
    assert {p: p.stat().st_ctime_ns for p in (compiled / "learning").rglob("*")} == before


def test_a_page_that_cannot_be_written_does_not_hide_what_is_due(run: Run, compiled: Path) -> None:
    (compiled / PAGE).unlink()
    (compiled / PAGE).mkdir()
    done = run("due", "--json", cwd=compiled)
    assert done.code == 0 and done.json()["new"] and PAGE in done.stderr


@pytest.mark.parametrize("command", ["compile", "rebuild", "due", "status"])
def test_a_newer_review_log_is_refused_before_anything_is_written(run: Run, compiled: Path, command: str) -> None:
    (compiled / "raw/articles/new.md").write_text("# Sleep\n\nSleep is a state of rest that keeps memories.\n")
    with (compiled / "learning/reviews.jsonl").open("ab") as log:
        log.write(b'{"v":2' + checksum(b'{"v":2') + b"\n")
    deck = next((compiled / "learning/flashcards").iterdir())
    deck.write_text(deck.read_text() + "\nQ: Mine?\nA: Yes.\n")
    before = files(compiled)
    done = run(command, cwd=compiled)
    assert done.code == 3 and "learning/reviews.jsonl:1" in done.stderr
    assert files(compiled) == before


def test_the_stamps_that_a_compile_took_say_of_the_decks_what_a_look_of_the_pages_own_says(compiled: Path) -> None:
    decks = compiled / "learning/flashcards"
    (decks / ".hidden.md").write_text("hidden")
    (decks / "link.md").symlink_to(next(decks.glob("*.md")))
    (decks / "folder.md").mkdir()
    (decks / "folder.md/inner.md").write_text("below")
    (decks / "notes.txt").write_text("no deck")
    seen = freshness.look(compiled)
    assert freshness.look(compiled, snapshot.look(compiled, NoteRules()).stamps) == seen
    for name in (".hidden.md", "link.md", "folder.md/inner.md", "notes.txt"):
        (decks / name).unlink()
    assert freshness.look(compiled) == seen
    (decks / "another.md").write_text("another")
    assert freshness.look(compiled) != seen
