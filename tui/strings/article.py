"""What the article reader says."""

from __future__ import annotations

from learning.pages.article import ArticlePage, PageContext
from tui.text.formats import counted
from vault.model.card import CardKind

TITLE = "Article"
READING = "reading …"
CUT = "*The page is cut here; the file has the rest.*"
NO_INSIGHT = "An insight is written about a concept: open its page first."
NO_CARDS = "Only the page of a concept has cards of its own."
NO_WAY_BACK = "This is where you came in."
NO_WAY_ON = "There is nothing to go forward to."
NO_LINKS = "This page links nowhere."
NEEDS = "Needs"
RELATED = "Relates to"
BACKLINKS = "Linked from"
GAPS = "Missing"
KNOWN = "How well you know it"
QUOTE = "What it rests on"
NOTHING_AROUND = "Nothing links here yet, and it has no cards."
INDEX = "All pages"
SUMMARY = "All that was taken from this source"
ALONE = "Only the quote can be shown: this kind of source is not read here."
_VERBS = {
    CardKind.DEFINITIONAL: "Say what it is",
    CardKind.MECHANISTIC: "Explain how it works",
    CardKind.RELATIONAL: "Relate it to others",
    CardKind.APPLIED: "Tell when to use it",
}
_NONE = "no card"


def head(page: ArticlePage) -> str:
    """`concept · low confidence · 2 sources · updated 2026-11-22`."""
    confidence = f"{page.confidence} confidence" if page.confidence else ""
    if page.stale and page.base != page.confidence:
        confidence += f" ({page.base}, but old)"
    elif page.stale and confidence:
        confidence += " (old)"
    sources = counted(page.sources, "source") if page.sources else ""
    updated = f"updated {page.updated}" if page.updated else ""
    return " · ".join(filter(None, (page.kind, confidence, sources, updated)))


def mastery(standing: PageContext) -> str:
    """`3 cards, 2 reviewed`."""
    known = standing.mastery
    if known is None:
        return ""
    return f"{counted(known.cards, 'card')}, {known.seen or 'none'} reviewed"


def kind(name: str, score: float | None) -> tuple[str, str]:
    """(what a card of that kind asks for, how well that goes)."""
    return _VERBS[CardKind(name)], _NONE if score is None else f"{round(score * 100)} %"


def more(number: int) -> str:
    return f"and {counted(number, 'other page')}"


def opens(address: str) -> str:
    return f"{address} opens in your browser: follow it again"


def opens_picture(path: str) -> str:
    return f"{path} opens in your viewer: follow it again"


def no_address(address: str) -> str:
    return f"{address} is no address that is opened from here."


def no_page(words: str) -> str:
    return f"{words}: no page of this vault goes by that name"


def found(words: str, rows: int) -> str:
    return f"{words}: on {counted(rows, 'row')}, enter goes to the next" if rows else f"{words}: not on this page"
