"""`retain insight`: a note of the human's own, in the human's own editor; what of it is recorded, and what is not."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import templates
from cli import main, output
from tests.builders import vault_with_sources
from vault.config.user import set_personal_vault
from vault.files.folder import sha256_hex
from vault.layout import PROMOTION_QUEUE
from vault.log import ledger
from vault.model.frontmatter import body_of, read_properties
from vault.vault import open_vault

# What the human does in the editor: the first word is a file of words to add, the last the note.
EDITOR = """\
import pathlib, sys
words, note = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[-1])
with (words.parent / "opened").open("a") as log:
    log.write(f"{note}\\n")
if words.exists():
    note.write_text(note.read_text() + words.read_text())
sys.exit(int((words.parent / "code").read_text()) if (words.parent / "code").exists() else 0)
"""
OWN = "Scales before breakfast taught me this long before any book did.\n"
NOTE = "insights/spacing-effect.md"
BETTER = """# Schedules

An expanding schedule is a schedule in which each gap is longer than the one before.
Expanding schedules produce better retention than equal gaps.
"""
WORSE = """# What laboratories found

Expanding schedules produce worse retention than equal gaps.
An expanding schedule is a schedule whose intervals grow from review to review.
"""


class Terminal(io.StringIO):
    """Standard input that says it is a terminal; what is started by a command has the real one."""

    def isatty(self) -> bool:
        return True


class Human:
    """Somebody at a terminal in a vault, whose editor adds `words` and notes what it was opened on."""

    def __init__(self, vault: Path, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.vault, self.desk, self.capsys = vault, desk, capsys
        desk.mkdir()
        (desk / "editor.py").write_text(EDITOR)

    @property
    def editor(self) -> str:
        return f"'{sys.executable}' '{self.desk / 'editor.py'}' '{self.desk / 'words'}'"

    def run(self, *arguments: str) -> tuple[int, str, str]:
        self.capsys.readouterr()
        code = main.run(list(arguments))
        out, err = self.capsys.readouterr()
        return code, out, err

    def writes(self, words: str) -> None:
        (self.desk / "words").write_text(words)

    @property
    def opened(self) -> list[str]:
        return (self.desk / "opened").read_text().splitlines() if (self.desk / "opened").exists() else []

    def decisions(self, type_: str = "insight") -> list[ledger.Event]:
        path = self.vault / ledger.DECISIONS
        events = ledger.decode(path.read_bytes(), ledger.DECISIONS)[0] if path.exists() else []
        return [e for e in events if e["type"] == type_]

    def note(self, path: str = NOTE) -> str:
        return (self.vault / path).read_text()


@pytest.fixture
def human(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Human:
    someone = Human(compiled, tmp_path / "desk", capsys)
    monkeypatch.chdir(compiled)
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", someone.editor)
    return someone


@pytest.fixture
def personal(human: Human, tmp_path: Path) -> Path:
    """A personal vault that the human has named."""
    folder = tmp_path / "my own"
    folder.mkdir()
    vault = open_vault(str(human.vault), None, tmp_path)
    set_personal_vault(vault.settings.vault_id, folder)
    return folder


def ripen(human: Human) -> str:
    """A concept of the queue: its answer changed after it was learnt. Its id."""
    deck = (human.vault / "learning/flashcards/spacing-effect.md").read_text()
    card = deck.partition("%% card ")[2][:10]
    assert human.run("rate", card, "good")[0] == 0
    change = {"v": 1, "type": "change", "of": "card", "id": card, "at": "2999-01-01T00:00:00.000Z", "a": "New words."}
    with (human.vault / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(change))
    return read_properties(deck).text("concept")


def test_the_note_holds_properties_and_the_question_and_nothing_else(human: Human) -> None:
    code, out, _ = human.run("insight", "Spacing effect", "--no-edit")
    assert (code, out) == (0, f"{human.vault / NOTE}\n")
    properties = read_properties(human.note())
    assert list(properties.values) == ["type", "concept", "created"] and properties.text("type") == "insight"
    deck = read_properties((human.vault / "learning/flashcards/spacing-effect.md").read_text())
    assert properties.text("concept") == deck.text("concept")
    assert body_of(human.note()) == "\n> [!question] What do you now think of Spacing effect?\n\n"
    assert human.decisions() == []  # nobody has written anything yet


def test_what_the_human_writes_is_recorded_and_takes_the_concept_out_of_the_queue(human: Human) -> None:
    concept = ripen(human)
    human.writes(OWN)
    (row,) = json.loads(human.run("insight", "--list", "--json")[1])["candidates"]
    line = (human.vault / PROMOTION_QUEUE).read_text().splitlines()[row["line"] - 1]
    assert (row["id"], row["concept"], row["why"]) == (concept, "Spacing effect", "changed")
    assert (
        row["id"] in line
        and row["reason"] == "What you learnt about Spacing effect has changed. What does that change for you?"
    )
    assert json.loads(human.run("status", "--json")[1])["promotion"] == 1
    code, _, err = human.run("insight")  # the first of the queue
    assert code == 0 and "note on Spacing effect recorded" in err
    assert human.opened == [str(human.vault / NOTE)]
    assert row["reason"] in human.note() and human.note().endswith(OWN)
    (event,) = human.decisions()
    assert (event["concept"], event["note"], event["via"]) == (concept, NOTE, "cli")
    assert event["sha256"] == sha256_hex(human.note().encode())
    assert event["at"] < "2999"
    assert human.run("log")[1].splitlines()[-1].endswith("  promotion  Spacing effect")


def test_a_note_on_a_concept_that_does_not_wait_in_the_queue_is_no_promotion(human: Human) -> None:
    human.writes(OWN)
    code, _, err = human.run("insight", "spacing-effect")
    assert code == 0 and "note on Spacing effect recorded" in err
    assert "promotion" not in human.run("log")[1]


def test_a_note_that_stays_empty_goes_again(human: Human, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.wiki.insight.AT_ONCE_S", 0.0)
    before = set(human.vault.rglob("*"))
    code, _, err = human.run("insight", "spacing-effect")
    assert code == 0 and "nothing written" in err and human.opened
    assert human.decisions() == [] and not (human.vault / NOTE).exists()
    assert {p for p in human.vault.rglob("*") if p not in before and ".retain" not in p.parts} <= {
        human.vault / PROMOTION_QUEUE
    }


def test_a_note_that_is_there_is_opened_as_it_is(human: Human) -> None:
    (human.vault / "insights").mkdir(exist_ok=True)
    (human.vault / NOTE).write_text("mine, without properties\n")
    assert human.run("insight", "spacing effect")[0] == 0
    assert human.note() == "mine, without properties\n" and human.opened == [str(human.vault / NOTE)]
    assert len(human.decisions()) == 1
    assert human.run("insight", "spacing effect")[0] == 0
    assert len(human.decisions()) == 1  # it says what it said
    human.writes(OWN)
    assert human.run("insight", "spacing effect")[0] == 0
    assert human.note() == f"mine, without properties\n{OWN}" and len(human.decisions()) == 2


def test_a_note_is_found_where_the_human_moved_it_and_by_whatever_name(human: Human) -> None:
    human.writes(OWN)
    human.run("insight", "spacing effect")
    (human.vault / "insights/deep").mkdir()
    (human.vault / NOTE).rename(human.vault / "insights/deep/spacing-effect.md")
    assert human.run("insight", "spacing effect")[0] == 0
    (human.vault / "insights/deep/spacing-effect.md").rename(human.vault / "insights/deep/My thoughts.md")
    assert human.run("insight", "spacing effect")[0] == 0
    assert [Path(p).relative_to(human.vault / "insights").as_posix() for p in human.opened] == [
        "spacing-effect.md",
        "deep/spacing-effect.md",
        "deep/My thoughts.md",
    ]
    assert len(list((human.vault / "insights").rglob("*.md"))) == 1


def test_words_that_were_written_elsewhere_are_recorded_without_an_editor(human: Human) -> None:
    human.run("insight", "spacing effect", "--no-edit")
    (human.vault / NOTE).write_text(human.note() + OWN)
    code, out, err = human.run("insight", "spacing effect", "--no-edit")
    assert code == 0 and out == f"{human.vault / NOTE}\n" and "recorded" in err and len(human.decisions()) == 1
    assert human.opened == []


# --- the personal vault -----------------------------------------------------------------------------------------------


def test_a_personal_vault_takes_the_note_and_no_trace_of_it_is_left_in_this_one(human: Human, personal: Path) -> None:
    human.writes(OWN)
    code, _, err = human.run("insight", "spacing effect")
    assert code == 0 and human.opened == [str(personal / "spacing-effect.md")] and str(personal) in err
    assert not (human.vault / NOTE).exists()
    (event,) = human.decisions()
    assert (event["note"], event["personal"]) == ("spacing-effect.md", True) and "sha256" not in event
    for path in human.vault.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert str(personal).encode() not in data and OWN.strip().encode() not in data, path
    (personal / "journal").mkdir()
    (personal / "spacing-effect.md").rename(personal / "journal/spacing-effect.md")
    assert human.run("insight", "spacing effect")[0] == 0
    assert human.opened[-1] == str(personal / "journal/spacing-effect.md")


def test_an_empty_note_goes_from_the_personal_vault_too_and_an_old_one_stays(
    human: Human, personal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.wiki.insight.AT_ONCE_S", 0.0)
    (personal / "forgetting-curve.md").write_text("my own, from long ago\n")
    assert human.run("insight", "spacing effect")[0] == 0
    assert human.run("insight", "Forgetting curve")[0] == 0
    assert [p.name for p in personal.iterdir()] == ["forgetting-curve.md"]
    assert (personal / "forgetting-curve.md").read_text() == "my own, from long ago\n"


def test_a_personal_vault_that_is_not_there_is_no_reason_to_write_elsewhere(human: Human, personal: Path) -> None:
    personal.rmdir()
    code, _, err = human.run("insight", "spacing effect")
    assert code == output.REFUSED and "was not found" in err and human.opened == []
    assert not (human.vault / NOTE).exists() and not personal.exists()


# --- which concept ----------------------------------------------------------------------------------------------------


def test_where_nobody_knows_the_human_s_own_folder_no_other_takes_its_place(human: Human) -> None:
    (human.vault / "insights").rmdir()
    code, _, err = human.run("insight", "Spacing effect")
    assert code == output.REFUSED and "not known on this machine" in err and "mkdir" in err
    assert not (human.vault / "insights").exists() and human.opened == []
    (human.vault / "insights").mkdir()
    human.writes(OWN)
    assert human.run("insight", "Spacing effect")[0] == output.DONE and OWN in human.note()


def test_a_concept_goes_by_title_alias_file_and_id(human: Human) -> None:
    article = human.vault / "wiki/concepts/spacing-effect.md"
    article.write_text(article.read_text().replace("aliases: []", "aliases:\n  - Distributed practice"))
    id_ = read_properties(article.read_text()).text("id")
    for name in ("Spacing effect", "  SPACING   Effect ", "spacing-effect", "distributed practice", id_):
        code, out, err = human.run("insight", name, "--no-edit")
        assert (code, out) == (0, f"{human.vault / NOTE}\n"), err


def test_a_name_that_fits_none_or_many_names_the_choices(human: Human) -> None:
    code, _, err = human.run("insight", "spacing efect", "--no-edit")
    assert code == output.USAGE and "Spacing effect (spacing-effect)" in err
    for stem in ("spacing-effect", "forgetting-curve"):
        article = human.vault / f"wiki/concepts/{stem}.md"
        article.write_text(article.read_text().replace("aliases: []", "aliases:\n  - Lag"))
    code, _, err = human.run("insight", "lag", "--no-edit")
    assert code == output.USAGE and "Forgetting curve (forgetting-curve) or Spacing effect (spacing-effect)" in err
    assert not list((human.vault / "insights").glob("*.md"))


def test_a_deck_made_by_hand_can_have_a_note(human: Human) -> None:
    (human.vault / "learning/flashcards/Mein Schlaf.md").write_text("# Schlaf\n\nQ: Was?\nA: Ruhe.\n")
    code, out, _ = human.run("insight", "schlaf", "--no-edit")
    assert (code, out) == (0, f"{human.vault / 'insights/mein-schlaf.md'}\n")
    assert read_properties(human.note("insights/mein-schlaf.md")).text("concept") == "Mein Schlaf"


def test_a_hostile_title_is_words_in_the_note(human: Human) -> None:
    article = human.vault / "wiki/concepts/spacing-effect.md"
    title = "Spacing <script>x</script> [[wiki/_index|a]] `= this` $(rm) \\x1b[2J\\u202e"
    article.write_text(article.read_text().replace("title: Spacing effect", f'title: "{title}"'))
    assert human.run("insight", "spacing-effect", "--no-edit")[0] == 0
    (line,) = [line for line in human.note().splitlines() if line.startswith(">")]
    assert "\\<script\\>" in line and "\\[\\[wiki" in line and "\\`=" in line
    assert "\x1b" not in human.note() and "\u202e" not in human.note()


# --- the editor -------------------------------------------------------------------------------------------------------


def test_visual_comes_before_editor_and_its_words_are_parted_as_a_shell_would(
    human: Human, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", f"{human.editor} --wait 'two words'")
    monkeypatch.setenv("EDITOR", "/nowhere/to/be/found")
    assert human.run("insight", "spacing effect")[0] == 0 and human.opened == [str(human.vault / NOTE)]


def test_no_file_of_the_vault_chooses_the_editor(human: Human, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDITOR")
    for name in (".env", ".editorconfig", "editor"):
        (human.vault / name).write_text(f"EDITOR={human.editor}\n")
    code, out, err = human.run("insight", "spacing effect")
    assert code == 0 and "no editor is set" in err and out == f"{human.vault / NOTE}\n" and human.opened == []


def test_an_editor_that_cannot_be_started_is_named_and_leaves_nothing(
    human: Human, monkeypatch: pytest.MonkeyPatch
) -> None:
    for editor in ("/nowhere/to/be/found", "vi 'unclosed"):
        monkeypatch.setenv("EDITOR", editor)
        code, _, err = human.run("insight", "spacing effect")
        assert code == output.USAGE and editor in err and not (human.vault / NOTE).exists()


def test_an_editor_that_fails_loses_no_words(human: Human) -> None:
    (human.desk / "code").write_text("3")
    human.writes(OWN)
    code, _, err = human.run("insight", "spacing effect")
    assert code == 0 and "exited with code 3" in err and human.note().endswith(OWN) and len(human.decisions()) == 1


def test_an_editor_that_comes_back_before_a_word_is_written_costs_no_note(
    human: Human, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.wiki.insight.AT_ONCE_S", 1e9)
    code, _, err = human.run("insight", "spacing effect")
    assert code == 0 and "the note was kept" in err and "`retain insight spacing-effect --no-edit`" in err
    assert human.decisions() == []
    (human.vault / NOTE).write_text(human.note() + OWN)  # in the window that is still open
    assert human.run("insight", "spacing-effect", "--no-edit")[0] == 0 and len(human.decisions()) == 1
    (human.vault / NOTE).unlink()
    (human.desk / "code").write_text("3")
    assert "empty note was removed" in human.run("insight", "spacing effect")[2]  # it failed: no window is open


def test_a_note_that_the_editor_took_away_is_not_recorded(human: Human, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "rm")
    code, _, err = human.run("insight", "spacing effect")
    assert code == 0 and "no longer exists" in err and human.decisions() == []


# --- refused ----------------------------------------------------------------------------------------------------------


def test_without_a_terminal_there_is_no_editor(human: Human, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    code, _, err = human.run("insight", "spacing effect")
    assert code == output.USAGE and "--no-edit" in err and not (human.vault / NOTE).exists()


def test_an_agent_in_a_cage_opens_no_note(human: Human, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETAIN_CAGED", "1")
    for arguments in (["insight", "spacing effect"], ["insight", "spacing effect", "--no-edit"], ["insight"]):
        assert human.run(*arguments)[0] == output.REFUSED
    assert not (human.vault / NOTE).exists() and human.opened == []


def test_json_is_for_the_list(human: Human) -> None:
    assert human.run("insight", "spacing effect", "--json")[0] == output.USAGE


def test_with_nothing_ripe_it_says_so(human: Human) -> None:
    code, _, err = human.run("insight")
    assert code == 0 and "no concept is suggested for a note yet" in err and human.opened == []
    assert human.run("insight", "--list")[1] == "no concept is suggested for a note yet\n"


def test_a_link_where_the_note_would_be_is_not_written_through(human: Human, tmp_path: Path) -> None:
    (human.vault / "insights").mkdir(exist_ok=True)
    (tmp_path / "theirs.md").write_text("theirs\n")
    (human.vault / NOTE).symlink_to(tmp_path / "theirs.md")
    human.writes(OWN)
    code = human.run("insight", "spacing effect", "--no-edit")[0]
    assert code == output.REFUSED and (tmp_path / "theirs.md").read_text() == "theirs\n" and human.decisions() == []


def test_a_strangers_ledger_leads_nowhere(human: Human, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("theirs\n")
    (human.vault / "raw/articles/secret.md").write_text("raw\n")
    concept = read_properties((human.vault / "wiki/concepts/spacing-effect.md").read_text()).text("id")
    for number, path in enumerate(("../secret.md", "raw/articles/secret.md", str(tmp_path / "secret.md"))):
        event = {
            "v": 1,
            "type": "insight",
            "concept": concept,
            "note": path,
            "at": f"2026-01-0{number + 1}T00:00:00.000Z",
        }
        with (human.vault / ledger.DECISIONS).open("ab") as file:
            file.write(ledger.encode(event))
        assert human.run("insight", "spacing effect")[0] == 0
        assert human.opened[-1] == str(human.vault / NOTE)


# --- near copies ------------------------------------------------------------------------------------------------------


def test_a_near_copy_of_the_wiki_is_shown_beside_it_and_kept(human: Human) -> None:
    article = (human.vault / "wiki/concepts/spacing-effect.md").read_text()
    line = next(n for n, row in enumerate(article.splitlines(), 1) if row.startswith("The spacing effect is"))
    sentence = article.splitlines()[line - 1].partition(" [[")[0]
    human.writes(f"{OWN}\nAs I see it, {sentence.lower()}\n")
    code, _, err = human.run("insight", "spacing effect")
    assert code == 0 and human.note().endswith(f"{sentence.lower()}\n") and len(human.decisions()) == 1
    said = [row.strip() for row in err.splitlines()]
    at = next(n for n, row in enumerate(said) if row.startswith("yours, line 11:"))
    assert sentence.lower() in said[at] and sentence in said[at + 1]
    assert said[at + 1].startswith("the wiki's:") and f"(wiki/concepts/spacing-effect.md:{line})" in said[at + 1]
    assert OWN.strip() not in err


def test_a_quotation_is_no_copy(human: Human) -> None:
    article = (human.vault / "wiki/concepts/spacing-effect.md").read_text()
    human.writes(f"{OWN}\n> {body_of(article).strip().splitlines()[-1]}\n")
    assert "the wiki's" not in human.run("insight", "spacing effect")[2]


# --- the process ------------------------------------------------------------------------------------------------------


def test_the_process_loads_no_compiler_no_model_and_no_screen(compiled: Path) -> None:
    script = (
        "import sys\nfrom cli.main import run\ncode = run(sys.argv[1:])\nprint('loaded:', *sys.modules)\nsys.exit(code)"
    )
    note = compiled / NOTE
    note.parent.mkdir(exist_ok=True)
    note.write_text(f"{OWN}\n{body_of((compiled / 'wiki/concepts/spacing-effect.md').read_text())}")
    command = [sys.executable, "-c", script, "insight", "spacing effect", "--no-edit"]
    done = subprocess.run(command, cwd=compiled, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0 and "the wiki's" in done.stderr, done.stderr
    modules = done.stdout.rpartition("loaded:")[2].split()
    top = {name.partition(".")[0] for name in modules}
    assert top.isdisjoint({"compiler", "tui", "textual", "anthropic", "pydantic", "genanki", "socket", "ssl"})
    assert top.isdisjoint({"lxml", "trafilatura", "pypdfium2", "mammoth", "pptx", "openpyxl", "PIL", "sentencex"})
    assert not any(name.startswith("vault.sandbox") for name in modules)
    assert "learning.store.near_copy" in modules and "vault.files.guard" in modules


def test_it_works_at_a_real_terminal_and_the_editor_is_in_no_jail(compiled: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    script = tmp_path / "editor.sh"
    script.write_text(f'#!/bin/sh\ntest -t 0 && echo free > "{outside}"\necho "Mine alone." >> "$1"\n')
    script.chmod(0o755)
    ours, theirs = os.openpty()
    try:
        environment = {k: v for k, v in os.environ.items() if k != "VISUAL"} | {"EDITOR": f"'{script}'"}
        command = [sys.executable, "-c", "import sys; from cli.main import run; sys.exit(run(sys.argv[1:]))"]
        done = subprocess.run(
            [*command, "insight", "spacing effect"],
            cwd=compiled,
            stdin=theirs,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
            timeout=600,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert outside.read_text() == "free\n" and (compiled / NOTE).read_text().endswith("Mine alone.\n")


def test_the_audit_takes_the_note_as_the_humans_own_and_nothing_else(human: Human) -> None:
    assert human.run("guard", "audit")[0] == 0  # the first look takes everything down
    human.writes(OWN)
    assert human.run("insight", "spacing effect")[0] == 0
    assert human.run("guard", "audit")[0] == 0
    (human.vault / NOTE).write_text("another hand\n")
    code, out, err = human.run("guard", "audit")
    assert code == output.FINDINGS and "spacing-effect.md" in out + err


# --- the example vault ------------------------------------------------------------------------------------------------


@pytest.mark.torture
def test_of_the_example_vault_the_queue_holds_no_sentence_and_a_pasted_one_is_always_found(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    from datetime import UTC, datetime

    from learning.cards.workspace import open_desk
    from learning.pages.insight import passages
    from learning.pages.promotion import Candidate, Promotion, Reason
    from learning.pages.promotion_page import render_queue
    from learning.store.near_copy import NoteWords, near_copies, tokens

    root = tmp_path / "examples"
    for arguments in (["init", str(root), "--no-git"], ["add", str(templates.example()), "--vault", str(root)]):
        assert run(*arguments).code == 0
    assert run("compile", "--vault", str(root)).code == 0
    vault = open_vault(str(root), None, tmp_path)
    wiki = [
        passage
        for folder in ("wiki/concepts", "wiki/topics", "wiki/summaries", "learning/flashcards")
        for path in vault.paths(folder, ".md")
        for passage in passages(path, (vault.read_bytes(path) or b"").decode())
        if len(tokens(passage.text)) >= 6
    ]
    assert len(wiki) > 200, "a small vault would show little"
    desk = open_desk(vault, datetime(2026, 11, 22, 12, tzinfo=UTC))
    titles = sorted({(placed.title, placed.concept) for placed in desk.cards.values()})
    every = [Candidate(r, c, t, f"wiki/concepts/{c}.md", "") for r in Reason for t, c in titles]
    page = " ".join(tokens(render_queue(Promotion(tuple(every), tuple(every), ""))))
    assert len(titles) > 20 and tokens(titles[0][0])[0] in page
    assert [p.text for p in wiki if f" {' '.join(tokens(p.text))} " in page] == []
    assert near_copies(NoteWords(page), wiki) == []
    missed = [p for p in wiki if not near_copies(NoteWords(f"{OWN}\nI hold that {p.text}\n"), [p])]
    assert missed == []


def test_a_contradiction_that_is_settled_as_a_source_goes_is_worth_a_thought(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    from datetime import UTC, datetime

    from learning.cards.workspace import open_desk
    from learning.pages.promotion import Reason, promotion

    vault = vault_with_sources(tmp_path / "schedules", {"better.md": BETTER, "worse.md": WORSE})
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    assert run("compile", "--vault", str(vault.root)).code == 0
    assert promotion(open_desk(vault, now)).waiting == ()
    events = ledger.ordered(vault.ledger_events(ledger.IDS)[0])
    (dispute,) = [e for e in events if e.get("of") == "dispute"]
    claims = [c for path in vault.paths("wiki/summaries", ".md") for c in _claims(vault.root / path)]
    source = next(source for claim, source in claims if claim in dispute["key"])
    (vault.root / source).unlink()
    assert run("compile", "--vault", str(vault.root)).code == 0
    (found,) = promotion(open_desk(vault, now)).waiting
    assert found.reason is Reason.SETTLED and found.concept in dispute["concepts"]
    assert found.title in (vault.root / PROMOTION_QUEUE).read_text()


def _claims(summary: Path) -> list[tuple[str, str]]:
    """(claim, raw file) of a summary."""
    from vault.model.summary import parse_summary

    parsed = parse_summary(summary.read_text(), "wiki/summaries/x.md")
    return [(located.claim.id, parsed.properties.text("source")) for located in parsed.claims]
