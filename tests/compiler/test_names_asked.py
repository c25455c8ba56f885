"""Names in doubt on a real vault: a model is asked once, what it cannot say waits in the inbox, and a human decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.apply_decision import take_effect
from compiler.build.compile import Options, compile_vault
from compiler.concepts.edits import Shelf, merge
from compiler.model.requests import MatchReply, MatchRequest, Reply, Request, Verdict
from compiler.query.verify import verify
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from vault.inbox import listing
from vault.inbox.decisions import decide, undo
from vault.inbox.events import Choice
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
DOCUMENTS = {
    "one.md": "# Softmax\n\nA softmax is a map from scores to probabilities that sum to one.\n",
    "two.md": "# Softmax function\n\nThe softmax function is the usual last step of a classifier of images.\n",
}


@dataclass
class Matching(Scripted):
    """Says the same of every two names."""

    same: Verdict = "yes"

    def reply(self, request: Request) -> Reply:
        return (
            MatchReply(same=self.same, why="so it seems")
            if isinstance(request, MatchRequest)
            else super().reply(request)
        )


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", DOCUMENTS)


def compiled(vault: Vault, same: Verdict, hours: int = 0) -> Matching:
    backend = Matching(same=same)
    at = MORNING + timedelta(hours=hours)
    compile_vault(vault, Options("claude"), at, lambda event: None, backend=backend)
    return backend


def titles(vault: Vault) -> set[str]:
    return {known.title for known in Shelf.of(vault).concepts}


@pytest.mark.parametrize(("same", "concepts"), [("yes", 1), ("no", 2), ("unsure", 2)])
def test_a_pair_is_asked_about_once_and_joined_on_a_yes_alone(vault: Vault, same: Verdict, concepts: int) -> None:
    assert compiled(vault, same).counts()["match"] == 1
    assert len(titles(vault)) == concepts
    text = "# Keel\n\nA keel is a long fin below the hull that keeps every boat upright in a strong wind.\n"
    (vault.root / "raw/articles/three.md").write_text(text, encoding="utf-8")
    assert compiled(vault, "yes", 1).counts()["match"] == 0
    assert len(titles(vault)) == concepts + 1


def test_what_nobody_can_tell_waits_in_the_inbox_and_follows_the_human_there_and_back(vault: Vault) -> None:
    compiled(vault, "unsure")
    (item,) = listing.items(vault)
    assert (item.kind, item.about) == ("names", "Softmax / Softmax function") and "so it seems" in item.note
    decide(vault, [item.id], Choice.ACCEPT, MORNING + timedelta(hours=1))
    assert listing.items(vault) == []
    compiled(vault, "unsure", 2)
    assert len(titles(vault)) == 1 and listing.items(vault) == []
    undo(vault, MORNING + timedelta(hours=3))
    compiled(vault, "unsure", 4)
    assert len(titles(vault)) == 2 and len(listing.items(vault)) == 1


def test_what_a_human_keeps_apart_no_model_joins(vault: Vault) -> None:
    compiled(vault, "unsure")
    (item,) = listing.items(vault)
    decide(vault, [item.id], Choice.KEEP, MORNING + timedelta(hours=1))
    assert compiled(vault, "yes", 2).counts()["match"] == 0
    assert len(titles(vault)) == 2 and listing.items(vault) == []


STORES = {
    "one.md": "# Database\n\nA database is an organised collection of records kept for later retrieval.\n",
    "two.md": "# Ledger hall\n\nA ledger hall is a room where clerks copied every payment into heavy books.\n",
}


def test_what_a_human_merged_no_model_is_asked_about_and_none_parts(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "stores", STORES)
    compiled(vault, "no")
    assert titles(vault) == {"Database", "Ledger hall"}
    done = take_effect(
        vault, lambda shelf: merge(shelf, "Ledger hall", "Database"), MORNING + timedelta(hours=1), lambda event: None
    )
    assert "match" not in done.waiting
    assert compiled(vault, "no", 2).counts()["match"] == 0
    assert titles(vault) == {"Database"}
    page = (vault.root / "wiki/concepts/database.md").read_text(encoding="utf-8")
    assert "collection of records" in page and "heavy books" in page
    found = verify(vault, lambda event: None)
    assert not (found.unverified or found.uncited or found.unsupported)
    compile_vault(vault, Options("claude", fresh=True, command="rebuild"), MORNING + timedelta(hours=3), lambda e: None)
    assert titles(vault) == {"Database"}
