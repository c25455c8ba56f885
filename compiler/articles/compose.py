"""Articles from claims: what the engine is asked for each concept, and what of its reply passes the gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.articles.article import Article
from compiler.articles.concepts import Concepts
from compiler.articles.figures import shown_formula
from compiler.articles.sources import Sources
from compiler.articles.writer import Writer
from compiler.cards.cards import request_for
from compiler.claims.conflicts import PAST
from compiler.concepts.resolve import Resolved
from compiler.drafts.drafts import Draft
from compiler.gates.gates import sentence_refused
from compiler.gates.headings import plain_heading
from compiler.language import names
from compiler.model.report import Rejection
from compiler.model.requests import ClaimView, ComposeReply, ComposeRequest
from compiler.protocol.passages import cells
from compiler.protocol.replies import WrittenSentence
from vault.ids import ClaimId, ConceptId, SourceId, digest12
from vault.layout import CONCEPTS
from vault.log.ledger import Event
from vault.model.article import ArticleSection, CitedSentence
from vault.model.claim import Claim, ClaimState
from vault.model.exhibit import code
from vault.model.topic import disagreement_heading
from vault.model.wikilink import Citation, note_link
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
    dropped: int = 0  # sentences that the gate refused

    @property
    def kept(self) -> int:
        """Return how many sentences the articles hold."""
        return sum(len(article.sentences) for article in self.articles.values())


def compose_articles(concepts: Concepts, writer: Writer) -> Composed:
    """Return an article for each concept of which a sentence may be published. Raises: WorkerFailed."""
    order = sorted(concepts.resolution.concepts.values(), key=lambda c: (c.title.casefold(), c.id))
    out = Composed(views={c.id: _views(c, concepts) for c in order})
    without = [c for c in order if writer.draft_of(c) is None]
    requests = [request_for(ComposeRequest, c, out.views[c.id]) for c in without]
    replies = dict(zip((c.id for c in without), writer.compose(requests), strict=True))
    pages = {key: c for c in order if writer.draft_of(c) is not None for key in c.keys}
    composer = _Composer(concepts, writer, out, pages)
    for concept in order:
        composer.compose(concept, replies.get(concept.id))
    return out


def _views(concept: Resolved, concepts: Concepts) -> tuple[ClaimView, ...]:
    """Return the concept's claims as the embedded engine sees them."""
    return tuple(_with_place(_view(claim, concept, concepts), concepts.sources) for claim in concept.main)


def _with_place(view: ClaimView, sources: Sources) -> ClaimView:
    """Return a claim with its paragraph, its heading and the questions that it answers."""
    passage, heading = sources.passages.get(view.id, ("", ""))
    cards = sources.possible_cards.get(view.id, ())
    return view.model_copy(update={"passage": passage, "heading": heading, "cards": cards})


def _view(claim: Claim, concept: Resolved, concepts: Concepts) -> ClaimView:
    """Return a claim as an engine sees it."""
    resolution, titles = concepts.resolution, concepts.sources.titles
    return ClaimView(
        id=claim.id,
        kind=claim.kind,
        words=claim.words,
        quote=claim.quote,
        source=titles[claim.source],
        about=tuple(dict.fromkeys((resolution.concepts[resolution.owners[claim.id]].title, concept.title))),
    )


@dataclass(frozen=True, slots=True)
class _Composer:
    """Makes articles of drafts, and of what the embedded engine wrote. They are added to `out`."""

    concepts: Concepts
    writer: Writer
    out: Composed
    pages: Mapping[str, Resolved]  # the concepts of which a model wrote, by the keys of their names

    def compose(self, concept: Resolved, reply: ComposeReply | None) -> None:
        """Add the concept's article, unless no sentence may be shown. `reply` is None where there is a draft."""
        sources, history = self.concepts.sources, self.concepts.history
        disputes = [self.concepts.with_point(one) for one in self.concepts.disputes(concept)]
        sides = [claim for _, *pair in disputes for claim in pair]
        draft = self.writer.draft_of(concept)
        own = [sources.claims[c] for c in self._cited_in(draft)] if draft is not None else []
        places = numbered_sources([*concept.main, *own, *sides], history.sources_before(concept.id), sources)
        numbers = {source: n for n, source in enumerate(places, 1)}

        def cite(claim: ClaimId) -> Citation:
            source = sources.claims[claim].source
            return Citation(sources.summaries[source], claim, numbers[source])

        sections = (
            self._drafted(draft, concept.language, cite) if draft is not None else self._sections(concept, reply, cite)
        )
        if not sections:
            return
        cited = {c.source for c in (own or concept.main)}
        undecided = self.concepts.is_contested(concept)
        engine = draft.by if draft is not None else self.writer.engine
        confidence = "speculative" if undecided else sources.confidence(cited, engine)
        if confidence == "high" and any(s.mark for x in sections for p in x.paragraphs for s in p):
            confidence = "medium"  # a step from evidence is less than evidence
        article = Article(
            concept,
            tuple(sections),
            tuple(places),
            confidence,
            sources.tags_of(cited),
            _contested(concept.language, disputes, cite),
            before=history.ids.changed.get(concept.id, {}),
            drafted=draft is not None,
            see=tuple(dict.fromkeys(self._see(draft, concept))) if draft is not None else (),
        )
        self.out.articles[concept.id] = article
        facts = {"digest": digest12(article.body(sources)), "sources": [str(s) for s in places]}
        facts |= {"aliases": list(concept.aliases), "tags": list(article.tags)}
        self.out.events += history.change("concept", concept.id, facts)

    def _sections(self, concept: Resolved, reply: ComposeReply | None, cite: Cite) -> list[ArticleSection]:
        """Return what of the embedded engine's reply passes the gate."""
        sections, refused = sections_in(reply or ComposeReply(sections=()), self.out.views[concept.id], cite)
        self.out.dropped += len(refused)
        path = f"{CONCEPTS}/{concept.slug}.md"
        self.out.rejections += self.writer.refused(refused, concept, path, self.concepts.sources)
        return sections

    def _drafted(self, draft: Draft, language: str, cite: Cite) -> list[ArticleSection]:
        """Return the sections of a draft, its quotes as citations of claims."""
        sections = []
        for section in draft.sections:
            paragraphs = (self._paragraph(p, language, cite) for p in section.paragraphs)
            if kept := tuple(p for p in paragraphs if any(s.form != "head" for s in p)):
                sections.append(ArticleSection(plain_heading(section.heading), kept))
        return sections

    def _cited_in(self, draft: Draft) -> Iterator[ClaimId]:
        """Yield the claims that the sentences of a draft cite."""
        for sentence in (s for section in draft.sections for p in section.paragraphs for s in p):
            yield from self._claims(sentence)

    def _claims(self, sentence: WrittenSentence) -> tuple[ClaimId, ...]:
        """Return the claims that a sentence cites; () where all of them are superseded: it tells what was so."""
        known = self.concepts.sources.claims
        found = tuple(c for c in self.writer.cites(sentence.quotes) if c in known)
        gone = [known[c].state is ClaimState.SUPERSEDED or self.concepts.outdated.get(c) == PAST for c in found]
        return () if all(gone) else found

    def _paragraph(self, paragraph: Sequence[WrittenSentence], language: str, cite: Cite) -> tuple[CitedSentence, ...]:
        """Return the sentences of a paragraph of a draft."""
        out: list[CitedSentence] = []
        for sentence in paragraph:
            cites = tuple(cite(c) for c in self._claims(sentence))
            if sentence.form == "keep":
                out += self._kept(sentence, cites)
                continue
            mark = f"computed: {sentence.note}" if sentence.mark == "computed" and sentence.note else sentence.mark
            form = sentence.form
            if cites or form == "head":
                links = tuple(self._links(sentence, language))
                out.append(CitedSentence(fold(clean(sentence.text)), cites, mark=mark, form=form, links=links))
        return tuple(out)

    def _links(self, sentence: WrittenSentence, language: str) -> Iterator[tuple[str, str]]:
        """Yield the words of a sentence that lead to the page of another concept, with its path without .md."""
        for words, title in sentence.links:
            other = self.pages.get(names.key(title, language))
            if other is not None:
                yield words, f"{CONCEPTS}/{other.slug}"

    def _see(self, draft: Draft, concept: Resolved) -> Iterator[str]:
        """Yield links to the pages that a draft names to go on with."""
        for title in draft.see:
            other = self.pages.get(names.key(title, concept.language))
            if other is not None and other.id != concept.id:
                yield note_link(f"{CONCEPTS}/{other.slug}.md", other.title)

    def _kept(self, sentence: WrittenSentence, cites: tuple[Citation, ...]) -> list[CitedSentence]:
        """Return a block of a source that is put in whole: a listing, a formula, the rows of a table, or words."""
        assert self.writer.consulted is not None, "a draft comes from there"
        found = self.writer.consulted.shelf.blocks.get(sentence.block)
        if found is None or not cites:
            return []
        document, _, block = found
        words = document.words(block)
        if block.kind == "table":
            rows = [" | ".join(map(clean_line, cells(row))) for row in words.split("\n") if row.strip()]
            head = [CitedSentence(rows[0], (), form="head")] if rows else []
            return [*head, *(CitedSentence(row, cites, form="row") for row in rows[1:])]
        exhibit = code(clean(words), block.info) if block.kind == "code" else None
        if block.kind == "formula":
            exhibit = shown_formula(words)
        if exhibit is not None:
            return [CitedSentence("", cites, shown=exhibit)]
        return [CitedSentence(fold(clean(words)), cites)] if block.kind in ("", "item") else []


def numbered_sources(claims: Sequence[Claim], before: Sequence[SourceId], sources: Sources) -> list[SourceId]:
    """Return the sources of a page in the order of their numbers: those it had `before`, then new ones at the end."""
    new = sorted({c.source for c in claims} - set(before), key=sources.order)
    return [*before, *new]


def sections_in(
    reply: ComposeReply, views: tuple[ClaimView, ...], cite: Cite
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
                reason = sentence_refused(sentence, claims)
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
        sections.append(ArticleSection(verdict[:1].upper() + verdict[1:], sides, level=3))
    head = ArticleSection(disagreement_heading(language), ())
    return (head, *sections) if sections else ()
