"""Copies of files, stored outside the vault for their owner alone: what an audit or the end of a run restores.

Equal bytes are stored once, under their SHA-256, compressed where that helps, and verified when read.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from vault.audit.database import Database
from vault.errors import Damaged, WriteFailed
from vault.files.folder import sha256_hex

LARGEST = 512 << 20  # bytes; of a larger file only the digest is known
_PUT = "INSERT OR IGNORE INTO blob(sha256, size, packed, data) VALUES(?, ?, ?, ?)"


class Copies:
    """The copies stored for one vault.

    All methods raise LockHeld if another process locks the file for long, Damaged if it is not a valid database.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    @contextmanager
    def open(cls, vault_id: str) -> Iterator[Copies]:
        """Yield the copies of a vault. Nothing is opened or created before the first use."""
        database = Database(vault_id)
        try:
            yield cls(database)
        finally:
            database.close()

    def put(self, data: bytes) -> str:
        """Store `data` durably and return its SHA-256. Raises: WriteFailed."""
        return self.put_all((data,))[0]

    def put_all(self, blocks: Iterable[bytes]) -> list[str]:
        """Store all of them in one transaction and return their digests in order. Raises: WriteFailed."""
        digests = []
        with self.database.transaction():
            for data in blocks:
                digests.append(sha256_hex(data))
                if not self.has(digests[-1]):
                    self.database.run(_PUT, (digests[-1], *_packed(data)))
        return digests

    def get(self, sha256: str) -> bytes | None:
        """Return the bytes with that digest; None if they are not stored. Raises: Damaged if they don't match it."""
        rows = self.database.rows("SELECT size, packed, data FROM blob WHERE sha256 = ?", (sha256,))
        if not rows:
            return None
        data = _unpacked(*rows[0])
        if data is None or sha256_hex(data) != sha256:
            raise Damaged(
                f"the copy {sha256[:12]} is damaged",
                where=str(self.database.path),
                hint="restore the file from your backup or from git",
            )
        return data

    def digests(self) -> frozenset[str]:
        """Return the digests of all copies."""
        return frozenset(row[0] for row in self.database.rows("SELECT sha256 FROM blob"))

    def has(self, sha256: str) -> bool:
        """Return whether a copy with that digest is stored."""
        return bool(self.database.rows("SELECT 1 FROM blob WHERE sha256 = ?", (sha256,)))


def _packed(data: bytes) -> tuple[int, int, bytes]:
    """Return the size, whether it is compressed, and the bytes to store."""
    if len(data) > LARGEST:
        raise WriteFailed(f"the file is larger than {LARGEST >> 20} MiB, so no copy is kept")
    small = zlib.compress(data, 1)
    return (len(data), 1, small) if len(small) < len(data) else (len(data), 0, data)


def _unpacked(size: object, packed: object, data: object) -> bytes | None:
    """Return the stored bytes, never more than `size`; None if they are damaged."""
    if not isinstance(data, bytes) or not isinstance(size, int):
        return None
    if not packed:
        return data
    try:
        return zlib.decompressobj().decompress(data, size + 1)
    except zlib.error:
        return None
