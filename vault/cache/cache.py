"""The formats of cache files: parts of bytes behind a checksum, or JSON. What is damaged or of another version counts
as missing.

Caches lie in `.retain/cache/`, are made from the files beside them, and may be deleted at any moment. One that came
with somebody's vault is not believed: it holds stamps and inodes of the machine that wrote it (see
`vault.index.stamps`).
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault.errors import RetainError
from vault.files.folder import Folder, sha256_hex
from vault.files.guard import Guard, Scope
from vault.vault import Vault

FOLDER = ".retain/cache"
_HEAD = struct.Struct("<16sIIQ")  # kind and version, checksum of all that follows, number of parts, bytes in all
_LENGTH = struct.Struct("<Q")
_MOST_PARTS = 1_000


def pack_cache(kind: str, parts: Sequence[bytes]) -> bytes:
    """Return the bytes of a cache. `kind` is at most sixteen letters and digits, including the version."""
    body = b"".join([*(_LENGTH.pack(len(part)) for part in parts), *parts])
    return _HEAD.pack(kind.encode(), zlib.crc32(body), len(parts), len(body)) + body


def unpack_cache(kind: str, data: bytes) -> list[bytes] | None:
    """Return the parts that `pack_cache` was given; None if the bytes are damaged, or of another kind or version."""
    if len(data) < _HEAD.size:
        return None
    name, checksum, count, size = _HEAD.unpack_from(data)
    body = memoryview(data)[_HEAD.size :]
    if name.rstrip(b"\0") != kind.encode() or size != len(body) or count > _MOST_PARTS or zlib.crc32(body) != checksum:
        return None
    lengths = [_LENGTH.unpack_from(body, _LENGTH.size * n)[0] for n in range(count)]
    start = _LENGTH.size * count
    parts = []
    for length in lengths:
        parts.append(bytes(body[start : start + length]))
        start += length
    return parts


def read_cache(root: Path, name: str, kind: str) -> list[bytes] | None:
    """Return the parts of the cache `name`; None if it is missing, damaged or of another kind."""
    try:
        data = Folder(root).read(f"{FOLDER}/{name}")
        return unpack_cache(kind, data) if data else None
    except (RetainError, struct.error):
        return None


def write_cache(vault: Vault, name: str, kind: str, parts: Sequence[bytes]) -> None:
    """Write the cache `name` if the vault allows caches; failure is ignored, since a cache only saves time."""
    if not vault.keeps_caches:
        return
    with suppress(RetainError):
        vault.guard(Scope.LOG).keep(f"{FOLDER}/{name}", pack_cache(kind, parts))


def read_json(guard: Guard, path: str) -> dict[str, Any]:
    """Return the mapping in the file `path`; {} if it is missing or damaged."""
    try:
        found = json.loads(guard.read(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(guard: Guard, path: str, value: object) -> None:
    """Write `value` as JSON to `path`, whatever was there."""
    overwrite(
        guard, path, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    )


def overwrite(guard: Guard, path: str, data: bytes) -> None:
    """Write `data` to `path`, whatever was there."""
    old = guard.read(path)
    guard.write(path, data, expect=sha256_hex(old) if old is not None else None)
