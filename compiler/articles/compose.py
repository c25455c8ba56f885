"""Articles from claims: what the engine is asked for each concept, and what of its reply passes the gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from compiler.articles.article import Article, Facts, body_of
from compiler.articles.concepts import Concepts
from compiler.articles.figures import shown_formula
from compiler.articles.sources import Sources
from compiler.articles.views import Views
from compiler.articles.writer import Writer
from compiler.claims.conflicts import PAST
from compiler.concepts.resolve import Resolved
from compiler.drafts.drafts import Draft
from compiler.gates.gates import sentence_refused
from compiler.gates.headings import plain_heading
from compiler.index.steps import digest_of
from compiler.language import names
from compiler.model.report import Rejection
from compiler.model.requests import ClaimView, ComposeReply, ComposeRequest
from compiler.protocol.passages import cells
from compiler.protocol.replies import WrittenSentence
from vault.ids import ClaimId, ConceptId, SourceId, digest12
from vault.layout import CONCEPTS
from vault.log.ledger import Event
from vault.model.article import ArticleSection, CitedSentence, without_page_links
from vault.model.claim import Claim, ClaimKind, ClaimState
from vault.model.exhibit import code
from vault.model.markdown import escape
from vault.model.topic import disagreement_heading
from vault.model.wikilink import Citation, note_link
from vault.text.formatting import clean, clean_line, fold

_STEP, _TEXT = "article", "article-text"  # what other pages need of an article, and its sections
Cite = Callable[[ClaimId], Citation]
DISPUTES = 6  # that one page shows


@dataclass(slots=True)
class Composed:
    """The articles of a build in the order of their titles, the claims as the engine saw them, what was refused."""

    views: Views
    articles: dict[ConceptId, Article] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    dropped: int = 0  # sentences that the gate refused

    @property
    def kept(self) -> int:
        """Return how many sentences the articles hold."""
        return sum(article.facts.sentences for article in self.articles.values())


def compose_articles(concepts: Concepts, writer: Writer) -> Composed:
    """Return an article for each concept of which a sentence may be published. Raises: WorkerFailed."""
    order = sorted(concepts.resolution.concepts.values(), key=lambda c: (c.title.casefold(), c.id))
    out = Composed(Views(concepts))
    drafts = {c.id: draft for c in order if (draft := writer.draft_of(c)) is not None}
    pages = {key: c for c in order if c.id in drafts for key in c.keys}
    composer = _Composer(concepts, writer, out, pages)
    plans = [composer.plan(c, drafts.get(c.id)) for c in order]
    asked = [p for p in plans if p.draft is None and p.concept.main and not composer.is_stored(p)]
    replies = writer.compose([out.views.question(ComposeRequest, p.concept) for p in asked])
    reply_of = {p.concept.id: reply for p, reply in zip(asked, replies, strict=True)}
    for plan in plans:
        composer.compose(plan, reply_of.get(plan.concept.id))
    return out


@dataclass(frozen=True, slots=True)
class _Plan:
    """What an article is made of. `own` are the claims that its draft cites; `key` stands for all that its text follows
    from, b"" where it is made each time.
    """

    concept: Resolved
    draft: Draft | None
    own: tuple[Claim, ...]
    disputes: tuple[tuple[str, Claim, Claim], ...]
    places: tuple[SourceId, ...]
    key: bytes


@dataclass(frozen=True, slots=True)
class _Composer:
    """Makes articles of drafts, and of what the embedded engine wrote. They are added to `out`."""

    concepts: Concepts
    writer: Writer
    out: Composed
    pages: Mapping[str, Resolved]  # the concepts of which a model wrote, by the keys of their names

    def plan(self, concept: Resolved, draft: Draft | None) -> _Plan:
        """Return what the article of a concept is made of."""
        sources, history = self.concepts.sources, self.concepts.history
        disputes = [self.concepts.with_point(one) for one in self.concepts.disputes(concept)]
        sides = [claim for _, *pair in disputes for claim in pair]
        own = [sources.claims[c] for c in self._cited_in(draft)] if draft is not None else []
        places = numbered_sources([*concept.main, *own, *sides], history.sources_before(concept.id), sources)
        is_plain = draft is None and not disputes
        key = digest_of(_STEP, self.out.views.digest(concept), "\0".join(places)) if is_plain else b""
        return _Plan(concept, draft, tuple(own), tuple(disputes), tuple(places), key)

    def is_stored(self, plan: _Plan) -> bool:
        """Return whether an earlier build made the text of the article."""
        return bool(plan.key) and self.writer.embedded.steps.get(_STEP, plan.key) is not None

    def compose(self, plan: _Plan, reply: ComposeReply | None) -> None:
        """Add the concept's article, unless no sentence may be shown. `reply` is None where there is a draft."""
        concept, sources, history = plan.concept, self.concepts.sources, self.concepts.history
        contested = _contested(concept.language, plan.disputes, self._cites(plan))
        see = tuple(dict.fromkeys(self._see(plan.draft, concept))) if plan.draft is not None else ()
        found = self._stored(plan) if self.is_stored(plan) else self._made(plan, reply, contested, see)
        if found is None:
            return
        facts, text, by_steps = found
        cited = {c.source for c in (plan.own or concept.main)}
        undecided = bool(plan.disputes) and self.concepts.is_contested(concept)
        engine = plan.draft.by if plan.draft is not None else self.writer.engine
        confidence = "speculative" if undecided else sources.confidence(cited, engine)
        if confidence == "high" and by_steps:
            confidence = "medium"  # a step from evidence is less than evidence
        self.out.articles[concept.id] = article = Article(
            concept,
            facts,
            text,
            plan.places,
            confidence,
            sources.tags_of(cited),
            contested,
            before=history.ids.changed.get(concept.id, {}),
            drafted=plan.draft is not None,
            see=see,
        )
        recorded = {"digest": facts.digest, "sources": [str(s) for s in plan.places]}
        recorded |= {"aliases": list(concept.aliases), "tags": list(article.tags)}
        self.out.events += history.change("concept", concept.id, recorded)

    def _stored(self, plan: _Plan) -> tuple[Facts, Callable[[], tuple[ArticleSection, ...]], bool] | None:
        """Return the text of an article as an earlier build made it; None if no sentence of it may be shown."""
        steps, key = self.writer.embedded.steps, plan.key
        data = steps.get(_STEP, key)
        steps.use(_TEXT, key)
        if not data:
            return None

        def text() -> tuple[ArticleSection, ...]:
            return msgspec.json.decode(steps.get_large(_TEXT, key) or b"[]", type=tuple[ArticleSection, ...])

        return msgspec.json.decode(data, type=Facts), text, False

    def _made(
        self, plan: _Plan, reply: ComposeReply | None, contested: Sequence[ArticleSection], see: Sequence[str]
    ) -> tuple[Facts, Callable[[], tuple[ArticleSection, ...]], bool] | None:
        """Return the text of an article, and whether a sentence of it goes a step beyond its evidence; None if no
        sentence may be shown.
        """
        concept, cite, refused = plan.concept, self._cites(plan), self.out.dropped
        if plan.draft is not None:
            sections = tuple(self._drafted(plan.draft, concept.language, cite))
        else:
            sections = tuple(self._sections(concept, reply, cite))
        if not sections:
            return None
        body = body_of(
            concept.title, (*sections, *contested), see, self.concepts.sources, drafted=plan.draft is not None
        )
        facts = _facts(concept, sections, digest12(without_page_links(body)))
        if plan.key and self.out.dropped == refused:  # what is refused is reported by each build
            self.writer.embedded.steps.put(_STEP, plan.key, msgspec.json.encode(facts))
            self.writer.embedded.steps.put_large(_TEXT, plan.key, msgspec.json.encode(sections))
        by_steps = any(s.mark for section in sections for paragraph in section.paragraphs for s in paragraph)
        return facts, lambda: sections, by_steps

    def _cites(self, plan: _Plan) -> Cite:
        """Return what makes the citation of a claim in an article."""
        sources, numbers = self.concepts.sources, {source: n for n, source in enumerate(plan.places, 1)}

        def cite(claim: ClaimId) -> Citation:
            source = sources.claims[claim].source
            return Citation(sources.summaries[source], claim, numbers[source])

        return cite

    def _sections(self, concept: Resolved, reply: ComposeReply | None, cite: Cite) -> list[ArticleSection]:
        """Return what of the embedded engine's reply passes the gate."""
        sections, refused = sections_in(reply or ComposeReply(sections=()), self.out.views.of(concept), cite)
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
        assert self.writer.consulted is not None, "only a draft written by a model has such sentences"
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


def _facts(concept: Resolved, sections: Sequence[ArticleSection], digest: str) -> Facts:
    """Return what other pages need of the text of an article."""
    said = [s for section in sections for paragraph in section.paragraphs for s in paragraph]
    first = next((s for s in said if s.form != "head"), said[0])
    definitions = {c.id for c in concept.main if c.kind is ClaimKind.DEFINITION}
    defining = next((c.claim for s in said[:1] for c in s.cites if c.claim in definitions), ClaimId(""))
    line = f"{escape(first.text)} {' '.join(map(str, first.cites))}"
    return Facts(digest, len(said), line, defining, tuple(c.claim for s in said for c in s.cites))


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
