"""Documents whose titles, names and words want to act in the vault: no page that is made of them does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from markdown_it import MarkdownIt
from markdown_it.token import Token

from compiler.build.compile import Options, compile_vault
from compiler.verification.verify import verify
from vault.model.frontmatter import body_of
from vault.vault import Vault

BEACON = "<img src=https:e.vil>"
TITLE = f"Gamma {BEACON} `$=dv.pages()` ==notes== %%x%% ![y](https://e.vil/y.png)"
TEXT = f"""---
title: "{TITLE}"
---

# {TITLE.replace("<", "&lt;")}

Gamma rays are rays `{BEACON}` that $<img src=x>$ a nucleus sends out &lt;img src=https://e.vil/x.png&gt;.

**Delta &lt;script&gt; rays** are fast electrons which `=this.file` are knocked out of atoms by a particle.
"""


def silent(event: dict[str, object]) -> None:
    assert event["event"]


def tokens(found: Sequence[Token]) -> Iterator[Token]:
    for token in found:
        yield token
        yield from tokens(token.children or [])


def test_no_page_made_of_hostile_documents_holds_html_a_picture_or_a_query(vault: Vault) -> None:
    for name in (f"p#{BEACON} **b**.png", f"{BEACON} `$=dv.pages()`.png"):
        (vault.root / "raw/articles" / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(len(name)))
    for name in ("gamma.md", f"{BEACON}.md", f"`= this.file` %%.md\n# {BEACON}.md"):
        (vault.root / "raw/articles" / name).write_text(TEXT.replace("Gamma rays", f"Gamma{len(name)} rays"))
    report = compile_vault(vault, Options(), datetime(2026, 11, 21, 9, tzinfo=UTC), silent)
    assert report.failures == [] and report.sources["read"] == 5 and report.sources["recorded"] == 2
    pages = [p for folder in ("wiki", "learning") for p in (vault.root / folder).rglob("*.md")]
    shown = ""
    for page in pages:
        text = page.read_text(encoding="utf-8")
        body = body_of(text)
        assert not re.search(r"<[A-Za-z!/?]", text[: len(text) - len(body)]), page
        for token in tokens(MarkdownIt("commonmark").parse(body)):
            ours = token.content.startswith("<!-- card ")
            assert ours or token.type not in ("html_inline", "html_block", "image", "fence"), (page, token.content)
            assert token.type != "code_inline" or not re.match(r"\$?=", token.content), (page, token.content)
        shown += body
    assert "img src" in shown and "dv.pages" in shown
    assert verify(vault, silent).clean
