"""Which concepts of a build belong to which topic, and what the ledger must learn of topics."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.articles.article import Article, Articles
from compiler.articles.concepts import Concepts
from compiler.articles.history import History
from compiler.articles.sources import Sources
from compiler.claims.extract import Gathered
from compiler.concepts.topics import LEAST, Anchor, Known, Passage, Topic, topics
from compiler.language import names
from compiler.language.headings import heading_key
from vault.ids import ConceptId, free_slug, mint
from vault.layout import TOPICS
from vault.log.ledger import Birth, Event, strings

Homes = dict[str, tuple[ConceptId, ...]]  # claim id -> the concepts whose articles rest on it


@dataclass(frozen=True, slots=True)
class TopicMembers:
    """A topic with its id in the ledger, its slug, and the articles of its concepts."""

    id: str
    topic: Topic
    title: str
    slug: str
    articles: tuple[Article, ...]

    @property
    def path(self) -> str:
        """Return the vault path of the topic's page."""
        return f"{TOPICS}/{self.slug}.md"


def find_topics(
    articles: Articles, concepts: Concepts, clusters: Sequence[tuple[str, tuple[str, ...]]] | None
) -> tuple[list[TopicMembers], list[Event]]:
    """Return the topics of all articles, and the events of those that came, came back or went.

    `clusters` are the topics that a model made of titles; without any, sections of the sources make them.
    """
    history = concepts.history
    naming = _Naming(articles, history)
    if clusters is not None:
        made = list(_clustered(articles, clusters))
    else:
        keys = {i: history.ids.births[i].key for i in articles}
        made = topics(list(_passages(concepts, homes_of(articles))), _known(history), keys)
    found = [naming.members(topic) for topic in made]
    present = {each.id for each in found}
    for id_, birth in history.ids.births.items():
        if birth.noun == "topic" and history.ids.alive(id_) and id_ not in present:
            naming.add("retire", id_, reason="its concepts were split")
    return found, naming.events


def _clustered(articles: Articles, clusters: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[Topic]:
    """Yield the topics that a model made of titles, where enough of them have articles; a concept is in its last."""
    of_key = {key: i for i, article in articles.items() for key in article.concept.keys}
    # The key of a name depends on its language.
    languages = sorted({article.concept.language for article in articles.values()})
    home: dict[ConceptId, str] = {}
    title_of: dict[str, str] = {}
    for topic, titles in clusters:
        key = names.key(topic)
        if key:
            title_of.setdefault(key, topic)
            found = (of_key.get(names.key(t, language)) for t in titles for language in languages)
            home |= dict.fromkeys((i for i in found if i is not None), key)
    members: dict[str, list[ConceptId]] = {}
    for concept, key in home.items():
        members.setdefault(key, []).append(concept)
    for key, own in sorted(members.items()):
        if len(own) >= LEAST:
            yield Topic("", key, title_of[key][:1].upper() + title_of[key][1:], tuple(own), ())


def homes_of(articles: Articles) -> Homes:
    """Return for each claim the concepts whose articles rest on it."""
    homes: Homes = {}
    for article in articles.values():
        for claim in article.concept.main:
            homes[claim.id] = (*homes.get(claim.id, ()), article.concept.id)
    return homes


def anchors_of(sources: Sources) -> dict[str, Anchor]:
    """Return for each claim the section that it is in, as topics know sections."""
    return {
        claim: (g.tracked.id, *map(heading_key, path)) for g in sources.gathered for claim, path in _headed_claims(g)
    }


def _passages(concepts: Concepts, homes: Homes) -> Iterator[Passage]:
    """Yield every claim of a source that is no copy, with the headings above it."""
    for g in concepts.sources.gathered:
        if g.tracked.id in concepts.sources.kinship.copies:
            continue
        for claim, path in _headed_claims(g):
            about = homes.get(claim, ())
            named = tuple(c for c in concepts.resolution.mentions.get(claim, ()) if c not in about)
            yield Passage(g.tracked.id, path, about, named)


def _headed_claims(g: Gathered) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the claims of a source with the headings above each, the document's title first."""
    if g.source is None:
        return
    segments, title = g.source.segments, g.source.title
    starts: Sequence[int] = [s.start for s in segments]
    is_code = g.source.reader.partition("/")[0] == "code"  # below its title are names of functions, which are no topics
    for claim, _ in g.claims:
        at = g.starts[claim.id]
        path = segments[max(bisect_right(starts, at) - 1, 0)].headings if segments and not is_code else ()
        yield claim.id, path if path and heading_key(path[0]) == heading_key(title) else (title, *path)


def _known(history: History) -> list[Known]:
    """Return the topics of the ledger that are alive, oldest first."""
    out, ids = [], history.ids
    births = [b for b in ids.births.values() if b.noun == "topic" and ids.alive(b.id)]
    for birth in sorted(births, key=lambda b: (b.at, b.key, b.id)):
        change = history.last_change(birth.id)
        members = frozenset(ConceptId(ids.merged.get(m, m)) for m in strings(change.get("members")))
        anchors = change.get("anchors")
        places = frozenset(tuple(strings(a)) for a in anchors) if isinstance(anchors, list) else frozenset()
        out.append(Known(birth.id, birth.key, birth.name, members, places))
    return out


class _Naming:
    """Gives topics their ids and slugs, and collects the events."""

    def __init__(self, articles: Articles, history: History) -> None:
        self.articles, self.history = articles, history
        self.births = dict(history.ids.births)
        self.slugs = history.ids.slugs("topic")
        self.events: list[Event] = []

    def add(self, type_: str, id_: str, **facts: str) -> None:
        """Add an event of a topic."""
        self.events.append({"v": 1, "type": type_, "of": "topic", "id": id_, "at": self.history.at, **facts})

    def members(self, topic: Topic) -> TopicMembers:
        """Return a topic with the id it had, that of a former topic of its name, or a new one."""
        ids = self.history.ids
        id_ = topic.id or ids.keys.get(("topic", topic.key), "")
        if not id_:
            id_ = mint("topic", topic.key, self.births)
            slug = free_slug(topic.title, id_, self.slugs)
            self.slugs.add(slug.casefold())
            self.births[id_] = Birth("topic", id_, self.history.at, topic.key, topic.title, slug)
            self.add("birth", id_, key=topic.key, name=topic.title, slug=slug)
        elif id_ in ids.retired:
            self.add("revive", id_)
        before = strings(self.history.last_change(id_).get("members"))
        place = {m: n for n, m in enumerate(before)}  # in their former order; new ones come after
        members = sorted(topic.members, key=lambda m: place.get(m, len(place)))
        birth = self.births[id_]
        return TopicMembers(id_, topic, birth.name, birth.slug, tuple(self.articles[m] for m in members))
