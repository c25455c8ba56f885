"""Copies of bytes, outside the vault and for their owner alone: what an audit or the end of an agent's run restores.

A block of bytes is kept once, under its SHA-256, compressed where that helps; what comes out is what went in, or an
error that names it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from vault.audit.database import Database
from vault.errors import Damaged, WriteFailed
from vault.files.folder import sha256_hex

LARGEST = 512 << 20  # bytes of one block; a file beyond this is known by its digest alone
_PUT = "INSERT OR IGNORE INTO blob(sha256, size, packed, data) VALUES(?, ?, ?, ?)"


class Copies:
    """The blocks of bytes kept for one vault.

    Everything here raises LockHeld if another process keeps the file for long, Damaged if it is no database any more.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    @contextmanager
    def open(cls, vault_id: str) -> Iterator[Copies]:
        """The copies of a vault. Nothing is opened or made before the first use."""
        database = Database(vault_id)
        try:
            yield cls(database)
        finally:
            database.close()

    def put(self, data: bytes) -> str:
        """Keep `data`; its SHA-256. On disk when it returns. Raises: WriteFailed."""
        return self.put_all((data,))[0]

    def put_all(self, blocks: Iterable[bytes]) -> list[str]:
        """Keep all of them in one step, or none; their digests in the same order. Raises: WriteFailed."""
        digests = []
        with self.database.transaction():
            for data in blocks:
                digests.append(sha256_hex(data))
                if not self.has(digests[-1]):
                    self.database.run(_PUT, (digests[-1], *_packed(data)))
        return digests

    def get(self, sha256: str) -> bytes | None:
        """The bytes with that digest; None if they were never kept. Raises: Damaged if they are not whole."""
        found = self.database.rows("SELECT size, packed, data FROM blob WHERE sha256 = ?", (sha256,))
        if not found:
            return None
        data = _unpacked(*found[0])
        if data is None or sha256_hex(data) != sha256:
            raise Damaged(
                f"the copy {sha256[:12]} is not what was kept",
                where=str(self.database.path),
                hint="take the file from your backup or from git",
            )
        return data

    def kept(self) -> frozenset[str]:
        """The digests of all that is kept."""
        return frozenset(row[0] for row in self.database.rows("SELECT sha256 FROM blob"))

    def has(self, sha256: str) -> bool:
        """Whether a copy with that digest is kept."""
        return bool(self.database.rows("SELECT 1 FROM blob WHERE sha256 = ?", (sha256,)))


def _packed(data: bytes) -> tuple[int, int, bytes]:
    """Size, whether it is compressed, and the bytes as they are stored."""
    if len(data) > LARGEST:
        raise WriteFailed(f"a copy of more than {LARGEST >> 20} MiB is not kept")
    small = zlib.compress(data, 1)
    return (len(data), 1, small) if len(small) < len(data) else (len(data), 0, data)


def _unpacked(size: object, packed: object, data: object) -> bytes | None:
    """The bytes that were stored; None if they cannot be had. Never more than the size that was taken down."""
    if not isinstance(data, bytes) or not isinstance(size, int):
        return None
    if not packed:
        return data
    try:
        return zlib.decompressobj().decompress(data, size + 1)
    except zlib.error:
        return None
