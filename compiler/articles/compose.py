"""Articles from claims: what the engine is asked for each concept, and what of its reply passes the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.articles.article import Article
from compiler.articles.concepts import Concepts
from compiler.articles.sources import Sources
from compiler.articles.writer import Writer
from compiler.claims.conflicts import UNDECIDED
from compiler.concepts.resolve import Resolved
from compiler.gates.article_form import shaped
from compiler.gates.checks import pairs_of_article
from compiler.gates.gates import Entailed, sentence_refused
from compiler.model.report import Rejection
from compiler.model.requests import MOST_CLAIMS, ClaimView, ComposeReply, ComposeRequest
from vault.diagnostic import Diagnostic
from vault.ids import ClaimId, ConceptId, SourceId, digest12
from vault.layout import CONCEPTS
from vault.log.ledger import Event
from vault.model.article import ArticleSection, CitedSentence
from vault.model.claim import Claim
from vault.model.topic import disagreement_heading
from vault.model.wikilink import Citation
from vault.text.formatting import clean, clean_line, fold

Cite = Callable[[ClaimId], Citation]
DISPUTES = 6  # that one page shows


@dataclass(slots=True)
class Composed:
    """The articles of a build in the order of their titles, the claims as the engine saw them, what was refused."""

    articles: dict[ConceptId, Article] = field(default_factory=dict)
    views: Mapping[ConceptId, tuple[ClaimView, ...]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    notices: list[Diagnostic] = field(default_factory=list)
    dropped: int = 0  # sentences that the gate refused

    @property
    def kept(self) -> int:
        """Return how many sentences the articles hold."""
        return sum(len(article.sentences) for article in self.articles.values())


def compose_articles(concepts: Concepts, writer: Writer) -> Composed:
    """Return an article for each concept of which a sentence passes the gate. Raises: what the asker raises."""
    order = sorted(concepts.resolution.concepts.values(), key=lambda c: (c.title.casefold(), c.id))
    out = Composed(views={c.id: _views(c, concepts, writer.is_model) for c in order})
    requests = [_request(c, out.views[c.id], writer) for c in order]
    replies = [r if isinstance(r, ComposeReply) else None for r in writer.asker.ask(requests, "compose")]
    asked = [(r, q.claims) for q, r in zip(requests, replies, strict=True) if r is not None]
    writer.check([pair for reply, claims in asked for pair in pairs_of_article(reply, claims)])
    composer = _Composer(concepts, writer, out)
    for concept, request, reply in zip(order, requests, replies, strict=True):
        composer.compose(concept, request, reply or ComposeReply(sections=()))
    return out


def _views(concept: Resolved, concepts: Concepts, is_model: bool) -> tuple[ClaimView, ...]:
    """Return the concept's claims as an engine sees them; only the embedded one is told where they stand."""
    views = (_view(claim, concept, concepts) for claim in concept.main)
    return tuple(views) if is_model else tuple(_with_place(view, concepts.sources) for view in views)


def _with_place(view: ClaimView, sources: Sources) -> ClaimView:
    """Return a claim with its paragraph, its heading and the questions that it answers."""
    passage, heading = sources.passages.get(view.id, ("", ""))
    cards = sources.possible_cards.get(view.id, ())
    return view.model_copy(update={"passage": passage, "heading": heading, "cards": cards})


def _view(claim: Claim, concept: Resolved, concepts: Concepts) -> ClaimView:
    """Return a claim as an engine sees it."""
    resolution, titles = concepts.resolution, concepts.sources.titles
    others = [i for i in resolution.mentions.get(claim.id, ()) if i != concept.id]
    return ClaimView(
        id=claim.id,
        kind=claim.kind,
        words=claim.words,
        quote=claim.quote,
        source=titles[claim.source],
        about=tuple(dict.fromkeys((resolution.concepts[resolution.owners[claim.id]].title, concept.title))),
        mentions=tuple(resolution.concepts[ConceptId(i)].title for i in others),
    )


def _request(concept: Resolved, views: tuple[ClaimView, ...], writer: Writer) -> ComposeRequest:
    """Return the request for the article of a concept."""
    return ComposeRequest(
        title=concept.title,
        aliases=concept.aliases,
        language=concept.language,
        claims=views[:MOST_CLAIMS],
        concept=concept.id,
        reasons=writer.reasons_for(concept.id),
    )


@dataclass(frozen=True, slots=True)
class _Composer:
    """Makes articles of replies. Articles, and what was refused of them, are added to `out`."""

    concepts: Concepts
    writer: Writer
    out: Composed

    def compose(self, concept: Resolved, request: ComposeRequest, reply: ComposeReply) -> None:
        """Add the concept's article, unless no sentence may be shown."""
        sources, history = self.concepts.sources, self.concepts.history
        disputes = self.concepts.disputes(concept)
        sides = [claim for _, *pair in disputes for claim in pair]
        places = numbered_sources([*concept.main, *sides], history.sources_before(concept.id), sources)
        numbers = {source: n for n, source in enumerate(places, 1)}

        def cite(claim: ClaimId) -> Citation:
            source = sources.claims[claim].source
            return Citation(sources.summaries[source], claim, numbers[source])

        sections = self._sections(concept, request, reply, cite)
        if not sections:
            return
        cited = {c.source for c in concept.main}
        undecided = any(verdict == UNDECIDED for verdict, *_ in disputes)
        engine = self.writer.asker.said(request)[0] or self.writer.engine
        article = Article(
            concept,
            tuple(sections),
            tuple(places),
            "speculative" if undecided else sources.confidence(cited, engine),
            sources.tags_of(cited),
            _contested(concept.language, disputes, cite),
            before=history.ids.changed.get(concept.id, {}),
        )
        self.out.articles[concept.id] = article
        facts = {"digest": digest12(article.body(sources)), "sources": [str(s) for s in places]}
        facts |= {"aliases": list(concept.aliases), "tags": list(article.tags)}
        self.out.events += history.change("concept", concept.id, facts)

    def _sections(
        self, concept: Resolved, request: ComposeRequest, reply: ComposeReply, cite: Cite
    ) -> list[ArticleSection]:
        """Return what of a reply passes the gate; if nothing of a model's does, what the embedded engine writes."""
        path, views, writer = f"{CONCEPTS}/{concept.slug}.md", self.out.views[concept.id], self.writer
        sections, refused = sections_in(reply, views, cite, writer.verdicts)
        self.out.dropped += len(refused)
        if writer.is_model:
            if not sections and refused and isinstance(instead := writer.asker.fallback(request), ComposeReply):
                sections, more = sections_in(instead, views, cite)
                refused += more
                what = "every sentence of its article was refused: the embedded engine's are used instead"
                hint = "`retain log --rejected` says why; `retain compile --renew` asks again"
                self.out.notices.append(Diagnostic(path, 0, "stood-in", what, hint))
            sections, headings = shaped(concept.title, sections, views)
            refused += headings
        self.out.rejections += writer.refused(refused, concept, path, request, self.concepts.sources)
        return sections


def numbered_sources(claims: Sequence[Claim], before: Sequence[SourceId], sources: Sources) -> list[SourceId]:
    """Return the sources of a page in the order of their numbers: those it had `before`, then new ones at the end."""
    new = sorted({c.source for c in claims} - set(before), key=sources.order)
    return [*before, *new]


def sections_in(
    reply: ComposeReply,
    views: tuple[ClaimView, ...],
    cite: Cite,
    entailed: Entailed | None = None,
) -> tuple[list[ArticleSection], list[Rejection]]:
    """Return the sections of `reply` without the sentences that the gate refuses, and what was refused."""
    claims = {v.id: v for v in views}
    rejections: list[Rejection] = []
    sections = []
    for section in reply.sections:
        paragraphs = []
        for paragraph in section.paragraphs:
            kept = []
            for sentence in paragraph:
                reason = sentence_refused(sentence, claims, entailed)
                if reason:
                    rejections.append(Rejection("sentence", reason, fold(sentence.text)[:200]))
                else:
                    cites = tuple(cite(ClaimId(c)) for c in dict.fromkeys(sentence.cites))
                    kept.append(CitedSentence(fold(clean(sentence.text)), cites))
            if kept:
                paragraphs.append(tuple(kept))
        if paragraphs:
            sections.append(ArticleSection(clean_line(section.heading), tuple(paragraphs)))
    return sections, rejections


def _contested(language: str, disputes: Sequence[tuple[str, Claim, Claim]], cite: Cite) -> tuple[ArticleSection, ...]:
    """Return the sections that show contradictions (verdict, weightier claim, other) in the sources' own words."""
    sections = []
    for verdict, first, second in disputes[:DISPUTES]:
        sides = tuple((CitedSentence(c.quote, (cite(c.id),)),) for c in (first, second))
        sections.append(ArticleSection(verdict, sides, level=3))
    head = ArticleSection(disagreement_heading(language), ())
    return (head, *sections) if sections else ()
