"""The pages of the sources: what each says, claim by claim."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from compiler.articles.article import Articles, TextOf
from compiler.articles.concepts import Concepts
from compiler.articles.sources import Sources
from compiler.cards.decks import Fresh
from compiler.claims.extract import Gathered
from compiler.concepts.source_copies import NONE
from vault.ids import ClaimId
from vault.layout import SUMMARIES
from vault.model.claim import Claim, ClaimKind, ClaimState
from vault.model.summary import SummaryHead, render_summary

MAX_SUMMARY = 2 << 20  # characters; beyond, only cited claims are shown
LEAD_CLAIMS = 4


def summary_pages(concepts: Concepts, cited: Container[ClaimId], old_text: TextOf) -> dict[str, str]:
    """Return the page of every source that was read, by path. Of a very long one it shows only the `cited` claims."""
    pages, sources = {}, concepts.sources
    for g in sources.gathered:
        if g.source is None:
            continue
        path = f"{SUMMARIES}/{g.tracked.slug}.md"
        claims = [sources.claims[c.id] for c, _ in g.claims]
        old = old_text(path)
        text = _summary(g, path, claims, concepts, old)
        if len(text) > MAX_SUMMARY:
            text = _summary(g, path, [c for c in claims if c.id in cited], concepts, old)
        pages[path] = text
    return pages


def cited_claims(articles: Articles, decks: Iterable[Fresh]) -> set[ClaimId]:
    """Return the claims that an article or a card cites."""
    sections = (s for a in articles.values() for s in (*a.sections, *a.contested))
    sentences = (sentence for s in sections for paragraph in s.paragraphs for sentence in paragraph)
    cited = {c.claim for sentence in sentences for c in sentence.cites}
    return cited | {c.claim for deck in decks for card in deck.cards for c in card.support}


def _address(g: Gathered, sources: Sources) -> str:
    """Return where the document is on the web: where it was fetched, else what it says of itself, else ""."""
    fetched = (sources.addresses[path] for path in g.tracked.paths if path in sources.addresses)
    return next(fetched, "") or (g.source.properties.get("url", "") if g.source else "")


def _summary(g: Gathered, path: str, claims: Sequence[Claim], concepts: Concepts, old: str | None) -> str:
    """Return the page of a source."""
    assert g.source is not None, "only what was read has a page"
    source, sources, history = g.tracked.id, concepts.sources, concepts.history
    kinship = sources.kinship
    unclear = kinship.unclear.get(source)  # stays as it is, for the user to correct
    copy = kinship.copies.get(source) if unclear is None else None
    head = SummaryHead(
        id=source,
        title=g.source.title,
        source=g.tracked.path,
        source_sha256=g.tracked.sha256,
        text_sha256=g.source.text_sha256,
        reader=g.source.reader,
        authority=sources.authority.get(source, 1),
        language=g.source.language,
        created=history.created(source),
        updated=history.updated(source),
        copy_of=unclear or (sources.link(copy.of) if copy else NONE if source in kinship.denied else ""),
        copy_kind=copy.kind.value if copy else "",
        author=g.source.properties.get("author", ""),
        published=g.source.properties.get("published", ""),
        url=_address(g, sources),
    )
    return render_summary(path, head, _lead(g, claims), claims, old)


def _lead(g: Gathered, claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims that open the page in the order of the source: definitions first, superseded ones never."""
    current = [c for c in claims if c.state is not ClaimState.SUPERSEDED]
    defining = [c for c in current if c.kind is ClaimKind.DEFINITION]
    lead = (defining + [c for c in current if c.kind is not ClaimKind.DEFINITION])[:LEAD_CLAIMS]
    return sorted(lead, key=lambda c: g.starts[c.id])
