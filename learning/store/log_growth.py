"""Whether the files of the log are as they were when a cache was made of them, or have only grown since."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from vault.index import stamps
from vault.log import ledger
from vault.log.review_log import log_paths
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file as it was read: its stamp before that, whether the stamp may be is_settled_stamp, length and checksum."""

    path: str
    stamp: stamps.Stamp
    is_settled: bool
    size: int
    crc: int


def growth(vault: Vault, root: str, files: list[LogFile]) -> tuple[list[LogFile], list[bytes]] | None:
    """Return the files as they are now, and what each has grown by; None if one changed otherwise."""
    log = log_paths(vault.root)
    if root != vault_place(vault) or [*log, ledger.IDS] != [file.path for file in files]:
        return None
    now: list[LogFile] = []
    more: list[bytes] = []
    for file in files:
        found = stamps.stamp(vault.root, file.path)
        if found == file.stamp and file.is_settled:
            now.append(file)
            more.append(b"")
            continue
        if found[2] != file.stamp[2]:
            return None
        data = vault.read_bytes(file.path) or b""
        if len(data) < file.size or zlib.crc32(memoryview(data)[: file.size]) != file.crc:
            return None
        more.append(data[file.size :])
        if more[-1] and file.size and data[file.size - 1 : file.size] != b"\n":
            return None
        now.append(LogFile(file.path, found, is_settled_stamp(found), len(data), zlib.crc32(more[-1], file.crc)))
    return now, more


def is_settled_stamp(found: stamps.Stamp) -> bool:
    """Return whether the stamp is old enough that a later change would show in it."""
    return stamps.cacheable_stamp(found) == found


def vault_place(vault: Vault) -> str:
    """Return what distinguishes this vault on this machine from a copy of it."""
    status = vault.root.lstat()
    return f"{vault.root}\0{status.st_dev} {status.st_ino}"
