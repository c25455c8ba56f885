"""The article of a concept, and its page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from compiler.articles.concepts import Concepts
from compiler.articles.history import merged
from compiler.articles.mentions import mentioned, with_links
from compiler.articles.page import Page, inputs_of
from compiler.articles.sources import Sources
from compiler.concepts.resolve import Resolution, Resolved
from vault.ids import ClaimId, ConceptId, SourceId
from vault.layout import CONCEPTS
from vault.log.ledger import Event
from vault.model.article import ArticleSection, CitedSentence, render_body
from vault.model.claim import ClaimKind
from vault.model.frontmatter import Value, render_generated
from vault.model.wikilink import note_link

RELATED = 8  # concepts that one page lists
TextOf = Callable[[str], str | None]  # vault path -> the text of the file, None if there is none


@dataclass(frozen=True, slots=True)
class Facts:
    """What other pages need of an article's text.

    `digest` is of its body without links to other pages (12 hex digits), `sentences` how many it has, `line` the first
    of them with its citations; `defining` is the claim that defines the concept, "" if the first sentence is no
    definition; `cites` are the claims that it cites, sentence by sentence.
    """

    digest: str
    sentences: int
    line: str
    defining: ClaimId
    cites: tuple[ClaimId, ...]


@dataclass(frozen=True)
class Article:
    """A concept with everything that its page shows; `before` is its last change event of an earlier build.

    `drafted` says that a model wrote it, which put in whole what it wants of listings and formulas; `see` are links to
    pages that it names to go on with. `text` returns its sections, which few ask for.
    """

    concept: Resolved
    facts: Facts
    text: Callable[[], tuple[ArticleSection, ...]]
    places: tuple[SourceId, ...]  # the sources in the order of their numbers
    confidence: str
    tags: tuple[str, ...]
    contested: tuple[ArticleSection, ...]  # where sources disagree
    before: Event
    drafted: bool = False
    see: tuple[str, ...] = ()

    @cached_property
    def sections(self) -> tuple[ArticleSection, ...]:
        """Return the sections in order, without those of contradictions."""
        return self.text()

    @cached_property
    def path(self) -> str:
        """Return the vault path of the page."""
        return f"{CONCEPTS}/{self.concept.slug}.md"

    @cached_property
    def link(self) -> str:
        """Return a link to the page."""
        return note_link(self.path, self.concept.title)

    @cached_property
    def sentences(self) -> list[CitedSentence]:
        """Return the sentences in order, without those of contradictions."""
        return [s for section in self.sections for paragraph in section.paragraphs for s in paragraph]

    def body(self, pages: Mapping[ConceptId, str], concepts: Concepts) -> str:
        """Return the Markdown below the properties. `pages` are the paths of all articles without .md.

        The first mention of another concept with a page is a link; nothing else depends on other articles.
        """
        sections = with_links(self.sections, self.concept, pages, concepts.resolution)
        title, see = self.concept.title, self.see
        return body_of(title, (*sections, *self.contested), see, concepts.sources, drafted=self.drafted)


Articles = Mapping[ConceptId, Article]  # in the order of their titles


def body_of(
    title: str, sections: Sequence[ArticleSection], see: Sequence[str], sources: Sources, *, drafted: bool
) -> str:
    """Return the Markdown of an article's sections below its title."""
    body = render_body(title, sections, sources.pictures if drafted else sources.exhibits)
    return "\n".join([body, "## See also", "", *(f"- {link}" for link in see), ""]) if see else body


def related(article: Article, articles: Articles, resolution: Resolution) -> list[ConceptId]:
    """Return the concepts with an article that this one's claims name most."""
    named: Counter[ConceptId] = Counter()
    for claim in article.concept.main:
        weight = 2 if claim.kind in (ClaimKind.RELATION, ClaimKind.DEFINITION) else 1
        for other in resolution.mentions.get(claim.id, ()):
            if other != article.concept.id and other in articles:
                named[other] += weight
    return sorted(named, key=lambda i: (-named[i], articles[i].concept.title.casefold(), i))[:RELATED]


def prerequisites(article: Article, articles: Articles, resolution: Resolution) -> list[ConceptId]:
    """Return the concepts with an article that this one's definitions name."""
    definitions = [claim.id for claim in article.concept.main if claim.kind is ClaimKind.DEFINITION]
    named = (other for claim in definitions for other in resolution.mentions.get(claim, ()))
    return [other for other in dict.fromkeys(named) if other != article.concept.id and other in articles]


def article_pages(articles: Articles, concepts: Concepts, old_text: TextOf) -> dict[str, Page]:
    """Return each article's page by path. `old_text` gives the pages of the last build."""
    pages = {id_: article.path.removesuffix(".md") for id_, article in articles.items()}
    return {article.path: _page(article, articles, pages, concepts, old_text) for article in articles.values()}


def _page(
    article: Article, articles: Articles, pages: Mapping[ConceptId, str], concepts: Concepts, old_text: TextOf
) -> Page:
    """Return the page of an article."""
    concept, sources, history = article.concept, concepts.sources, concepts.history
    created, updated = history.created(concept.id), history.updated(concept.id)
    links = tuple(sources.link(s) for s in article.places)
    near = tuple(articles[i].link for i in related(article, articles, concepts.resolution))

    def text() -> str:
        old = old_text(article.path)
        before = history.written(concept.id, article.before, old)
        properties: dict[str, Value] = {
            "type": "concept",
            "id": concept.id,
            "title": concept.title,
            "aliases": merged("aliases", concept.aliases, before, old),
            "created": created,
            "updated": updated,
            "confidence": article.confidence,
            "freshness": history.freshness(concept.id, old),
            "sources": links,
            "related": near,
            "tags": merged("tags", article.tags, before, old),
        }
        return render_generated(properties, article.body(pages, concepts), old)

    said: dict[str, list[str]] = {}
    for claim in concept.main:
        said.setdefault(f"claims from {sources.by_id[claim.source].tracked.path}", []).append(claim.words)
    inputs: dict[str, object] = {
        **said,
        "text": article.facts.digest,
        "title": (concept.title, concept.aliases),
        "dates": (created, updated),
        "confidence": article.confidence,
        "sources": links,
        "related concepts": near,
        "linked concepts": [
            (pages[i], concepts.resolution.concepts[i].title, concepts.resolution.concepts[i].aliases)
            for i in mentioned(article.facts.cites, concept.id, pages, concepts.resolution)
        ],
        "freshness": history.rulings.freshness.get(concept.id, ""),
        "tags": article.tags,
    }
    return Page(inputs_of(inputs), text)
