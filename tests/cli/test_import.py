"""`retain import anki` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.learning.test_anki_import_hostile import database, note, package


def test_a_strangers_deck_is_imported_compiled_beside_and_reviewed(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "mind"
    assert run("init", str(root), "--no-git").code == 0
    deck = package(tmp_path, database(*note("What is <b>spacing</b>?", "Apart.", 1, "memory")))
    tried = run("import", "anki", str(deck), "--dry-run", "--json", "--vault", str(root))
    assert (tried.code, tried.json["cards"]["created"], tried.json["dry_run"]) == (0, 1, True)
    assert not list((root / "learning/flashcards").glob("*.md"))
    done = run("import", "anki", str(deck), "--vault", str(root))
    assert done.code == 0 and "1 created" in done.out and "batch " in done.out
    (file,) = (root / "learning/flashcards").glob("*.md")
    text = file.read_bytes()
    for command in ("compile", "rebuild"):
        assert run(command, "--vault", str(root)).code == 0
        assert file.read_bytes() == text
    assert run("verify", "--json", "--vault", str(root)).json["unsupported"] == []
    due = run("due", "--json", "--vault", str(root)).json
    assert run("rate", due["new"][0]["id"], "good", "--vault", str(root)).code == 0
    assert json.loads(run("import", "anki", str(deck), "--json", "--vault", str(root)).out)["cards"]["kept"] == 1


def test_what_is_no_package_is_refused_by_name(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "mind"
    run("init", str(root), "--no-git")
    (tmp_path / "x.apkg").write_text("no")
    done = run("import", "anki", str(tmp_path / "x.apkg"), "--vault", str(root))
    assert done.code != 0 and "no Anki package" in done.err and "Traceback" not in done.err
