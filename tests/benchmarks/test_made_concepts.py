"""Concepts are found in a vault's notes with the documents they rest on, and by the engine alone without a vault."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from benchmarks import ablation
from benchmarks.concept_figures import Share
from benchmarks.concept_key import Concept, Key
from benchmarks.made_concepts import documents, engine_without, in_vault, run, signals, structural_gaps
from vault.config.settings import Settings
from vault.vault import Vault

SOURCE = """# Tides

A **tide** is the rise and fall of the sea that the Moon and the Sun cause. A **spring tide** is a tide of the largest
range, because Sun and Moon then pull along one line.

A **neap tide** is a tide of the smallest range. A neap tide differs from a spring tide in its range.
A spring tide rises higher because the Sun and the Moon pull along one line.
"""
CLAIM = "0123456789"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "tides.md").write_text(SOURCE, encoding="utf-8")
    (folder / "moon.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


@pytest.fixture
def vault(tmp_path: Path, sources: Path) -> Vault:
    """A vault with one article, its summary and an agenda, as a compile writes them."""
    root = tmp_path / "vault"
    digest = hashlib.sha256((sources / "tides.md").read_bytes()).hexdigest()
    notes = {
        "wiki/summaries/tides.md": f"---\ntype: summary\nsource_sha256: {digest}\n---\n",
        "wiki/concepts/tide.md": "---\ntype: concept\ntitle: Tide\naliases:\n  - Tides\n---\n\n# Tide\n\n"
        f"A tide is the rise and fall of the sea. [[wiki/summaries/tides#^c-{CLAIM}|1]]\n",
        "learning/gaps.md": "---\ntype: gaps\n---\n\n## Structural\n\n"
        f"- [ ] **Gravity**: 2 articles mention it, none explains it. Would fill it: a source. ^g-{CLAIM}\n"
        "\n## Epistemic\n\n"
        f"- [ ] **Tide**: nothing says how it works. Would fill it: a source. ^g-{CLAIM[::-1]}\n",
    }
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return Vault(root, Settings("0123456789abcdefghjkmnpqrs", "tides"))


def test_an_article_is_read_with_its_names_its_lead_and_the_documents_it_cites(vault: Vault, sources: Path) -> None:
    (made,) = in_vault(vault, sources)

    assert made.names == ("Tide", "Tides")
    assert made.lead == "A tide is the rise and fall of the sea."
    assert made.files == ("tides.md",)


def test_only_structural_gaps_of_the_agenda_are_counted(vault: Vault) -> None:
    assert structural_gaps(vault) == ["Gravity"]


def test_the_engine_alone_makes_the_concepts_of_documents_and_cards_for_them(sources: Path) -> None:
    read = documents(sources)

    made = run(read, engine_without())

    assert [d.file for d in read] == ["tides.md"]
    assert {"Tide", "Spring tide", "Neap tide"} <= {m.title for m in made.made}
    assert all(m.files == ("tides.md",) and m.lead for m in made.made)
    assert made.cards >= 3


def test_the_order_of_documents_changes_no_concept(sources: Path) -> None:
    (sources / "moon.md").write_text("The **moon** is the natural satellite of the Earth.\n", encoding="utf-8")
    read = documents(sources)

    one, other = run(read, engine_without()), run(read[::-1], engine_without())

    assert sorted(m.title for m in one.made) == sorted(m.title for m in other.made)


def test_each_signal_has_a_row_beside_the_run_with_all_of_them(sources: Path) -> None:
    key = Key((Concept("Tide", (), ("tides.md",), core=True),), (), (), frozenset())

    rows = ablation.rows(key, sources)

    assert [r.without for r in rows] == ["", *signals()]
    assert rows[0].recall == Share(1, 1)
    assert ablation.table(rows).count("\n") == len(rows) + 1
