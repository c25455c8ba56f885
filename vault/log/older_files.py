"""Files of `.retain/` in which older versions kept what must last, as lines of the logs that hold it now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from vault.errors import Refused
from vault.files.folder import Folder
from vault.files.guard import Guard, sha256_hex
from vault.ids import vault_digest
from vault.log.ledger import EDITS, NOTES, Event, encode, instant, note_event

_UNDATED = 1  # the Unix second of what has no date: before everything that has one
_INVALID = (ValueError, TypeError, KeyError, AttributeError, OverflowError, OSError, RecursionError)
_Reader = Callable[[bytes, str], Iterator[Event]]


def older_lines(folder: Folder, log: str, vault_id: str) -> bytes:
    """Return the lines for `log` (EDITS or NOTES) of files that older versions left; always the same for a file."""
    return b"".join(lines for path, reader in _FILES[log].items() for _, lines in _read(folder, path, reader, vault_id))


def move_older_files(guard: Guard, vault_id: str, *, dry_run: bool = False) -> dict[str, str]:
    """Append the lines of older files to their logs and delete the files; return the log of each.

    A file that holds nothing readable stays. Can be repeated after it was interrupted. Raises: WriteFailed, Refused.
    """
    moved = {}
    for log, readers in _FILES.items():
        for path, reader in readers.items():
            for data, lines in _read(guard, path, reader, vault_id):
                moved[path] = log
                if dry_run:
                    continue
                known = set((guard.read(log) or b"").split(b"\n"))
                if new := [line + b"\n" for line in lines.split(b"\n") if line not in known and line]:
                    guard.append(log, b"".join(new))
                guard.remove(path, expect=sha256_hex(data))
    return moved


def _read(folder: Folder, path: str, reader: _Reader, vault_id: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the bytes of the file and the lines that it holds, unless these are none."""
    with suppress(Refused):  # a link or a folder: not ours
        data = folder.read(path) or b""
        if lines := b"".join(_encoded(reader(data, vault_id))):
            yield data, lines


def _encoded(events: Iterator[Event]) -> Iterator[bytes]:
    for event in events:
        with suppress(UnicodeEncodeError):  # half a character
            yield encode(event)


def _entries(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`; an empty one if it is damaged."""
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _exported(data: bytes, vault_id: str) -> Iterator[Event]:
    """Yield what exports gave out: {card: [digest, Unix second, number in the package, *digests of its fields]}."""
    for card, value in _entries(data).items():
        with suppress(*_INVALID):
            digest, second, _, *fields = value
            last = str(fields[-1]) if fields else ""
            yield note_event(vault_id, "export", card, int(second), note=str(digest), fields=last)
            for each in fields[:-1]:
                yield note_event(vault_id, "export", card, _UNDATED, note="", fields=str(each))


def _synced(data: bytes, vault_id: str) -> Iterator[Event]:
    """Yield what a sync sent: {card: digest of its fields}, and under "vault" the tag of the vault."""
    entries = _entries(data)
    tag = entries.pop("vault", None)
    if tag is None or str(tag).endswith(vault_digest(vault_id)):
        for card, fields in entries.items():
            yield note_event(vault_id, "sync", card, _UNDATED, note="", fields=str(fields))


def _created(data: bytes, vault_id: str) -> Iterator[Event]:
    """Yield the notes that a sync created one by one: {card: [number, GUID]}."""
    for card, value in _entries(data).items():
        with suppress(*_INVALID):
            number, guid = value
            yield note_event(vault_id, "create", card, _UNDATED, number=int(number), guid=str(guid))


def _suspensions(data: bytes, vault_id: str) -> Iterator[Event]:
    """Yield when a card's suspension in Anki was last imported: {card: Unix second}."""
    for card, second in _entries(data).items():
        with suppress(*_INVALID):
            yield note_event(vault_id, "suspension", card, int(second))


def _edits(data: bytes, _: str) -> Iterator[Event]:
    """Yield the edits of cards, a JSON object a line, which had no dates: their milliseconds count them."""
    for number, line in enumerate(data.split(b"\n"), 1):
        edit = _entries(line)
        if {"card", "path", "before", "after"} <= edit.keys():
            kept = {key: edit[key] for key in ("card", "path", "before", "after")}
            yield {"v": 1, "type": "edit", "at": instant(datetime.fromtimestamp(number / 1000, UTC)), **kept}


_FILES: dict[str, dict[str, _Reader]] = {
    EDITS: {".retain/card-edits.jsonl": _edits},
    NOTES: {
        ".retain/anki.json": _exported,
        ".retain/anki-sync.json": _synced,
        ".retain/anki-notes.json": _created,
        ".retain/anki-heard.json": _suspensions,
    },
}
