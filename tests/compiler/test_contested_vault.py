"""Contradictions in a vault that a model compiles: shown with both quotes, weighed, told from a world that changed."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.model.requests import (
    ComposeReply,
    ComposeRequest,
    ReconcileReply,
    ReconcileRequest,
    Reply,
    Request,
    Section,
)
from compiler.model.requests import Sentence as Said
from compiler.query.trace import trace
from compiler.query.verify import verify
from compiler.replies.asker import Waiting
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_build import silent, tree
from tests.compiler.test_journaled import MORNING
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


@dataclass
class Judge(Scripted):
    """Says one verdict of every pair."""

    verdict: Literal["conflict", "reported", "changed", "none", "unsure"] = "conflict"

    def reply(self, request: Request) -> Reply:
        if isinstance(request, ReconcileRequest):
            return ReconcileReply(verdict=self.verdict)
        return Scripted.reply(self, request)


def built(vault: Vault, backend: Scripted | None, hours: int = 0, *, fresh: bool = False, dry: bool = False) -> Report:
    options = Options(engine="claude" if backend is not None else "journal", fresh=fresh, dry_run=dry)
    return compile_vault(vault, options, MORNING + timedelta(hours=hours), silent, backend=backend)


def text(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text(encoding="utf-8")


def claims(vault: Vault) -> dict[str, str]:
    """Quote -> state, of all summaries."""
    pages = "\n".join(p.read_text(encoding="utf-8") for p in (vault.root / "wiki/summaries").iterdir())
    return dict(re.findall(r"> \[!quote\].*\n> (.+)\n>\n> \w+ · (\w+) ·", pages))


def asked(backend: Scripted) -> list[ReconcileRequest]:
    return [r for r in backend.asked if isinstance(r, ReconcileRequest)]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"first.md": FIRST, "second.md": SECOND})


def test_a_contradiction_in_other_words_is_asked_about_once_and_shown_with_both_quotes(vault: Vault) -> None:
    backend = Judge()
    report = built(vault, backend)
    (request,) = asked(backend)
    assert {request.a.quote, request.b.quote} == {SIX, EIGHT}
    page = text(vault, ARTICLE)
    shown = page[page.index("## Where sources disagree") :]
    assert "### Undecided" in shown and SIX in shown and EIGHT in shown
    assert report.contradictions == {"open": 1, "decided": 0, "superseded": 0}
    assert {claims(vault)[q] for q in (SIX, EIGHT)} == {"disputed"}
    assert read_properties(page).text("confidence") == "speculative"
    assert verify(vault, silent).clean
    again = Judge()
    assert built(vault, again, 1).nothing_new and not again.asked


def test_a_rebuild_from_the_journal_gives_the_same_contradictions(vault: Vault) -> None:
    built(vault, Judge())
    before = tree(vault)
    shutil.rmtree(vault.root / ".retain")
    shutil.rmtree(vault.root / "wiki")
    built(vault, None, 24, fresh=True)
    assert tree(vault) == before


def test_the_side_that_weighs_more_comes_first_and_no_card_rests_on_the_other(vault: Vault) -> None:
    built(vault, Judge())
    summary = next(p for p in (vault.root / "wiki/summaries").iterdir() if EIGHT in p.read_text(encoding="utf-8"))
    trusted = summary.read_text(encoding="utf-8").replace("authority: 1", "authority: 3")
    summary.write_text(trusted, encoding="utf-8")
    backend = Judge()
    report = built(vault, backend, 1)
    page = text(vault, ARTICLE)
    shown = page[page.index("## Where sources disagree") :]
    assert "### The first weighs more: authority 3 against 1" in shown and shown.index(EIGHT) < shown.index(SIX)
    assert (claims(vault)[EIGHT], claims(vault)[SIX]) == ("current", "disputed")
    assert report.contradictions["decided"] == 1 and not asked(backend)
    assert read_properties(page).text("confidence") == "high"


@pytest.mark.parametrize("verdict", ["reported", "none", "unsure"])
def test_what_can_both_hold_is_no_contradiction(vault: Vault, verdict: Literal["reported", "none", "unsure"]) -> None:
    report = built(vault, Judge(verdict=verdict))
    assert report.contradictions == {"open": 0, "decided": 0, "superseded": 0}
    assert set(claims(vault).values()) == {"current"}
    assert "disagree" not in text(vault, ARTICLE)


def test_what_is_so_now_takes_the_place_of_what_was_and_the_card_changes_with_its_history(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"old.md": OLD})
    built(vault, Judge())
    deck = next((vault.root / "learning/flashcards").iterdir())
    card = re.search(r"<!-- card (\w{10})", deck.read_text(encoding="utf-8"))
    assert card is not None and "61 known moons" in deck.read_text(encoding="utf-8")
    (vault.root / "raw/articles/new.md").write_text(NEW, encoding="utf-8")
    report = built(vault, Judge(verdict="changed"), 1)
    assert report.contradictions == {"open": 0, "decided": 0, "superseded": 1}
    assert claims(vault) == {
        "Saturn is a planet with 61 known moons.": "superseded",
        "Saturn is a planet with 145 known moons.": "current",
    }
    article = text(vault, "wiki/concepts/saturn.md")
    assert "145 known moons" in article and "61 known moons" not in article
    now = deck.read_text(encoding="utf-8")
    assert f"<!-- card {card[1]}" in now and "145 known moons" in now and "61 known" not in now
    assert verify(vault, silent).clean
    old = next(i for i, q in re.findall(r'"id":"(\w{10})".*?"quote":"([^"]+)"', text(vault, IDS)) if "61 known" in q)
    assert trace(vault, old).steps[0].as_json()["state"] == "superseded"


def test_a_card_whose_claim_is_past_and_that_nothing_takes_up_is_retired_with_the_reason(tmp_path: Path) -> None:
    later = NEW.replace("Saturn is a planet with 145 known moons.", "By now Saturn has 145 known moons as a planet.")
    vault = vault_with_sources(tmp_path / "vault", {"old.md": OLD})
    built(vault, Judge())
    (vault.root / "raw/articles/new.md").write_text(later, encoding="utf-8")
    report = built(vault, Judge(verdict="changed"), 1)
    assert report.contradictions["superseded"] == 1 and report.cards["suspended"] == 1
    assert '"reason":"a later source says what is so now"' in text(vault, IDS)


def test_without_days_that_tell_which_came_first_nothing_is_past(tmp_path: Path) -> None:
    undated = NEW.partition("\n\n")[2]
    vault = vault_with_sources(tmp_path / "vault", {"old.md": OLD, "new.md": undated})
    assert built(vault, Judge(verdict="changed")).contradictions["superseded"] == 0


def test_a_day_that_lies_after_the_source_came_is_not_believed(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"old.md": OLD, "new.md": NEW.replace("2023", "2099")})
    assert built(vault, Judge(verdict="changed")).contradictions["superseded"] == 0


def test_a_contradiction_that_nobody_has_judged_yet_is_an_open_question_and_a_dry_run_names_it(vault: Vault) -> None:
    with pytest.raises(Waiting):
        built(vault, Judge(fail_after=2))
    report = built(vault, Judge(), 1, dry=True)
    assert [r.type for r in report.open if r.type == "reconcile"] == ["reconcile"]


def test_an_open_contradiction_is_on_the_agenda_until_it_is_decided(vault: Vault) -> None:
    built(vault, Judge())
    assert "contradict each other" in text(vault, "learning/gaps.md").partition("## Resolved")[0]
    summary = next(p for p in (vault.root / "wiki/summaries").iterdir() if EIGHT in p.read_text(encoding="utf-8"))
    summary.write_text(summary.read_text(encoding="utf-8").replace("authority: 1", "authority: 2"), encoding="utf-8")
    report = built(vault, Judge(), 1)
    assert "contradict each other" not in text(vault, "learning/gaps.md").partition("## Resolved")[0]
    assert report.gaps["filled"] == 1


@dataclass
class Boaster(Scripted):
    """Composes nothing but what no claim says."""

    def reply(self, request: Request) -> Reply:
        if isinstance(request, ComposeRequest):
            cites = (request.claims[0].id,)
            boast = Said(text="It won 40 prizes in 2031.", cites=cites)
            return ComposeReply(sections=(Section(heading="", paragraphs=((boast,),)),))
        return Scripted.reply(self, request)


def test_an_article_of_which_every_sentence_is_refused_is_composed_without_the_model_and_named(vault: Vault) -> None:
    report = built(vault, Boaster())
    assert report.sentences["dropped"] >= 1 and report.sentences["kept"] >= 2
    assert [n.path for n in report.notices if n.code == "stood-in"] == [ARTICLE]
    assert "prizes" not in text(vault, ARTICLE) and SIX in text(vault, ARTICLE)
    assert any("40" in r.reason for r in report.rejections if r.gate == "sentence")
    assert verify(vault, silent).clean
    assert built(vault, None, 1).nothing_new
