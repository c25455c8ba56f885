"""The second half of a build: concepts, articles, decks, agenda and indexes as the text of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import TypeVar
from zoneinfo import ZoneInfo

from compiler.articles import compose, indexes, reading_list
from compiler.articles.renames import before_undone, undone_cards, undone_gap
from compiler.cards import cards, decks, gaps
from compiler.claims.conflicts import UNDECIDED, Contests, Scales
from compiler.claims.contradictions import Disagreement
from compiler.claims.gathered import Gathered
from compiler.concepts.copies import Kinship
from compiler.concepts.resolve import Resolution, Resolved
from compiler.concepts.rulings import Rulings
from compiler.gates.article_form import shaped
from compiler.gates.checks import Verdicts, pairs_of_article, pairs_of_cards
from compiler.gates.gates import card_gate
from compiler.model.report import Rejection, Report
from compiler.model.requests import (
    CardsReply,
    CardsRequest,
    ClaimView,
    ComposeReply,
    ComposeRequest,
    Reply,
    Request,
    rests,
)
from compiler.replies.asker import Asker
from compiler.sources.duplicates import origin_of
from vault.diagnostic import Diagnostic
from vault.ids import CardId, ClaimId, ConceptId, GapId, SourceId, digest12, slug
from vault.layout import CONCEPTS, FLASHCARDS, GAPS, SUMMARIES
from vault.log import ledger
from vault.log.ledger import parse_instant
from vault.model.article import FRESHNESS_DAYS, ArticleSection, render_body
from vault.model.claim import ClaimKind
from vault.model.frontmatter import Value, read_properties, render_generated
from vault.model.gaps import Gap, GapKind, GapStatus, render_agenda
from vault.model.wikilink import Citation, Wikilink, alias, note_link

RELATED = 8
CARD_EXHIBITS = 2  # shown below an answer: a card is no page
_KIND_FOLDERS = {"articles", "papers", "repos", "datasets", "images"}

Ask = Callable[[Sequence[Request], str], list[Reply | None]]
ReadOld = Callable[[str], str | None]
R = TypeVar("R", ComposeRequest, CardsRequest)


@dataclass(frozen=True, slots=True)
class Article:
    """A concept with everything its file shows."""

    concept: Resolved
    sections: tuple[ArticleSection, ...]
    places: tuple[SourceId, ...]
    confidence: str
    tags: tuple[str, ...]
    contested: tuple[ArticleSection, ...] = ()  # where sources disagree

    @property
    def path(self) -> str:
        return f"{CONCEPTS}/{self.concept.slug}.md"

    @property
    def link(self) -> str:
        return note_link(self.path, self.concept.title)


def confidence(origins: set[SourceId], authority: dict[SourceId, int], engine: str) -> str:
    """The base confidence of a concept that rests on these independent sources; hearsay alone gives a low one."""
    told = {o for o in origins if authority.get(o, 1) > 0}
    if origins and not told:
        return "low"
    origins = told
    strong = sum(authority.get(o, 1) >= 2 for o in origins)
    if len(origins) >= 3 or (len(origins) == 2 and strong):
        return "medium" if engine.startswith("agent/") else "high"
    return {0: "speculative", 1: "low", 2: "medium"}[len(origins)]


def merged(key: str, machine: tuple[str, ...], before: ledger.Event, old: str | None) -> tuple[str, ...]:
    """What the machine lists under a property, with what a human added in the `old` file, less what one took out.

    `before` is the change event that says what the machine last wrote there.
    """
    if old is None:
        return machine
    last = before.get(key)
    base = set(last) if isinstance(last, list) else set(machine)
    theirs = read_properties(old).texts(key)
    kept = [m for m in machine if m in theirs or m not in base]
    return (*kept, *(t for t in theirs if t not in base and t not in kept))


@dataclass
class Layout:
    """Lays out one build. `files` maps vault paths to text; `decks` holds what each deck of the machine's wants."""

    gathered: Sequence[Gathered]
    resolution: Resolution
    ids: ledger.Ids
    id_events: Sequence[ledger.Event]
    at: str
    zone: ZoneInfo
    engine: str
    authority: dict[SourceId, int]
    kinship: Kinship
    report: Report
    read_old: ReadOld
    fills: Mapping[GapId, Sequence[str]] = field(default_factory=dict)  # gap -> files that were added for it
    addresses: Mapping[str, str] = field(default_factory=dict)  # file -> where it was fetched
    said_before: Mapping[str, str] = field(default_factory=dict)  # claim id -> its words, where this build found others
    files: dict[str, str] = field(default_factory=dict)
    decks: dict[str, decks.Fresh] = field(default_factory=dict)
    events: list[ledger.Event] = field(default_factory=list)
    articles: dict[ConceptId, Article] = field(default_factory=dict)
    topics: list[indexes.TopicLine] = field(default_factory=list)
    asked: list[tuple[str, Gap]] = field(default_factory=list)  # every gap of the agenda that is open or was decided on
    also_cited: set[ClaimId] = field(default_factory=set)  # by pages of agents'
    asker: Asker | None = None  # there is one where replies come from the journal
    verdicts: Verdicts = field(default_factory=Verdicts)
    rulings: Rulings = field(default_factory=Rulings)
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # concept -> why the human turned words down
    said_by: dict[str, str] = field(default_factory=dict)  # concept id -> who composed its article
    contests: Contests = field(default_factory=Contests)
    outdated: Mapping[ClaimId, str] = field(default_factory=dict)  # claims that no card may rest on, and why
    written_before: dict[ConceptId, ledger.Event] = field(
        default_factory=dict
    )  # the last change event but this build's

    def __post_init__(self) -> None:
        self.sources = {g.tracked.id: g for g in self.gathered}
        self.titles = {
            i: g.source.title if g.source else g.tracked.path.rsplit("/", 1)[-1] for i, g in self.sources.items()
        }
        self.shelf = compose.Shelf(self.titles, {i: f"{SUMMARIES}/{g.tracked.slug}" for i, g in self.sources.items()})
        self.claims = {c.id: c for g in self.gathered for c, _ in g.claims}
        self.exhibits = {id_: claim.exhibits for id_, claim in self.claims.items() if claim.exhibits}
        self.views: dict[ConceptId, tuple[ClaimView, ...]] = {}

    def take_events(self) -> list[ledger.Event]:
        """What the ledger must learn of the layout so far; each is given once."""
        events, self.events = self.events, []
        return events

    @property
    def scales(self) -> Scales:
        return Scales(self.authority, self.published, self.source_order)

    def disputes(self, concept: Resolved) -> list[Disagreement]:
        """The contradictions that one of the concept's own claims is a side of."""
        own = {c.id for c in concept.main}
        return [d for d in self.contests.disagreements if d.first.id in own or d.second.id in own]

    def _contested(self) -> set[ConceptId]:
        """The concepts whose articles show a contradiction that nothing decides."""
        articles = self.articles.items()
        return {i for i, a in articles if any(self.scales.weigh(d)[0] == UNDECIDED for d in self.disputes(a.concept))}

    def compose_articles(self, ask: Ask) -> None:
        """Articles, from the engine's replies through the sentence gate."""
        order = [self.resolution.concepts[i] for i in sorted(self.resolution.concepts, key=self._order)]
        self.views = {c.id: compose.views_of(c, self.resolution, self.shelf) for c in order}
        requests = [self._told_why(compose.request_for(c, self.views[c.id])) for c in order]
        replies = ask(requests, "compose")
        if self.asker is not None:
            self._who_said(requests, self.asker)
            told = ((r, q.claims) for q, r in zip(requests, replies, strict=True) if isinstance(r, ComposeReply))
            self.verdicts.settle([pair for r, views in told for pair in pairs_of_article(r, views)], self.asker)
        for concept, reply in zip(order, replies, strict=True):
            article = self._article(concept, reply if isinstance(reply, ComposeReply) else ComposeReply(sections=()))
            if article is not None:
                self.articles[concept.id] = article
                self._record_change(article)

    def _told_why(self, request: R) -> R:
        """`request` with what the human disliked of its concept before; the embedded engine has no ear for it."""
        said = self.reasons.get(request.concept, ()) if self.asker is not None else ()
        return request.model_copy(update={"reasons": said}) if said else request

    def _order(self, id_: ConceptId) -> tuple[str, str]:
        return self.resolution.concepts[id_].title.casefold(), id_

    def _article(self, concept: Resolved, reply: ComposeReply) -> Article | None:
        changed = self.as_known(concept.id).get("sources")
        before = [SourceId(s) for s in changed if isinstance(s, str)] if isinstance(changed, list) else []
        disputes = [self.scales.weigh(d) for d in self.disputes(concept)]
        sides = [c for _, *pair in disputes for c in pair]
        places = compose.places([*concept.main, *sides], before, self.source_order)
        number = {s: n for n, s in enumerate(places, 1)}

        def cite(id_: ClaimId) -> Citation:
            source = self.claims[id_].source
            return Citation(self.shelf.summaries[source], id_, number[source])

        sections = self._sections(concept, reply, cite)
        if not sections:
            return None
        cited = {c.source for c in concept.main}
        tags = tuple(sorted({t for s in cited for t in self.tags(s)}))
        sure = self.confidence(cited, self.said_by.get(concept.id, self.engine))
        sure = "speculative" if any(verdict == UNDECIDED for verdict, *_ in disputes) else sure
        contested = compose.contested(concept.language, disputes, cite)
        return Article(concept, tuple(sections), tuple(places), sure, tags, contested)

    def _sections(self, concept: Resolved, reply: ComposeReply, cite: compose.Cite) -> list[ArticleSection]:
        """What may stand of a reply; of one of which nothing may, what the embedded engine says in its place."""
        views = self.views[concept.id]
        sections, refused = compose.sections_in(reply, views, cite, self._entailed)
        dropped = len(refused)
        if self.asker is not None and not sections and refused:
            request = compose.request_for(concept, views)
            instead = self.asker.fallback(request)
            if isinstance(instead, ComposeReply):
                sections, more = compose.sections_in(instead, views, cite)
                refused += more
                what = "every sentence of its article was refused: the embedded engine's stand in"
                hint = "`retain log --rejected` says why; `retain compile --renew` asks again"
                self.report.notices.append(Diagnostic(f"{CONCEPTS}/{concept.slug}.md", 0, "stood-in", what, hint))
        if self.asker is not None:
            sections, headings = shaped(concept.title, sections, views)
            refused += headings
        self._refused(refused, concept, f"{CONCEPTS}/{concept.slug}.md", compose.request_for(concept, views))
        self.report.sentences["dropped"] += dropped
        self.report.sentences["kept"] += sum(len(p) for section in sections for p in section.paragraphs)
        return sections

    def _refused(self, rejections: Iterable[Rejection], concept: Resolved, path: str, request: Request) -> None:
        """Report what was refused with where it was to stand, of which sources it speaks, and who said it."""
        sources = tuple(dict.fromkeys(self.sources[c.source].tracked.path for c in concept.main))
        by, at = self.asker.said(request) if self.asker is not None else ("", "")
        self.report.rejections += [
            replace(r, path=path, sources=sources, said_by=by or self.engine, at=at) for r in rejections
        ]

    @property
    def _entailed(self) -> Verdicts | None:
        """What was checked; None for an engine of which nothing is."""
        return self.verdicts if self.asker is not None else None

    def _who_said(self, requests: Sequence[ComposeRequest], asker: Asker) -> None:
        for request in requests:
            if said := asker.engines.get(rests(request)):
                self.said_by[request.concept] = said

    def confidence(self, sources: Iterable[SourceId], engine: str = "") -> str:
        """The base confidence of what rests on `sources`: a copy counts as one with its original."""
        trust: dict[SourceId, int] = {}
        for source in sources:
            origin = origin_of(source, self.kinship.copies)
            trust[origin] = max(trust.get(origin, 0), self.authority.get(source, 1))
        return confidence(set(trust), trust, engine or self.engine)

    def source_order(self, id_: SourceId) -> tuple[str, str]:
        return self.sources[id_].tracked.birth

    def published(self, id_: SourceId) -> str:
        """The day that the source says it was published, or as much as it says of it; "" if nothing."""
        source = self.sources[id_].source
        return source.properties.get("published", "") if source is not None else ""

    def tags(self, id_: SourceId) -> list[str]:
        """A source's folders below its kind, as tags."""
        folders = self.sources[id_].tracked.path.split("/")[1:-1]
        folders = folders[1:] if folders and folders[0] in _KIND_FOLDERS else folders
        return [slug(f) for f in folders]

    def _record_change(self, article: Article) -> None:
        """Tell the ledger when body, sources, names or tags are new: then the article is of another day, and what a
        human changed in the properties can be told from what the machine last wrote there."""
        known = self.ids.changed.get(article.concept.id, {})
        now = {
            "digest": digest12(self._body(article)),
            "sources": [str(s) for s in article.places],
            "aliases": list(article.concept.aliases),
            "tags": list(article.tags),
        }
        self.written_before[article.concept.id] = known
        if any(known.get(key) != value for key, value in now.items()):
            event = {"v": 1, "type": "change", "of": "concept", "id": article.concept.id, "at": self.at} | now
            event |= self.as_of(article.concept.id, now)
            self.events.append(event)
            self.ids.changed[article.concept.id] = event

    def as_known(self, id_: str) -> ledger.Event:
        """The last change of a concept or topic, but for those that a deed made which was undone since."""
        known = self.ids.changed.get(id_, {})
        return before_undone(known, self.rulings, self.id_events) if self.rulings.undone and known else known

    def as_of(self, id_: str, now: Mapping[str, object]) -> dict[str, str]:
        """Of which day a page is that an undone deed changed, and that is as it was before."""
        before = self.as_known(id_)
        undone = before is not self.ids.changed.get(id_) and "at" in before
        same = undone and all(before.get(key) == value for key, value in now.items())
        return {"as_of": str(before.get("as_of", before["at"]))} if same else {}

    def _merged(self, key: str, article: Article, old: str | None) -> tuple[str, ...]:
        """The machine's `aliases` or `tags`, with what a human added in the `old` file, less what one took out."""
        machine = article.tags if key == "tags" else article.concept.aliases
        return merged(key, machine, self._written_there(article.concept.id, old), old)

    def _written_there(self, id_: ConceptId, old: str | None) -> ledger.Event:
        """The change event of the page that `old` is: an earlier one, where a build was killed before it wrote."""
        last = self.written_before.get(id_, {})
        there = read_properties(old).text("generated") if old is not None else ""
        if not there or there == last.get("digest"):
            return last
        earlier = (e for e in reversed(self.id_events) if e.get("id") == id_ and e.get("digest") == there)
        return next(earlier, last)

    def related(self, article: Article) -> list[ConceptId]:
        """The concepts that this one's claims name most, those with an article only."""
        named: Counter[ConceptId] = Counter()
        for claim in article.concept.main:
            weight = 2 if claim.kind in (ClaimKind.RELATION, ClaimKind.DEFINITION) else 1
            for other in self.resolution.mentions.get(claim.id, ()):
                if other != article.concept.id and other in self.articles:
                    named[other] += weight
        return sorted(named, key=lambda i: (-named[i], *self._order(i)))[:RELATED]

    def needs(self, article: Article) -> list[ConceptId]:
        """The concepts that its definitions name: what to know first."""
        found: dict[ConceptId, None] = {}
        for claim in article.concept.main:
            if claim.kind is ClaimKind.DEFINITION:
                found |= {
                    o: None
                    for o in self.resolution.mentions.get(claim.id, ())
                    if o != article.concept.id and o in self.articles
                }
        return list(found)

    def _body(self, article: Article) -> str:
        # The list of related concepts depends on other articles: it stands in the properties, so that the body
        # changes only with this concept's own claims.
        return render_body(article.concept.title, (*article.sections, *article.contested), self.exhibits)

    def write_decks(self, ask: Ask, deleted: frozenset[CardId], flagged: Mapping[CardId, str]) -> cards.CardNews:
        """Decks, from the engine's replies through the card gates and around the cards that live already."""
        order = [self.articles[i] for i in self.articles]
        views = {a.concept.id: self._views_for_cards(a.concept.id) for a in order}
        requests = [self._told_why(cards.request_for(a.concept, views[a.concept.id])) for a in order]
        replies = self._asked_for_cards(ask, requests)
        if self.asker is not None:
            told = ((r, q) for q, r in zip(requests, replies, strict=True) if isinstance(r, CardsReply))
            pairs = [p for r, q in told for p in pairs_of_cards(r, q.claims, (q.title, *q.aliases))]
            self.verdicts.settle(pairs, self.asker, judged=True)
        current = [c for c in self.claims.values() if c.id not in self.outdated]
        words: dict[str, str] = {c.id: f"{c.kind} {c.words}" for c in current}
        home: dict[str, str] = dict(self.resolution.owners)
        mains = {str(a.concept.id): frozenset(str(c.id) for c in a.concept.main) for a in order}
        live = cards.live_cards(self.id_events, self.ids)
        quotes: dict[str, str] = {c.id: c.quote for c in current}
        desk = cards.CardDesk(
            self.ids,
            live,
            words,
            home,
            self.at,
            self.engine,
            deleted,
            mains,
            quotes=quotes,
            said_before=self.said_before,
            flagged=flagged,
            gate=card_gate(self._entailed),
            outdated=self.outdated,
            undone=undone_cards(self.id_events, self.rulings, self.ids),
        )
        desk.open()
        for article, reply in zip(order, replies, strict=True):
            desk.settle(
                article.concept,
                views[article.concept.id],
                reply if isinstance(reply, CardsReply) else CardsReply(),
            )
        news = desk.close()
        self.report.cards |= {
            "created": news.created,
            "kept": news.kept,
            "updated": news.updated,
            "suspended": news.suspended,
        }
        self.report.cards["rejected"] = len(news.rejections)
        asked = {f"{FLASHCARDS}/{a.concept.slug}.md": (a.concept, q) for a, q in zip(order, requests, strict=True)}
        for path, refused in groupby(news.rejections, lambda r: r.path):  # concept by concept
            self._refused(refused, asked[path][0], path, asked[path][1])
        self.events += news.events
        for article in order:
            self._deck(article, news.cards.get(article.concept.id, []))
        return news

    def _views_for_cards(self, id_: ConceptId) -> tuple[ClaimView, ...]:
        """What cards may rest on: no card asks what is past, or what weightier sources deny."""
        return tuple(v for v in self.views[id_] if v.id not in self.outdated)

    def _asked_for_cards(self, ask: Ask, requests: Sequence[CardsRequest]) -> list[Reply | None]:
        """The reply to each; nobody is asked for cards that could rest on nothing."""
        told = iter(ask([r for r in requests if r.claims], "cards"))
        return [next(told) if r.claims else None for r in requests]

    def _deck(self, article: Article, live: Sequence[cards.LiveCard]) -> None:
        path = f"{FLASHCARDS}/{article.concept.slug}.md"
        number = {s: n for n, s in enumerate(article.places, 1)}
        blocks = []
        for card in live:
            sources = [self.claims[c].source for c in card.cites]
            cites = [Citation(self.shelf.summaries[s], c, number[s]) for c, s in zip(card.cites, sources, strict=True)]
            shown = dict.fromkeys(e for c in card.cites for e in self.claims[c].exhibits)
            blocks.append(decks.card_block(card, cites, tuple(shown)[:CARD_EXHIBITS]))
        properties: dict[str, Value] = {
            "type": "flashcards",
            "concept": article.concept.id,
            "article": article.link,
            "generator": self.engine,
            "tags": self._merged("tags", article, self.read_old(path)),
        }
        self.decks[path] = decks.Fresh(article.concept.title, properties, blocks)

    def write_agenda(self, news: cards.CardNews, decided: dict[GapId, GapStatus]) -> None:
        """`gaps.md`, and what the ledger must learn of gaps."""
        links: dict[str, str] = {i: a.link for i, a in self.articles.items()}
        origins: dict[str, int] = {
            i: len({origin_of(c.source, self.kinship.copies) for c in a.concept.main}) for i, a in self.articles.items()
        }
        known = replace(self.resolution, concepts={i: a.concept for i, a in self.articles.items()})
        texts = {i: g.source for i, g in self.sources.items() if g.source is not None}
        shelf = gaps.Shelf(texts, {i: self.source_link(i) for i in texts}, self.kinship.copies)
        found = gaps.find(known, news.cards, links, origins, shelf, self._contested())
        born = (e for e in self.id_events if e.get("of") == "gap" and e.get("type") == "birth")
        births = {str(e["id"]): e for e in born if not undone_gap(e, self.rulings)}
        links_to = reading_list.fill_links(self.fills, self.gathered)
        items, events = gaps.agenda(found, known, births, self.ids, decided, self.at, links_to)
        self.report.notices += reading_list.fill_notices(items, self.fills, self.gathered)
        self.events += events
        self.asked = [(gap.key, item) for gap, item in zip(found, items, strict=False)]
        kept = gaps.learners(self.read_old(GAPS) or "", decided)
        still_open = Counter(g.kind for g in [*items, *kept] if g.open)
        self.report.gaps |= {k.value: still_open[k] for k in GapKind}
        self.report.gaps["filled"] = sum(g.status is GapStatus.FILLED for g in items)
        self.files[GAPS] = render_agenda([*items, *kept])

    def write_articles(self) -> None:
        for article in self.articles.values():
            concept = article.concept
            related = [self.articles[i].link for i in self.related(article)]
            old = self.read_old(article.path)
            freshness = read_properties(old).text("freshness") if old else ""
            properties: dict[str, Value] = {
                "type": "concept",
                "id": concept.id,
                "title": concept.title,
                "aliases": self._merged("aliases", article, old),
                "created": self.day(self._birth(concept.id)),
                "updated": self.day(self.ids.changed_at(concept.id)),
                "confidence": article.confidence,
                "freshness": freshness if freshness in FRESHNESS_DAYS else "normal",
                "sources": tuple(self.source_link(s) for s in article.places),
                "related": tuple(related),
                "tags": self._merged("tags", article, old),
            }
            self.files[article.path] = render_generated(properties, self._body(article), old)

    def _birth(self, id_: str) -> str:
        return self.ids.births[id_].at

    def source_link(self, id_: SourceId) -> str:
        if id_ in self.sources and self.sources[id_].source is not None:
            return str(Wikilink(self.shelf.summaries[id_], alias=alias(self.titles[id_])))
        return f"{self.ids.present_key.get(id_, id_)} (gone)"

    def day(self, instant: str) -> str:
        at: datetime = parse_instant(instant)
        return at.astimezone(self.zone).date().isoformat()
