"""`retain card`: one card or many edited, tagged, put off, listed, and all of it taken back."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli import main
from vault.config.settings import Settings, render_settings

DECK = """\
---
concept: k3v9m2x7ad
---

# Spacing effect

## Definitional

Q: What is it?
A: Spread-out study.
<!-- card aaaaaaaaa1 2c4b9d -->

Q: Why?
A: It is harder.
<!-- card aaaaaaaaa2 -->
"""
ONE, TWO = "aaaaaaaaa1", "aaaaaaaaa2"
EDITOR = """\
import pathlib, sys
form, words = pathlib.Path(sys.argv[-1]), pathlib.Path(sys.argv[1])
old, new = words.read_text().split("=>")
pathlib.Path(str(form) + "~").write_text("a backup")
form.write_text(form.read_text().replace(old, new))
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Typing:
    """Somebody at a terminal in a vault with one deck."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self.capsys = root, capsys
        self.deck = root / "learning/flashcards/spacing-effect.md"
        self.deck.parent.mkdir(parents=True)
        (root / "ledger").mkdir()
        self.deck.write_text(DECK)
        settings = Settings("01KB0000000000000000000000", "Mind", timezone="Europe/Berlin")
        (root / "retain.toml").write_text(render_settings(settings))

    def run(self, *arguments: str, code: int = 0) -> str:
        self.capsys.readouterr()
        found = main.run(list(arguments))
        self.said = self.capsys.readouterr()
        assert found == code, self.said.err
        return self.said.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))


@pytest.fixture
def typing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typing:
    someone = Typing(tmp_path / "mind", capsys)
    monkeypatch.chdir(someone.root)
    monkeypatch.setattr(sys, "stdin", Terminal())
    return someone


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the human's editor puts in the place of what: `old=>new`."""
    (tmp_path / "editor.py").write_text(EDITOR)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{tmp_path / 'editor.py'}' '{tmp_path / 'words'}'")
    monkeypatch.setattr("cli.environment.AT_ONCE_S", 0.0)
    return tmp_path / "words"


def test_a_card_is_edited_by_words_given_and_taken_back(typing: Typing) -> None:
    said = typing.json("card", "edit", ONE, "--answer", "Study in *parts*.")
    assert said["changed"] and said["after"] == {"question": "What is it?", "answer": "Study in *parts*."}
    assert typing.deck.read_text() == DECK.replace("Spread-out study.", "Study in *parts*.")
    assert typing.json("card", "show", ONE)["edited"]
    typing.run("card", "edit", ONE, "--restore")
    assert typing.deck.read_text() == DECK
    typing.run("card", "edit", ONE, "--restore", code=2)


def test_a_card_is_edited_from_a_file_or_a_pipe(typing: Typing, monkeypatch: pytest.MonkeyPatch) -> None:
    form = "Anything before.\n\nQ: What,\nthen?\n\nA: ```\nA: code\n```\nand\n\\A: more\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(form.encode())))
    said = typing.json("card", "edit", TWO, "--from", "-")
    assert said["after"] == {"question": "What,\nthen?", "answer": "```\nA: code\n```\nand\nA: more"}
    (typing.root / "form.md").write_text("no question\n")
    typing.run("card", "edit", TWO, "--from", "form.md", code=3)
    assert "no line begins with Q:" in typing.said.err


def test_the_editor_opens_on_a_form_that_goes_again(typing: Typing, editor: Path) -> None:
    editor.write_text("Spread-out=>Spaced")
    assert "edited in" in typing.run("card", "edit", ONE)
    assert typing.deck.read_text() == DECK.replace("Spread-out", "Spaced")
    assert not list(editor.parent.glob("retain-form-*"))


def test_an_editor_that_changes_nothing_leaves_nothing(typing: Typing, editor: Path) -> None:
    editor.write_text("nowhere=>there")
    assert "no changes" in typing.run("card", "edit", ONE)
    assert typing.deck.read_text() == DECK and not list(editor.parent.glob("retain-form-*"))


def test_words_that_are_refused_are_kept_and_can_be_taken_up(typing: Typing, editor: Path) -> None:
    editor.write_text("Spread-out study.=>```\nleft open")
    typing.run("card", "edit", ONE, code=3)
    assert typing.deck.read_text() == DECK
    (form,) = editor.parent.glob("retain-form-*/card-aaaaaaaaa1.md")
    assert f"`retain card edit {ONE} --from {form}` applies it" in typing.said.err
    assert form.parent.stat().st_mode & 0o77 == 0
    form.write_text(form.read_text() + "\n```\n")
    typing.run("card", "edit", ONE, "--from", str(form))
    assert "A:\n```\nleft open\n\n```\n" in typing.deck.read_text()


def test_an_editor_that_gives_up_changes_nothing_and_says_where_the_words_are(typing: Typing, editor: Path) -> None:
    script = editor.parent / "editor.py"
    script.write_text(script.read_text() + "\nraise SystemExit(1)\n")
    editor.write_text("nowhere=>there")
    typing.run("card", "edit", ONE, code=3)
    assert typing.deck.read_text() == DECK and not list(editor.parent.glob("retain-form-*"))
    editor.write_text("Spread-out=>Spaced")
    typing.run("card", "edit", ONE, code=3)
    assert typing.deck.read_text() == DECK
    (form,) = editor.parent.glob("retain-form-*/card-aaaaaaaaa1.md")
    assert f"--from {form}` applies it" in typing.said.err


def test_options_that_say_different_things_are_refused(typing: Typing) -> None:
    typing.run("card", "edit", ONE, "--answer", "x", "--restore", code=2)
    typing.run("card", "edit", ONE, "--answer", "", code=3)


def test_marks_go_to_many_cards_and_one_undo_takes_them_back(typing: Typing, monkeypatch: pytest.MonkeyPatch) -> None:
    said = typing.json("card", "suspend", ONE, TWO)
    assert [event["card"] for event in said["events"]] == [ONE, TWO] and said["asked"] == 2
    assert said["event"] == said["events"][-1]
    assert typing.json("card", "suspend", ONE) == {"event": None, "events": [], "asked": 1}
    assert len(typing.json("undo")["voided_all"]) == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{ONE}\n{TWO}\n"))
    assert "2 cards: bury" in typing.run("card", "bury", "-")
    assert "undone: bury of 2 cards" in typing.run("undo")


def test_tags_are_given_taken_listed_and_filtered_by(typing: Typing) -> None:
    typing.run("card", "tag", ONE, "--add", "Exam", "--add", "later")
    assert typing.json("card", "show", ONE)["tags"] == ["Exam", "later"]
    due = typing.json("due", "--tag", "exam")
    assert [(row["id"], row["tags"]) for row in due["new"]] == [(ONE, ["Exam", "later"])]
    typing.run("card", "tag", ONE, TWO, "--add", "more", "--remove", "exam")
    assert [row["id"] for row in typing.json("card", "list", "--tag", "LATER")["cards"]] == [ONE]
    typing.run("card", "tag", ONE, code=2)


def test_a_card_is_put_to_a_day(typing: Typing) -> None:
    typing.run("rate", ONE, "easy")
    said = typing.run("card", "reschedule", ONE, TWO, "--to", "+7d")
    assert "1 card: due" in said and "(1 unchanged)" in said
    due = datetime.fromisoformat(typing.json("card", "show", ONE)["due"])
    assert timedelta(days=5) < due - datetime.now(UTC) < timedelta(days=8)
    for day in ("yesterday", "+xd", "2026-13-01", "+99999d"):
        typing.run("card", "reschedule", ONE, "--to", day, code=2)
    typing.run("undo")
    assert datetime.fromisoformat(typing.json("card", "show", ONE)["due"]) != due


def test_flagged_cards_are_listed_with_their_reasons(typing: Typing) -> None:
    typing.run("card", "flag", ONE, "--reason", "too long")
    typing.run("card", "flag", TWO)
    typing.run("undo")
    (row,) = typing.json("card", "list", "--flagged")["cards"]
    assert (row["id"], row["reason"], row["line"]) == (ONE, "too long", 9)
    assert "too long" in typing.run("card", "list")


def test_a_card_is_made_shown_with_its_ratings_deleted_and_put_back(typing: Typing) -> None:
    made = typing.json("card", "new", "--cloze", "{{c1::Gaps}} beat {{c2::cramming}}.", "--deck", "Spacing effect")
    one, two = made["cards"]
    assert made["path"].endswith("/spacing-effect.md") and not made["new_deck"]
    typing.run("rate", one, "good")
    typing.run("rate", one, "again")
    shown = typing.json("card", "show", one)
    assert [each["rating"] for each in shown["reviews"]] == ["good", "again"] and shown["lapses"] == 0
    assert "Good" in typing.run("card", "show", one) and "stability" in typing.run("card", "show", one)
    before = typing.deck.read_text()
    assert typing.json("card", "delete", two)["cards"] == [one, two]
    assert "Gaps" not in typing.deck.read_text()
    typing.run("card", "show", one, code=2)
    typing.run("card", "delete", two, "--restore")
    assert typing.deck.read_text() == before and typing.json("card", "show", one)["reps"] == 2
    assert "nothing to restore" in typing.run("card", "delete", two, "--restore")


def test_no_ids_on_stdin_delete_nothing(typing: Typing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    typing.run("card", "delete", "-", code=2)
    assert "no card id given" in typing.said.err


def test_a_card_is_made_of_a_form_and_of_both_directions(typing: Typing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Q: Wasser\nA: water\n")))
    there, back = typing.json("card", "new", "--from", "-", "--reversed", "--deck", "German", "--tag", "a1")["cards"]
    assert typing.json("card", "show", back)["question"] == "water"
    assert typing.json("card", "show", there)["tags"] == ["a1"]
    typing.run("card", "new", "--question", "Q?", code=2)
    assert "both --question and --answer" in typing.said.err
    typing.run("card", "new", "--question", "Q?", "--answer", "A.", "--cloze", "{{c1::x}}", code=2)


def test_more_new_cards_are_a_decision_for_today_that_undo_takes_back(typing: Typing) -> None:
    file = typing.root / "retain.toml"
    file.write_text(file.read_text().replace("new_per_day = 20", "new_per_day = 0"))
    assert typing.json("due")["today"]["new"] == 0
    typing.run("review", "--more", "1", "--plain")
    assert typing.json("due")["today"]["new"] == 1
    typing.run("review", "--more", "1", "--plain")
    assert typing.json("due")["today"]["new"] == 2
    assert "more new cards today" in typing.run("undo")
    assert typing.json("due")["today"]["new"] == 1
    typing.run("rate", ONE, "good")
    assert typing.json("due")["today"]["new"] == 0, "what was studied counts"
    typing.run("undo")
    typing.run("undo")
    assert typing.json("due")["today"]["new"] == 0


def test_the_lapse_that_makes_a_leech_says_so_and_leeches_are_listed(typing: Typing) -> None:
    file = typing.root / "retain.toml"
    file.write_text(file.read_text().replace("# leech_threshold = 8 ", "leech_threshold = 1 "))
    assert "no matching cards" in typing.run("card", "list", "--leech")
    every = typing.json("card", "list", "--all")["cards"]
    assert len(every) > 1 and all(row["question"] in typing.run("card", "list", "--all") for row in every)
    typing.run("rate", ONE, "easy", "--at", "2026-01-01T12:00+01:00")
    assert "leech" not in typing.run("rate", TWO, "good")
    assert "marked as a leech" in typing.run("rate", ONE, "again")
    assert "leech, forgotten 1 time" in typing.run("card", "list", "--leech")
    assert [each["id"] for each in typing.json("card", "list", "--leech")["cards"]] == [ONE]
