"""What an agent's page rests on, as code computes it from the summaries: its sources' links, and its confidence."""

from __future__ import annotations

from compiler.agent_overlay import LinkOf, summaries_of
from compiler.agent_world import World
from compiler.layout import confidence
from vault.ids import SourceId
from vault.note import read_properties
from vault.store import SUMMARIES
from vault.wikilink import Wikilink, alias, links


def source_link(world: World) -> LinkOf:
    """How a page lists a source: a link to its summary."""

    def link(stem: str) -> str:
        return str(Wikilink(stem, alias=alias(world.title(stem) or stem.rsplit("/", 1)[-1])))

    return link


def machine_sources(world: World, text: str) -> tuple[str, ...]:
    """The `sources` of a page as the machine alone would list them, by the ledger: what stands in the page may be
    less, where a human took an entry out, or more, where an agent before this one cited what this one does not.
    """
    properties = read_properties(text)
    listed = properties.texts("sources")
    known = world.ids.changed.get(properties.text("id"), {}).get("sources")
    if not isinstance(known, list):
        return listed
    link = source_link(world)
    there = {found.target: entry for entry in listed for found in links(entry)}

    def entry(id_: str) -> str:
        birth = world.ids.births.get(id_)
        stem = f"{SUMMARIES}/{birth.slug}" if birth is not None else ""
        if world.ids.alive(id_) and world.text(f"{stem}.md") is not None:
            return there.get(stem) or link(stem)
        return f"{world.ids.present_key.get(id_, id_)} (gone)"

    return tuple(entry(str(id_)) for id_ in known)


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
