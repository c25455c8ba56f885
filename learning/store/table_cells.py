"""Cells of Markdown tables: links to cards and concepts under a short label."""

from __future__ import annotations

from functools import lru_cache

from vault.model.markdown import escape, unescape
from vault.model.wikilink import Wikilink, alias
from vault.text.sanitize import clean_line

_LABEL = 60  # characters of a question that stand in the table


def concept_cell(article: str, shown: str) -> str:
    """What stands in a table for a concept; `article` is a vault path, "" if it has none, `shown` a `label`."""
    return Wikilink(article.removesuffix(".md"), alias=shown).in_table() if article else shown


def card_cell(deck: str, shown: str) -> str:
    """What stands in a table for a card of the deck at that vault path; `shown` is a `label` of its question."""
    return Wikilink(deck.removesuffix(".md"), alias=shown).in_table()


@lru_cache(maxsize=1024)  # the cards of a concept share its title
def label(markdown: str) -> str:
    """`markdown` as the shown part of a link in a table: short, on one line, with no character that means anything."""
    text = alias(clean_line(unescape(markdown)))
    if len(text) > _LABEL:
        text = text[: _LABEL - 1].rstrip() + "…"
    return escape(text)
