"""A page as the reader wants it: where links lead, how far it can be trusted today, what is around it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.pages.article import (
    Neighbour,
    backlinks,
    link_path,
    may_read,
    neighbours,
    page_context,
    page_of,
    read_page,
)
from tests.builders import SETTINGS, make_vault
from vault.errors import NotFound
from vault.model.article import is_stale, lowered
from vault.vault import Vault

TODAY = date(2026, 11, 22)
NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    for folder in ("wiki/concepts", "wiki/topics", "wiki/summaries"):
        (tmp_path / folder).mkdir(parents=True)
    return make_vault(tmp_path, {})


def test_a_page_older_than_its_subject_stays_is_trusted_one_step_less() -> None:
    assert is_stale("2026-10-01", "fast", TODAY) and not is_stale("2026-10-01", "normal", TODAY)
    assert not is_stale("", "fast", TODAY) and not is_stale("2026-01-01", "", TODAY)
    steps = {each: lowered(each, True) for each in ("high", "medium", "low", "speculative", "")}
    assert steps == {"high": "medium", "medium": "low", "low": "low", "speculative": "speculative", "": ""}
    assert lowered("high", False) == "high"


def test_links_lead_where_obsidian_would_go_and_nowhere_else(vault: Vault) -> None:
    (vault.root / "wiki/concepts/kv-cache.md").write_text("# KV cache\n", encoding="utf-8")
    base = "wiki/concepts/attention.md"
    assert link_path(vault, "wiki/concepts/gpt-3.5", base) == "wiki/concepts/gpt-3.5.md"
    assert link_path(vault, "KV cache#Shape", base) == "wiki/concepts/kv-cache.md"
    assert link_path(vault, "../topics/memory.md", base) == "wiki/topics/memory.md"
    assert link_path(vault, "#Shape", base) == base
    assert link_path(vault, "nobody", base) == ""
    assert link_path(vault, f"wiki/concepts/{'a' * 300}", base) == f"wiki/concepts/{'a' * 300}.md"
    for elsewhere in (
        "../../../etc/passwd",
        "/etc/passwd",
        "insights/x",
        "raw/a/../../insights/x",
        "~/x",
        "ledger/ids",
    ):
        assert link_path(vault, elsewhere, base) == ""


@given(st.one_of(st.text(max_size=40), st.text(st.sampled_from("./\\wikra~ \0\n"), max_size=20)))
def test_whatever_a_link_says_only_wiki_and_raw_are_read(to: str) -> None:
    vault = Vault(Path("/nowhere"), SETTINGS)
    if may_read(vault, to):
        assert to.startswith(("wiki/", "raw/")) and ".." not in to.split("/") and "\0" not in to and "\\" not in to


def test_a_page_without_properties_is_a_page_all_the_same() -> None:
    page = page_of("wiki/concepts/a.md", "# On *a*\n\nWords.\n", TODAY)
    assert (page.title, page.kind, page.confidence, page.stem) == ("On *a*", "", "", "a")
    assert page_of("wiki/x.md", "---\n{", TODAY).title == "x.md"


def test_what_is_not_there_is_named(vault: Vault) -> None:
    with pytest.raises(NotFound, match="no such page yet"):
        read_page(vault, "wiki/concepts/gone.md", TODAY)
    with pytest.raises(NotFound, match="not a page of the wiki"):
        read_page(vault, "insights/mine.md", TODAY)


def test_neighbours_are_those_of_the_graph_each_once() -> None:
    graph = (
        b"- [[wiki/concepts/a-b|A b]] needs [[wiki/concepts/x|X]]\n"
        b"- [[wiki/concepts/a|A]] needs [[wiki/concepts/x|X]], [[wiki/concepts/y|Y]]; "
        b"relates to [[wiki/concepts/x|X]], [[wiki/concepts/z|Z]]\n"
        b"- [[wiki/concepts/r|R]] relates to [[wiki/concepts/z|Z]]\n"
    )
    x, y, z = (Neighbour(f"wiki/concepts/{n}.md", n.upper()) for n in "xyz")
    assert neighbours(graph, "wiki/concepts/a.md") == ((x, y), (z,))
    assert neighbours(graph, "wiki/concepts/r.md") == ((), (z,))
    assert neighbours(graph, "wiki/concepts/none.md") == ((), ())


def test_backlinks_are_links_to_this_very_page(vault: Vault) -> None:
    pages = {
        "concepts/a": "[[wiki/concepts/b|B]]",
        "concepts/c": "| [[wiki/concepts/b\\|B]] |",
        "topics/t": "[[wiki/concepts/b#part]]",
        "concepts/d": "[[wiki/concepts/bb|BB]] wiki/concepts/b",
        "concepts/b": "[[wiki/concepts/b|itself]]",
    }
    for name, text in pages.items():
        (vault.root / f"wiki/{name}.md").write_text(f"# {name.upper()}\n\n{text}\n", encoding="utf-8")
    found = [link.title for link in backlinks(vault, "wiki/concepts/b.md")]
    assert found == ["CONCEPTS/A", "CONCEPTS/C", "TOPICS/T"]


def test_mastery_is_that_of_the_pages_own_cards(vault: Vault) -> None:
    deck = "# A\n\n## Applied\n\nQ: When?\nA: Now.\n<!-- card aaaaaaaaa1 -->\n"
    (vault.root / "learning/flashcards/a.md").write_text(deck, encoding="utf-8")
    known = page_context(vault, page_of("wiki/concepts/a.md", "# A\n", TODAY), NOW).mastery
    assert known is not None
    assert (known.cards, known.seen, known.profile["applied"], known.profile["definitional"]) == (1, 0, 0.0, None)
    assert page_context(vault, page_of("wiki/topics/a.md", "# A\n", TODAY), NOW).mastery is None
