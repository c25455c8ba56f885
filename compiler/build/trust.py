"""How far each source is trusted, and which sources are copies of others: no independent witnesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.build.start import BuildInput
from compiler.claims.extract import Gathered
from compiler.concepts.source_copies import Kinship, kinship
from vault.ids import SourceId
from vault.layout import SUMMARIES
from vault.log.ledger import Event, Ids
from vault.model.frontmatter import read_properties

_LEVELS = (0, 1, 2, 3)
Facts = list[tuple[str, str, str | int]]  # (source, key, value): what the ledger must learn of sources


@dataclass(frozen=True, slots=True)
class Trust:
    """The authority of each source, what is a copy of what, and what the ledgers must learn of both."""

    authority: dict[SourceId, int]
    kinship: Kinship
    facts: Facts
    decisions: list[Event] = field(default_factory=list)


def trust_sources(start: BuildInput, gathered: Sequence[Gathered], ids: Ids) -> Trust:
    """Return how far the sources are trusted, with what users wrote in their summaries since the last build."""
    authority, facts, decisions = _authority(start, gathered, ids)

    def text_of(path: str) -> str | None:
        """Return the text of a summary, "" where it says nothing of copies; None where there is none."""
        if path not in start.before.stamps:
            return start.files.machine_text_of(path)
        return start.files.machine_text_of(path) if _summary(start, path)[1] else ""

    found = kinship(gathered, authority, start.decided, ids, text_of, start.at, start.steps)
    for g in gathered:
        copy_of = found.recorded_origin(g.tracked.id)
        if g.source is not None and copy_of != ids.changed[g.tracked.id].get("copy_of", ""):
            facts.append((g.tracked.id, "copy_of", copy_of))
    return Trust(authority, found, facts, [*decisions, *found.decisions])


def _authority(
    start: BuildInput, gathered: Sequence[Gathered], ids: Ids
) -> tuple[dict[SourceId, int], Facts, list[Event]]:
    """Return the authority of each source: as the user last set it, by `add` or in its summary; else 1, for a chat 0.

    What was set for a path holds for the source, wherever its file has moved since.
    """
    owner = {str(e.get("key")): str(e.get("id")) for e in start.id_events if e.get("of") == "source" and "key" in e}
    owner |= {path: g.tracked.id for g in gathered for path in g.tracked.paths}
    settings = [e for e in start.decided if e.get("type") == "authority" and e.get("authority") in _LEVELS]
    given = {str(e.get("source") or owner.get(str(e.get("path")))): int(e["authority"]) for e in settings}
    usual = {str(g.tracked.id): _usual_authority(g) for g in gathered}
    facts: Facts = []
    decisions: list[Event] = []
    for g in gathered:
        id_ = g.tracked.id
        last = ids.changed.get(id_, {}).get("authority", usual[id_])
        written = _summary(start, f"{SUMMARIES}/{g.tracked.slug}.md")[0] if g.source is not None else ""
        if written in map(str, _LEVELS) and int(written) != last:
            given[id_] = int(written)
            event: Event = {"v": 1, "type": "authority", "source": id_, "authority": given[id_]}
            decisions.append(event | {"at": start.at, "via": "summary"})
        if given.get(id_, usual[id_]) != last:
            facts.append((id_, "authority", given.get(id_, usual[id_])))
    return {SourceId(id_): authority for id_, authority in (usual | given).items()}, facts, decisions


def _summary(start: BuildInput, path: str) -> tuple[str, bool]:
    """Return the authority that a summary gives its source, and whether it may say something of copies."""

    def facts(text: str) -> tuple[str, bool]:
        properties = read_properties(text)
        return properties.text("authority"), bool(properties.problems) or "copy_of" in properties.values

    authority, of_copies = start.files.fact("summary-properties", path, facts)
    return authority, of_copies


def _usual_authority(g: Gathered) -> int:
    """Return how far a source is trusted of which the user said nothing: what a machine said in a chat is hearsay."""
    return 0 if g.source is not None and g.source.reader.startswith("chat/") else 1
