"""The zip file of an Anki package, read as untrusted input; nothing is unpacked to disk.

What is granted: 50,000 entries, 1 GiB in all, 512 MiB for the collection; an entry may grow to a hundred times its
packed size, and to 16 MiB whatever that is, as an honest but empty database packs far better than a hundredfold.
"""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from vault.errors import Unreadable
from vault.text.formatting import clean_line

MAX_ENTRIES = 50_000
MAX_TOTAL = 1024**3  # bytes, of all that is unpacked
MAX_COLLECTION = 512 * 1024**2
MAX_MEDIUM = 100 * 1024**2  # one picture or sound
MAX_RATIO = 100
GRANTED = 16 * 1024**2  # to which an entry may grow whatever its packed size
_MAX_DIRECTORY = 8 * 1024**2  # of the zip's own list, before it is parsed
_MAX_LIST = 32 * 1024**2  # of the list of media
_BLOCK = 1 << 18
_END = b"PK\x05\x06"
_WINDOW = 1 << 27  # bytes that zstd may keep in memory
_PACKED = b"\x28\xb5\x2f\xfd"  # how a zstd frame begins
_COLLECTIONS = ("collection.anki21b", "collection.anki21", "collection.anki2")
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


@dataclass(slots=True)
class Archive:
    """An open package; `collection` names the entry that holds the cards, `media` maps names to entries."""

    shown: str  # the file's name, for messages
    zip: zipfile.ZipFile
    collection: str
    left: int = MAX_TOTAL
    media: dict[str, str] = field(default_factory=dict)

    @property
    def modern(self) -> bool:
        """Return whether its entries are compressed by zstd."""
        return self.collection.endswith("21b")

    def read(self, name: str, limit: int) -> bytearray:
        """Return the bytes of an entry, unpacked. Raises: Unreadable if it is damaged, missing or grows beyond its
        limits.
        """
        try:
            info = self.zip.getinfo(name)
        except KeyError as error:
            raise self.fault(f"{clean_line(name)} is missing from the package") from error
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self.fault("an entry is compressed in a way that Anki does not use")
        limit = min(limit, self.left, max(GRANTED, MAX_RATIO * info.compress_size))
        out = bytearray()
        try:
            with self.zip.open(info) as packed:
                for block in self._blocks(packed):
                    out += block
                    if len(out) > limit:
                        raise self.fault(
                            f"{clean_line(name)} is too large when unpacked: it may be malicious (a zip bomb)"
                        )
        except BROKEN as error:
            raise self.fault("the package is truncated or damaged") from error
        self.left -= len(out)
        return out

    def _blocks(self, packed: Any) -> Iterator[bytes]:
        """Yield the unpacked bytes, a block at a time."""
        head = packed.read(4)
        rest = _Rejoined(head, packed)
        if not (self.modern and head == _PACKED):
            yield from iter(lambda: rest.read(_BLOCK), b"")
            return

        try:
            with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(cast("IO[bytes]", rest)) as plain:
                yield from iter(lambda: plain.read(_BLOCK), b"")
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    def fault(self, what: str) -> Unreadable:
        """Return the error that names this package."""
        return Unreadable(what, where=self.shown, hint="export it again from Anki, or download it again")


@dataclass(slots=True)
class _Rejoined:
    """A stream with the first bytes, which were read already, put back."""

    head: bytes
    rest: Any

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if self.head:
            out, self.head = self.head, b""
            return out
        return bytes(self.rest.read(size))


def open_archive(path: Path) -> Archive:
    """Return the package at `path`, its list of media read. Raises: Unreadable."""
    shown = clean_line(str(path))
    try:
        _check_directory(path, shown)
        archive = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise Unreadable("there is no such file", where=shown) from error
    except IsADirectoryError as error:
        raise Unreadable("this is a folder", where=shown, hint="give the path of an .apkg or .colpkg file") from error
    except BROKEN as error:
        raise Unreadable(
            "this is not an Anki package", where=shown, hint="give the path of an .apkg or .colpkg file"
        ) from error
    try:
        return _checked(archive, shown)
    except BaseException:
        archive.close()
        raise


def _checked(archive: zipfile.ZipFile, shown: str) -> Archive:
    """Return the archive after checking its entries. Raises: Unreadable."""
    names = archive.namelist()
    if len(names) > MAX_ENTRIES:
        raise Unreadable(f"it contains more than {MAX_ENTRIES:,} entries", where=shown)
    if len(set(names)) != len(names):
        raise Unreadable(
            "two of its entries have the same name", where=shown, hint="Anki does not write packages like this"
        )
    collection = next((name for name in _COLLECTIONS if name in names), None)
    if collection is None:
        raise Unreadable("it contains no collection", where=shown, hint="give the path of an .apkg or .colpkg file")
    found = Archive(shown, archive, collection)
    if "media" in names:
        listed = found.read("media", _MAX_LIST)
        pairs = _media_of_protobuf(listed) if found.modern else _media_of_json(listed)
        present = set(names)
        found.media = {name: entry for entry, name in pairs if entry in present and entry.isdecimal()}
    return found


def _check_directory(path: Path, shown: str) -> None:
    """Refuse a directory of entries too large to parse, before Python parses it: an entry takes it far more than a
    byte.
    """
    status = path.stat()  # before it is opened: a pipe would keep us waiting for somebody to write
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise Unreadable("this is not a regular file", where=shown, hint="give the path of an .apkg or .colpkg file")
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - 65_557))
        tail = file.read(65_557)
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        raise Unreadable("this is not an Anki package", where=shown, hint="give the path of an .apkg or .colpkg file")
    directory = struct.unpack_from("<I", tail, at + 12)[0]
    if directory > _MAX_DIRECTORY:
        raise Unreadable(f"it contains more than {MAX_ENTRIES:,} entries", where=shown)


def _media_of_json(data: bytearray) -> list[tuple[str, str]]:
    """Return (entry, name) of each file in a legacy list; invalid pairs are left out."""
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return []
    pairs = found.items() if isinstance(found, dict) else ()
    return [(entry, name) for entry, name in pairs if isinstance(name, str)]


def _media_of_protobuf(data: bytearray) -> list[tuple[str, str]]:
    """Return (entry, name) of each file in a modern list: its nth entry names the file n."""
    pairs = []
    try:
        for number, entry in enumerate(
            value for key, value in fields(bytes(data)) if key == 1 and isinstance(value, bytes)
        ):
            name = next((v for k, v in fields(entry) if k == 1 and isinstance(v, bytes)), b"")
            pairs.append((str(number), name.decode("utf-8", "replace")))
    except ValueError:
        return pairs
    return pairs


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (field number, value) of a protobuf message: varints as they are, lengths and fixed ones as bytes.

    Raises: ValueError where it is no message.
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield tag >> 3, value
            continue
        if kind not in (1, 2, 5):
            raise ValueError("the package contains an invalid protobuf message")
        length, at = _varint(message, at) if kind == 2 else (8 if kind == 1 else 4, at)
        if at + length > len(message):
            raise ValueError("a truncated protobuf message")
        yield tag >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a varint and the position after it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("the package contains an invalid protobuf number")
