"""`retain import anki` as a user runs it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.agent_session import begin, settle
from tests.commands import Run
from tests.learning.test_anki_import_hostile import database, note, package
from tests.learning.test_anki_import_strangers import GIF
from vault.audit.agent_runs import at_work
from vault.vault import open_vault


def test_a_strangers_deck_is_imported_compiled_beside_and_reviewed(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "mind"
    assert run("init", str(root), "--no-git").code == 0
    deck = package(tmp_path, database(*note("What is <b>spacing</b>?", "Apart.", 1, "memory")))
    tried = run("import", "anki", str(deck), "--dry-run", "--json", "--vault", str(root))
    assert (tried.code, tried.json()["cards"]["created"], tried.json()["dry_run"]) == (0, 1, True)
    assert not list((root / "learning/flashcards").glob("*.md"))
    done = run("import", "anki", str(deck), "--vault", str(root))
    assert done.code == 0 and "1 created" in done.stdout
    (file,) = (root / "learning/flashcards").glob("*.md")
    text = file.read_bytes()
    for command in ("compile", "rebuild"):
        assert run(command, "--vault", str(root)).code == 0
        assert file.read_bytes() == text
    assert run("verify", "--json", "--vault", str(root)).json()["unsupported"] == []
    due = run("due", "--json", "--vault", str(root)).json()
    assert run("rate", due["new"][0]["id"], "good", "--vault", str(root)).code == 0
    assert json.loads(run("import", "anki", str(deck), "--json", "--vault", str(root)).stdout)["cards"]["kept"] == 1


def test_what_is_no_package_is_refused_by_name(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "mind"
    run("init", str(root), "--no-git")
    (tmp_path / "x.apkg").write_text("no")
    done = run("import", "anki", str(tmp_path / "x.apkg"), "--vault", str(root))
    assert done.code != 0 and "not an Anki package" in done.stderr and "Traceback" not in done.stderr


@pytest.fixture
def root(run: Run, tmp_path: Path) -> Path:
    """A vault with a card that a human wrote just now."""
    root = tmp_path / "mind"
    assert run("init", str(root), "--no-git").code == 0
    deck = "---\ntype: flashcards\n---\n\n# H\n\nQ: one?\nA: 1\n"
    (root / "learning/flashcards/h.md").write_text(deck, encoding="utf-8")
    return root


def files(root: Path) -> dict[str, bytes]:
    """All that is no cache."""
    found = (p for p in root.rglob("*") if p.is_file() and ".retain" not in p.parts)
    return {str(p): p.read_bytes() for p in found}


def test_a_dry_run_mints_no_ids_and_settles_nothing(run: Run, root: Path, tmp_path: Path) -> None:
    deck = package(tmp_path, database(*note("What is spacing?", "Apart.")))
    before = files(root)
    begin(open_vault(str(root), None, root), ["agent"], datetime.now(UTC))
    done = run("import", "anki", str(deck), "--dry-run", "--vault", str(root))
    assert done.code == 0 and "1 would be created" in done.stdout and "nothing changed" in done.stdout
    assert files(root) == before and at_work(open_vault(str(root), None, root))


def test_nothing_is_imported_while_an_agent_is_at_work(run: Run, root: Path, tmp_path: Path) -> None:
    deck = package(tmp_path, database(*note("What is spacing?", "Apart.")))
    vault, before = open_vault(str(root), None, root), files(root)
    work = begin(vault, ["agent"], datetime.now(UTC))  # by this process, which lives
    refused = run("import", "anki", str(deck), "--vault", str(root))
    assert refused.code == 3 and work.id in refused.stderr and "have not been checked yet" in refused.stderr
    assert files(root) == before
    settle(vault, work, datetime.now(UTC))
    assert run("import", "anki", str(deck), "--json", "--vault", str(root)).json()["cards"]["created"] == 1
    assert run("verify", "--vault", str(root)).code == 0


def test_a_deck_that_is_not_there_is_answered_with_those_that_are(run: Run, root: Path, tmp_path: Path) -> None:
    deck = package(tmp_path, database(*note("What?"), deck="Biology::Cells"))
    done = run("import", "anki", str(deck), "--deck", "biologi", "--vault", str(root))
    assert done.code == 2 and "Biology::Cells" in done.stderr
    assert run("import", "anki", str(deck), "--deck", "biology", "--vault", str(root)).code == 0


def test_a_pipe_is_refused_before_it_is_opened(run: Run, root: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.apkg")
    done = run("import", "anki", str(tmp_path / "pipe.apkg"), "--vault", str(root))
    assert done.code == 1 and "not a regular file" in done.stderr


def test_the_reviews_of_a_deck_that_was_deleted_here_are_known(run: Run, root: Path, tmp_path: Path) -> None:
    row = "insert into revlog values (1700000000000, 1, 3, 900, 1, 2500)"
    deck = package(tmp_path, database(*note("What is spacing?", "Apart."), row))
    words = ("import", "anki", str(deck), "--json", "--vault", str(root))
    assert run(*words).json()["reviews"] == {"added": 1, "known": 0, "left_out": 0}
    (file,) = set((root / "learning/flashcards").glob("*.md")) - {root / "learning/flashcards/h.md"}
    file.unlink()
    assert run(*words).json()["reviews"] == {"added": 0, "known": 1, "left_out": 0}


def test_an_import_with_cards_that_cannot_be_imported_ends_with_findings(
    run: Run, shared_data: Path, tmp_path: Path
) -> None:
    root = tmp_path / "mind"
    assert run("init", str(root), "--no-git").code == 0
    done = run("import", "anki", str(shared_data / "anki/anki21-mixed-notetypes-scheduled.apkg"), "--vault", str(root))
    assert done.code == 1 and "10 created" in done.stdout and "Image Occlusion not imported (3 cards)" in done.stdout
    assert "exported from this vault" not in done.stdout, "none of them was"


def test_cards_made_without_something_of_their_template_are_imported(run: Run, root: Path, tmp_path: Path) -> None:
    front = "{{own:Front}}<script>draw()</script>"
    template = f'update col set models = replace(models, \'"qfmt": "{{{{Front}}}}\', \'"qfmt": "{front}\')'
    deck = package(tmp_path, database(template, *note("What?"), *note("Who?", number=2)))
    words = ("import", "anki", str(deck), "--vault", str(root))
    done = run(*words, "--dry-run")
    assert done.code == 0 and "not imported" not in done.stdout
    assert "note type Basic imported (2 cards) without a filter of its template that only Anki has" in done.stdout
    assert "note type Basic imported (2 cards) without the script of its template" in done.stdout
    found = run(*words, "--json").json()
    assert found["cards"]["created"] == 2 and not found["is_partial"] and not found["note_types"]["Basic"]["reported"]


def test_a_card_that_its_pictures_make_too_long_is_one_that_cannot_be_imported(
    run: Run, root: Path, tmp_path: Path
) -> None:
    long = note("What? " + "<img src=a.gif>" * 400, "word " * 12_000)
    deck = package(tmp_path, database(*long), media=b'{"0": "a.gif"}', **{"0": GIF})
    done = run("import", "anki", str(deck), "--vault", str(root))
    assert done.code == 1 and "1 skipped" in done.stdout and "cannot be turned into a card" in done.stdout


def test_a_card_deleted_here_is_no_finding(run: Run, root: Path, tmp_path: Path) -> None:
    deck = package(tmp_path, database(*note("What?")))
    words = ("import", "anki", str(deck), "--vault", str(root))
    assert run(*words).code == 0
    (file,) = set((root / "learning/flashcards").glob("*.md")) - {root / "learning/flashcards/h.md"}
    file.unlink()
    done = run(*words)
    assert done.code == 0 and "1 skipped" in done.stdout


def test_a_partial_import_of_a_table_names_the_row_and_keeps_the_others(run: Run, tmp_path: Path) -> None:
    root, table = tmp_path / "mind", tmp_path / "words.csv"
    assert run("init", str(root), "--no-git").code == 0
    table.write_text("front,back\nWhat is a halyard?,A rope\nWhat is a bight?,\n", encoding="utf-8")
    done = run("import", "cards", str(table), "--format", "csv", "--vault", str(root))
    assert done.code == 1 and "1 created" in done.stdout and "words.csv:3: " in done.stdout
