"""The reading list of a build: what is wanted most first, what to look for, and what the sources themselves name."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from compiler.articles.sources import Sources
from compiler.build.compile import Options, compile_vault
from compiler.concepts.resolve import Resolution, Resolved
from compiler.concepts.source_copies import Kinship
from compiler.model.report import Report
from compiler.pages.reading_list import queries, reading_list
from tests.builders import NEEDED, NEEDY, make_vault
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
PAPER = """# Gear of the coast

Sails are discussed by many [1].

## Hauling

In calm weather two sailors turn the capstan [2]. Boats under ten metres sail without one.

## References

[1] Henry Roe and Jeffrey Kar. Sails of the coast, 2006. https://example.org/sails.

[2] Ann Bo. The costs of hauling. arXiv:2401.01234, 2024.

[3] Cy Do, Ed Fu, and Ida Jo. A review of the capstan in small ports. Naut. Science, 2012.
"""


def compiled(vault: Vault, at: datetime = MORNING, command: str = "compile") -> Report:
    options = Options(fresh=command == "rebuild", command=command)
    return compile_vault(vault, options, at, lambda event: None)


def listed(vault: Vault) -> dict[str, Wanted]:
    return {wanted.what: wanted for wanted in parse_reading_list((vault.root / READING_LIST).read_text("utf-8"))}


@pytest.fixture
def needy(vault: Vault) -> Vault:
    """The small vault with two documents that use a term without saying what it is."""
    for path, text in NEEDY.items():
        (vault.root / path).write_text(text, encoding="utf-8")
    return vault


def gap_of(vault: Vault, what: str) -> Gap:
    """The gap on `what`; fails if there is none."""
    return next(g for g in parse_agenda((vault.root / GAPS).read_text("utf-8")) if g.what == what)


def test_every_open_gap_is_listed_once_under_its_subject(needy: Vault) -> None:
    compiled(needy)
    gaps = [g for g in parse_agenda((needy.root / GAPS).read_text("utf-8")) if g.open]
    found = [lack for wanted in listed(needy).values() for lack in wanted.lacks]
    assert gaps and sorted(lack.gap for lack in found) == sorted(g.id for g in gaps)
    assert len(listed(needy)) <= len(gaps)
    assert all(1 <= len(wanted.queries) <= 3 for wanted in listed(needy).values())


@pytest.fixture
def citing(needy: Vault) -> Vault:
    """As `needy`, with a paper on the same term, which is one of two words: works are found by specific names only."""
    for path, text in {**NEEDY, "raw/articles/paper.md": PAPER}.items():
        (needy.root / path).write_text(text.replace("capstan", "capstan drum"), encoding="utf-8")
    return needy


def test_works_that_a_source_cites_on_the_point_stand_beside_the_gap(citing: Vault) -> None:
    compiled(citing)
    works = listed(citing)["Capstan drum"].works
    assert [(w.words, w.address) for w in works] == [
        ("Bo: The costs of hauling (2024)", "https://arxiv.org/abs/2401.01234"),
        ("Do et al.: A review of the capstan drum in small ports (2012)", ""),
    ]
    assert works[0].sources == ("[[wiki/summaries/paper|Gear of the coast]]",)


def test_a_work_that_lies_in_the_vault_already_is_not_recommended(citing: Vault) -> None:
    text = "# The costs of hauling\n\nHauling costs time.\n"
    (citing.root / "raw/articles/bo.md").write_text(text, encoding="utf-8")
    compiled(citing)
    (work,) = listed(citing)["Capstan drum"].works
    assert work.words.startswith("Do et al.")


def test_the_address_a_source_was_fetched_from_stands_in_its_summary_and_is_not_recommended(citing: Vault) -> None:
    (citing.root / "raw/articles/fetched.txt").write_text("Hauling costs some time.\n", encoding="utf-8")
    address = "https://arxiv.org/pdf/2401.01234v2"
    origin = Origin("raw/articles/fetched.txt", address, address, "0" * 12, "2026-11-20T08:00:00.000Z")
    citing.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(origin_event(origin)))
    compiled(citing)
    summary = read_properties((citing.root / "wiki/summaries/fetched.md").read_text("utf-8"))
    assert summary.text("url") == address
    (work,) = listed(citing)["Capstan drum"].works
    assert work.words.startswith("Do et al.")


def test_the_agenda_and_the_list_come_back_byte_for_byte_and_lose_what_is_settled(needy: Vault) -> None:
    compiled(needy)
    pages = [needy.root / READING_LIST, needy.root / GAPS]
    before = [page.read_bytes() for page in pages]
    shutil.rmtree(needy.root / ".retain")
    for page in pages:
        page.unlink()
    compiled(needy, MORNING + timedelta(days=1), "rebuild")
    assert [page.read_bytes() for page in pages] == before
    gap = listed(needy)["Capstan"].lacks[0].gap
    event = {"v": 1, "type": "gap", "gap": gap, "decision": "ignore", "at": "2026-11-23T09:00:00.000Z"}
    needy.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event))
    compiled(needy, MORNING + timedelta(days=3))
    assert gap.encode() not in pages[0].read_bytes()


def test_the_order_in_which_documents_came_changes_nothing_of_what_the_agenda_says(vault: Vault) -> None:
    said = []
    for paths in (list(NEEDY), list(NEEDY)[::-1]):
        copy = make_vault(vault.root.parent / paths[0].rpartition("/")[2], {})
        for number, path in enumerate(paths):
            (copy.root / path).write_text(NEEDY[path], encoding="utf-8")
            compiled(copy, MORNING + timedelta(hours=number))
        said.append([replace(gap, id=GapId(""), line=0) for gap in parse_agenda((copy.root / GAPS).read_text("utf-8"))])
    assert said[0] == said[1] and "Capstan" in [gap.what for gap in said[0]]


def test_a_term_leaves_the_agenda_when_a_source_says_what_it_is(needy: Vault) -> None:
    compiled(needy)
    gap = gap_of(needy, "Capstan")
    assert gap.open and "capstan" in gap.use and gap.search == "what is Capstan"
    (needy.root / "raw/articles/gear.md").write_text(NEEDED, encoding="utf-8")
    compiled(needy, MORNING + timedelta(days=1))
    assert gap_of(needy, "Capstan").status is GapStatus.FILLED


def test_a_source_added_for_a_gap_is_shown_until_the_gap_is_filled_by_evidence(needy: Vault) -> None:
    compiled(needy)
    gap = gap_of(needy, "Capstan")
    fill = needy.root / "raw/articles/fill.md"
    fill.write_text("# Elsewhere\n\nSomething else is said of it here.\n", encoding="utf-8")
    event = fills_event(gap.id, "raw/articles/fill.md", "2026-11-22T08:00:00.000Z")
    needy.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event))
    report = compiled(needy, MORNING + timedelta(days=1))
    (told,) = [d for d in report.notices if d.code == "gap-open"]
    assert told.path == "raw/articles/fill.md" and "Capstan" in told.message and gap.fill in told.message
    shown = gap_of(needy, "Capstan")
    assert shown.open and shown.added == ("[[raw/articles/fill|fill.md]]",)
    fill.write_text(NEEDED, encoding="utf-8")
    report = compiled(needy, MORNING + timedelta(days=2))
    assert [d.path for d in report.notices if d.code == "gap-filled"] == ["raw/articles/fill.md"]
    nothing = compiled(needy, MORNING + timedelta(days=2, hours=1))
    assert nothing.nothing_new and not [d for d in nothing.notices if d.code.startswith("gap")], "told once"
    shown = gap_of(needy, "Capstan")
    assert shown.status is GapStatus.FILLED and shown.added
    fill.unlink()
    compiled(needy, MORNING + timedelta(days=3))
    assert "fill.md" not in (needy.root / GAPS).read_text("utf-8"), "a file that is gone was added for nothing"


def test_queries_are_in_the_language_of_the_subject_and_say_what_is_missing() -> None:
    assert queries("softmax", [""], ["attention"], "en") == (
        "softmax attention explained",
        "how does softmax work",
        "what is softmax",
    )
    assert queries("Encoder", ["mechanistic"], ["Encoder-decoder", "Decoder"], "de") == (
        "wie funktioniert Encoder",
        "Encoder Decoder einfach erklärt",
    )
    assert queries("查询", ["mechanistic"], [], "zh")[0] == "查询 原理"
    assert queries("mémoire", ["definitional"], ["oubli"], "fr") == ("mémoire oubli",)


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
        (f"epistemic:{c.id}:mechanistic", Gap(GapId(c.id), GapKind.EPISTEMIC, c.title, "nothing", "a source"))
        for c in known
    ]
    found = reading_list(
        asked,
        Resolution(concepts={c.id: c for c in known}),
        {},
        Sources([], {}, {}, Kinship({}, frozenset(), ()), {}, {}),
    )
    assert [wanted.what for wanted in found] == ["Vector space", "Word vector", "Keel", "Vector"]
