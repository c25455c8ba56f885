"""Where a source came from and what it was added for, as the ledger of decisions records it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault.ids import GapId
from vault.log.ledger import Event


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
