"""The keys of the records in append-only files, and which lines of these files cannot be read."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from vault.diagnostic import Diagnostic
from vault.errors import SchemaTooNew
from vault.files.folder import Folder
from vault.log import ledger
from vault.log.events import TAIL, UnknownType, checksum, decode, encode
from vault.log.review_log import BOM, Line, line_events, read_log

_HEAD = b'{"v":1,"id":"'
_ID = len(_HEAD), len(_HEAD) + 26
_REPLIES = "ledger/replies"
_QUOTE = ord('"')


def review_ids(data: bytes) -> list[bytes]:
    """Return the id of each event in a file of the review log, as often as it is there."""
    start, end = _ID
    found = [
        line[start:end]
        for line in io.BytesIO(data)
        if line[-TAIL - 1 :] == b',"crc":"%08x"}\n' % zlib.crc32(line[: -TAIL - 1])
        and line[:start] == _HEAD
        and line[end] == _QUOTE
    ]
    if len(found) == data.count(b"\n"):  # the usual case, four times as fast as the other
        return found
    return [key for key, _ in review_records(data)]


def review_records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (id, line without its end) of each event in a file of the review log, as often as it is there."""
    for line in io.BytesIO(data):
        line = line.rstrip(b"\r\n")
        if line.startswith(_HEAD) and line[_ID[1] : _ID[1] + 1] == b'"' and line[-TAIL:] == checksum(line[:-TAIL]):
            yield line[slice(*_ID)], line
        elif line:  # lines that ran into each other, or that another program wrote
            with suppress(SchemaTooNew):
                for event in line_events(line.removeprefix(BOM), Line("", 0), set(), []):
                    yield event.id.encode(), encode(event)


def line_digests(data: bytes) -> list[bytes]:
    """Return a digest of each line in a file of the ledger that may be an event."""
    lines = (line.strip() for line in io.BytesIO(data))
    return [
        hashlib.blake2b(line, digest_size=8).digest() for line in lines if line.startswith(b"{") and line.endswith(b"}")
    ]


def missing_lines(copy: bytes, present: bytes) -> list[bytes]:
    """Return the lines of the events that are in `copy` and not in `present`, each once."""
    known = set(review_ids(present))
    return [line for key, line in dict(review_records(copy)).items() if key not in known and _is_event(line)]


def _is_event(line: bytes) -> bool:
    """Return whether a line is an event, also one of a later version."""
    try:
        decode(line)
    except ValueError:
        return False
    except (SchemaTooNew, UnknownType):
        return True
    return True


def unreadable_lines(root: Path) -> list[Diagnostic]:
    """Return a finding for each line of the review log and the ledgers that is no record.

    Raises: SchemaTooNew; Refused or Damaged where a file cannot be read at all.
    """
    found = [each for each in read_log(root).diagnostics if each.code in ("log-bad-line", "log-torn-line")]
    replies = sorted(f"{_REPLIES}/{file.name}" for file in (root / _REPLIES).glob("*.jsonl") if file.is_file())
    for path in (ledger.IDS, ledger.DECISIONS, ledger.BUILDS, ledger.EDITS, ledger.NOTES, ledger.QUESTIONS, *replies):
        found += ledger.decode(Folder(root).read(path) or b"", path)[1]
    return found
