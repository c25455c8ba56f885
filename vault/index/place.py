"""Where a vault's index is: in `.retain/`, or in the user's cache folder where that is no place for SQLite.

SQLite needs a folder that it can write, on a disk of this machine: over a network its locks cannot be relied on. Which
folders those are is known on Linux alone.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from vault.config.user import cache_folder
from vault.files.folder import sha256_hex
from vault.vault import Vault

FOLDER = ".retain"
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "9p", "afpfs", "webdav", "davfs", "glusterfs", "lustre"}
)
_OVER_FUSE = ("fuse.sshfs", "fuse.rclone", "fuse.davfs", "fuse.glusterfs", "fuse.s3fs", "fuse.gvfsd-fuse")
_MOUNTS = "/proc/self/mountinfo"
_ESCAPED = re.compile(r"\\([0-7]{3})")  # blanks and backslashes in its paths


def index_root(vault: Vault) -> Path:
    """Return the folder below which `.retain/` has the index: the vault, or a folder of the user's cache."""
    if is_writable(vault.root) and not is_on_network(vault.root):
        return vault.root
    return cache_folder(sha256_hex(os.fsencode(vault.root))[:32])


def is_writable(root: Path) -> bool:
    """Return whether files can be made in the vault's `.retain/`, which may not exist yet."""
    own = root / FOLDER
    return os.access(own if own.exists() else root, os.W_OK | os.X_OK)


def is_on_network(root: Path, table: str | None = None) -> bool:
    """Return whether a folder is on a network file system, as far as the system tells; `table` is its mountinfo."""
    if table is None:
        if sys.platform != "linux":
            return False
        try:
            table = Path(_MOUNTS).read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return False
    if not any(name in table for name in (*_NETWORK, *_OVER_FUSE)):
        return False
    kind, longest = "", -1
    for line in table.splitlines():
        head, _, tail = line.partition(" - ")
        fields = head.split(" ")
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), fields[4]) if len(fields) > 4 else ""
        inside = point == "/" or os.fspath(root) == point or os.fspath(root).startswith(f"{point}/")
        if inside and len(point) >= longest:  # of two at one point, the later lies on top
            kind, longest = tail.partition(" ")[0], len(point)
    return kind in _NETWORK or kind.startswith(_OVER_FUSE)
