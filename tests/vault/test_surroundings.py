"""A quote is found in its source, whatever marks the source has between its words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import make_vault
from vault.errors import Refused
from vault.evidence.context import LARGEST, quote_context
from vault.evidence.evidence import Evidence
from vault.ids import ClaimId, SourceId
from vault.model.claim import Claim, ClaimKind
from vault.vault import Vault

QUOTE = "retention falls steeply in the first hours"
MARKDOWN = """---
title: retention falls steeply in the first hours
---
# On memory

Ebbinghaus learnt syllables.
He found that **retention** falls [steeply](https://example.org "x") in
the *first hours*, and then levels off.

Sleep slows this down.
Nobody knows why.
"""


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path, {})


def evidence(path: str, quote: str = QUOTE, locator: str = "") -> Evidence:
    claim = Claim(ClaimId("aaaaaaaaa1"), SourceId("sssssssss1"), ClaimKind.FACT, quote, locator=locator)
    return Evidence(path, "On memory", claim)


def test_the_lines_around_a_quote_are_those_of_the_source(vault: Vault) -> None:
    (vault.root / "raw/a.md").write_text(MARKDOWN, encoding="utf-8")
    found = quote_context(vault, evidence("raw/a.md"), 2)
    assert (found.line, found.quote, found.locator) == (7, QUOTE, "line 7")
    assert found.before == "Ebbinghaus learnt syllables.\nHe found that"
    assert found.after.endswith("and then levels off.\nSleep slows this down.")


def test_a_page_is_read_without_its_tags_and_scripts(vault: Vault) -> None:
    page = "<p>Before.</p>\n<script>retention falls steeply in the first hours</script>\n<p>So <b>retention</b> falls"
    page += " steeply&nbsp;in\nthe first hours</p>\n<p>After.</p>"
    (vault.root / "raw/a.html").write_text(page, encoding="utf-8")
    found = quote_context(vault, evidence("raw/a.html"))
    assert (found.line, found.before, found.after.strip()) == (3, "Before.\nSo", "After.")


def test_lines_of_nothing_but_tags_are_left_out(vault: Vault) -> None:
    page = f"Above.\n<table>\n<tr>\n<td>\n{QUOTE}\n</td> </tr> </table>\n<br/>\nBelow.\n"
    (vault.root / "raw/tags.md").write_text(page, encoding="utf-8")
    found = quote_context(vault, evidence("raw/tags.md"))
    assert (found.before, found.after) == ("Above.", "Below.")


def test_of_two_places_the_one_that_the_locator_names_is_shown(vault: Vault) -> None:
    (vault.root / "raw/a.txt").write_text(f"{QUOTE}.\nfirst\n\n\n{QUOTE}.\nsecond\n", encoding="utf-8")
    assert "first" in quote_context(vault, evidence("raw/a.txt")).after
    assert "second" in quote_context(vault, evidence("raw/a.txt", locator="line 5")).after


def test_words_without_blanks_between_them_are_found_in_spite_of_marks(vault: Vault) -> None:
    (vault.root / "raw/a.md").write_text("前面。\n\n注意力**机制**将查询映射到输出。\n", encoding="utf-8")
    found = quote_context(vault, evidence("raw/a.md", "注意力机制将查询映射到输出"))
    assert (found.line, found.before) == (3, "前面。")


@pytest.mark.parametrize("path", ["raw/a.pdf", "raw/none.md", "wiki/a.md", "raw/large.txt"])
def test_where_the_text_cannot_be_read_here_the_quote_stands_alone(vault: Vault, path: str) -> None:
    for name, text in {"raw/a.pdf": QUOTE, "wiki/a.md": QUOTE, "raw/large.txt": QUOTE + " " * LARGEST}.items():
        (vault.root / name).write_text(text, encoding="utf-8")
    found = quote_context(vault, evidence(path, locator="p. 6"))
    assert (found.found, found.before, found.quote, found.after) == (False, "", QUOTE, "")
    assert found.locator == "On memory, p. 6"


def test_no_link_leads_out_of_the_vault(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.write_text(f"secret\n{QUOTE}\n", encoding="utf-8")
    (vault.root / "raw/link.txt").symlink_to(outside)
    assert not quote_context(vault, evidence("raw/link.txt")).found
    with pytest.raises(Refused):
        quote_context(vault, evidence(f"raw/../../{outside.name}"))


@given(st.text(max_size=300), st.text(max_size=40), st.integers(0, 5))
def test_whatever_source_and_quote_are_the_place_is_never_longer_than_asked(
    tmp_path_factory: pytest.TempPathFactory, text: str, quote: str, lines: int
) -> None:
    from vault.evidence.context import _around

    claim = evidence("raw/a.md", quote).claim
    assert claim is not None
    found = _around(text, claim, lines)
    if found is not None:
        assert found.before.count("\n") < max(1, lines)
        assert found.after.count("\n") < max(1, lines)
