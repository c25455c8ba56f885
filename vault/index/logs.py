"""The append-only files as they were seen last, so that it is noticed when they have lost records since.

Each ledger counts by itself. The files of the review log count together, as one may get another name and a merge may
mix the lines of two; and so do the stored replies. Of each file the index has its stamp, how far it was read and a
checksum of the bytes before that; of what counts together, the number of its records, the sum of their keys' checksums,
and the last record. A file is read only if its stamp changed; one that has only grown, from where its last lines were.
Where the index is new, or the figures leave a doubt, the newest copy of the review log says what was known. What is
gone is reported until it is back or accepted.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date

from vault.diagnostic import Diagnostic
from vault.errors import Refused, RetainError
from vault.files.folder import Folder
from vault.files.write_scopes import is_within
from vault.index import stamps
from vault.index.database import Database, IndexDamaged
from vault.index.log_rows import Known, Seen, remember, remembered
from vault.index.stamps import Stamp
from vault.log.copies import Copies
from vault.log.ledger import BUILDS, DECISIONS, EDITS, IDS, QUESTIONS
from vault.log.records import line_digests, missing_lines, review_ids
from vault.log.review_log import FOLDER, NAME, log_files, shown_path
from vault.vault import Vault

CODE = "records-lost"
_TAIL = 4096  # bytes before the end that are compared, before a file counts as grown


@dataclass(frozen=True, slots=True)
class _Kind:
    """Append-only files that count together: their folder, which they are, the keys of their records, and a name."""

    folder: str
    file: re.Pattern[str]
    keys: Callable[[bytes], list[bytes]]
    name: str  # in the index
    usual: str  # the path to name where none is known


_LINES = re.compile(r"[^.].*\.jsonl", re.DOTALL)
_NO_TEXT = re.compile("[\ud800-\udfff]")  # in names that are no UTF-8, which nothing here reads
_REVIEWS = _Kind(FOLDER, NAME, review_ids, FOLDER, "learning/reviews.jsonl")


def _ledger(path: str) -> _Kind:
    """Return the ledger at a path, which counts by itself."""
    folder, _, name = path.rpartition("/")
    return _Kind(folder, re.compile(re.escape(name)), line_digests, path, path)


_KINDS = (
    _REVIEWS,
    *map(_ledger, (IDS, DECISIONS, BUILDS, EDITS, QUESTIONS)),
    _Kind("ledger/replies", _LINES, line_digests, "ledger/replies", "ledger/replies"),
)


def lost_records(vault: Vault, database: Database, *, thorough: bool = False) -> list[Diagnostic]:
    """Return a finding for the review log and each ledger that has lost records since it was seen last.

    Also for one that cannot be read, as nobody knows then. Remembers what is there now. With `thorough` the files are
    read whatever their stamps are. Raises: IndexDamaged.
    """
    copies = Copies(vault.root, vault.settings.vault_id)
    found = []
    for kind in _KINDS:
        try:
            known = _checked(vault, database, kind, copies, thorough=thorough)
        except IndexDamaged:
            raise
        except (RetainError, OSError) as error:
            what = f"cannot tell whether records are missing: {error.what if isinstance(error, RetainError) else error}"
            found.append(Diagnostic(getattr(error, "where", "") or kind.usual, 0, CODE, what, "make it readable"))
            continue
        if known.lost:
            found.append(_finding(kind, known, bool(copies.listed() or copies.listed(elsewhere=True))))
    return found


def accept(vault: Vault, database: Database) -> None:
    """Remember the append-only files as they are now, whatever they have lost.

    Raises: IndexDamaged; OSError, Refused or Damaged where a file cannot be read.
    """
    for kind in _KINDS:
        read = _read(vault, kind, _stamps(vault, kind))
        remember(database, _key(vault, kind), _figures(read.keys, read.last), read.files)


def save_copy(vault: Vault, database: Database, day: date) -> None:
    """Write a copy of the review log; while it lacks records, with those that the copy before has, or none if there
    is no such copy.

    A failure is remembered, for `copy_failure`. Raises: IndexDamaged.
    """
    failure = ""
    try:
        copies = Copies(vault.root, vault.settings.vault_id)
        if any(is_within(copies.folder, folder, on_disk=True) for folder in (vault.root, *vault.kept_out())):
            raise Refused(
                "the data folder is inside a vault, so copies there would not be safe",
                hint="set XDG_DATA_HOME to a folder outside the vault",
            )
        present = b"".join(data if data.endswith(b"\n") else data + b"\n" for _, data in log_files(vault.root) if data)
        known, _ = remembered(database, _key(vault, _REVIEWS))
        is_lacking = known is not None and known.lost > 0
        lost = missing_lines(copies.newest(), present) if is_lacking else []
        if lost or not is_lacking:
            lines = present + b"".join(line + b"\n" for line in lost)
            copies.write(day, lines, len(set(review_ids(lines))))
    except (RetainError, OSError) as error:
        failure = str(error)
    with database.transaction():
        database.run("DELETE FROM log_copy")
        database.run("INSERT INTO log_copy VALUES(?)", (failure,))


def is_copy_due(vault: Vault, database: Database, day: date) -> bool:
    """Return whether the review log has events that no copy has, and there is none of `day`. Raises: IndexDamaged."""
    copies = Copies(vault.root, vault.settings.vault_id).listed()
    known, _ = remembered(database, _key(vault, _REVIEWS))
    if known is None or not known.count or any(copy.day == day for copy in copies):
        return False
    return not copies or copies[-1].events != known.count


def copy_failure(database: Database) -> str:
    """Return why the last copy of the review log could not be written; "" if it could. Raises: IndexDamaged."""
    found = database.one("SELECT failure FROM log_copy")
    return str(found[0]) if found else ""


def _key(vault: Vault, kind: _Kind) -> str:
    """Return the name of files in the index, which in a cache folder may be of another vault."""
    return f"{vault.settings.vault_id}/{kind.name}"


# --- what is there, and what was known ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Read:
    """What the files of a folder hold: the keys of all records, the last of them, and the files with zero bytes."""

    files: Mapping[str, Seen]
    keys: set[bytes]
    last: int
    zeroed: frozenset[str]


def _checked(vault: Vault, database: Database, kind: _Kind, copies: Copies, *, thorough: bool) -> Known:
    """Return what is known of a folder, after a look at its files."""
    key = _key(vault, kind)
    known, seen = remembered(database, key)  # before the stamps: another process may remember more meanwhile
    found = _stamps(vault, kind)
    if known is not None and not thorough:
        if {name: each.stamp for name, each in seen.items()} == found:
            return known
        grown = _grown(vault, kind, known, seen, found)
        if grown is not None:
            remember(database, key, *grown)
            return grown[0]
    read = _read(vault, kind, found)
    now = _compared(known, read, copies if kind is _REVIEWS else None)
    if now.lost > (0 if known is None else known.lost):
        path, how = _what_happened(kind, seen, read)
        now = replace(now, path=path, how=how)
    remember(database, key, now, read.files)
    return now


def _compared(known: Known | None, read: _Read, copies: Copies | None) -> Known:
    """Return what is known with what was read, and how many of the known records are not there."""
    now = _figures(read.keys, read.last)
    if known is not None and known.lost and copies is not None:  # ids of reviews grow with time
        known = _with(known, [key for key in read.keys if key > known.newest])
    if known is not None and (now.count, now.total) == (known.count, known.total):
        return now
    copied = set(review_ids(copies.newest())) if copies is not None else set[bytes]()
    gone = len(copied - read.keys)
    if known is None:
        return replace(_figures(read.keys | copied, read.last), lost=gone)
    fewer = known.count - now.count
    is_last_gone = known.count > 0 and known.last not in set(map(zlib.crc32, read.keys))
    lost = max(gone, fewer, int(is_last_gone or fewer == 0))
    return replace(known, lost=lost, more=lost != fewer) if lost > 0 else now


def _figures(keys: set[bytes], last: int) -> Known:
    """Return what is remembered of records with these keys."""
    return Known(*_sums(keys), last, max(keys, default=b""))


def _sums(keys: Collection[bytes]) -> tuple[int, int]:
    """Return the number of keys, and the sum of their checksums."""
    return len(keys), sum(map(zlib.crc32, keys))


def _read(vault: Vault, kind: _Kind, found: Mapping[str, Stamp]) -> _Read:
    """Return what all files of a folder hold, as far as their stamps say."""
    files, keys, zeroed = dict[str, Seen](), set[bytes](), set[str]()
    last = b""
    for name, stamp in sorted(found.items(), key=lambda each: each[1][1]):
        data = (vault.read_bytes(f"{kind.folder}/{name}") or b"")[: stamp[0]]
        found_keys = kind.keys(data)
        keys.update(found_keys)
        last = found_keys[-1] if found_keys else last
        files[name] = _seen(stamp, data, 0)
        if b"\0" in data:
            zeroed.add(name)
    return _Read(files, keys, zlib.crc32(last), frozenset(zeroed))


def _grown(
    vault: Vault, kind: _Kind, known: Known, seen: Mapping[str, Seen], found: Mapping[str, Stamp]
) -> tuple[Known, Mapping[str, Seen]] | None:
    """Return what is known where files have only got new records; None where all that they hold has to be compared.

    While records are missing, what is known grows with the new ones, so that these are not taken for the missing.
    """
    if seen.keys() != found.keys():
        return None
    files, added = dict(seen), list[bytes]()
    for name, stamp in found.items():
        old = seen[name]
        if stamp == old.stamp:
            continue
        start = max(0, old.read - _TAIL)
        data = b""
        if stamp[0] > old.stamp[0] and stamp[2] == old.stamp[2]:
            data = (Folder(vault.root).read(f"{kind.folder}/{name}", start) or b"")[: stamp[0] - start]
        if not data or zlib.crc32(data[: old.read - start]) != old.tail:
            return None
        added += kind.keys(data[old.read - start :])
        files[name] = _seen(stamp, data, start)
    new = set(added)
    if kind is _REVIEWS:
        if added and (len(new) < len(added) or min(new) <= known.newest):
            return None  # a record may have been there before
    elif added:
        before = _before(vault, kind, seen)
        new -= before
        there = before | new if known.lost else before
        if (_sums(there) == (known.count, known.total)) is bool(known.lost):
            return None  # the missing ones have come back; or others are missing
    if new:
        known = _with(known, new)
        known = known if known.lost else replace(known, last=zlib.crc32(added[-1]))
    return known, files


def _before(vault: Vault, kind: _Kind, seen: Mapping[str, Seen]) -> set[bytes]:
    """Return the keys of the records that the files of a folder held when they were read last."""
    texts = ((vault.read_bytes(f"{kind.folder}/{name}") or b"")[: each.read] for name, each in seen.items())
    return {key for text in texts for key in kind.keys(text)}


def _with(known: Known, new: Collection[bytes]) -> Known:
    """Return what is known once there are new records with these keys."""
    count, total = _sums(new)
    newest = max([known.newest, *new])
    return replace(known, count=known.count + count, total=known.total + total, newest=newest)


def _seen(stamp: Stamp, data: bytes, start: int) -> Seen:
    """Return what is remembered of a file whose bytes from `start` on are `data`."""
    end = data.rfind(b"\n") + 1
    return Seen(stamp, start + end, zlib.crc32(data[max(0, end - _TAIL) : end]))


def _stamps(vault: Vault, kind: _Kind) -> dict[str, Stamp]:
    """Return the stamps of the append-only files in a folder. Raises: OSError."""
    entries = stamps.listing(vault.root, kind.folder)
    numbers = iter(entries.numbers)
    found = zip(entries.names, zip(numbers, numbers, numbers, strict=True), entries.plain, strict=True)
    return {
        name: stamp for name, stamp, plain in found if plain and kind.file.fullmatch(name) and not _NO_TEXT.search(name)
    }


# --- in words -------------------------------------------------------------------------------------------------------


def _what_happened(kind: _Kind, seen: Mapping[str, Seen], read: _Read) -> tuple[str, str]:
    """Return the path of the file that lost records, and what happened to it."""
    for name in sorted(seen.keys() - read.files.keys()):
        return f"{kind.folder}/{name}", "the file was deleted"
    for name, file in sorted(read.files.items()):
        size, old = file.stamp[0], seen.get(name)
        if old is not None and old.stamp == file.stamp:
            continue
        if not size:
            how = "the file was emptied"
        elif name in read.zeroed:
            how = "the file was overwritten with zeros"
        elif old is None:
            how = "the file was cut short or replaced by an older one"
        elif size < old.stamp[0]:
            how = "the file was cut short"
        else:
            how = "bytes of the file were changed, or it was replaced"
        return f"{kind.folder}/{name}", how
    return kind.usual, "the file was deleted" if not read.files else "bytes of the file were changed"


def _finding(kind: _Kind, known: Known, has_copy: bool) -> Diagnostic:
    """Return the finding for a folder that has lost records."""
    what = f"{'at least ' if known.more else ''}{known.lost:,} of {known.count:,} records are missing: {known.how}"
    back = "`retain log restore` restores them from a copy" if kind is _REVIEWS and has_copy else ""
    back = back or "restore them from git or a backup"
    return Diagnostic(
        shown_path(known.path), 0, CODE, what, f"{back}; `retain log accept` accepts the file in its current state"
    )
