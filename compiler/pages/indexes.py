"""The wiki's generated index pages: catalogue, definitions, relations between concepts, log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from compiler.articles.article import Article, Articles, prerequisites, related
from compiler.articles.concepts import Concepts
from compiler.articles.sources import Sources
from compiler.articles.writer import Writer
from compiler.claims.extract import Gathered
from compiler.concepts.resolve import Resolution
from vault.ids import SourceId
from vault.log.entries import entries_in
from vault.log.ledger import Event, day_of
from vault.model.article import CitedSentence, render_sentence
from vault.model.frontmatter import read_properties, render_note
from vault.model.markdown import escape
from vault.model.wikilink import Citation, Wikilink, alias, note_link, raw_link
from vault.text.formatting import clean_line

INDEX, CONCEPTS, GRAPH, LOG = "wiki/_index.md", "wiki/_concepts.md", "wiki/_graph.md", "wiki/_log.md"


@dataclass(frozen=True, slots=True)
class ConceptLine:
    """One concept in the catalogue, with its first sentence and its edges as links."""

    link: str
    aliases: Sequence[str]
    confidence: str
    definition: str
    needs: Sequence[str]
    related: Sequence[str]


def index_pages(
    articles: Articles,
    concepts: Concepts,
    topics: Sequence[str],
    builds: Sequence[Event],
    shown_in: Mapping[SourceId, Sequence[tuple[SourceId, str]]],
    terms: Sequence[str],
    answers: Sequence[str] = (),
) -> dict[str, str]:
    """Return the index pages by path.

    `topics` and `answers` are their lines in the catalogue, `terms` those of the glossary. `shown_in` says for a
    picture in `raw/` which sources show it, and with which words.
    """
    sources = concepts.sources
    lines = [_concept_line(article, articles, concepts.resolution) for article in articles.values()]
    read = [_source_line(g, sources) for g in sources.gathered if g.source is not None]
    recorded = [_recorded(g, sources, shown_in.get(g.tracked.id, ())) for g in sources.gathered if g.source is None]
    return {
        INDEX: render_index(read, recorded, lines, topics, answers),
        CONCEPTS: render_concepts(lines, terms),
        GRAPH: render_graph(lines),
        LOG: render_log(builds, concepts.history.zone),
    }


def glossary(writer: Writer, concepts: Concepts) -> list[str]:
    """Return the lines of the terms that a model gave no article, by title.

    The numbers of their citations are those of the sources.
    """
    sources = concepts.sources
    number = {g.tracked.id: n for n, g in enumerate(sources.gathered, 1)}
    drafted = writer.consulted.drafts.lines if writer.consulted is not None else ()
    lines = []
    for group, line in sorted(drafted, key=lambda each: each[0].title.casefold()):
        claims = [sources.claims[c] for c in writer.cites(line.quotes)]
        cites = tuple(Citation(sources.summaries[c.source], c.id, number[c.source]) for c in claims)
        if cites:
            definition = render_sentence(CitedSentence(line.text, cites))
            lines.append(f"**{escape(clean_line(group.title))}**{_also(group.aliases)}: {definition}")
    return lines


def answer_line(path: str, text: str) -> str:
    """Return what the index says of the page of an answer."""
    properties = read_properties(text)
    title = clean_line(properties.text("title")) or path.rpartition("/")[2][:-3]
    said = (clean_line(properties.text(key)) for key in ("type", "confidence"))
    return " · ".join(filter(None, (note_link(path, title), *map(escape, said))))


def _concept_line(article: Article, articles: Articles, resolution: Resolution) -> ConceptLine:
    """Return what the indexes say of a concept."""
    return ConceptLine(
        article.link,
        article.concept.aliases,
        article.confidence,
        article.facts.line,
        [articles[i].link for i in prerequisites(article, articles, resolution)],
        [articles[i].link for i in related(article, articles, resolution)],
    )


def _recorded(g: Gathered, sources: Sources, shown: Sequence[tuple[SourceId, str]]) -> str:
    """Return the line of a file that is not read; for a picture also which sources show it and what they call it."""
    link = raw_link(g.tracked.path, g.tracked.path.rsplit("/", 1)[-1], depth=1)
    places = ((sources.link(id_), words) for id_, words in shown)
    return " · ".join([link, *(f"shown in {place}{f' as {alias(words)}' if words else ''}" for place, words in places)])


def _source_line(g: Gathered, sources: Sources) -> str:
    """Return what the index says of a source that was read."""
    assert g.source is not None, "only sources that were read have a summary"
    id_ = g.tracked.id
    more = len(g.tracked.paths) - 1
    notes = [f"also {more} {'copy' if more == 1 else 'copies'}"] if more else []
    copy = sources.kinship.copies.get(id_)
    if copy is not None:
        notes.append(f"{copy.kind} of {Wikilink(sources.summaries[copy.of], alias=alias(sources.titles[copy.of]))}")
    return " · ".join(filter(None, (sources.link(id_), counted(len(g.claims), "claim"), g.source.language, *notes)))


def render_index(
    sources: Sequence[str],
    recorded: Sequence[str],
    concepts: Sequence[ConceptLine],
    topics: Sequence[str] = (),
    answers: Sequence[str] = (),
) -> str:
    """Return `_index.md`: every topic, concept, answer and summary, and the files that are kept but not read."""
    parts = ["# Index"]
    if topics:
        parts.append(f"## Topics ({len(topics)})")
        parts.append("\n".join(f"- {line}" for line in topics))
    parts.append(f"## Concepts ({len(concepts)})")
    parts.append("\n".join(f"- {c.link} · {c.confidence}" for c in concepts) or "None yet.")
    if answers:
        parts += [f"## Answers ({len(answers)})", "\n".join(f"- {line}" for line in answers)]
    parts.append(f"## Sources ({len(sources)})")
    parts.append("\n".join(f"- {line}" for line in sources) or "None yet.")
    if recorded:
        parts += [f"## Stored but not read ({len(recorded)})", "\n".join(f"- {link}" for link in recorded)]
    return _page("index", parts)


def render_concepts(concepts: Sequence[ConceptLine], terms: Sequence[str] = ()) -> str:
    """Return `_concepts.md`: each concept with its other names and the sentence that says what it is.

    Terms of which the sources say no more than a line come last.
    """
    lines = [f"- {c.link}{_also(c.aliases)}" + (f": {c.definition}" if c.definition else "") for c in concepts]
    parts = ["# Concepts", "\n".join(lines) or "None yet."]
    if terms:
        parts += ["## Glossary", "\n".join(f"- {line}" for line in terms)]
    return _page("concepts", parts)


def _also(names: Sequence[str]) -> str:
    """Return other names in brackets; "" if there are none."""
    return f" (also {', '.join(escape(clean_line(a)) for a in names)})" if names else ""


def render_graph(concepts: Sequence[ConceptLine]) -> str:
    """Return `_graph.md`: what each concept's definition needs and what it relates to; no speculative ones."""
    lines = []
    for c in concepts:
        if c.confidence == "speculative":
            continue
        edges = [f"needs {', '.join(c.needs)}"] if c.needs else []
        edges += [f"relates to {', '.join(c.related)}"] if c.related else []
        lines.append(f"- {c.link}" + (f" {'; '.join(edges)}" if edges else ""))
    return _page("graph", ["# Graph", "\n".join(lines) or "None yet."])


def render_log(builds: Sequence[Event], zone: ZoneInfo) -> str:
    """Return `_log.md`: one heading an entry, newest last, so that `grep '^## \\['` lists them."""
    parts = ["# Log"]
    for entry in entries_in(builds):
        day = day_of(entry.at, zone)
        parts.append(f"## [{day}] {entry.kind} | {escape(entry.title)}")
    return _page("log", parts)


def _page(kind: str, parts: Sequence[str]) -> str:
    """Return a generated page."""
    return render_note({"type": kind}, "\n" + "\n\n".join(parts) + "\n")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural if need be."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
