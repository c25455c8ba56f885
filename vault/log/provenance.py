"""Where a source came from and what it was added for, as the ledger of decisions records it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault.ids import GapId, SourceId
from vault.log.ledger import Event, ordered


@dataclass(frozen=True, slots=True)
class Origin:
    """A file of `raw/` that was fetched: `asked` is the address that the user gave, `address` where it led.

    `digest` tells one state of the document from another: of a page, its words; of a file, its bytes.
    """

    path: str
    address: str
    asked: str
    digest: str
    at: str  # instant


def origin_event(origin: Origin) -> Event:
    """Return the ledger event of a fetched file."""
    fields = {"path": origin.path, "address": origin.address, "asked": origin.asked, "digest": origin.digest}
    return {"v": 1, "type": "origin", **fields, "at": origin.at}


def origins_in(events: Iterable[Event]) -> list[Origin]:
    """Return all fetched files, in the order of `events`; other events are left out."""
    found = []
    for event in events:
        fields = [event.get(key) for key in ("path", "address", "asked", "digest", "at")]
        if event.get("type") == "origin" and all(isinstance(value, str) for value in fields):
            found.append(Origin(*map(str, fields)))
    return found


def added_event(paths: Sequence[str], at: str) -> Event:
    """Return the ledger event of files that a user copied into `raw/` with one command."""
    return {"v": 1, "type": "added", "paths": list(paths), "at": at}


def arrivals_in(events: Iterable[Event]) -> dict[str, str]:
    """Return the first instant that the ledger gives for each file of `raw/`, by vault path."""
    found: dict[str, str] = {}
    for event in events:
        paths = event.get("paths") if event.get("type") == "added" else [event.get("path")]
        if event.get("type") in ("added", "origin") and isinstance(paths, list):
            at = str(event.get("at"))
            found |= {path: min(at, found.get(path, at)) for path in paths if isinstance(path, str)}
    return found


def current_event(source: SourceId, path: str, at: str) -> Event:
    """Return the ledger event by which the user says that a source still holds as it is."""
    return {"v": 1, "type": "current", "source": source, "path": path, "at": at, "via": "cli"}


def looked_at(id_events: Iterable[Event], decided: Iterable[Event]) -> dict[SourceId, str]:
    """Return for each source the last instant at which it came, had other bytes, or was confirmed by the user.

    Events come in any order. The dates of files do not count: a clone or a copy has none of them.
    """
    found: dict[SourceId, str] = {}
    digests: dict[SourceId, object] = {}
    for event in ordered(event for event in id_events if event.get("of") == "source"):
        id_, digest = SourceId(str(event.get("id"))), event.get("digest")
        is_new = event["type"] in ("birth", "revive") or (event["type"] == "change" and digest != digests.get(id_))
        if is_new:
            found[id_] = str(event["at"])
        if digest is not None:
            digests[id_] = digest
    for event in decided:
        source = SourceId(str(event.get("source")))
        if event["type"] == "current" and source in found:
            found[source] = max(found[source], str(event["at"]))
    return found


def fills_event(gap: GapId, path: str, at: str) -> Event:
    """Return the ledger event of a file that was added to fill a gap."""
    return {"v": 1, "type": "fills", "gap": gap, "path": path, "at": at}


def fills_in(events: Iterable[Event]) -> dict[GapId, tuple[str, ...]]:
    """Return for each gap the files of `raw/` that were added to fill it, in the order of `events`."""
    found: dict[GapId, dict[str, None]] = {}
    for event in events:
        gap, path = event.get("gap"), event.get("path")
        if event.get("type") == "fills" and isinstance(gap, str) and isinstance(path, str):
            found.setdefault(GapId(gap), {})[path] = None
    return {gap: tuple(paths) for gap, paths in found.items()}
