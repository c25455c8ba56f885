"""The catalogue, definitions, adjacency list and chronicle of a build that is laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.articles import indexes
from compiler.articles.layout import Article, Layout
from compiler.claims.gathered import Gathered
from vault.ids import SourceId
from vault.layout import SUMMARIES
from vault.log.ledger import Event
from vault.model.markdown import escape
from vault.model.wikilink import Wikilink, alias, note_link, raw_link


def pages(
    layout: Layout, builds: Sequence[Event], shown_in: Mapping[SourceId, Sequence[tuple[SourceId, str]]]
) -> dict[str, str]:
    """The index pages, by path. `shown_in` says of a picture in `raw/` which sources show it, and with which words."""
    concepts = [_concept(layout, article) for article in layout.articles.values()]
    sources = [_source(layout, g) for g in layout.gathered if g.source is not None]
    kept = [_kept(layout, g, shown_in.get(g.tracked.id, ())) for g in layout.gathered if g.source is None]
    return {
        indexes.INDEX: indexes.render_index(sources, kept, concepts, layout.topics),
        indexes.CONCEPTS: indexes.render_concepts(concepts),
        indexes.GRAPH: indexes.render_graph(concepts),
        indexes.LOG: indexes.render_log(builds, layout.zone),
    }


def _concept(layout: Layout, article: Article) -> indexes.ConceptLine:
    first = article.sections[0].paragraphs[0][0]
    return indexes.ConceptLine(
        article.link,
        article.concept.title,
        article.concept.aliases,
        article.confidence,
        f"{escape(first.text)} {' '.join(map(str, first.cites))}",
        [layout.articles[i].link for i in layout.needs(article)],
        [layout.articles[i].link for i in layout.related(article)],
    )


def _kept(layout: Layout, g: Gathered, shown: Sequence[tuple[SourceId, str]]) -> str:
    """A file that is not read; of a picture also which sources show it, and what they say of it."""
    link = raw_link(g.tracked.path, g.tracked.path.rsplit("/", 1)[-1])
    places = ((note_link(f"{layout.shelf.summaries[id_]}.md", layout.titles[id_]), words) for id_, words in shown)
    return " · ".join([link, *(f"shown in {place}{f' as {alias(words)}' if words else ''}" for place, words in places)])


def _source(layout: Layout, g: Gathered) -> indexes.SourceLine:
    assert g.source is not None
    id_ = g.tracked.id
    more = len(g.tracked.paths) - 1
    notes = [f"also {more} {'copy' if more == 1 else 'copies'}"] if more else []
    copy = layout.kinship.copies.get(id_)
    if copy is not None:
        notes.append(f"{copy.kind} of {Wikilink(layout.shelf.summaries[copy.of], alias=alias(layout.titles[copy.of]))}")
    link = note_link(f"{SUMMARIES}/{g.tracked.slug}.md", layout.titles[id_])
    return indexes.SourceLine(link, g.source.language, len(g.claims), " · ".join(notes))
