"""The embedded engine beside a vault that others compiled: the same documents, the same key, one table."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.compiled import Compiled, compile_folder, copy_of, part_of
from benchmarks.concept_key import Concept, Gap, Key, only_of
from benchmarks.extraction import figures_of
from benchmarks.side_by_side import table
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_journaled import MEIOSIS, MITOSIS, compiled
from vault.errors import UsageError
from vault.vault import Vault


@pytest.fixture
def theirs(tmp_path: Path) -> Vault:
    """A vault that a scripted model compiled from one of the two documents."""
    vault = vault_with_sources(tmp_path / "theirs", {"mitosis.md": MITOSIS})
    compiled(vault, Scripted())
    return vault


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    (folder / "more").mkdir(parents=True)
    (folder / "mitosis.md").write_text(MITOSIS, encoding="utf-8")
    (folder / "more/meiosis.md").write_text(MEIOSIS, encoding="utf-8")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_only_the_documents_that_a_vault_holds_are_measured_under_their_paths(
    theirs: Vault, folder: Path, tmp_path: Path
) -> None:
    assert part_of(folder, [], None, tmp_path / "a") == folder
    assert names(part_of(folder, [], theirs.root, tmp_path / "b")) == ["mitosis.md"]
    assert names(part_of(folder, ["more/*"], None, tmp_path / "c")) == ["more/meiosis.md"]
    with pytest.raises(UsageError, match="no document"):
        part_of(folder, ["more/*"], theirs.root, tmp_path / "d")


def test_a_key_counts_by_the_documents_that_are_there(folder: Path) -> None:
    concepts = (Concept("Mitosis", (), ("mitosis.md", "gone.md")), Concept("Other", (), ("gone.md",)))
    key = Key(concepts, (Gap("Cyclin", (), ("gone.md",)),), ("Page 1",), frozenset({"gone.md"}))
    part = only_of(key, folder)
    assert [(c.name, c.files) for c in part.concepts] == [("Mitosis", ("mitosis.md",))]
    assert part.gaps == () and part.long == frozenset() and part.not_concepts == ("Page 1",)


def test_a_copy_is_rebuilt_from_its_journal_and_the_vault_is_left_alone(theirs: Vault, tmp_path: Path) -> None:
    before = {p: p.read_bytes() for p in theirs.root.rglob("*") if p.is_file()}
    made = copy_of(theirs.root, tmp_path / "work")
    assert made.verdict["unverified"] == [] and made.verdict["sentences"] > 3
    assert made.report["sentences"]["kept"] > 0 and made.cards()
    assert made.replies()["by_engine"] == {"scripted/1": sum(made.replies()["by_kind"].values())}
    assert {p: p.read_bytes() for p in theirs.root.rglob("*") if p.is_file()} == before


def test_a_vault_with_open_questions_is_measured_as_it_stands(theirs: Vault, tmp_path: Path) -> None:
    (theirs.root / "raw/articles/meiosis.md").write_text(MEIOSIS, encoding="utf-8")
    made = copy_of(theirs.root, tmp_path / "work")
    assert made.report["asked"] and made.cards()


def test_files_of_a_journal_answer_for_a_new_vault_of_the_same_documents(
    theirs: Vault, folder: Path, tmp_path: Path
) -> None:
    (folder / "more/meiosis.md").unlink()
    made = compile_folder(folder, tmp_path, list((theirs.root / "ledger/replies").iterdir()))
    assert made.report["cards"]["created"] == len(made.cards()) > 0
    assert "generator: journal/1" in next((made.vault.root / "learning/flashcards").iterdir()).read_text()


def test_both_stand_in_one_table(theirs: Vault, folder: Path, tmp_path: Path) -> None:
    part = part_of(folder, [], theirs.root, tmp_path)
    made: dict[str, Compiled] = {
        "extractive": compile_folder(part, tmp_path),
        "journal": copy_of(theirs.root, tmp_path),
    }
    lines = table({name: figures_of(one, None) for name, one in made.items()}).splitlines()
    head = [cell.strip() for cell in lines[0].split("|")]
    rows = {line.split("|")[1].strip(): [c.strip() for c in line.split("|")[2:4]] for line in lines[2:]}
    assert head[2:4] == ["extractive", "journal"]
    assert rows["replies: extract"][0] == "-" and int(rows["replies: extract"][1]) > 0
    assert int(rows["tokens sent"][1]) > 0 == int(rows["tokens sent"][0])
    assert {"claims", "cards", "sentences dropped", "contradictions, open", "verify: uncited"} <= rows.keys()
