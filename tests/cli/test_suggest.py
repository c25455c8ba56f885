"""`retain card suggest` as a user runs it: listed with its passage, kept, worded, dropped, taken back."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Result, Run, retain
from tests.in_process import only_suggestions
from vault.layout import SUGGESTIONS
from vault.log import ledger
from vault.model.card import parse_deck

SOURCE = """\
# Harbours

Ships wait outside until the tide is high enough.
A breakwater is a wall in the sea that shelters a harbour from waves.
Its stones are laid from barges.

A buoy is a float that marks a channel for ships.
"""
DECK = "learning/flashcards/breakwater.md"


@pytest.fixture(autouse=True)
def uncertain() -> Iterator[None]:
    """The embedded engine suggests every card, and queues none."""
    with only_suggestions():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of one document, compiled; copied for each test."""
    root = tmp_path_factory.mktemp("suggest")
    (root / "harbours.md").write_text(SOURCE, encoding="utf-8")
    with only_suggestions():
        assert retain("init", "vault", "--no-git", cwd=root).code == 0
        assert retain("add", "../harbours.md", cwd=root / "vault").code == 0
        assert "to keep or drop: `retain card suggest`" in retain("compile", cwd=root / "vault").stdout
    return root / "vault"


@pytest.fixture
def vault(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "vault")
    return tmp_path / "vault"


def listed(run: Run, vault: Path, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run("card", "suggest", "--json", *arguments, cwd=vault).json()["suggestions"]
    return found


def one(run: Run, vault: Path) -> dict[str, Any]:
    """The suggestion that asks what a breakwater is."""
    found = listed(run, vault, "breakwater")
    return next(each for each in found if each["question"].lower().endswith("what is a breakwater?"))


def suggest(run: Run, vault: Path, *arguments: str, stdin: str = "") -> Result:
    return run("card", "suggest", *arguments, cwd=vault, stdin=stdin)


def test_the_list_shows_each_card_with_its_article_its_passage_and_its_place(run: Run, vault: Path) -> None:
    shown = suggest(run, vault).stdout
    for words in (
        "what is a breakwater?",
        "A wall in the sea that shelters a harbour from waves.",
        "(wiki/concepts/breakwater.md)",
        "Ships wait outside until the tide is high enough.",
        "“A breakwater is a wall in the sea that shelters a harbour from waves.”",
        "Its stones are laid from barges.",
        "raw/articles/harbours.md, Harbours, line 3",
    ):
        assert words.lower() in shown.lower()
    row = one(run, vault)
    assert {"id", "path", "line", "reason", "form", "score", "before", "after", "claim"} <= set(row)
    assert row["id"] in shown and row["path"] == "wiki/concepts/breakwater.md"
    assert (row["before"], row["place"]) == (
        "Harbours\nShips wait outside until the tide is high enough.",
        "Harbours, line 3",
    )


def test_the_list_can_be_narrowed_to_a_concept_by_title_path_or_file(run: Run, vault: Path) -> None:
    by_title = listed(run, vault, "Breakwater")
    assert by_title and {each["concept"].lower() for each in by_title} == {"breakwater"}
    assert by_title == listed(run, vault, "wiki/concepts/breakwater.md") == listed(run, vault, "breakwater")
    assert len(listed(run, vault)) > len(by_title)
    for row in by_title:
        assert suggest(run, vault, "--drop", row["id"]).code == 0
    while left := listed(run, vault, "breakwater"):  # what the dropped ones made room for
        assert suggest(run, vault, *(word for each in left for word in ("--drop", each["id"]))).code == 0
    assert "no suggested cards" in suggest(run, vault, "breakwater").stdout
    for form in ([], ["--json"]):
        mistyped = suggest(run, vault, "breakwatr", *form)
        assert (mistyped.code, mistyped.stdout) == (2, "") and "there is no concept with that name" in mistyped.stderr


def test_a_kept_card_is_in_its_deck_at_once_and_is_a_card_like_any_other(run: Run, vault: Path) -> None:
    row = one(run, vault)
    done = suggest(run, vault, "--keep", row["id"])
    assert done.code == 0 and f"kept in {DECK}" in done.stdout
    card = parse_deck((vault / DECK).read_text(encoding="utf-8"), DECK).cards[0]
    assert (card.id, card.question, card.answer) == (row["id"], row["question"], row["answer"])
    assert not card.human_edited and [cite.claim for cite in card.support] == [row["claim"]]
    assert run("verify", cwd=vault).code == 0
    assert run("trace", row["id"], "--json", cwd=vault).json()["claims"][0]["quote"] == row["quote"]
    assert row["id"] in [each["id"] for each in run("due", "--json", cwd=vault).json()["new"]]
    assert run("rate", row["id"], "good", cwd=vault).code == 0
    assert run("export", "anki", "out.apkg", cwd=vault).code == 0
    assert row["id"] not in [each["id"] for each in listed(run, vault)]
    nothing = run("compile", cwd=vault)
    assert "nothing changed" in nothing.stdout


def test_dropped_cards_do_not_return_and_undo_brings_them_back(run: Run, vault: Path) -> None:
    row, before = one(run, vault), listed(run, vault)
    assert "will not be suggested again" in suggest(run, vault, "--drop", row["id"][:6]).stdout
    shutil.rmtree(vault / ".retain")
    assert run("rebuild", cwd=vault).code == 0
    assert row not in listed(run, vault)
    assert suggest(run, vault, "--undo").stdout.startswith(f"{row['id']}  drop undone")
    assert listed(run, vault) == before
    gone = suggest(run, vault, "--undo")
    assert gone.code == 2 and "no decision on a suggested card to undo" in gone.stderr


def test_a_card_can_be_kept_in_words_of_ones_own_from_options_or_a_file(run: Run, vault: Path) -> None:
    row = one(run, vault)
    done = suggest(run, vault, "--edit", row["id"], "--answer", "A *wall* against waves.", "--json").json()
    assert [(each["id"], each["decision"], each["path"]) for each in done["decided"]] == [(row["id"], "edit", DECK)]
    card = parse_deck((vault / DECK).read_text(encoding="utf-8"), DECK).cards[0]
    assert (card.question, card.answer, card.human_edited) == (row["question"], "A *wall* against waves.", True)
    assert suggest(run, vault, "--undo").code == 0
    assert not (vault / DECK).exists()
    form = "Q: What breaks waves?\nA: A breakwater.\n"
    assert suggest(run, vault, "--edit", row["id"], "--from", "-", stdin=form).code == 0
    assert "Q: What breaks waves?\nA: A breakwater.\n" in (vault / DECK).read_text(encoding="utf-8")


def test_words_as_they_were_are_no_edit(run: Run, vault: Path) -> None:
    row = one(run, vault)
    done = suggest(run, vault, "--edit", row["id"], "--question", row["question"], "--json").json()
    assert [each["decision"] for each in done["decided"]] == ["keep"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--keep", "ID", "--drop", "ID"), 2, "given twice"),
        (("--keep", "nothing000"), 2, "no suggested card has that id"),
        (("--undo", "--keep", "ID"), 2, "--undo cannot be combined with other options"),
        (("--answer", "Mine."), 2, "need --edit ID"),
        (("--edit", "ID", "--answer", "Mine.", "--from", "-"), 2, "conflicting options"),
        (("--edit", "ID", "--answer", ""), 3, "the answer is empty"),
        (("--edit", "ID", "--answer", "```\nopen"), 3, "fence"),
        (("--edit", "ID"), 2, "--question and --answer"),
        (("harbours", "--keep", "ID"), 2, "cannot be combined"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_hint_and_changes_nothing(
    run: Run, vault: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    row, before = one(run, vault), (vault / ledger.DECISIONS).read_bytes()
    done = suggest(run, vault, *(row["id"] if each == "ID" else each for each in arguments))
    assert (done.code, words in done.stderr) == (code, True), done.stderr
    assert (vault / ledger.DECISIONS).read_bytes() == before and not (vault / DECK).exists()


def test_one_wrong_id_among_several_decides_nothing(run: Run, vault: Path) -> None:
    row, before = one(run, vault), (vault / ledger.DECISIONS).read_bytes()
    assert suggest(run, vault, "--keep", row["id"], "--drop", "nothing000").code == 2
    assert (vault / ledger.DECISIONS).read_bytes() == before


def test_decisions_on_two_cards_of_one_question_and_on_another_are_recorded_together(run: Run, vault: Path) -> None:
    path = vault / SUGGESTIONS
    data = json.loads(path.read_text(encoding="utf-8"))
    first, second, *_ = data["suggestions"]
    data["suggestions"].append(first | {"id": "0000000000", "answer": "Another answer."})
    path.write_text(json.dumps(data), encoding="utf-8")
    done = suggest(run, vault, "--drop", first["id"], "--drop", "0000000000", "--keep", second["id"], "--json")
    decided = {each["id"]: each["decision"] for each in done.json()["decided"]}
    assert done.code == 0 and decided == {first["id"]: "drop", "0000000000": "drop", second["id"]: "keep"}


def test_a_refused_edit_leaves_the_other_cards_undecided(run: Run, vault: Path) -> None:
    row, before = one(run, vault), (vault / ledger.DECISIONS).read_bytes()
    other = next(each["id"] for each in listed(run, vault) if each["question"] != row["question"])
    assert suggest(run, vault, "--drop", other, "--edit", row["id"], "--answer", "").code == 3
    assert (vault / ledger.DECISIONS).read_bytes() == before
    assert suggest(run, vault, "--drop", other, "--edit", row["id"], "--answer", "Mine.").code == 0
    assert not {other, row["id"]} & {each["id"] for each in listed(run, vault)}


def test_an_undo_says_that_a_card_stays_which_the_user_extended(run: Run, vault: Path) -> None:
    row = one(run, vault)
    assert suggest(run, vault, "--edit", row["id"], "--answer", "Mine.").code == 0
    text = (vault / DECK).read_text(encoding="utf-8")
    (vault / DECK).write_text(text.replace("A: Mine.\n", "A: Mine.\nAnd more.\n"), encoding="utf-8")
    done = suggest(run, vault, "--undo")
    assert done.code == 0 and "edit undone" in done.stdout and f"{row['id']} was kept in {DECK}" in done.stderr
    assert "A: Mine.\nAnd more.\n" in (vault / DECK).read_text(encoding="utf-8")


def test_a_compile_that_fails_says_that_the_decision_is_saved(run: Run, vault: Path) -> None:
    row = one(run, vault)
    (vault / DECK).mkdir()
    done = suggest(run, vault, "--keep", row["id"])
    assert done.code != 0 and "saved; it takes effect at the next `retain compile`" in done.stderr
    (vault / DECK).rmdir()
    assert run("compile", cwd=vault).code == 0
    assert row["id"] in (vault / DECK).read_text(encoding="utf-8")


def test_an_undo_waits_for_the_compile_where_a_model_writes(run: Run, vault: Path) -> None:
    assert suggest(run, vault, "--keep", one(run, vault)["id"]).code == 0
    line = '{"v":1,"type":"build","id":"x","at":"2099-01-01T00:00:00.000Z","command":"compile","engine":"journal/1"}'
    with (vault / ledger.BUILDS).open("a", encoding="utf-8") as builds:
        builds.write(f"{line}\n")
    assert listed(run, vault) == []
    done = suggest(run, vault, "--undo")
    assert done.code == 0 and "takes effect at the next `retain compile`" in done.stderr
    assert "was not added to a deck" not in done.stderr and (vault / DECK).exists()


@pytest.mark.parametrize("damage", ["", "[]", '{"suggestions": 1}'])
def test_a_compile_makes_a_damaged_list_anew(run: Run, vault: Path, damage: str) -> None:
    before = listed(run, vault)
    (vault / SUGGESTIONS).write_text(damage, encoding="utf-8")
    assert "run `retain compile` to create them" in suggest(run, vault).stdout
    assert run("compile", cwd=vault).code == 0
    assert listed(run, vault) == before


def test_a_vault_that_is_not_compiled_here_says_so(run: Run, vault: Path) -> None:
    (vault / SUGGESTIONS).unlink()
    assert "run `retain compile` to create them" in suggest(run, vault).stdout
    assert run("compile", cwd=vault).code == 0
    assert one(run, vault)


@pytest.mark.parametrize("cached", [True, False])
def test_a_vault_that_a_model_wrote_has_no_suggestions_and_says_so(run: Run, vault: Path, cached: bool) -> None:
    line = '{"v":1,"type":"build","id":"x","at":"2099-01-01T00:00:00.000Z","command":"compile","engine":"journal/1"}'
    (vault / ledger.BUILDS).write_text(f"{line}\n")
    if not cached:  # else it is of the build before
        (vault / SUGGESTIONS).unlink()
    done = suggest(run, vault)
    assert done.code == 0 and "compiled by a model or an agent" in done.stdout
    assert suggest(run, vault, "--json").json() == {"suggestions": [], "waiting": 0, "by_model": True}


def test_escape_sequences_of_a_document_do_not_reach_the_terminal(run: Run, vault: Path) -> None:
    path = vault / "raw/articles/harbours.md"
    path.write_text(SOURCE.replace("Its stones", "\x1b[31mIts stones"), encoding="utf-8")
    assert run("compile", cwd=vault).code == 0
    assert "\x1b" not in suggest(run, vault).stdout


# --- two clones, merged by git ----------------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> int:
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *person, *words], cwd=folder, capture_output=True, check=False).returncode


ACTS = {
    "keep": ("--keep", "ID"),
    "drop": ("--drop", "ID"),
    "edit": ("--edit", "ID", "--question", "Mine?", "--answer", "Mine."),
    "other": ("--keep", "OTHER"),
}


@pytest.mark.parametrize(
    ("first", "last", "asked"),
    [
        ("keep", "drop", set()),
        ("edit", "drop", set()),
        ("drop", "keep", {"ID"}),
        ("keep", "keep", {"ID"}),
        ("keep", "edit", {"Mine?"}),
        ("edit", "keep", {"ID"}),
        ("keep", "other", {"ID", "OTHER"}),
    ],
)
def test_clones_that_decided_differently_merge_and_the_later_decision_counts(
    run: Run, vault: Path, tmp_path: Path, first: str, last: str, asked: set[str]
) -> None:
    row = one(run, vault)
    other = next(each for each in listed(run, vault, "breakwater") if each["id"] != row["id"])
    questions = {"ID": row["question"], "OTHER": other["question"]}
    assert git(vault, "init", "-q") == git(vault, "add", "-A") == git(vault, "commit", "-qm", "both") == 0
    clone = tmp_path / "clone"
    assert git(tmp_path, "clone", "-q", str(vault), str(clone)) == 0
    assert run("compile", cwd=clone).code == 0
    for root, act in ((vault, first), (clone, last)):
        words = ({"ID": row["id"], "OTHER": other["id"]}.get(word, word) for word in ACTS[act])
        assert suggest(run, root, *words).code == 0
        assert git(root, "add", "-A") == git(root, "commit", "-qm", act) == 0
    git(clone, "pull", "-q", "--no-rebase", "--no-edit")
    for again in ("compile", "rebuild"):
        assert run(again, cwd=clone).code == 0
        text = (clone / DECK).read_text(encoding="utf-8") if (clone / DECK).exists() else ""
        cards = parse_deck(text, DECK).cards
        assert {card.question for card in cards} == {questions.get(each, each) for each in asked}
        assert len(cards) == len(asked) and "<<<<" not in text
    assert not {row["id"], *([other["id"]] if last == "other" else [])} & {s["id"] for s in listed(run, clone)}
    assert run("compile", cwd=clone).stdout.endswith("nothing changed, nothing written\n")
