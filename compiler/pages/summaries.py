"""The pages of the sources: what each says, claim by claim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from compiler.articles.article import Articles, TextOf
from compiler.articles.concepts import Concepts
from compiler.articles.page import Page, inputs_of
from compiler.articles.sources import Sources
from compiler.articles.writer import Writer
from compiler.cards.decks import DeckPlan
from compiler.claims.extract import Gathered
from compiler.concepts.source_copies import NONE
from compiler.sources.opening import opening, outline
from vault.ids import ClaimId, SourceId
from vault.layout import SUMMARIES
from vault.model.article import CitedSentence
from vault.model.claim import Claim, ClaimKind
from vault.model.summary import Introduction, SummaryHead, render_summary
from vault.model.wikilink import Citation, Wikilink, alias
from vault.text.formatting import fold

MAX_SUMMARY = 2 << 20  # characters; beyond, only cited claims are shown
MAIN_CLAIMS = 5


def summary_pages(
    concepts: Concepts, articles: Articles, cited: Container[ClaimId], writer: Writer, old_text: TextOf
) -> dict[str, Page]:
    """Return the page of every source that was read, by path. Of a very long one it shows only the `cited` claims."""
    uses = _uses(articles, concepts.sources)
    return {
        f"{SUMMARIES}/{g.tracked.slug}.md": _page(g, concepts, uses.get(g.tracked.id, _UNUSED), cited, writer, old_text)
        for g in concepts.sources.gathered
        if g.source is not None
    }


def _page(
    g: Gathered, concepts: Concepts, use: _Use, cited: Container[ClaimId], writer: Writer, old_text: TextOf
) -> Page:
    """Return the page of a source."""
    sources = concepts.sources
    path = f"{SUMMARIES}/{g.tracked.slug}.md"
    claims = [sources.claims[c.id] for c, _ in g.claims]
    head = _head(g, concepts)
    editions, said = list(_edition_lines(g.tracked.id, sources)), list(_said_by_model(g, sources, writer))

    def text() -> str:
        old = old_text(path)
        shown = _introduction(g, claims, use, editions, said)
        made = render_summary(path, head, shown, claims, old)
        if len(made) <= MAX_SUMMARY:
            return made
        kept = {c.id for c in (*shown.opening, *shown.main)}
        return render_summary(path, head, shown, [c for c in claims if c.id in cited or c.id in kept], old)

    if sum(len(c.words) for c in claims) > MAX_SUMMARY // 4:  # what it shows may depend on what is cited
        return Page(b"", text)
    named = [part for c in claims for part in (c.id, c.kind.value, c.quote, c.statement, c.locator, c.state.value)]
    shown = (repr(c.exhibits) for c in claims if c.exhibits)
    lines = (use.defines, use.cited, editions, said)
    return Page(inputs_of({"properties": head, "claims": (named, list(shown)), "articles": lines}), text)


@dataclass(slots=True)
class _Use:
    """What the articles have of one source: links to those that it defines, and each one's claims of it, in order."""

    defines: list[str] = field(default_factory=list)
    cited: list[list[ClaimId]] = field(default_factory=list)


_UNUSED = _Use()


def _uses(articles: Articles, sources: Sources) -> dict[SourceId, _Use]:
    """Return what the articles have of each source, in the order of the articles."""
    uses: dict[SourceId, _Use] = defaultdict(_Use)
    for article in articles.values():
        if article.facts.defining:
            uses[sources.claims[article.facts.defining].source].defines.append(article.link)
        of: dict[SourceId, list[ClaimId]] = defaultdict(list)
        for id_ in article.facts.cites:
            claim = sources.claims[id_]
            if claim.kind is not ClaimKind.QUESTION:
                of[claim.source].append(id_)
        for source, claims in of.items():
            uses[source].cited.append(claims)
    return uses


def cited_claims(articles: Articles, decks: Iterable[DeckPlan]) -> set[ClaimId]:
    """Return the claims that an article or a card cites."""
    sections = (s for a in articles.values() for s in a.contested)
    sentences = (sentence for s in sections for paragraph in s.paragraphs for sentence in paragraph)
    cited = {c.claim for sentence in sentences for c in sentence.cites}
    cited |= {claim for a in articles.values() for claim in a.facts.cites}
    return cited.union(*(deck.cites for deck in decks))


def _address(g: Gathered, sources: Sources) -> str:
    """Return where the document is on the web: where it was fetched, else what it says of itself, else ""."""
    fetched = (sources.addresses[path] for path in g.tracked.paths if path in sources.addresses)
    return next(fetched, "") or (g.source.properties.get("url", "") if g.source else "")


def _head(g: Gathered, concepts: Concepts) -> SummaryHead:
    """Return the properties of a source's page."""
    assert g.source is not None, "only sources that were read have a page"
    source, sources, history = g.tracked.id, concepts.sources, concepts.history
    kinship = sources.kinship
    unclear = kinship.unclear.get(source)  # stays as it is, for the user to correct
    copy = kinship.copies.get(source) if unclear is None else None
    return SummaryHead(
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
        license=g.source.properties.get("license", ""),
    )


def _introduction(
    g: Gathered, claims: Sequence[Claim], use: _Use, editions: Sequence[str], said: Sequence[CitedSentence]
) -> Introduction:
    """Return what the page shows before the claims: how the source opens, its outline, and what the wiki has of it."""
    assert g.source is not None, "only sources that were read have a page"
    by_quote = {c.quote: c for c in claims}
    quotes = (fold(g.source.text[start:end]) for start, end in opening(g.source))
    first = [by_quote[q] for q in quotes if q in by_quote]
    main = _main(g, claims, first, use.cited)
    if said:  # a reader's summary says better what the document is about
        first, main = [], []
    return Introduction(first, outline(g.source), use.defines, main, list(editions), list(said))


def _said_by_model(g: Gathered, sources: Sources, writer: Writer) -> Iterator[CitedSentence]:
    """Yield the sentences with which a model summed a source up."""
    said = writer.consulted.drafts.summaries.get(g.tracked.id, ()) if writer.consulted is not None else ()
    for statement in said:
        cites = tuple(Citation(sources.summaries[g.tracked.id], c, 1) for c in writer.cites(statement.quotes))
        if cites:
            yield CitedSentence(statement.text, cites)


def _edition_lines(source: SourceId, sources: Sources) -> Iterator[str]:
    """Yield a link to the newer edition of a source, or to each older one, with what says which it is."""
    for older, one in sources.kinship.editions.items():
        if source == older:
            words = f"Articles cite the newer edition ({one.why})"
            yield f"- {Wikilink(sources.summaries[one.by], alias=alias(words))}"
        elif source == one.by:
            words = f"The older edition, which articles no longer cite ({one.why})"
            yield f"- {Wikilink(sources.summaries[older], alias=alias(words))}"


def _main(
    g: Gathered, claims: Sequence[Claim], first: Sequence[Claim], cited: Sequence[Sequence[ClaimId]]
) -> list[Claim]:
    """Return the first statement on each concept of whose article the source gives most, in the order of the source."""
    known = {c.id: c for c in claims}
    most = sorted(cited, key=len, reverse=True)
    shown = {c.id for c in first}
    chosen = [claim for claim in dict.fromkeys(each[0] for each in most) if claim not in shown][:MAIN_CLAIMS]
    return [known[c] for c in sorted(chosen, key=lambda c: g.starts[c])]
