"""The first mention of another concept in an article is a link, and what the article says is the same without it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from compiler.articles.mentions import with_links
from compiler.build.compile import Options, compile_vault
from compiler.concepts.resolve import Resolution, Resolved
from compiler.verification.verify import verify
from tests.builders import vault_with_sources
from vault.ids import ClaimId, ConceptId
from vault.model.article import ArticleSection, CitedSentence, render_body, sentences, without_page_links
from vault.model.frontmatter import body_of, human_edited, read_properties
from vault.model.wikilink import Citation
from vault.vault import Vault

AT = datetime(2026, 11, 21, 9, tzinfo=UTC)
RIGGING = """# Rigging

A halyard is a rope that hoists a sail. The halyard runs over a block at the top of the mast.

A capstan is a drum on deck that sailors turn to haul a halyard or a chain. A worn capstan slips under a wet halyard.
"""
ANCHORS = """# Anchors

An anchor is a hook of iron that holds a ship at one place. The chain of the anchor leads over the bow to the capstan.
"""
CAPSTAN = "wiki/concepts/capstan.md"
LINK = re.compile(r"\[\[wiki/concepts/[^\]]*\]\]")


def concept(id_: str, title: str, *aliases: str) -> Resolved:
    return Resolved(ConceptId(id_), title, aliases, title.lower(), "en", frozenset(), ())


def page(text: str, *named: Resolved, own: Resolved) -> str:
    """Return the body of an article of one sentence per line of `text`, whose claims name these concepts."""
    cite = (Citation("wiki/summaries/s", ClaimId("a" * 10), 1),)
    said = tuple(CitedSentence(line, cite) for line in text.split("\n"))
    known = Resolution({c.id: c for c in (own, *named)}, {"a" * 10: tuple(c.id for c in (own, *named))})
    pages = {c.id: f"wiki/concepts/{c.slug}" for c in (own, *named)}
    return render_body(own.title, with_links([ArticleSection("", (said,))], own, pages, known))


def test_the_first_mention_of_each_other_concept_is_a_link_and_no_other_is() -> None:
    attention, head = concept("1" * 10, "Attention"), concept("2" * 10, "Attention head", "Head")
    own = concept("3" * 10, "Transformer")
    body = page(
        "A transformer has attention heads.\nA head computes attention. Attention is all.", attention, head, own=own
    )
    assert LINK.findall(body) == [
        "[[wiki/concepts/attention head|attention heads]]",
        "[[wiki/concepts/attention|attention]]",
    ]


def test_a_name_within_a_longer_one_or_in_code_or_math_is_no_mention() -> None:
    attention, own = concept("1" * 10, "Attention"), concept("3" * 10, "Self-attention")
    assert not LINK.findall(page("Self-attention is one layer.\nCall `attention` or $attention$.", attention, own=own))


def test_a_name_in_a_script_without_blanks_is_linked() -> None:
    other, own = concept("1" * 10, "自注意力"), concept("3" * 10, "位置编码")
    assert "使用[[wiki/concepts/自注意力|自注意力]]的模型" in page(
        "位置编码为使用自注意力的模型提供顺序。", other, own=own
    )


def rigged(root: Path) -> Vault:
    vault = vault_with_sources(root / "vault", {"rigging.md": RIGGING})
    compile_vault(vault, Options(), AT, lambda event: None)
    return vault


def test_links_are_no_part_of_what_is_said_and_the_vault_verifies(tmp_path: Path) -> None:
    vault = rigged(tmp_path)
    text = vault.read_text(CAPSTAN) or ""
    assert LINK.findall(body_of(text)) == ["[[wiki/concepts/halyard|halyard]]"] and not human_edited(text)
    assert "A capstan is a drum on deck that sailors turn to haul a halyard or a chain." in [
        s.text for s in sentences(text)
    ]
    assert verify(vault, lambda event: None).clean


def test_a_new_page_is_linked_where_it_was_named_and_nothing_else_of_the_page_changes(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"anchors.md": ANCHORS})
    compile_vault(vault, Options(), AT, lambda event: None)
    path = "wiki/concepts/anchor.md"
    before = vault.read_text(path) or ""
    assert not LINK.findall(body_of(before))
    (vault.root / "raw/articles/rigging.md").write_text(RIGGING)
    compile_vault(vault, Options(), AT + timedelta(days=3), lambda event: None)
    after = vault.read_text(path) or ""
    assert LINK.findall(body_of(after)) == ["[[wiki/concepts/capstan|capstan]]"]
    assert without_page_links(body_of(after)) == body_of(before)
    assert read_properties(after).text("updated") == read_properties(before).text("updated")
