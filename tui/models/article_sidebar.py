"""The sidebar of an article, as Markdown: mastery and links, or one quote."""

from __future__ import annotations

from collections.abc import Sequence

from learning.pages.article import Neighbour, PageContext
from tui.strings import article as strings
from vault.evidence.context import QuoteContext
from vault.evidence.evidence import Evidence
from vault.model.claim import ClaimState
from vault.model.markdown import escape
from vault.model.wikilink import note_link
from vault.text.formatting import clean_line, fold

_BAR = 10  # cells of a bar that is full


def sidebar(stands: PageContext) -> str:
    """Return the sidebar of a page as Markdown: mastery, gaps, prerequisites and backlinks."""
    parts = _mastery(stands)
    if stands.gaps:
        parts += [f"## {strings.GAPS}", "\n".join(f"- {escape(clean_line(gap))}" for gap in stands.gaps)]
    parts += _pages(strings.NEEDS, stands.needs) + _pages(strings.RELATED, stands.related)
    parts += _pages(strings.BACKLINKS, stands.backlinks, stands.more_backlinks)
    return "\n\n".join(parts or [strings.NOTHING_AROUND])


def _mastery(stands: PageContext) -> list[str]:
    known = stands.mastery
    if known is None:
        return []
    said = [(*strings.kind(name, score), score) for name, score in known.profile.items()]
    width = max(len(verb) for verb, _, _ in said) + 2
    rows = [f"{verb:<{width}}{_bar(score)}  {figure}" for verb, figure, score in said]
    return [f"## {strings.KNOWN}", "\n".join(rows), strings.mastery(stands)]


def _bar(score: float | None) -> str:
    full = round((score or 0.0) * _BAR)
    return "█" * full + "░" * (_BAR - full)


def _pages(heading: str, pages: Sequence[Neighbour], more: int = 0) -> list[str]:
    if not pages:
        return []
    items = [f"- {note_link(page.path, page.title)}" for page in pages]
    return [f"## {heading}", "\n".join([*items, *([f"- {strings.more(more)}"] if more else [])])]


def quote(evidence: Evidence, place: QuoteContext, summary: str) -> str:
    """Return a quote with its surroundings as Markdown; `summary` is the link target of its claim."""
    claim = evidence.claim
    if claim is None:
        return "\n\n".join([f"## {strings.QUOTE}", escape(clean_line(evidence.problem))])
    where = clean_line(f"{evidence.title}, {place.locator}" if place.found else evidence.place)
    state = "" if claim.state is ClaimState.CURRENT else f" · {claim.state.value}"
    quoted = "\n".join(filter(None, [escape(place.before), f"> **{escape(fold(claim.quote))}**"]))
    parts = [quoted, *filter(None, [escape(place.after)]), f"**{escape(where)}** · {claim.kind.value}{state}"]
    parts += [strings.ALONE] if not place.found else []
    parts += [escape(fold(claim.statement))] if claim.statement else []
    links = [f"[[{summary}|{strings.SUMMARY}]]", evidence.address]
    parts.append("\n".join(f"- {link}" for link in links if link))
    return "\n\n".join(parts)
