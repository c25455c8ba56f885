"""`retain import cards` and `retain import undo` as a user runs them."""

from __future__ import annotations

from pathlib import Path

from tests.commands import Run

NOTE = "#flashcards/geo\n\nCapital of Kenya?::Nairobi\n<!--SR:!2026-12-10,20,250-->\n\nno back::\n"


def test_cards_are_previewed_imported_verified_and_taken_back(run: Run, tmp_path: Path) -> None:
    root, note = tmp_path / "mind", tmp_path / "Cities.md"
    assert run("init", str(root), "--no-git").code == 0
    note.write_text(NOTE)
    tried = run("import", "cards", str(note), "--dry-run", "--vault", str(root))
    assert tried.code == 1 and "format: obsidian-sr (it has a schedule" in tried.stdout
    assert "Capital of Kenya?  →  Nairobi  [geo, due 2026-12-10]" in tried.stdout and "nothing changed" in tried.stdout
    assert "Cities.md:6: one side of the card is empty" in tried.stdout
    assert not list((root / "learning/flashcards").glob("*.md"))
    done = run("import", "cards", str(note), "--json", "--vault", str(root)).json()
    assert (done["cards"]["created"], done["log"]["schedules"]) == (1, 1)
    for command in ("compile", "rebuild"):
        assert run(command, "--vault", str(root)).code == 0
    assert run("verify", "--json", "--vault", str(root)).json()["unsupported"] == []
    assert run("undo", "--vault", str(root)).code == 2  # an import is not the last action
    assert "1 card deleted" in run("import", "undo", "--vault", str(root)).stdout
    assert run("import", "undo", "--vault", str(root)).code == 2


def test_cards_that_an_undo_deleted_are_not_called_lost_and_those_that_came_back_are(run: Run, tmp_path: Path) -> None:
    root, table = tmp_path / "mind", tmp_path / "words.csv"
    run("init", str(root), "--no-git")
    table.write_text("Front,Back\nHaus,house\n")

    def lost() -> int:
        return len(run("lint", "--rule", "lost", "--json", "--vault", str(root)).json()["findings"])

    run("import", "cards", str(table), "--vault", str(root))
    assert run("import", "undo", "--vault", str(root)).code == 0 and lost() == 0
    assert run("import", "cards", str(table), "--restore", "--vault", str(root)).code == 0 and lost() == 0
    for deck in (root / "learning/flashcards").glob("*.md"):
        deck.unlink()
    assert lost() == 1


def test_a_table_says_what_each_column_was_taken_for(run: Run, tmp_path: Path) -> None:
    root, table = tmp_path / "mind", tmp_path / "words.csv"
    run("init", str(root), "--no-git")
    table.write_text("Front,Back,Tags\nHaus,house,noun\n")
    done = run("import", "cards", str(table), "--dry-run", "--vault", str(root))
    assert done.code == 0 and "column Front: front, such as 'Haus'" in done.stdout
    wrong = run("import", "cards", str(table), "--columns", "front,colour", "--vault", str(root))
    assert wrong.code == 2 and "colour" in wrong.stderr and "front, back, tags" in wrong.stderr


def test_a_deck_with_cards_of_another_program_is_named(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "mind"
    run("init", str(root), "--no-git")
    (root / "learning/flashcards/x.md").write_text("---\ndeck: X\n---\n\nCapital of Kenya?::Nairobi\n")
    said = run("due", "--vault", str(root))
    assert "Spaced Repetition" in said.stdout + said.stderr and "retain import cards" in said.stdout + said.stderr
