"""The pages of topics: what their concepts are, how these relate, where sources disagree, what is still open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from compiler.articles import compose
from compiler.articles.article import Article, Articles, TextOf
from compiler.articles.concepts import Concepts
from compiler.articles.history import merged
from compiler.articles.page import Page, inputs_of
from compiler.articles.sources import Sources
from compiler.articles.topic_members import TopicMembers, anchors_of, find_topics, homes_of
from compiler.claims.conflict_ledger import DisputeState, dispute_events
from compiler.claims.conflicts import UNDECIDED
from compiler.claims.contradictions import Disagreement, Forms, disagreements, forms_in, stored_forms
from compiler.concepts.topics import Anchor
from compiler.index.steps import Steps, digest_of
from compiler.pages.indexes import counted
from compiler.pages.model_gaps import OPEN
from vault.ids import ClaimId, ConceptId, SourceId, digest12
from vault.layout import GAPS
from vault.log.ledger import Event
from vault.model.article import CitedSentence
from vault.model.claim import Claim, ClaimKind
from vault.model.frontmatter import Value, render_generated
from vault.model.gaps import Gap
from vault.model.topic import Dispute, TopicBody, render_topic
from vault.model.wikilink import Citation, Wikilink, alias, note_link

_STEP = "topic-text"
RELATIONS, A_CONCEPT = 12, 2  # sentences on how a topic's concepts relate; of one concept's article
QUESTIONS = 8
_QUESTIONS = {  # by the last part of a gap's key, and the language of the concept
    "definitional": {"en": "{}: what is it?", "de": "{}: was ist das?", "zh": "{}：是什么？"},
    "contested": {
        "en": "{}: which of its sources is right?",
        "de": "{}: welche der Quellen hat recht?",
        "zh": "{}：哪个来源是对的？",
    },
}


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a topic's page; `behind` are the sources that it rests on."""

    body: str
    places: tuple[SourceId, ...]  # the sources in the order of their numbers
    listed: tuple[str, ...]  # links to the concepts that it defines
    behind: tuple[SourceId, ...]


@dataclass(frozen=True, slots=True)
class TopicPage:
    """The page of a topic; `before` is the topic's last change event of an earlier build."""

    members: TopicMembers
    body: str
    places: tuple[SourceId, ...]  # the sources in the order of their numbers
    listed: tuple[str, ...]  # links to the concepts that it defines
    confidence: str
    tags: tuple[str, ...]
    before: Event

    @property
    def line(self) -> str:
        """Return what the index says of the topic."""
        link = note_link(self.members.path, self.members.title)
        return f"{link} · {counted(len(self.listed), 'concept')} · {self.confidence}"


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a build in the order of their titles, how many contradictions are open or decided, and events."""

    pages: list[TopicPage] = field(default_factory=list)
    contradictions: dict[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


def write_topics(
    articles: Articles,
    concepts: Concepts,
    gaps: Iterable[tuple[str, Gap]],
    engine: str,
    clusters: Sequence[tuple[str, tuple[str, ...]]] | None,
    steps: Steps | None = None,
) -> Topics:
    """Return the topics of a build. `gaps` are those of the agenda with their keys.

    `clusters` are the topics that a model made, None where none was asked: then contradictions come from rules alone,
    and `steps` has what earlier builds found.
    """
    history = concepts.history
    members, events = find_topics(articles, concepts, clusters)
    forms_of = stored_forms(steps) if steps is not None else forms_in
    writer = _PageWriter(articles, concepts, gaps, engine, None if clusters is not None else forms_of, steps)
    states = writer.dispute_states()
    events += dispute_events(states, concepts.sources.claims, history.events, history.ids, history.at)
    decided = sum(bool(s.winner) for s in states)
    superseded = len(concepts.contests.superseded)
    counts = {"open": len(states) - decided, "decided": decided, "superseded": superseded}
    pages = [writer.page(each) for each in sorted(members, key=lambda m: (m.title.casefold(), m.id))]
    for page in pages:
        events += history.change("topic", page.members.id, _facts(page))
    return Topics(pages, counts, events)


def _facts(page: TopicPage) -> dict[str, object]:
    """Return what the ledger keeps of a page."""
    return {
        "digest": digest12(page.body),
        "members": [a.concept.id for a in page.members.articles],
        "anchors": [list(a) for a in page.members.topic.anchors],
        "sources": [str(s) for s in page.places],
        "aliases": [],
        "tags": list(page.tags),
    }


def topic_pages(topics: Topics, concepts: Concepts, old_text: TextOf) -> dict[str, Page]:
    """Return each topic's page by path. `old_text` gives the pages of the last build."""
    return {page.members.path: _page(page, concepts, old_text) for page in topics.pages}


def _page(page: TopicPage, concepts: Concepts, old_text: TextOf) -> Page:
    """Return the page of a topic."""
    id_, sources, history = page.members.id, concepts.sources, concepts.history
    created, updated = history.created(id_), history.updated(id_)
    links = tuple(sources.link(s) for s in page.places)

    def text() -> str:
        old = old_text(page.members.path)
        properties: dict[str, Value] = {
            "type": "topic",
            "id": id_,
            "title": page.members.title,
            "aliases": merged("aliases", (), page.before, old),
            "created": created,
            "updated": updated,
            "confidence": page.confidence,
            "freshness": history.freshness(id_, old),
            "sources": links,
            "related": page.listed,
            "tags": merged("tags", page.tags, page.before, old),
        }
        return render_generated(properties, page.body, old)

    inputs = {
        "text": page.body,
        "title": page.members.title,
        "dates": (created, updated),
        "confidence": page.confidence,
        "sources": links,
        "concepts": page.listed,
        "freshness": history.rulings.freshness.get(id_, ""),
        "tags": page.tags,
    }
    return Page(inputs_of(inputs), text)


class _PageWriter:
    """Writes the pages of one build."""

    def __init__(
        self,
        articles: Articles,
        concepts: Concepts,
        gaps: Iterable[tuple[str, Gap]],
        engine: str,
        forms_of: Callable[[str], Forms] | None,
        steps: Steps | None,
    ) -> None:
        """`forms_of` is None where a model found the contradictions."""
        self.concepts, self.sources, self.history = concepts, concepts.sources, concepts.history
        self.mentions, self.claims = concepts.resolution.mentions, concepts.sources.claims
        self.engine, self.by_model = engine, forms_of is None
        found = list(concepts.contests.disagreements)
        if forms_of is not None:
            own = [a.concept.main for a in articles.values()]
            found = disagreements(own, self.claims.values(), self.sources.origin, self.sources.published, forms_of)
        self.steps = steps
        self._digests: dict[ClaimId, bytes] = {}
        self.homes = homes_of(articles)
        self.anchors = anchors_of(self.sources)
        self.disputes: dict[ConceptId, list[Disagreement]] = {}
        for one in found:
            for concept in self._concepts_of(one):
                self.disputes.setdefault(concept, []).append(one)
        self.gaps: dict[str, list[tuple[str, Gap]]] = {}
        for key, gap in gaps:
            kind, _, rest = key.partition(":")
            about, _, what = rest.partition(":")
            if gap.open and kind == "epistemic":
                self.gaps.setdefault(about, []).append((what, gap))

    def _concepts_of(self, one: Disagreement) -> list[ConceptId]:
        """Return the concepts whose topics show a disagreement: those it is about, else those that it names."""
        claims = (one.first, one.second)
        about = [concept for c in claims for concept in self.homes.get(c.id, ())]
        named = [m for c in claims for m in self.mentions.get(c.id, ())]
        return list(dict.fromkeys(about or named))

    def page(self, members: TopicMembers) -> TopicPage:
        """Return the page of a topic."""
        disputes, questions = self._disputes(members), self._questions(members)
        key = self._key(members, disputes, questions)
        stored = self.steps.get(_STEP, key) if self.steps is not None else None
        made = self._text(members, disputes, questions) if stored is None else msgspec.json.decode(stored, type=_Text)
        if self.steps is not None and stored is None:
            self.steps.put(_STEP, key, msgspec.json.encode(made))
        return TopicPage(
            members,
            made.body,
            made.places,
            made.listed,
            self.sources.confidence(made.behind, self.engine),
            self.sources.tags_of(made.behind),
            self.history.ids.changed.get(members.id, {}),
        )

    def _key(
        self, members: TopicMembers, disputes: Sequence[tuple[str, Claim, Claim]], questions: Sequence[str]
    ) -> bytes:
        """Return a digest of all that the text of a topic's page follows from."""
        parts: list[str | bytes] = [members.title, str(self.by_model), *self.history.sources_before(members.id), ""]
        parts += ["\0".join(anchor) for anchor in members.topic.anchors]
        for article in members.articles:
            parts += [article.link, article.concept.id, article.concept.language, article.facts.digest]
            parts += [self._digest(claim) for claim in article.facts.cites]
        parts += [
            part for words, *pair in disputes for part in (words, *(c.id for c in pair), *(c.words for c in pair))
        ]
        return digest_of(*parts, "", *questions)

    def _digest(self, id_: ClaimId) -> bytes:
        """Return a digest of what a page says by where a claim stands and what it names."""
        found = self._digests.get(id_)
        if found is None:
            claim = self.claims[id_]
            owner, anchor = self.concepts.resolution.owners.get(id_, ""), self.anchors.get(id_, ())
            place = (self.sources.summaries[claim.source], self._language(claim), *anchor)
            words = (id_, claim.kind.value, claim.source, owner, *self.mentions.get(id_, ()), "", *place)
            found = self._digests[id_] = digest_of(*words)
        return found

    def _language(self, claim: Claim) -> str:
        """Return the language of a claim's source."""
        source = self.sources.by_id[claim.source].source
        return source.language if source is not None else ""

    def _text(self, members: TopicMembers, disputes: Sequence[tuple[str, Claim, Claim]], questions: list[str]) -> _Text:
        """Return the text of a topic's page."""
        articles = members.articles
        language = Counter(a.concept.language for a in articles).most_common(1)[0][0]
        used: set[str] = set()  # sentences that the page has
        sentences = [self._what_it_is(a, members, language, used) for a in articles]
        listed = [(a, s) for a, s in zip(articles, sentences, strict=True) if s is not None]
        relations = [] if self.by_model else self._relations(members, used)  # a sentence of prose needs its place
        cited = [c.claim for s in [*filter(None, sentences), *(s for p in relations for s in p)] for c in s.cites]
        claims = [*(self.claims[c] for c in cited), *(c for _, *pair in disputes for c in pair)]
        places = compose.numbered_sources(claims, self.history.sources_before(members.id), self.sources)
        cite = _Cites(self.sources, places, by_quote=self.by_model)
        body = TopicBody(
            members.title,
            language,
            [(a.link, cite.again(s)) for a, s in listed],
            [[cite.again(s) for s in paragraph] for paragraph in relations],
            [Dispute(verdict, cite.side(first), cite.side(second)) for verdict, first, second in disputes],
            questions,
        )
        behind = tuple(sorted({c.source for c in claims}))
        return _Text(render_topic(body), tuple(places), tuple(a.link for a, _ in listed), behind)

    def _what_it_is(
        self, article: Article, members: TopicMembers, language: str, used: set[str]
    ) -> CitedSentence | None:
        """Return the sentence that defines a concept, or its first: of the page's language and sections if possible.

        None if the page has all of its sentences already.
        """
        new = [s for s in article.sentences if s.text not in used and s.cites]
        if self.by_model:  # the first sentence of a written article says what its subject is
            new = new[:1]
        owners = self.concepts.resolution.owners
        own = [s for s in new if any(owners.get(c.claim) == article.concept.id for c in s.cites)]
        chosen = min(own or new, key=lambda s: self._rank(s, members, language), default=None)
        if chosen is not None:
            used.add(chosen.text)
        return chosen

    def _rank(self, sentence: CitedSentence, members: TopicMembers, language: str) -> tuple[bool, bool, bool, bool]:
        """Return how well a sentence introduces a concept within a page: the least is best."""
        claims = [self.claims[c.claim] for c in sentence.cites]
        texts = [self.sources.by_id[c.source].source for c in claims]
        anchors = members.topic.anchors
        is_foreign = not any(text is not None and text.language == language for text in texts)
        is_no_definition = not any(c.kind is ClaimKind.DEFINITION for c in claims)
        is_elsewhere = not any(self._is_below(c, anchors) for c in claims)
        is_of_others = not {c.source for c in claims} & {anchor[0] for anchor in anchors}
        return is_foreign, is_no_definition, is_elsewhere, is_of_others

    def _is_below(self, claim: Claim, anchors: Sequence[Anchor]) -> bool:
        """Return whether a claim is in one of the sections."""
        at = self.anchors.get(claim.id, ())
        return any(at[: len(anchor)] == anchor for anchor in anchors)

    def _relations(self, members: TopicMembers, used: set[str]) -> list[list[CitedSentence]]:
        """Return sentences of the members' articles that name another member: relations first, one for a pair."""
        ids = {a.concept.id for a in members.articles}
        candidates: list[tuple[bool, int, int, CitedSentence, frozenset[ConceptId]]] = []
        for n, article in enumerate(members.articles):
            for m, sentence in enumerate(article.sentences):
                if sentence.form in ("head", "row"):
                    continue
                claims = [self.claims[c.claim] for c in sentence.cites]
                others = {o for c in claims for o in self.mentions.get(c.id, ())} & ids - {article.concept.id}
                if others and sentence.text not in used:
                    is_plain = not any(c.kind is ClaimKind.RELATION for c in claims)
                    candidates.append((is_plain, n, m, sentence, frozenset({article.concept.id, *others})))
        pairs: set[frozenset[ConceptId]] = set()
        chosen: dict[int, list[tuple[int, CitedSentence]]] = {}
        for _, n, m, sentence, pair in sorted(candidates, key=lambda c: c[:3]):
            if pair in pairs or sentence.text in used or len(chosen.get(n, ())) >= A_CONCEPT:
                continue
            if sum(map(len, chosen.values())) >= RELATIONS:
                break
            pairs.add(pair)
            used.add(sentence.text)
            chosen.setdefault(n, []).append((m, sentence))
        return [[s for _, s in sorted(chosen[n], key=lambda c: c[0])] for n in sorted(chosen)]

    def _disputes(self, members: TopicMembers) -> list[tuple[str, Claim, Claim]]:
        """Return (verdict, claim that weighs more or came first, the other) of disagreements on the page's concepts."""
        found = dict.fromkeys(d for a in members.articles for d in self.disputes.get(a.concept.id, ()))
        return [self.concepts.with_point(d) for d in list(found)[: compose.DISPUTES]]

    def dispute_states(self) -> list[DisputeState]:
        """Return every disagreement of the build, and the claim that weighs more if one does."""
        concepts: dict[Disagreement, list[str]] = {}
        for concept, found in self.disputes.items():
            for one in found:
                concepts.setdefault(one, []).append(concept)
        out = []
        for one, about in concepts.items():
            verdict, first, _ = self.concepts.weigh(one)
            out.append(DisputeState(one, tuple(sorted(about)), "" if verdict == UNDECIDED else first.id))
        return out

    def _questions(self, members: TopicMembers) -> list[str]:
        """Return links to the agenda: for each concept its first gap, those first that most of the others name."""
        named = Counter(m for a in members.articles for c in a.concept.main for m in self.mentions.get(c.id, ()))
        order = sorted(enumerate(members.articles), key=lambda pair: (-named[pair[1].concept.id], pair[0]))
        out = []
        for _, article in order:
            gaps = [
                (what, gap)
                for what, gap in self.gaps.get(article.concept.id, ())
                if what in _QUESTIONS or what.startswith(OPEN)
            ]
            for what, gap in gaps[:1]:
                words = _QUESTIONS.get(what, {})
                form = words.get(article.concept.language, words.get("en", ""))
                question = form.format(article.concept.title) if form else gap.missing
                out.append(str(Wikilink(GAPS.removesuffix(".md"), f"^g-{gap.id}", alias(question))))
        return out[:QUESTIONS]


@dataclass(frozen=True, slots=True)
class _Cites:
    """Citations with the numbers of one page. `by_quote`: a side of a contradiction is shown in its source's words."""

    sources: Sources
    places: Sequence[SourceId]
    by_quote: bool

    def side(self, claim: Claim) -> CitedSentence:
        """Return a side of a contradiction; a model may have put the claim in other words than its source."""
        return CitedSentence(claim.quote if self.by_quote else claim.words, self._citations([claim]))

    def again(self, sentence: CitedSentence) -> CitedSentence:
        """Return a sentence of an article, numbered as this page numbers its sources."""
        cites = self._citations(self.sources.claims[c.claim] for c in sentence.cites)
        return CitedSentence(sentence.text, cites, mark=sentence.mark)

    def _citations(self, claims: Iterable[Claim]) -> tuple[Citation, ...]:
        """Return the citations of claims."""
        number = {s: n for n, s in enumerate(self.places, 1)}
        return tuple(Citation(self.sources.summaries[c.source], c.id, number[c.source]) for c in claims)
