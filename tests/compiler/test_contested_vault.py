"""Contradictions in a vault that a model compiles: shown with both quotes, weighed, told from a world that changed."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.protocol.requests import PairView, ReconcileRequest
from compiler.replies.asker import Waiting
from compiler.verification.trace import trace
from compiler.verification.verify import verify
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_build import silent, tree
from tests.compiler.test_journaled import MORNING, saying
from vault.log.ledger import IDS
from vault.model.frontmatter import read_properties
from vault.vault import Vault

SIX = "The encoder of the base transformer consists of six layers."
EIGHT = "In the base model the transformer encoder has 8 layers."
FIRST = f"# Transformer\n\nA transformer is a model that maps one sequence to another.\n{SIX}\n"
SECOND = f"# On transformers\n\nA transformer is a network that rests on attention alone.\n{EIGHT}\n"
OLD = "---\npublished: 2009-05-01\n---\n\n# Saturn\n\nSaturn is a planet with 61 known moons.\n"
NEW = "---\npublished: 2023-06-02\n---\n\n# Saturn today\n\nSaturn is a planet with 145 known moons.\n"
ARTICLE = "wiki/concepts/transformer.md"


def judge(verdict: str = "CONFLICT") -> Scripted:
    """A model that says one verdict of every pair, and that nothing else is wrong."""

    def said(type_: str, request: str) -> str:
        pairs = re.findall(r"^(\d+)\. ", request, re.MULTILINE)
        return "\n".join(f"{n} {verdict}" for n in pairs) if type_ == "reconcile" else "OK"

    return Scripted(verdicts=said)


def built(vault: Vault, backend: Scripted | None, hours: int = 0, *, fresh: bool = False, dry: bool = False) -> Report:
    options = Options(engine="claude" if backend is not None else "journal", fresh=fresh, dry_run=dry)
    return compile_vault(vault, options, MORNING + timedelta(hours=hours), silent, backend=backend)


def text(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text(encoding="utf-8")


def claims(vault: Vault) -> dict[str, str]:
    """Quote -> state, of all summaries."""
    pages = "\n".join(p.read_text(encoding="utf-8") for p in (vault.root / "wiki/summaries").iterdir())
    return dict(re.findall(r"> \[!quote\].*\n> (.+)\n>\n> \w+ · (\w+) ·", pages))


def asked(backend: Scripted) -> list[PairView]:
    return [p for r in backend.asked if isinstance(r, ReconcileRequest) for p in r.pairs]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"first.md": FIRST, "second.md": SECOND})


def test_a_contradiction_in_other_words_is_asked_about_once_and_shown_with_both_quotes(vault: Vault) -> None:
    backend = judge()
    report = built(vault, backend)
    (pair,) = asked(backend)
    assert {pair.a.words, pair.b.words} == {SIX, EIGHT}
    page = text(vault, ARTICLE)
    shown = page[page.index("## Where sources disagree") :]
    assert "### Undecided" in shown and SIX in shown and EIGHT in shown
    assert report.contradictions == {"open": 1, "decided": 0, "superseded": 0}
    assert {claims(vault)[q] for q in (SIX, EIGHT)} == {"disputed"}
    assert read_properties(page).text("confidence") == "speculative"
    assert verify(vault, silent).clean
    again = judge()
    assert built(vault, again, 1).nothing_new and not again.asked


def test_a_rebuild_from_the_journal_gives_the_same_contradictions(vault: Vault) -> None:
    built(vault, judge())
    before = tree(vault)
    shutil.rmtree(vault.root / ".retain")
    shutil.rmtree(vault.root / "wiki")
    built(vault, None, 24, fresh=True)
    assert tree(vault) == before


def test_the_side_that_weighs_more_comes_first_and_no_card_rests_on_the_other(vault: Vault) -> None:
    built(vault, judge())
    summary = next(p for p in (vault.root / "wiki/summaries").iterdir() if EIGHT in p.read_text(encoding="utf-8"))
    trusted = summary.read_text(encoding="utf-8").replace("authority: 1", "authority: 3")
    summary.write_text(trusted, encoding="utf-8")
    backend = judge()
    report = built(vault, backend, 1)
    page = text(vault, ARTICLE)
    shown = page[page.index("## Where sources disagree") :]
    assert "### The first has more authority: 3, the other 1" in shown and shown.index(EIGHT) < shown.index(SIX)
    assert (claims(vault)[EIGHT], claims(vault)[SIX]) == ("current", "disputed")
    assert report.contradictions["decided"] == 1 and not asked(backend)
    assert read_properties(page).text("confidence") == "high"


@pytest.mark.parametrize("verdict", ["REPORTED", "NONE"])
def test_what_can_both_hold_is_no_contradiction(vault: Vault, verdict: str) -> None:
    report = built(vault, judge(verdict))
    assert report.contradictions == {"open": 0, "decided": 0, "superseded": 0}
    assert set(claims(vault).values()) == {"current"}
    assert "disagree" not in text(vault, ARTICLE)


@pytest.fixture
def saturn(tmp_path: Path) -> Vault:
    """Two documents of two years, the second of which came after a compile and says what is so now."""
    vault = vault_with_sources(tmp_path / "vault", {"old.md": OLD})
    built(vault, judge())
    (vault.root / "raw/articles/new.md").write_text(NEW, encoding="utf-8")
    report = built(vault, judge("CHANGED"), 1)
    assert report.contradictions == {"open": 0, "decided": 0, "superseded": 1}
    return vault


def test_of_two_states_of_the_world_the_later_one_is_current(saturn: Vault) -> None:
    assert claims(saturn) == {
        "Saturn is a planet with 61 known moons.": "superseded",
        "Saturn is a planet with 145 known moons.": "current",
    }
    assert "145 known moons" in text(saturn, "wiki/concepts/saturn.md") and verify(saturn, silent).clean
    found = re.findall(r'"id":"(\w{10})".*?"quote":"([^"]+)"', text(saturn, IDS))
    old = next(i for i, quote in found if "61 known" in quote)
    assert trace(saturn, old).steps[0].as_json()["state"] == "superseded"


def test_what_was_so_is_not_told_as_what_is_so(saturn: Vault) -> None:
    assert "61 known moons" not in text(saturn, "wiki/concepts/saturn.md")


def test_a_card_whose_claim_is_past_and_that_nothing_takes_up_is_retired_with_the_reason(tmp_path: Path) -> None:
    later = NEW.replace("Saturn is a planet with 145 known moons.", "By now Saturn has 145 known moons as a planet.")
    vault = vault_with_sources(tmp_path / "vault", {"old.md": OLD})
    built(vault, judge())
    (vault.root / "raw/articles/new.md").write_text(later, encoding="utf-8")
    report = built(vault, judge("CHANGED"), 1)
    assert report.contradictions["superseded"] == 1 and report.cards["suspended"] == 1
    assert '"reason":"a later source gives the current state"' in text(vault, IDS)


def test_without_days_that_tell_which_came_first_nothing_is_past(tmp_path: Path) -> None:
    undated = NEW.partition("\n\n")[2]
    vault = vault_with_sources(tmp_path / "vault", {"old.md": OLD, "new.md": undated})
    assert built(vault, judge("CHANGED")).contradictions["superseded"] == 0


def test_a_day_that_lies_after_the_source_came_is_not_believed(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"old.md": OLD, "new.md": NEW.replace("2023", "2099")})
    assert built(vault, judge("CHANGED")).contradictions["superseded"] == 0


def test_a_contradiction_that_nobody_has_judged_yet_is_an_open_question_and_a_dry_run_names_it(vault: Vault) -> None:
    with pytest.raises(Waiting):
        built(vault, replace(judge(), fail_after=3))
    report = built(vault, judge(), 1, dry=True)
    assert [r.type for r in report.open if r.type == "reconcile"] == ["reconcile"]


def test_an_open_contradiction_is_on_the_agenda_until_it_is_decided(vault: Vault) -> None:
    built(vault, judge())
    assert "contradict each other" in text(vault, "learning/gaps.md").partition("## Resolved")[0]
    summary = next(p for p in (vault.root / "wiki/summaries").iterdir() if EIGHT in p.read_text(encoding="utf-8"))
    summary.write_text(summary.read_text(encoding="utf-8").replace("authority: 1", "authority: 2"), encoding="utf-8")
    report = built(vault, judge(), 1)
    assert "contradict each other" not in text(vault, "learning/gaps.md").partition("## Resolved")[0]
    assert report.gaps["filled"] == 1


WITHIN = f"""# Transformer

A transformer is a model that maps one sequence to another.
{SIX}

## Sizes

The stack of the encoder holds eight of them.
"""


NOTICED = "CLASH Six layers or eight. [1:1b] [1:2]"


@pytest.mark.parametrize(
    "changes",
    [
        {"read": {"SUM 1": f"{NOTICED}\nSUM 1"}},
        {"read": {"FROM 1:1": "FROM 1:1-2"}, "write": {"=== CARDS": f"=== LEFT\n{NOTICED}\n=== CARDS"}},
        {
            "read": {"FROM 1:1": "FROM 1:1-2", "SUM 1": f"{NOTICED}\nSUM 1"},
            "write": {"=== CARDS": "=== LEFT\nCLASH Eight, not six. [1:2] [1:1a,b]\n=== CARDS"},
        },
    ],
    ids=["reader", "writer", "both"],
)
def test_a_clash_that_a_reader_or_writer_notices_within_one_document_is_shown_with_both_quotes(
    tmp_path: Path, changes: dict[str, dict[str, str]]
) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"one.md": WITHIN})
    backend = judge()
    backend.reword = saying(**changes)
    report = built(vault, backend)
    (pair,) = asked(backend)
    assert pair.about == "Six layers or eight." and pair.a.words == SIX
    assert report.contradictions["open"] == 1
    shown = text(vault, ARTICLE).partition("## Where sources disagree")[2]
    assert SIX in shown and "holds eight of them" in shown and verify(vault, silent).clean
    before = tree(vault)
    shutil.rmtree(vault.root / ".retain")
    shutil.rmtree(vault.root / "wiki")
    built(vault, None, 24, fresh=True)
    assert tree(vault) == before
