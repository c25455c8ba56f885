"""Notes that are sources where they are: which ones the rules name, and that nothing of them is ever written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.builders import SETTINGS, make_vault
from vault.config.notes import NoteRules
from vault.config.settings import read_settings, render_settings
from vault.errors import Damaged, Refused, RetainError
from vault.files.exports import export_bytes
from vault.files.guard import Guard, Scope
from vault.toml_edit import change_notes
from vault.vault import Vault

HERE = NoteRules((".",), ("Templates", "*.excalidraw.md", "Daily/*"), ("private",))


def vault_with(root: Path, rules: NoteRules, *notes: str) -> Vault:
    return make_vault(root, dict.fromkeys(notes, "# A note\n"), replace(SETTINGS, notes=rules))


@pytest.mark.parametrize(
    ("path", "is_source"),
    [
        ("Note.md", True),
        ("Physics/Heat.md", True),
        ("Physics/Heat.MD", True),
        ("attachments/scan.pdf", True),
        ("attachments/plot.png", True),
        ("Physics/heat.py", False),  # what Obsidian does not show
        ("Templates/Lecture.md", False),
        ("Templates.md", True),
        ("Physics/Sketch.excalidraw.md", False),
        ("Daily/2026-11-21.md", False),
        ("insights/mine.md", False),  # the user's own
        ("Insights/mine.md", False),  # the same folder on many disks
        ("wiki/concepts/heat.md", False),
        ("learning/flashcards/heat.md", False),
        ("output/reports/heat.md", False),
        (".obsidian/plugins/note.md", False),
        (".trash/Old.md", False),
        ("Physics/.hidden.md", False),
        ("AGENTS.md", False),
        ("Physics/AGENTS.md", True),
        ("../Other.md", False),
        ("raw/articles/heat.html", True),
    ],
)
def test_the_rules_say_which_files_are_sources(tmp_path: Path, path: str, is_source: bool) -> None:
    assert vault_with(tmp_path, HERE).is_source(path) is is_source


def test_a_folder_is_a_source_that_is_named_even_the_users_own(tmp_path: Path) -> None:
    vault = vault_with(tmp_path, NoteRules((".", "insights")))
    assert vault.is_source("insights/mine.md") and vault.is_source("Note.md")
    only = vault_with(tmp_path, NoteRules(("Physics",)))
    assert (
        only.is_source("Physics/Heat.md") and not only.is_source("Note.md") and not only.is_source("Physics2/Heat.md")
    )


def test_a_vault_among_the_notes_reads_what_is_around_it_and_not_itself(tmp_path: Path) -> None:
    vault = vault_with(tmp_path / "retain", NoteRules(("..",)))
    assert vault.is_source("../wiki/Qubit.md") and vault.is_source("../Note.md")
    assert not vault.is_source("../retain/wiki/concepts/qubit.md")
    assert not vault.is_source("../insights/mine.md") and not vault.is_source("../CLAUDE.md")
    assert not vault.is_source("../../elsewhere/Note.md") and not vault.is_source("..")
    (tmp_path / "Note.md").write_text("around")
    assert vault.read_bytes("../Note.md") == b"around"
    with pytest.raises(Refused):
        vault.read_bytes("../retain/../../secret.md")


def test_a_tag_leaves_out_the_tags_below_it() -> None:
    assert HERE.leaves_out(["private/health"]) and HERE.leaves_out(["x", "private"])
    assert not HERE.leaves_out(["privateer"]) and not HERE.leaves_out([])


def test_the_rules_in_the_settings_come_back_as_they_were_written() -> None:
    assert read_settings(render_settings(replace(SETTINGS, notes=HERE)))[0].notes == HERE
    assert read_settings(render_settings(SETTINGS))[0].notes == NoteRules()


def test_rules_are_added_to_settings_that_have_none(tmp_path: Path) -> None:
    vault = vault_with(tmp_path, NoteRules())
    before = (tmp_path / "retain.toml").read_text()
    assert change_notes(vault, HERE).notes == HERE
    after = (tmp_path / "retain.toml").read_text()
    assert read_settings(after)[0] == replace(read_settings(before)[0], notes=HERE)


@pytest.mark.parametrize(
    "folder", ["wiki", "learning/flashcards", "raw", "../../elsewhere", "a/../b", "/etc", ".git", "a\\b"]
)
def test_no_folder_of_notes_is_elsewhere_or_one_that_retain_writes(folder: str) -> None:
    text = render_settings(replace(SETTINGS, notes=NoteRules((folder,))))
    with pytest.raises(Damaged, match="folder"):
        read_settings(text)


# --- nothing is written -----------------------------------------------------------------------------------------------

WRITERS = [scope for scope in Scope if scope.in_vault and not scope.everywhere]


@pytest.mark.parametrize("scope", WRITERS)
@pytest.mark.parametrize("rules", [HERE, NoteRules(("Physics",))])
def test_no_scope_writes_where_notes_are(tmp_path: Path, scope: Scope, rules: NoteRules) -> None:
    vault = vault_with(tmp_path, rules, "Physics/Heat.md", "Note.md")
    guard = vault.guard(scope)
    for path in ("Physics/Heat.md", "Physics/New.md", "Note.md", "New.md"):
        with pytest.raises(Refused):
            guard.write(path, b"changed", expect=None)
        with pytest.raises(Refused):
            guard.update(path, lambda old: b"changed")
    with pytest.raises(RetainError):
        guard.remove("Physics/Heat.md", expect="0" * 64)
    assert (tmp_path / "Physics/Heat.md").read_text() == "# A note\n"
    assert sorted(p.name for p in (tmp_path / "Physics").iterdir()) == ["Heat.md"]


def test_a_folder_of_notes_is_known_under_the_name_of_one_that_retain_writes(tmp_path: Path) -> None:
    vault = vault_with(tmp_path, NoteRules(("Physics",)), "Physics/Heat.md")
    (tmp_path / "wiki").rmdir()
    (tmp_path / "Physics").rename(tmp_path / "wiki")  # as on a disk where both names are one folder
    inner = Vault(tmp_path, replace(vault.settings, notes=NoteRules(("insights", "Physics"))))
    (tmp_path / "Physics").symlink_to("wiki")
    with pytest.raises(Refused):
        Guard(tmp_path, Scope.PUBLISHER, forbidden=inner.kept_out()).write("wiki/Heat.md", b"changed", expect=None)
    assert (tmp_path / "wiki/Heat.md").read_text() == "# A note\n"


def test_no_export_goes_into_a_folder_of_notes(tmp_path: Path) -> None:
    vault = vault_with(tmp_path / "v", HERE, "Physics/Heat.md")
    beside = vault_with(tmp_path / "around/retain", NoteRules(("..",)))
    (tmp_path / "around/Physics").mkdir()
    for each, place in ((vault, tmp_path / "v/Physics"), (beside, tmp_path / "around/Physics")):
        with pytest.raises(Refused):
            export_bytes(place / "cards.csv", b"front,back", forbidden=each.kept_out())
        assert not (place / "cards.csv").exists()
    export_bytes(tmp_path / "cards.csv", b"front,back", forbidden=vault.kept_out())
