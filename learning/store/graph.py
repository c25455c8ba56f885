"""The relations between concepts, as `wiki/_graph.md` lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vault.model.wikilink import Wikilink, links

GRAPH = "wiki/_graph.md"
_LINKS = r"(?:\[\[[^\[\]]*\]\](?:, )?)+"
_ROW = re.compile(
    rf"- (?P<concept>\[\[[^\[\]]*\]\])(?: needs (?P<needs>{_LINKS}))?;?(?: relates to (?P<related>{_LINKS}))?"
)


@dataclass(frozen=True, slots=True)
class Relations:
    """A concept, the concepts that its definition needs, and those that it relates to."""

    concept: Wikilink
    needs: tuple[Wikilink, ...]
    related: tuple[Wikilink, ...]


def relations(graph: bytes) -> Iterator[Relations]:
    """Yield the relations of each concept in the text of `_graph.md`; lines of another form are left out."""
    for line in graph.decode(errors="replace").splitlines():
        row = _ROW.match(line)
        concept = next(links(row["concept"]), None) if row else None
        if row and concept:
            yield Relations(concept, tuple(links(row["needs"] or "")), tuple(links(row["related"] or "")))


def prerequisites(graph: bytes) -> dict[str, set[str]]:
    """Return the concepts that each concept needs, by the stems of their articles."""
    needs: dict[str, set[str]] = {}
    for row in relations(graph):
        if row.needs:
            needs.setdefault(_stem(row.concept), set()).update(map(_stem, row.needs))
    return needs


def importance(graph: bytes) -> dict[str, int]:
    """Return how many other concepts need or mention each concept, by the stem of its article."""
    named: dict[str, set[str]] = {}
    for row in relations(graph):
        for link in (*row.needs, *row.related):
            named.setdefault(_stem(link), set()).add(_stem(row.concept))
    return {concept: len(by - {concept}) for concept, by in named.items()}


def _stem(link: Wikilink) -> str:
    return link.target.rsplit("/", 1)[-1]
