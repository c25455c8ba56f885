"""The words of the article reader."""

from __future__ import annotations

from learning.pages.article import ArticlePage, PageContext
from vault.model.card import CardKind
from vault.text.formatting import plural

TITLE = "Article"
READING = "reading …"
CUT = "*This page is too long to show in full. Open the file to read the rest.*"
NO_INSIGHT = "Notes belong to a concept: open its page first."
NO_CARDS = "Only concept pages have cards."
NO_SUGGESTIONS = "There are no suggested cards for this page."
NO_WAY_BACK = "No previous page."
NO_WAY_ON = "No next page."
NO_LINKS = "This page has no links."
NEEDS = "Read first"
RELATED = "Related"
BACKLINKS = "Linked from"
GAPS = "Missing"
KNOWN = "How well you know it"
QUOTE = "Source of the claim"
NOTHING_AROUND = "No backlinks and no cards yet."
INDEX = "All pages"
SUMMARY = "All claims from this source"
ALONE = "The text around the quote cannot be shown for this kind of source."
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
        confidence += f" ({page.base}, outdated)"
    elif page.stale and confidence:
        confidence += " (outdated)"
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
    return f"Press again to open {address} in your browser"


def opens_picture(path: str) -> str:
    return f"Press again to open {path} in your viewer"


def no_address(address: str) -> str:
    return f"{address} cannot be opened: only web addresses (http or https) can."


def no_page(words: str) -> str:
    return f"Page not found in this vault: {words}"


def found(words: str, rows: int) -> str:
    if not rows:
        return f"{words}: not found on this page"
    return f"{words}: found on {plural(rows, 'line')}; enter goes to the next"
