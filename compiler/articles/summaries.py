"""The pages of the sources: what each says, claim by claim."""

from __future__ import annotations

from compiler.articles.layout import Layout
from compiler.claims.gathered import Gathered
from compiler.concepts.copies import NONE
from vault.ids import ClaimId
from vault.layout import SUMMARIES
from vault.model.claim import Claim, ClaimKind, ClaimState
from vault.model.summary import SummaryHead, render_summary

MAX_SUMMARY = 2 << 20  # characters; beyond, only cited claims are shown
LEAD_CLAIMS = 4


def write_summaries(layout: Layout) -> None:
    """Put a page for every source that was read to the files of `layout`."""
    cited = _cited(layout)
    for g in layout.gathered:
        if g.source is None:
            continue
        path = f"{SUMMARIES}/{g.tracked.slug}.md"
        claims = [layout.claims[c.id] for c, _ in g.claims]
        text = _summary(layout, g, path, claims)
        if len(text) > MAX_SUMMARY:
            text = _summary(layout, g, path, [c for c in claims if c.id in cited])
        layout.files[path] = text


def _cited(layout: Layout) -> set[ClaimId]:
    """The claims that a page or a card cites."""
    sections = (s for a in layout.articles.values() for s in (*a.sections, *a.contested))
    said = (sentence for s in sections for paragraph in s.paragraphs for sentence in paragraph)
    cited = layout.also_cited | {c.claim for sentence in said for c in sentence.cites}
    return cited | {c.claim for fresh in layout.decks.values() for card in fresh.cards for c in card.support}


def _address(layout: Layout, g: Gathered) -> str:
    """Where the document is on the web: where it was fetched, else what it says of itself."""
    fetched = (layout.addresses[path] for path in g.tracked.paths if path in layout.addresses)
    return next(fetched, "") or (g.source.properties.get("url", "") if g.source else "")


def _summary(layout: Layout, g: Gathered, path: str, claims: list[Claim]) -> str:
    assert g.source is not None, "only what was read has a page"
    source, kinship = g.tracked.id, layout.kinship
    unclear = kinship.unclear.get(source)  # stays for the human to set right
    copy = kinship.copies.get(source) if unclear is None else None
    head = SummaryHead(
        id=source,
        title=g.source.title,
        source=g.tracked.path,
        source_sha256=g.tracked.sha256,
        text_sha256=g.source.text_sha256,
        reader=g.source.reader,
        authority=layout.authority.get(source, 1),
        language=g.source.language,
        created=layout.day(layout.ids.births[source].at),
        updated=layout.day(layout.ids.changed_at(source)),
        copy_of=unclear or (layout.source_link(copy.of) if copy else NONE if source in kinship.denied else ""),
        copy_kind=copy.kind.value if copy else "",
        author=g.source.properties.get("author", ""),
        published=g.source.properties.get("published", ""),
        url=_address(layout, g),
    )
    return render_summary(path, head, _lead(g, claims), claims, layout.read_old(path))


def _lead(g: Gathered, claims: list[Claim]) -> list[Claim]:
    """The claims that open the page, definitions before others, as the source has them; what is past opens nothing."""
    current = [c for c in claims if c.state is not ClaimState.SUPERSEDED]
    defining = [c for c in current if c.kind is ClaimKind.DEFINITION]
    lead = (defining + [c for c in current if c.kind is not ClaimKind.DEFINITION])[:LEAD_CLAIMS]
    return sorted(lead, key=lambda c: g.starts[c.id])
