"""Topics of a build that is laid out: what the ledger must learn of them, and their articles."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compiler.articles import compose
from compiler.articles.indexes import TopicLine
from compiler.articles.layout import Article, Layout, merged
from compiler.claims.conflict_ledger import Standing, tell_disputes
from compiler.claims.conflicts import UNDECIDED
from compiler.claims.contradictions import Disagreement, disagreements
from compiler.claims.gathered import Gathered
from compiler.concepts.topics import Anchor, Known, Passage, Topic, topics
from compiler.language.headings import heading_key
from compiler.sources.duplicates import origin_of
from vault.ids import ConceptId, SourceId, digest12, free_slug, mint
from vault.layout import GAPS, TOPICS
from vault.log.ledger import Event
from vault.model.article import FRESHNESS_DAYS, CitedSentence
from vault.model.claim import Claim, ClaimKind
from vault.model.frontmatter import Value, read_properties, render_generated
from vault.model.gaps import Gap
from vault.model.topic import Dispute, TopicBody, render_topic
from vault.model.wikilink import Citation, Wikilink, alias, note_link

RELATIONS, A_CONCEPT = 12, 2  # sentences on how a topic's concepts relate; of one concept's article
QUESTIONS, ASKED = 8, 3
_QUESTIONS = {  # by the last part of a gap's key, and the language of the concept
    "definitional": {"en": "{}: what is it?", "de": "{}: was ist das?", "zh": "{}：是什么？"},
    "mechanistic": {"en": "{}: how does it work?", "de": "{}: wie funktioniert das?", "zh": "{}：如何工作？"},
    "relational": {"en": "{}: how does it relate to its neighbours?", "de": "{}: wie hängt das mit anderem zusammen?"},
    "applied": {"en": "{}: when is it used, and where does it fail?", "de": "{}: wann nützt es, und wo versagt es?"},
    "one-sentence": {"en": "{}: what more is there to say of it?", "de": "{}: was ist sonst noch darüber zu sagen?"},
    "one-source": {"en": "{}: what do other sources say of it?", "de": "{}: was sagen andere Quellen dazu?"},
}


@dataclass(frozen=True, slots=True)
class _Page:
    id: str
    topic: Topic
    title: str
    slug: str
    members: tuple[Article, ...]

    @property
    def path(self) -> str:
        return f"{TOPICS}/{self.slug}.md"


def write_topics(layout: Layout) -> None:
    """Put the topics' articles to `layout.files`, their lines to its index, and what is new of them to its events."""
    keys = {i: layout.ids.births[i].key for i in layout.articles}
    found = topics(list(_passages(layout)), _known(layout), keys)
    pages = [_page(layout, topic) for topic in found]
    kept = {p.id for p in pages}
    for id_, birth in layout.ids.births.items():
        if birth.noun == "topic" and layout.ids.alive(id_) and id_ not in kept:
            _tell(layout, "retire", id_, reason="its concepts have parted")
    desk = _Desk(layout)
    standings = desk.standings()
    layout.events += tell_disputes(standings, layout.claims, layout.id_events, layout.ids, layout.at)
    decided = sum(bool(s.winner) for s in standings)
    told = {"open": len(standings) - decided, "decided": decided, "superseded": len(layout.contests.superseded)}
    layout.report.contradictions |= told
    for page in sorted(pages, key=lambda p: (p.title.casefold(), p.id)):
        desk.write(page)


def _passages(layout: Layout) -> Iterator[Passage]:
    """Every claim of a source that is nobody's copy, with where it stands."""
    home = _homes(layout)
    mentions = layout.resolution.mentions
    for g in layout.gathered:
        if g.source is None or g.tracked.id in layout.kinship.copies:
            continue
        starts = [s.start for s in g.source.segments]
        for claim, _ in g.claims:
            about = home.get(claim.id, ())
            named = tuple(c for c in mentions.get(claim.id, ()) if c not in about)
            yield Passage(g.tracked.id, _headings(g, starts, g.starts[claim.id]), about, named)


def _anchors(layout: Layout) -> dict[str, Anchor]:
    """Claim id -> the section where it stands, as topics know sections."""
    out: dict[str, Anchor] = {}
    for g in layout.gathered:
        if g.source is not None:
            starts = [s.start for s in g.source.segments]
            for claim, _ in g.claims:
                path = _headings(g, starts, g.starts[claim.id])
                out[claim.id] = (g.tracked.id, *map(heading_key, path))
    return out


def _homes(layout: Layout) -> dict[str, tuple[ConceptId, ...]]:
    """Claim id -> the concepts whose articles rest on it."""
    homes: dict[str, tuple[ConceptId, ...]] = {}
    for article in layout.articles.values():
        for claim in article.concept.main:
            homes[claim.id] = (*homes.get(claim.id, ()), article.concept.id)
    return homes


def _headings(g: Gathered, starts: Sequence[int], at: int) -> tuple[str, ...]:
    """The headings above an offset, the document's title first."""
    assert g.source is not None
    segments = g.source.segments
    path = segments[max(bisect_right(starts, at) - 1, 0)].headings if segments else ()
    title = g.source.title
    if g.source.reader.partition("/")[0] == "code":
        return (title,)  # below it stand names of functions, which are no matters
    return path if path and heading_key(path[0]) == heading_key(title) else (title, *path)


def _known(layout: Layout) -> list[Known]:
    """The topics of the ledger that are alive, oldest first."""
    out, ids = [], layout.ids
    births = [b for b in ids.births.values() if b.noun == "topic" and ids.alive(b.id)]
    for birth in sorted(births, key=lambda b: (b.at, b.key, b.id)):
        change = layout.as_known(birth.id)
        members = frozenset(ConceptId(ids.merged.get(m, m)) for m in _strings(change.get("members")))
        anchors = change.get("anchors")
        places = frozenset(tuple(_strings(a)) for a in anchors) if isinstance(anchors, list) else frozenset()
        out.append(Known(birth.id, birth.key, birth.name, members, places))
    return out


def _strings(value: object) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _tell(layout: Layout, type_: str, id_: str, **facts: object) -> None:
    event: Event = {"v": 1, "type": type_, "of": "topic", "id": id_, "at": layout.at, **facts}
    layout.events.append(event)
    layout.ids.apply(event)


def _page(layout: Layout, topic: Topic) -> _Page:
    """A topic with its id: the one it had, that of a topic of its name that has gone, or a new one."""
    ids = layout.ids
    id_ = topic.id or ids.keys.get(("topic", topic.key), "")
    if not id_:
        id_ = mint("topic", topic.key, ids.births)
        slug = free_slug(topic.title, id_, ids.slugs("topic"))
        _tell(layout, "birth", id_, key=topic.key, name=topic.title, slug=slug)
    elif id_ in ids.retired:
        _tell(layout, "revive", id_)
    before = _strings(layout.as_known(id_).get("members"))
    place = {m: n for n, m in enumerate(before)}  # as they stood; new ones come after
    members = sorted(topic.members, key=lambda m: place.get(m, len(place)))
    return _Page(id_, topic, ids.births[id_].name, ids.births[id_].slug, tuple(layout.articles[m] for m in members))


class _Desk:
    """Writes the pages of one build."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        own = [a.concept.main for a in layout.articles.values()]
        found = list(layout.contests.disagreements)
        if layout.asker is None:
            found = disagreements(own, layout.claims.values(), lambda s: origin_of(s, layout.kinship.copies))
        self.homes = _homes(layout)
        self.anchors = _anchors(layout)
        self.disputes: dict[ConceptId, list[Disagreement]] = {}
        for one in found:
            for concept in self._concepts_of(one):
                self.disputes.setdefault(concept, []).append(one)
        self.gaps: dict[str, list[tuple[str, Gap]]] = {}
        for key, gap in layout.asked:
            kind, _, rest = key.partition(":")
            of, _, what = rest.partition(":")
            if gap.open and kind == "epistemic":
                self.gaps.setdefault(of, []).append((what, gap))

    def _concepts_of(self, one: Disagreement) -> list[ConceptId]:
        """The concepts whose topics show a disagreement: those it is about, else those that it names."""
        claims = (one.first, one.second)
        about = [concept for c in claims for concept in self.homes.get(c.id, ())]
        named = [m for c in claims for m in self.layout.resolution.mentions.get(c.id, ())]
        return list(dict.fromkeys(about or named))

    def write(self, page: _Page) -> None:
        layout = self.layout
        language = Counter(a.concept.language for a in page.members).most_common(1)[0][0]
        told: set[str] = set()
        sentences = [self._what_it_is(a, page, language, told) for a in page.members]
        listed = [(a, s) for a, s in zip(page.members, sentences, strict=True) if s is not None]
        relations = self._relations(page, told)
        disputes = self._disputes(page)
        asked = [c for a in page.members for c in a.concept.main if c.kind is ClaimKind.QUESTION][:ASKED]
        before = layout.as_known(page.id)
        said = [*filter(None, sentences), *(s for paragraph in relations for s in paragraph)]
        claims = [c.claim for s in said for c in s.cites]
        used = [layout.claims[c] for c in claims] + asked + [c for _, *pair in disputes for c in pair]
        places = compose.places(used, [SourceId(s) for s in _strings(before.get("sources"))], layout.source_order)
        cite = _Cites(layout, places)
        body = TopicBody(
            page.title,
            language,
            [(a.link, cite.again(s)) for a, s in listed],
            [[cite.again(s) for s in paragraph] for paragraph in relations],
            [Dispute(verdict, cite.side(first), cite.side(second)) for verdict, first, second in disputes],
            [cite.claim(c) for c in asked],
            self._questions(page),
        )
        self._file(page, render_topic(body), places, {c.source for c in used}, [a.link for a, _ in listed])

    def _file(
        self, page: _Page, body: str, places: list[SourceId], cited: set[SourceId], listed: Sequence[str]
    ) -> None:
        layout = self.layout
        before = layout.ids.changed.get(page.id, {})
        tags = tuple(sorted({t for s in cited for t in layout.tags(s)}))
        now = {
            "digest": digest12(body),
            "members": [a.concept.id for a in page.members],
            "anchors": [list(a) for a in page.topic.anchors],
            "sources": [str(s) for s in places],
            "aliases": [],
            "tags": list(tags),
        }
        if any(before.get(key) != value for key, value in now.items()):
            _tell(layout, "change", page.id, **now, **layout.as_of(page.id, now))
        old = layout.read_old(page.path)
        freshness = read_properties(old).text("freshness") if old else ""
        confidence = layout.confidence(cited)
        properties: dict[str, Value] = {
            "type": "topic",
            "id": page.id,
            "title": page.title,
            "aliases": merged("aliases", (), before, old),
            "created": layout.day(layout.ids.births[page.id].at),
            "updated": layout.day(layout.ids.changed_at(page.id)),
            "confidence": confidence,
            "freshness": freshness if freshness in FRESHNESS_DAYS else "normal",
            "sources": tuple(layout.source_link(s) for s in places),
            "related": tuple(listed),
            "tags": merged("tags", tags, before, old),
        }
        layout.files[page.path] = render_generated(properties, body, old)
        layout.topics.append(TopicLine(note_link(page.path, page.title), len(listed), confidence))

    def _what_it_is(self, article: Article, page: _Page, language: str, told: set[str]) -> CitedSentence | None:
        """The sentence that defines a concept, or its first: of the page's language and sections if there is one.

        None where all of its sentences stand at other members already.
        """
        said = [s for section in article.sections for paragraph in section.paragraphs for s in paragraph]
        new = [s for s in said if s.text not in told]
        own = [s for s in new if any(self.layout.resolution.owners.get(c.claim) == article.concept.id for c in s.cites)]
        chosen = min(own or new, key=lambda s: self._standing(s, page, language), default=None)
        if chosen is not None:
            told.add(chosen.text)
        return chosen

    def _standing(self, sentence: CitedSentence, page: _Page, language: str) -> tuple[bool, bool, bool, bool]:
        """How well a sentence opens a concept within a page: the least first, and the first of equals."""
        claims = [self.layout.claims[c.claim] for c in sentence.cites]
        texts = [self.layout.sources[c.source].source for c in claims]
        foreign = not any(text is not None and text.language == language for text in texts)
        no_definition = not any(c.kind is ClaimKind.DEFINITION for c in claims)
        elsewhere = not any(self._is_of(c, page.topic.anchors) for c in claims)
        abroad = not {c.source for c in claims} & {anchor[0] for anchor in page.topic.anchors}
        return foreign, no_definition, elsewhere, abroad

    def _is_of(self, claim: Claim, anchors: Sequence[Anchor]) -> bool:
        """Whether a claim stands in one of the sections."""
        at = self.anchors.get(claim.id, ())
        return any(at[: len(anchor)] == anchor for anchor in anchors)

    def _relations(self, page: _Page, told: set[str]) -> list[list[CitedSentence]]:
        """Sentences of the members' articles that name another member: relations first, one for a pair."""
        members = {a.concept.id for a in page.members}
        found: list[tuple[bool, int, int, CitedSentence, frozenset[ConceptId]]] = []
        for n, article in enumerate(page.members):
            said = [s for section in article.sections for paragraph in section.paragraphs for s in paragraph]
            for m, sentence in enumerate(said):
                claims = [self.layout.claims[c.claim] for c in sentence.cites]
                others = {o for c in claims for o in self.layout.resolution.mentions.get(c.id, ())} & members
                others.discard(article.concept.id)
                if others and sentence.text not in told and any(c.kind is not ClaimKind.QUESTION for c in claims):
                    plain = not any(c.kind is ClaimKind.RELATION for c in claims)
                    found.append((plain, n, m, sentence, frozenset({article.concept.id, *others})))
        joined: set[frozenset[ConceptId]] = set()
        taken: dict[int, list[tuple[int, CitedSentence]]] = {}
        for _, n, m, sentence, pair in sorted(found, key=lambda f: f[:3]):
            if pair in joined or sentence.text in told or len(taken.get(n, ())) >= A_CONCEPT:
                continue
            if sum(map(len, taken.values())) >= RELATIONS:
                break
            joined.add(pair)
            told.add(sentence.text)
            taken.setdefault(n, []).append((m, sentence))
        return [[s for _, s in sorted(taken[n], key=lambda t: t[0])] for n in sorted(taken)]

    def _disputes(self, page: _Page) -> list[tuple[str, Claim, Claim]]:
        """(verdict, claim that weighs more or came first, the other) of the disagreements on the page's concepts."""
        found = dict.fromkeys(d for a in page.members for d in self.disputes.get(a.concept.id, ()))
        return [self.layout.scales.weigh(d) for d in list(found)[: compose.DISPUTES]]

    def standings(self) -> list[Standing]:
        """Every disagreement of the build, and the claim that weighs more if one does."""
        concepts: dict[Disagreement, list[str]] = {}
        for concept, found in self.disputes.items():
            for one in found:
                concepts.setdefault(one, []).append(concept)
        out = []
        for one, about in concepts.items():
            verdict, first, _ = self.layout.scales.weigh(one)
            out.append(Standing(one, tuple(sorted(about)), "" if verdict == UNDECIDED else first.id))
        return out

    def _questions(self, page: _Page) -> list[str]:
        """Links to the agenda: for each concept its first gap, those first that most of the others name."""
        mentions = self.layout.resolution.mentions
        named = Counter(m for a in page.members for c in a.concept.main for m in mentions.get(c.id, ()))
        order = sorted(enumerate(page.members), key=lambda pair: (-named[pair[1].concept.id], pair[0]))
        out = []
        for _, article in order:
            asked = [(what, gap) for what, gap in self.gaps.get(article.concept.id, ()) if what in _QUESTIONS]
            for what, gap in asked[:1]:
                words = _QUESTIONS[what]
                question = words.get(article.concept.language, words["en"]).format(article.concept.title)
                out.append(str(Wikilink(GAPS.removesuffix(".md"), f"^g-{gap.id}", alias(question))))
        return out[:QUESTIONS]


@dataclass(frozen=True, slots=True)
class _Cites:
    """Citations with the numbers of one page."""

    layout: Layout
    places: Sequence[SourceId]

    def claim(self, claim: Claim) -> CitedSentence:
        """A claim's words as a sentence that cites it."""
        return CitedSentence(claim.words, tuple(self._citations([claim])))

    def side(self, claim: Claim) -> CitedSentence:
        """A side of a contradiction: in its source's own words where an engine has put the claim in others."""
        if self.layout.asker is None:
            return self.claim(claim)
        return CitedSentence(claim.quote, tuple(self._citations([claim])))

    def again(self, sentence: CitedSentence) -> CitedSentence:
        """A sentence of an article, numbered as this page numbers its sources."""
        return CitedSentence(sentence.text, tuple(self._citations(self.layout.claims[c.claim] for c in sentence.cites)))

    def _citations(self, claims: Iterable[Claim]) -> Iterator[Citation]:
        number = {s: n for n, s in enumerate(self.places, 1)}
        for claim in claims:
            yield Citation(self.layout.shelf.summaries[claim.source], claim.id, number[claim.source])
