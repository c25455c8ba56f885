"""The words behind a card are found, or it is said why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault.config.settings import Settings
from vault.evidence.evidence import EvidenceReader
from vault.ids import ClaimId
from vault.model.wikilink import Citation
from vault.vault import Vault

SUMMARY = """\
---
type: summary
title: On spacing
source: raw/articles/on-spacing.md
---

> [!quote]
> study that is spread out lasts
>
> definition · current{locator}

^c-7f3a9c1e2k
"""
CLAIM, OTHER = ClaimId("7f3a9c1e2k"), ClaimId("0000000000")


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "wiki/summaries").mkdir(parents=True)
    return Vault(tmp_path, Settings("01KB0000000000000000000000", "Mind"))


def summary(vault: Vault, text: str) -> Citation:
    (vault.root / "wiki/summaries/s.md").write_text(text)
    return Citation("wiki/summaries/s", CLAIM, 1)


@pytest.mark.parametrize(
    ("locator", "place"),
    [(" · line 14", "On spacing, line 14"), (" · On spacing, line 14", "On spacing, line 14"), ("", "On spacing")],
)
def test_a_quote_comes_with_its_source_and_place(vault: Vault, locator: str, place: str) -> None:
    cite = summary(vault, SUMMARY.format(locator=locator))
    (found,) = EvidenceReader(vault).of([cite])
    assert found.claim is not None
    assert found.claim.quote == "study that is spread out lasts"
    assert (found.place, found.source, found.problem) == (place, "raw/articles/on-spacing.md", "")


def test_what_cannot_be_shown_says_why(vault: Vault) -> None:
    cite = summary(vault, SUMMARY.format(locator=" · line 14"))
    gone, lost = EvidenceReader(vault).of([Citation(cite.summary, OTHER, 1), Citation("wiki/summaries/none", CLAIM, 1)])
    assert gone.claim is None and "no longer in wiki/summaries/s.md" in gone.problem
    assert lost.claim is None and lost.problem == "the summary no longer exists"
    (vault.root / "wiki/summaries/s.md").write_bytes(b"\xff")
    (spoilt,) = EvidenceReader(vault).of([cite])
    assert spoilt.claim is None and "not UTF-8" in spoilt.problem


def test_one_reader_reads_a_summary_once(vault: Vault) -> None:
    cite = summary(vault, SUMMARY.format(locator=" · line 14"))
    reader = EvidenceReader(vault)
    first = reader.of([cite])
    (vault.root / "wiki/summaries/s.md").unlink()
    assert reader.of([cite]) == first
