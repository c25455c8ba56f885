"""What an agent's page rests on, as code computes it from the summaries: its sources' links, and its confidence."""

from __future__ import annotations

from compiler.agent_overlay import LinkOf, summaries_of
from compiler.agent_world import World
from compiler.layout import confidence
from vault.ids import SourceId
from vault.wikilink import Wikilink, alias, links


def source_link(world: World) -> LinkOf:
    """How a page lists a source: a link to its summary."""

    def link(stem: str) -> str:
        return str(Wikilink(stem, alias=alias(world.title(stem) or stem.rsplit("/", 1)[-1])))

    return link


def confidence_of(body: str, world: World) -> str:
    """The base confidence of what a body's citations rest on: a copy counts as one with its original."""
    trust: dict[SourceId, int] = {}
    for stem in summaries_of(body):
        origin, authority = _origin(stem, world)
        trust[origin] = max(trust.get(origin, 0), authority)
    return confidence(set(trust), trust, "agent/")


def _origin(stem: str, world: World) -> tuple[SourceId, int]:
    """The source that is not a copy of another, and how far the one at `stem` is trusted."""
    summary = world.summary(stem)
    if summary is None:
        return SourceId(stem), 0
    authority = summary.properties.text("authority")
    told = next(links(summary.properties.text("copy_of")), None)
    original = world.summary(told.target) if told is not None else None
    id_ = (original or summary).properties.text("id")
    return SourceId(id_), int(authority) if authority in ("0", "1", "2", "3") else 1
