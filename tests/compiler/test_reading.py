"""The reading list of a build: what is wanted most first, what to look for, and what the sources themselves name."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta

from compiler.articles.reading_list import Shelf, queries, reading_list
from compiler.build.compile import Options, compile_vault
from compiler.concepts.resolve import Resolution, Resolved
from compiler.model.report import Report
from vault.files.guard import Scope
from vault.ids import ClaimId, ConceptId, GapId, SourceId
from vault.layout import GAPS, READING_LIST
from vault.log import ledger
from vault.log.provenance import Origin, fills_event, origin_event
from vault.model.claim import Claim, ClaimKind
from vault.model.frontmatter import read_properties
from vault.model.gaps import Gap, GapKind, GapStatus, parse_agenda
from vault.model.reading_list import Wanted, parse_reading_list
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
PAPER = """# A study of retrieval

Retrieval practice is discussed by many [1].

## Interleaving

Interleaving is a method of study in which several topics are mixed in one session [2]. Interleaving makes a session
harder. The gain of interleaving is seen weeks later. Learners rarely choose interleaving by themselves.

## References

[1] Henry Roediger and Jeffrey Karpicke. Test-enhanced learning, 2006. https://example.org/test-enhanced.

[2] Ann Bo. The costs of mixing. arXiv:2401.01234, 2024.

[3] Cy Do, Ed Fu, and Ida Jo. A review of retrieval practice in schools. Psych. Science, 2012.
"""
ANSWER = "Retrieval practice is used for the preparation of exams.\n"


def compiled(vault: Vault, at: datetime = MORNING, command: str = "compile") -> Report:
    options = Options(fresh=command == "rebuild", command=command)
    return compile_vault(vault, options, at, lambda event: None)


def listed(vault: Vault) -> dict[str, Wanted]:
    return {wanted.what: wanted for wanted in parse_reading_list((vault.root / READING_LIST).read_text("utf-8"))}


def test_every_open_gap_is_listed_once_under_its_subject(vault: Vault) -> None:
    compiled(vault)
    gaps = [g for g in parse_agenda((vault.root / GAPS).read_text("utf-8")) if g.open]
    found = [lack for wanted in listed(vault).values() for lack in wanted.lacks]
    assert gaps and sorted(lack.gap for lack in found) == sorted(g.id for g in gaps)
    assert len(listed(vault)) <= len(gaps)
    assert all(1 <= len(wanted.queries) <= 3 for wanted in listed(vault).values())


def test_works_that_a_source_cites_on_the_point_stand_beside_the_gap(vault: Vault) -> None:
    (vault.root / "raw/articles/paper.md").write_text(PAPER, encoding="utf-8")
    compiled(vault)
    mixing = listed(vault)["Interleaving"]
    assert [(w.words, w.address) for w in mixing.works] == [
        ("Bo: The costs of mixing (2024)", "https://arxiv.org/abs/2401.01234")
    ]
    assert mixing.works[0].sources == ("[[wiki/summaries/paper|A study of retrieval]]",)
    assert "Do et al.: A review of retrieval practice in schools (2012)" in [
        w.words for w in listed(vault)["Retrieval practice"].works
    ]


def test_a_work_that_lies_in_the_vault_already_is_not_recommended(vault: Vault) -> None:
    (vault.root / "raw/articles/paper.md").write_text(PAPER, encoding="utf-8")
    (vault.root / "raw/articles/bo.md").write_text("# The costs of mixing\n\nMixing costs time.\n", encoding="utf-8")
    compiled(vault)
    assert listed(vault)["Interleaving"].works == ()


def test_the_address_a_source_was_fetched_from_stands_in_its_summary_and_is_not_recommended(vault: Vault) -> None:
    (vault.root / "raw/articles/paper.md").write_text(PAPER, encoding="utf-8")
    (vault.root / "raw/articles/fetched.txt").write_text("Mixing of topics costs some time.\n", encoding="utf-8")
    address = "https://arxiv.org/pdf/2401.01234v2"
    origin = Origin("raw/articles/fetched.txt", address, address, "0" * 12, "2026-11-20T08:00:00.000Z")
    vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(origin_event(origin)))
    compiled(vault)
    summary = read_properties((vault.root / "wiki/summaries/fetched.md").read_text("utf-8"))
    assert summary.text("url") == address
    assert listed(vault)["Interleaving"].works == ()


def test_the_list_comes_back_byte_for_byte_and_loses_what_is_settled(vault: Vault) -> None:
    (vault.root / "raw/articles/paper.md").write_text(PAPER, encoding="utf-8")
    compiled(vault)
    page = vault.root / READING_LIST
    before = page.read_bytes()
    shutil.rmtree(vault.root / ".retain")
    page.unlink()
    compiled(vault, MORNING + timedelta(days=1), "rebuild")
    assert page.read_bytes() == before
    gap = listed(vault)["Interleaving"].lacks[0].gap
    event = {"v": 1, "type": "gap", "gap": gap, "decision": "ignore", "at": "2026-11-23T09:00:00.000Z"}
    vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event))
    compiled(vault, MORNING + timedelta(days=3))
    assert gap.encode() not in page.read_bytes()


def test_a_source_added_for_a_gap_is_shown_until_the_gap_is_filled_by_evidence(vault: Vault) -> None:
    compiled(vault)
    gaps = parse_agenda((vault.root / GAPS).read_text("utf-8"))
    gap = next(g for g in gaps if g.what == "Retrieval practice" and "when to use it" in g.missing)
    fill = vault.root / "raw/articles/fill.md"
    fill.write_text("# Elsewhere\n\nSomething else is said of it here.\n", encoding="utf-8")
    event = fills_event(gap.id, "raw/articles/fill.md", "2026-11-22T08:00:00.000Z")
    vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event))
    report = compiled(vault, MORNING + timedelta(days=1))
    (told,) = [d for d in report.notices if d.code == "gap-open"]
    assert told.path == "raw/articles/fill.md" and "Retrieval practice" in told.message and gap.fill in told.message
    (shown,) = [g for g in parse_agenda((vault.root / GAPS).read_text("utf-8")) if g.id == gap.id]
    assert shown.open and shown.added == ("[[raw/articles/fill|fill.md]]",)
    fill.write_text(f"# Retrieval practice\n\n{ANSWER}", encoding="utf-8")
    report = compiled(vault, MORNING + timedelta(days=2))
    assert [d.path for d in report.notices if d.code == "gap-filled"] == ["raw/articles/fill.md"]
    nothing = compiled(vault, MORNING + timedelta(days=2, hours=1))
    assert nothing.nothing_new and not [d for d in nothing.notices if d.code.startswith("gap")], "told once"
    (shown,) = [g for g in parse_agenda((vault.root / GAPS).read_text("utf-8")) if g.id == gap.id]
    assert shown.status is GapStatus.FILLED and shown.added
    fill.unlink()
    compiled(vault, MORNING + timedelta(days=3))
    assert "fill.md" not in (vault.root / GAPS).read_text("utf-8"), "a file that is gone was added for nothing"


def test_queries_are_in_the_language_of_the_subject_and_say_what_is_missing() -> None:
    assert queries("softmax", [""], ["attention"], "en") == (
        "softmax attention explained",
        "how does softmax work",
        "what is softmax",
    )
    assert queries("Encoder", ["relational", "applied"], ["Encoder-decoder", "Decoder"], "de") == (
        "Unterschied Encoder Decoder",
        "Encoder Anwendung Grenzen",
        "Encoder Decoder einfach erklärt",
    )
    assert queries("查询", ["mechanistic"], [], "zh")[0] == "查询 原理"
    assert queries("mémoire", ["relational"], ["oubli"], "fr") == ("mémoire oubli",)
    assert "vs" not in " ".join(queries("x", ["relational"], [], "en"))


def concept(title: str, *sources: str) -> Resolved:
    claims = tuple(
        Claim(ClaimId(f"{title[:4]}{n:06d}"), SourceId(source), ClaimKind.FACT, "Words.", "")
        for n, source in enumerate(sources)
    )
    key = title.casefold()
    return Resolved(ConceptId(key), title, (), key, "en", frozenset({key}), claims)


def test_a_general_word_of_which_several_kinds_are_explained_comes_after_the_rest() -> None:
    known = [
        concept("Vector", "a", "b", "c"),
        concept("Word vector", "a"),
        concept("Vector space", "a"),
        concept("Keel"),
    ]
    asked = [
        (f"epistemic:{c.id}:applied", Gap(GapId(c.id), GapKind.EPISTEMIC, c.title, "nothing", "a source"))
        for c in known
    ]
    found = reading_list(asked, Resolution(concepts={c.id: c for c in known}), Shelf({}, {}, []))
    assert [wanted.what for wanted in found] == ["Vector space", "Word vector", "Keel", "Vector"]
