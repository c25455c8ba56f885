"""The words of the article reader."""

from __future__ import annotations

from learning.pages.article import ArticlePage, PageContext
from vault.model.card import CardKind
from vault.text.formatting import plural

TITLE = "Article"
READING = "reading …"
CUT = "*The page is too long to show in full; the rest is in the file.*"
NO_INSIGHT = "Notes belong to a concept: open its page first."
NO_CARDS = "Only concept pages have cards."
NO_SUGGESTIONS = "No cards are suggested for this page."
NO_WAY_BACK = "No previous page."
NO_WAY_ON = "No next page."
NO_LINKS = "This page has no links."
NEEDS = "Needs"
RELATED = "Relates to"
BACKLINKS = "Linked from"
GAPS = "Missing"
KNOWN = "How well you know it"
QUOTE = "Source of the claim"
NOTHING_AROUND = "No backlinks and no cards yet."
INDEX = "All pages"
SUMMARY = "All claims from this source"
ALONE = "Only the quote can be shown for this kind of source."
_VERBS = {
    CardKind.DEFINITIONAL: "Definition",
    CardKind.MECHANISTIC: "How it works",
    CardKind.RELATIONAL: "Relation to others",
    CardKind.APPLIED: "When to use it",
}
_NONE = "no card"


def head(page: ArticlePage) -> str:
    """`concept · low confidence · 2 sources · updated 2026-11-22`."""
    confidence = f"{page.confidence} confidence" if page.confidence else ""
    if page.stale and page.base != page.confidence:
        confidence += f" ({page.base}, but old)"
    elif page.stale and confidence:
        confidence += " (old)"
    sources = plural(page.sources, "source") if page.sources else ""
    updated = f"updated {page.updated}" if page.updated else ""
    return " · ".join(filter(None, (page.kind, confidence, sources, updated)))


def suggested(number: int) -> str:
    return f"{plural(number, 'suggested card')} (t)"


def mastery(page: PageContext) -> str:
    """`3 cards, 2 reviewed`."""
    known = page.mastery
    if known is None:
        return ""
    return f"{plural(known.cards, 'card')}, {known.seen or 'none'} reviewed"


def kind(name: str, score: float | None) -> tuple[str, str]:
    """Return (what cards of the kind ask for, how well they are known)."""
    return _VERBS[CardKind(name)], _NONE if score is None else f"{round(score * 100)} %"


def more(number: int) -> str:
    return f"and {plural(number, 'other page')}"


def opens(address: str) -> str:
    return f"{address} opens in your browser: press again"


def opens_picture(path: str) -> str:
    return f"{path} opens in your viewer: press again"


def no_address(address: str) -> str:
    return f"{address} cannot be opened: no browser was found. Copy the address."


def no_page(words: str) -> str:
    return f"{words}: no such page in this vault"


def found(words: str, rows: int) -> str:
    return f"{words}: on {plural(rows, 'row')}, enter goes to the next" if rows else f"{words}: not on this page"
