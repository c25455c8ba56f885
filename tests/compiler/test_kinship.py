"""What it means in a vault that one source only repeats another: it is shown, counted once, and the human's to deny."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verify import verify
from vault.files.guard import Scope
from vault.log import ledger
from vault.log.provenance import Origin, added_event, origin_event
from vault.model.frontmatter import read_properties
from vault.model.wikilink import citations
from vault.vault import Vault, open_vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
EARLY = "wiki/summaries/early.md"
LATE = "wiki/summaries/late.md"
TEXT = (Path(__file__).parent / "documents" / "spacing.md").read_text(encoding="utf-8")


def compiled(vault: Vault, hours: int = 0) -> Report:
    return compile_vault(vault, Options(), MORNING + timedelta(hours=hours), lambda event: None)


def with_a_copy(vault: Vault) -> Vault:
    """The vault with its article on spacing and, as another file, the same with a few words changed."""
    for document in (vault.root / "raw/articles").iterdir():
        document.unlink()
    (vault.root / "raw/articles/early.md").write_text(TEXT, encoding="utf-8")
    later = TEXT.replace("study", "study work", 1) + "\nFound again on another site.\n"
    (vault.root / "raw/articles/late.md").write_text(later, encoding="utf-8")
    return open_vault(str(vault.root), None, vault.root)


def properties(vault: Vault, path: str, key: str) -> str:
    return read_properties((vault.root / path).read_text(encoding="utf-8")).text(key)


def set_property(vault: Vault, path: str, key: str, value: str) -> None:
    lines = (vault.root / path).read_text(encoding="utf-8").split("\n")
    lines = [line for line in lines if not line.startswith(f"{key}:")]
    lines[1:1] = [f"{key}: {value}"] if value else []
    (vault.root / path).write_text("\n".join(lines), encoding="utf-8")


def confidences(vault: Vault) -> set[str]:
    return {properties(vault, path, "confidence") for path in vault.paths("wiki/concepts", ".md")}


def test_a_copy_is_named_in_its_summary_and_in_the_catalogue(vault: Vault) -> None:
    vault = with_a_copy(vault)
    report = compiled(vault)
    assert report.sources["copies"] == 1
    assert properties(vault, EARLY, "copy_of") == ""
    assert properties(vault, LATE, "copy_kind") == "copy"
    assert properties(vault, LATE, "copy_of").startswith("[[wiki/summaries/early|")
    assert "\n- [[wiki/summaries/early|Copy of " in (vault.root / LATE).read_text(encoding="utf-8")
    assert "· copy of [[wiki/summaries/early|" in (vault.root / "wiki/_index.md").read_text(encoding="utf-8")
    assert verify(vault, lambda event: None).clean


def test_what_rests_on_a_text_and_its_copy_rests_on_one_source(vault: Vault) -> None:
    vault = with_a_copy(vault)
    compiled(vault)
    assert confidences(vault) == {"low"}


def test_a_sentence_that_both_have_stands_once_and_cites_both(vault: Vault) -> None:
    vault = with_a_copy(vault)
    compiled(vault)
    text = (vault.root / "wiki/concepts/spacing-effect.md").read_text(encoding="utf-8")
    assert {c.summary for c in citations(text)} == {"wiki/summaries/early", "wiki/summaries/late"}
    sentences = [line.split(" [[")[0] for line in text.split("]] ")]
    assert len(sentences) == len(set(sentences))
    questions = [c.question for deck in vault.decks() for c in deck.cards]
    assert len(questions) == len(set(questions)) > 0


def test_a_human_denies_it_in_the_summary_and_may_take_that_back(vault: Vault) -> None:
    vault = with_a_copy(vault)
    compiled(vault)
    set_property(vault, LATE, "copy_of", "none")
    assert compiled(vault, 1).sources["copies"] == 0
    assert properties(vault, LATE, "copy_of") == "none" and properties(vault, LATE, "copy_kind") == ""
    assert "medium" in confidences(vault)
    assert compiled(vault, 2).nothing_new
    (vault.root / LATE).unlink()
    compiled(vault, 3)
    assert properties(vault, LATE, "copy_of") == "none"
    set_property(vault, LATE, "copy_of", "")
    assert compiled(vault, 4).sources["copies"] == 1
    assert confidences(vault) == {"low"}


@pytest.mark.parametrize(
    "link", ['"[[wiki/summaries/spacing|any words]]"', "[[wiki/summaries/spacing]]", '["[[wiki/summaries/spacing]]"]']
)
def test_a_human_can_name_a_copy_that_no_rule_finds(vault: Vault, link: str) -> None:
    compiled(vault)
    set_property(vault, "wiki/summaries/testing.md", "copy_of", link)
    assert compiled(vault, 1).sources["copies"] == 1
    assert properties(vault, "wiki/summaries/testing.md", "copy_kind") == "copy"
    assert compiled(vault, 2).nothing_new


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('"[[wiki/summaries/nope]]"', "does not link to the summary"),
        ("the other one", "does not link to the summary"),
        ('"[[wiki/summaries/testing]]"', "its own summary"),
        ("[a, 3]", "must be a single link"),
    ],
)
def test_what_nobody_can_make_out_stays_and_is_named_with_its_line(vault: Vault, value: str, words: str) -> None:
    compiled(vault)
    path = "wiki/summaries/testing.md"
    set_property(vault, path, "copy_of", value)
    report = compiled(vault, 1)
    (told,) = [d for d in report.notices if d.code == "copy-of"]
    assert told.path == path and told.line == 2 and words in told.message and "copy_of: none" in told.hint
    assert report.sources["copies"] == 0 and properties(vault, path, "copy_kind") == ""
    kept = read_properties((vault.root / path).read_text(encoding="utf-8")).values["copy_of"]
    assert kept == (["a", "3"] if "3" in value else value.strip('"'))
    again = compiled(vault, 2)
    assert again.nothing_new and [d.code for d in again.notices if d.code == "copy-of"]
    set_property(vault, path, "copy_of", "none")
    assert not [d for d in compiled(vault, 3).notices if d.code == "copy-of"]


def test_a_summary_whose_properties_cannot_be_read_is_named_and_left(vault: Vault) -> None:
    vault = with_a_copy(vault)
    compiled(vault)
    set_property(vault, LATE, "copy_of", "none")
    compiled(vault, 1)
    broken = (vault.root / LATE).read_text(encoding="utf-8").replace("authority: 1", "authority: [1")
    (vault.root / LATE).write_text(broken, encoding="utf-8")
    for hours in (2, 3):
        report = compiled(vault, hours)
        (told,) = report.failures
        assert (told.path, told.code) == (LATE, "front-matter") and told.line > 1 and "not valid YAML" in told.message
        assert report.sources["copies"] == 0, "what the human said before still holds"
    assert (vault.root / LATE).read_text(encoding="utf-8") == broken
    (vault.root / LATE).write_text(broken.replace("authority: [1", "authority: 1"), encoding="utf-8")
    assert compiled(vault, 4).failures == []


def test_of_two_born_by_one_compile_the_first_to_come_is_the_original(vault: Vault) -> None:
    vault = with_a_copy(vault)
    at = "2026-11-21T0{}:00:00.000Z"
    fetched = Origin("raw/articles/late.md", "https://example.org/", "https://example.org/", "0", at.format(7))
    events = [added_event(["raw/articles/early.md"], at.format(8)), origin_event(fetched)]
    vault.guard(Scope.LOG).append(ledger.DECISIONS, b"".join(map(ledger.encode, events)))
    compiled(vault)
    assert properties(vault, EARLY, "copy_of").startswith("[[wiki/summaries/late|")
    assert properties(vault, LATE, "copy_of") == ""


def test_a_copy_that_goes_leaves_no_word_of_itself(vault: Vault) -> None:
    vault = with_a_copy(vault)
    compiled(vault)
    (vault.root / "raw/articles/early.md").unlink()
    assert compiled(vault, 1).sources["copies"] == 0
    assert "copy" not in (vault.root / LATE).read_text(encoding="utf-8").casefold()
