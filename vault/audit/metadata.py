"""Modes, owners, times and attributes of files that an agent must not change: recorded before a run, restored after.

Landlock does not forbid changing them. What differs after the run is restored and reported, if it is still the same
file or folder (device and inode). A time is restored if the bytes are the same, of the user's files only; not of
folders, since it changes whenever a program saves a file there.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from vault.audit.scanner import PERSONAL, VAULT, FileState, roots_of
from vault.audit.watcher import Audit
from vault.config.user import state_folder, state_guard
from vault.errors import RetainError
from vault.files.guard import sha256_hex
from vault.files.write_scopes import AGENT_FOLDERS
from vault.vault import Vault

_FOLDER = "metadata"
_LEFT_OUT = frozenset({*AGENT_FOLDERS, ".git/objects"})
_ATTRIBUTES = ("user.", "system.posix_acl_")
_HANDLE = getattr(os, "O_PATH", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_BLOCK = 1 << 20


class Metadata(NamedTuple):
    """`sha256` and `mtime_ns` are "" and 0 where the time does not count; attributes' values are hexadecimal."""

    dev: int
    ino: int
    mode: int
    uid: int
    gid: int
    mtime_ns: int
    sha256: str
    attributes: dict[str, str]


def record(vault: Vault, run_id: str, allowed: Sequence[Path] = ()) -> None:
    """Record the metadata of all files that an agent of this vault must not change; `allowed` are paths that it may.

    Raises: WriteFailed.
    """
    known, found = _known(vault), {}
    for path, times in _entries(vault, allowed):
        if (metadata := _read(path, known, times=times)) is not None:
            found[str(path)] = metadata
    data = json.dumps(found, separators=(",", ":")).encode()
    state_guard(vault.settings.vault_id).write(f"{_FOLDER}/{run_id}.json", data, expect=None)


def put_back(vault: Vault, run_id: str) -> list[str]:
    """Restore what differs since `record` and return a line for each file and folder; none without a record.

    Raises: RetainError; ValueError for an invalid record.
    """
    guard = state_guard(vault.settings.vault_id)
    if not (state_folder(vault.settings.vault_id) / _FOLDER / f"{run_id}.json").exists():
        return []
    data = guard.read(f"{_FOLDER}/{run_id}.json") or b"{}"
    before = {Path(path): Metadata(*values) for path, values in json.loads(data).items()}
    lines = []
    # Parent folders first, so that files in inaccessible ones can be reached.
    for path in sorted(before, key=lambda path: path.parts):
        if changes := _restore(path, before[path]):
            name = path.relative_to(vault.root) if path.is_relative_to(vault.root) else path
            lines.append(f"{name}: {', '.join(changes)}")
    guard.remove(f"{_FOLDER}/{run_id}.json", expect=sha256_hex(data))
    return lines


def _known(vault: Vault) -> dict[Path, FileState]:
    """Return the user's files as known to the audit; one with the same times need not be read again."""
    tops = {VAULT: vault.root, PERSONAL: vault.personal or vault.root}
    try:
        with Audit.open(vault) as audit:
            return {tops[key.place] / key.path: seen for key, seen in audit.known.files().items()}
    except RetainError:
        return {}


def _entries(vault: Vault, allowed: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield the files and folders of the vault and its roots but `allowed`, and whether their times are restored."""
    human = {root.folder for root in roots_of(vault)}
    tops = [vault.root, *(folder for folder in human if not folder.is_relative_to(vault.root))]
    left_out = {*(vault.root / name for name in _LEFT_OUT), *allowed}
    for top in tops:
        yield top, False
        for here, folders, files in os.walk(top):
            folder = Path(here)
            folders[:] = [
                name for name in folders if folder / name not in left_out and not (folder / name).is_symlink()
            ]
            yield from ((folder / name, False) for name in folders)
            times = any(folder.is_relative_to(each) for each in human)
            yield from ((folder / name, times) for name in files if folder / name not in left_out)


def _read(path: Path, known: Mapping[Path, FileState], *, times: bool) -> Metadata | None:
    """Return the metadata of a file or folder; None for others, and for what can't be read."""
    try:
        status = path.lstat()
        is_file = stat.S_ISREG(status.st_mode)
        if not is_file and not stat.S_ISDIR(status.st_mode):
            return None
        digest = (_known_digest(known.get(path), status) or _digest(path)) if times and is_file else ""
        return Metadata(
            status.st_dev,
            status.st_ino,
            stat.S_IMODE(status.st_mode),
            status.st_uid,
            status.st_gid,
            status.st_mtime_ns if digest else 0,
            digest,
            _attributes(str(path)),
        )
    except OSError:
        return None


def _known_digest(known: FileState | None, status: os.stat_result) -> str:
    stamps = (status.st_size, status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
    return known.sha256 if known is not None and (known.size, *known[4:]) == stamps else ""


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        while block := os.read(handle, _BLOCK):
            digest.update(block)
    finally:
        os.close(handle)
    return digest.hexdigest()


def _attributes(path: str) -> dict[str, str]:
    names = [name for name in os.listxattr(path) if name.startswith(_ATTRIBUTES)]
    return {name: os.getxattr(path, name).hex() for name in names}


def _restore(path: Path, was: Metadata) -> list[str]:
    """Restore what differs and return messages; nothing for a file that is gone or replaced."""
    try:
        handle = os.open(path, _HANDLE)
    except OSError:
        return []
    try:
        status = os.fstat(handle)
        if (status.st_dev, status.st_ino) != (was.dev, was.ino):
            return []
        return list(_changes(f"/proc/self/fd/{handle}", path, status, was))
    finally:
        os.close(handle)


def _changes(itself: str, path: Path, status: os.stat_result, was: Metadata) -> Iterator[str]:
    """Restore each kind of metadata and yield messages. Mode first, for access; owner and ACL change it again."""
    mode = stat.S_IMODE(status.st_mode)
    if mode != was.mode:
        yield _tried(f"mode {mode:04o}, {was.mode:04o} before", lambda: Path(itself).chmod(was.mode))
    if (status.st_uid, status.st_gid) != (was.uid, was.gid):
        yield _tried("owner", lambda: os.chown(itself, was.uid, was.gid))
    now = _attributes_now(itself)
    if now is not None and now != was.attributes:
        yield _tried("attributes", lambda: _set_attributes(itself, now, was.attributes))
    with suppress(OSError):
        if stat.S_IMODE(Path(itself).stat().st_mode) != was.mode:
            Path(itself).chmod(was.mode)
    if was.sha256 and status.st_mtime_ns != was.mtime_ns:
        with suppress(OSError):
            if _digest(path) == was.sha256:
                yield _tried("time", lambda: os.utime(itself, ns=(status.st_atime_ns, was.mtime_ns)))


def _attributes_now(itself: str) -> dict[str, str] | None:
    with suppress(OSError):
        return _attributes(itself)
    return None


def _set_attributes(itself: str, now: dict[str, str], wanted: dict[str, str]) -> None:
    for name in now.keys() - wanted.keys():
        os.removexattr(itself, name)
    for name, value in wanted.items():
        if now.get(name) != value:
            os.setxattr(itself, name, bytes.fromhex(value))


def _tried(what: str, change: Callable[[], None]) -> str:
    try:
        change()
    except OSError as error:
        return f"{what} (cannot be restored: {(error.strerror or str(error)).lower()})"
    return what
