"""The terms that have a line of the glossary and no article."""

from __future__ import annotations

from compiler.articles.concepts import Concepts
from compiler.articles.indexes import GlossaryLine
from compiler.articles.writer import Writer
from vault.model.article import CitedSentence, render_sentence
from vault.model.wikilink import Citation


def glossary(writer: Writer, concepts: Concepts) -> list[GlossaryLine]:
    """Return the terms that a model gave a line, by title. The numbers of their citations are those of the sources."""
    if writer.consulted is None:
        return []
    sources = concepts.sources
    number = {g.tracked.id: n for n, g in enumerate(sources.gathered, 1)}
    lines = []
    for group, line in writer.consulted.drafts.lines:
        claims = [sources.claims[c] for c in writer.cites(line.quotes)]
        cites = tuple(Citation(sources.summaries[c.source], c.id, number[c.source]) for c in claims)
        if cites:
            lines.append(
                GlossaryLine(group.title, tuple(group.aliases), render_sentence(CitedSentence(line.text, cites)))
            )
    return sorted(lines, key=lambda each: each.title.casefold())
