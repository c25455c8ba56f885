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

_EDITS = ".retain/card-edits.jsonl"
_UNDATED = 1  # the Unix second of what has no date: before everything that has one
_INVALID = (ValueError, TypeError, KeyError, OverflowError, OSError)
_Facts = tuple[str, int, dict[str, object]]  # type, Unix second and further facts of an event on a note


def older_lines(folder: Folder, log: str, vault_id: str) -> bytes:
    """Return the lines for `log` (EDITS or NOTES) of files that older versions left; always the same for a file."""
    return b"".join(_read(folder, path, vault_id)[1] for path in _LOG_OF if _LOG_OF[path] == log)


def move_older_files(guard: Guard, vault_id: str, *, dry_run: bool = False) -> dict[str, str]:
    """Append the lines of older files to their logs and delete the files; return the log of each.

    A file with anything unreadable stays, too. Can be repeated after it was interrupted. Raises: WriteFailed, Refused.
    """
    moved = {}
    for path, log in _LOG_OF.items():
        data, lines, is_whole = _read(guard, path, vault_id)
        known = {b"", *(guard.read(log) or b"").split(b"\n")} if lines else set[bytes]()
        new = [line + b"\n" for line in lines.split(b"\n") if line and line not in known]
        if new or (lines and is_whole):
            moved[path] = log
        if new and not dry_run:
            guard.append(log, b"".join(new))
        if lines and is_whole and not dry_run:
            guard.remove(path, expect=sha256_hex(data))
    return moved


def _read(folder: Folder, path: str, vault_id: str) -> tuple[bytes, bytes, bool]:
    """Return the bytes of the file, the lines that it holds, and whether these are all that is in it."""
    data = b""
    with suppress(Refused):  # a link or a folder: not ours
        data = folder.read(path) or b""
    events = list(_edits(data) if path == _EDITS else _notes(data, vault_id, _READERS[path]))
    return data, b"".join(encode(event) for event in events if event is not None), None not in events


def _edits(data: bytes) -> Iterator[Event | None]:
    """Yield the edits of cards, a JSON object a line, which had no dates: their milliseconds count them.

    None stands for a line that cannot be read.
    """
    for number, line in enumerate(data.split(b"\n"), 1):
        edit = _entries(line)
        if {"card", "path", "before", "after"} <= edit.keys():
            at = instant(datetime.fromtimestamp(number / 1000, UTC))
            yield {"v": 1, "type": "edit", "at": at, **{key: edit[key] for key in ("card", "path", "before", "after")}}
        elif line.strip():
            yield None


def _notes(data: bytes, vault_id: str, read: Callable[[Any], list[_Facts]]) -> Iterator[Event | None]:
    """Yield events on notes from a JSON object by card. Under "vault" it may name another vault: then none count.

    None stands for an entry that cannot be read.
    """
    entries = _entries(data)
    if not str(entries.pop("vault", vault_digest(vault_id))).endswith(vault_digest(vault_id)):
        return
    for card, value in entries.items():
        try:
            yield from [note_event(vault_id, type_, card, second, **facts) for type_, second, facts in read(value)]
        except _INVALID:
            yield None


def _entries(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`; an empty one if it is damaged."""
    try:
        found = json.loads(data or b"{}")
        json.dumps(found, ensure_ascii=False).encode()  # no half characters
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _exported(value: Any) -> list[_Facts]:
    """Return what exports gave out: digest, Unix second, number in the package, and digests of its fields."""
    digest, second, _, *fields = map(str, value)
    older: list[_Facts] = [("export", _UNDATED, {"note": "", "fields": each}) for each in fields[:-1]]
    return [*older, ("export", int(second), {"note": digest, "fields": "".join(fields[-1:])})]


def _created(value: Any) -> list[_Facts]:
    """Return a note that a sync created by itself: its number and GUID."""
    number, guid = value
    return [("create", _UNDATED, {"number": int(number), "guid": str(guid)})]


_READERS: dict[str, Callable[[Any], list[_Facts]]] = {
    ".retain/anki.json": _exported,
    ".retain/anki-sync.json": lambda value: [("sync", _UNDATED, {"note": "", "fields": str(value)})],
    ".retain/anki-notes.json": _created,
    ".retain/anki-heard.json": lambda value: [("suspension", int(value), {})],  # the second of the last one imported
}
_LOG_OF = {_EDITS: EDITS, **dict.fromkeys(_READERS, NOTES)}
