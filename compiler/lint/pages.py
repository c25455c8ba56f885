"""Rules on pages: names, openings, length, age, and how far they may be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

from rapidfuzz import fuzz

from compiler.articles.sources import confidence
from compiler.language.names import key
from compiler.lint.wiki import Page, Wiki
from vault.ids import SourceId
from vault.layout import GAPS
from vault.model.claim import ClaimKind
from vault.model.gaps import GapKind, GapStatus, parse_agenda
from vault.model.wikilink import links
from vault.text.formatting import plural

Found = Iterator[tuple[str, int, str, str]]
TIERS = {"fast": 30, "normal": 90, "slow": 365, "stable": 365}  # days after which a page is to be looked at again
CONFIDENCE = ("speculative", "low", "medium", "high")
_ALIKE = 94  # of 100, from which on two names are spellings of one
_SHORT = 6  # letters of a name below which spellings say nothing


def near_duplicates(wiki: Wiki) -> Found:
    """Yield pairs of articles whose names are one but for spelling: compared with neighbours in the alphabet alone."""
    keys = sorted((key(page.title), page.path, page) for page in wiki.articles)
    for (name, _, page), (other, _, beside) in pairwise(keys):
        is_one = name == other or (min(len(name), len(other)) >= _SHORT and fuzz.ratio(name, other) >= _ALIKE)
        if is_one and name and not _numbered_apart(name, other):
            merge = f'`retain concept merge "{page.title}" "{beside.title}"`, or `retain concept never` if they differ'
            yield page.path, 0, f"its name is nearly that of {beside.path}", merge


def _numbered_apart(one: str, other: str) -> bool:
    """Return whether two names differ in a number, as versions do."""
    return [c for c in one if c.isdigit()] != [c for c in other if c.isdigit()]


def undefined(wiki: Wiki) -> Found:
    """Yield articles whose first statement rests on no definition."""
    for page in wiki.articles:
        first = page.sentences[0] if page.sentences else None
        cited = [wiki.claims[str(c.claim)][0] for c in first.cites if str(c.claim) in wiki.claims] if first else []
        if cited and not any(claim.kind is ClaimKind.DEFINITION for claim in cited):
            remedy = f'add a document that defines it: `retain gaps`, or `retain ask "What is {page.title}?"`'
            yield page.path, first.line if first else 0, "it does not say what its subject is", remedy


def missing(wiki: Wiki) -> Found:
    """Yield terms that the sources use and no page explains, as the agenda of the last compile has them."""
    for gap in parse_agenda(wiki.agenda):
        if gap.kind is GapKind.STRUCTURAL and gap.status is GapStatus.OPEN:
            remedy = f"add a document that explains it: `retain add FILE --fills {gap.id}`"
            yield GAPS, gap.line, f"{gap.what} is used and explained nowhere", remedy


def thin(wiki: Wiki) -> Found:
    """Yield articles with one statement."""
    for page in wiki.articles:
        if len(page.sentences) == 1:
            yield page.path, 0, "it has one statement", "add a document on it, or merge it: `retain concept merge`"


def stale(wiki: Wiki) -> Found:
    """Yield articles and topics whose time to be looked at again has come."""
    for page in (*wiki.articles, *wiki.topics):
        tier, changed = page.properties.text("freshness"), _day(page.properties.text("updated"))
        days = TIERS.get(tier)
        if days is not None and changed is not None and wiki.today > changed + timedelta(days=days):
            age = (wiki.today - changed).days
            remedy = "look for newer documents; `freshness: slow` in its properties gives it a year"
            yield page.path, 0, f"last updated {age} days ago, and {tier} pages are looked at after {days}", remedy


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def quarantined(wiki: Wiki) -> Found:
    """Yield pages that are held back."""
    for page in wiki.articles:
        if page.properties.text("status") == "quarantined":
            yield page.path, 0, "an agent wrote it and it is held back", "read it, then remove `status: quarantined`"


def overconfident(wiki: Wiki) -> Found:
    """Yield articles that claim more confidence than their sources allow."""
    for page in wiki.articles:
        origins = {_origin(path, wiki) for path in _sources_of(page, wiki)}
        trust = {SourceId(path): _number(wiki.summaries[path].properties.text("authority")) for path in origins}
        said, most = page.properties.text("confidence"), confidence(set(trust), trust, _engine(page))
        if said in CONFIDENCE and CONFIDENCE.index(said) > CONFIDENCE.index(most):
            rule = f"{plural(len(trust), 'independent source')} of authority {max(trust.values(), default=0)} or less"
            yield page.path, 0, f"confidence {said}, but {rule} allow {most}", "`retain compile` computes it again"


def _origin(path: str, wiki: Wiki) -> str:
    """Return the page of the source that this one repeats; itself if it repeats none."""
    seen = {path}
    while (link := next(links(wiki.summaries[path].properties.text("copy_of")), None)) is not None:
        path = f"{link.target}.md"
        if path in seen or path not in wiki.summaries:
            break
        seen.add(path)
    return path if path in wiki.summaries else min(seen)


def _engine(page: Page) -> str:
    return "agent/" if page.properties.text("written_by") == "agent" else ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 1


def _sources_of(page: Page, wiki: Wiki) -> set[str]:
    """Return the sources that a page names or cites, as far as they are there."""
    named = {f"{link.target}.md" for each in page.properties.texts("sources") for link in links(each)}
    return {wiki.claims[id_][1] for id_ in page.cites if id_ in wiki.claims} | (named & wiki.summaries.keys())


def unreadable(wiki: Wiki) -> Found:
    """Yield pages that cannot be read. All others have to be read for that."""
    _ = wiki.pages, wiki.indexes, wiki.notes, wiki.agenda
    for path in wiki.unreadable:
        yield path, 0, "it cannot be read", "`retain verify` says why"
