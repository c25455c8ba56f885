"""Read a folder through directory handles: no link below its root is followed."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from vault.errors import Damaged, EditedMeanwhile, Refused, UsageError
from vault.files.write_scopes import HUMAN_FOLDERS, TEMP_PREFIX, refusal, split

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
# O_NONBLOCK: a pipe in the vault must not block; it has no effect on regular files.
_FILE = os.O_RDONLY | _NOFOLLOW | _CLOEXEC | getattr(os, "O_NONBLOCK", 0)

_BLOCK = 1 << 20
_KEPT = ("user.", "system.posix_acl_access")

Identity = tuple[int, int]


class FileKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"  # a pipe, a socket, a device


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder; `path` is relative to the root."""

    path: str
    kind: FileKind
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Current:
    """A file as read: its bytes, and the status and attributes that a rewrite keeps."""

    data: bytes
    status: os.stat_result
    attributes: tuple[tuple[str, bytes], ...] = ()

    @property
    def sha256(self) -> str:
        return sha256_hex(self.data)


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` in hex, as `Guard.write` takes it."""
    return hashlib.sha256(data).hexdigest()


class Folder:
    """A folder to read from; `root` itself may be a link, which is resolved once."""

    def __init__(self, root: Path) -> None:
        if os.open not in os.supports_dir_fd or not _NOFOLLOW:
            raise Refused(
                f"{sys.platform} cannot open folders without following links",
                where=str(root),
                hint="run retain inside WSL2",
            )
        self.root = Path(os.path.realpath(root))
        self._identity: Identity | None = None

    def read(self, path: str, start: int = 0) -> bytes | None:
        """Return the bytes of a regular file from `start` on; None if there is none.

        Raises Refused for links, pipes and folders.
        """
        parts = split(path)
        with _Reading(self._shown_path(path)), self._handle(parts[:-1]) as folder:
            found = read_at(folder, parts[-1] if parts else ".", path, start=start)
            return found.data if found else None
        return None

    def lines(self, path: str) -> Iterator[tuple[bytes, bool]]:
        """Yield the lines of a regular file without newline, and whether there was one. Raises as `read` does.

        The file is not loaded into memory; nothing is yielded if it does not exist.
        """
        parts = split(path)
        with _Reading(self._shown_path(path)), self._handle(parts[:-1]) as folder:
            with open_file_at(folder, parts[-1] if parts else ".", path) as opened:
                if not stat.S_ISREG(os.fstat(opened).st_mode):
                    raise refusal(path, "not a regular file")
                handle = os.dup(opened)
            with os.fdopen(handle, "rb", buffering=_BLOCK) as file:
                for line in file:
                    yield line.removesuffix(b"\n"), line.endswith(b"\n")

    def exists(self, path: str) -> bool:
        """Return whether something has that name, also a dangling link."""
        return self.entry(path) is not None

    def entry(self, path: str) -> Entry | None:
        """Return what has that name, a link itself and not its target; None if nothing has."""
        parts = split(path)
        with _Reading(self._shown_path(path)), self._handle(parts[:-1]) as folder:
            return _entry(path, os.stat(parts[-1] if parts else ".", dir_fd=folder, follow_symlinks=False))
        return None

    def listing(self, path: str = "") -> list[Entry]:
        """Return the entries of a folder by name, without our temporary files; none if it does not exist."""
        with _Reading(self._shown_path(path)), self._handle(split(path)) as folder:
            return _entries(folder, path)
        return []

    def _shown_path(self, path: str) -> str:
        """Return `path` as messages show it."""
        return path

    @contextmanager
    def _handle(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Open the folder `parts` for reading. Raises FileNotFoundError."""
        with open_beneath(self._open_root(), parts) as folder:
            yield folder

    def _open_root(self) -> int:
        """Open the root. Raises Refused if another folder has taken its place."""
        handle = os.open(self.root, _DIRECTORY)
        try:
            identity = identity_of(os.fstat(handle))
            if self._identity not in (None, identity):
                raise Refused("the vault's folder was replaced", where=str(self.root), hint="try again")
        except BaseException:
            os.close(handle)
            raise
        self._identity = identity
        return handle


def identity_of(status: os.stat_result) -> Identity:
    """Return device and inode, which identify a folder whatever its name."""
    return status.st_dev, status.st_ino


def identity_at(path: str | Path, handle: int | None = None) -> Identity | None:
    """Return the identity of what a name leads to, links followed; None if nothing can be reached."""
    try:
        return identity_of(os.stat(path, dir_fd=handle))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # what nobody can reach by its name is not written under another; any other error is one


def is_folder(path: Path) -> bool:
    """Return whether a folder exists and can be reached; unlike `Path.is_dir`, it never raises."""
    return os.path.isdir(path)  # noqa: PTH112


def named(path: Path) -> os.stat_result | None:
    """Return the status of what the user's path leads to, links followed; None if nothing is there.

    Raises UsageError if the system does not tell, as below a folder that only others may enter.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        hint = "check the owners and permissions of its parent folders"
        raise UsageError(f"cannot be checked: {reason}", where=str(path), hint=hint) from error


def open_folder_at(handle: int, name: str, path: str) -> int:
    """Return a handle on the folder `name` in an open folder. Raises Refused for a link; FileNotFoundError."""
    with refuse_link(handle, name, path):
        return os.open(name, _DIRECTORY | _NOFOLLOW, dir_fd=handle)


def open_root(root: Path) -> int:
    """Return a handle on the folder `root`, which may be reached by a link."""
    return os.open(os.path.realpath(root), _DIRECTORY)


@contextmanager
def open_beneath(
    root: int,
    parts: Sequence[str],
    *,
    forbidden: Collection[Identity] = (),
    before: Callable[[int, str], object] = lambda handle, name: None,
) -> Iterator[int]:
    """Open the folder `parts` below the open folder `root`, which is closed, one name at a time, following no link.

    `before` is called with each open folder and the name to be opened in it.
    Raises: Refused where one is a link or is `forbidden` by device and inode; FileNotFoundError; NotADirectoryError.
    """
    handle = root
    try:
        _refuse_forbidden(handle, forbidden, parts)
        for index, name in enumerate(parts):
            before(handle, name)
            below = open_folder_at(handle, name, "/".join(parts[: index + 1]))
            os.close(handle)
            handle = below
            _refuse_forbidden(handle, forbidden, parts)
        yield handle
    finally:
        os.close(handle)


def _refuse_forbidden(handle: int, forbidden: Collection[Identity], parts: Sequence[str]) -> None:
    if identity_of(os.fstat(handle)) in forbidden:
        what = "this is one of your own folders under another name; retain does not write to it"
        raise refusal("/".join(parts), what)


def humans_folders(root: Path, forbidden: Iterable[Path] = ()) -> frozenset[Identity]:
    """Return device and inode of insights/ and raw/ of the vault at `root`, and of the folders `forbidden`."""
    found = [identity_at(root / name) for name in HUMAN_FOLDERS] + [identity_at(each) for each in forbidden]
    return frozenset(identity for identity in found if identity)


class refuse_link:  # a class for the same reason as `durable.failing`
    """A context that raises Refused if a name could not be opened because it is a link."""

    __slots__ = ("_handle", "_name", "_path")

    def __init__(self, handle: int, name: str, path: str) -> None:
        self._handle, self._name, self._path = handle, name, path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and _is_link(self._handle, self._name):
            what = "a symbolic link, which retain does not follow"
            raise refusal(self._path, what, hint="replace the link with the file") from error


def read_at(handle: int, name: str, path: str, *, attributes: bool = False, start: int = 0) -> Current | None:
    """Return the regular file `name` of an open folder; None if there is none. Raises Refused for anything else."""
    try:
        with open_file_at(handle, name, path) as opened:
            found = read_open(opened, path, start)
            return replace(found, attributes=_attributes(opened)) if attributes else found
    except FileNotFoundError:
        return None


@contextmanager
def open_file_at(handle: int, name: str, path: str) -> Iterator[int]:
    """Open the file `name` of an open folder for reading. Raises FileNotFoundError; Refused for a link."""
    with refuse_link(handle, name, path):
        opened = os.open(name, _FILE, dir_fd=handle)
    try:
        yield opened
    finally:
        os.close(opened)


def read_open(opened: int, path: str, start: int = 0) -> Current:
    """Return the content of an open file from `start` on. Raises Refused if it is not a regular file."""
    status = os.fstat(opened)
    if not stat.S_ISREG(status.st_mode):
        raise refusal(path, "not a regular file")
    os.lseek(opened, start, os.SEEK_SET)
    blocks = [os.read(opened, max(0, status.st_size - start) + 1)]
    while blocks[-1]:
        blocks.append(os.read(opened, _BLOCK))
    return Current(b"".join(blocks), status)


def _attributes(opened: int) -> tuple[tuple[str, bytes], ...]:
    """Return the extended attributes of the user (tags, access lists), if the system shows them."""
    if sys.platform != "linux":
        return ()
    try:
        names = [name for name in os.listxattr(opened) if name.startswith(_KEPT)]
        return tuple((name, os.getxattr(opened, name)) for name in names)
    except OSError:
        return ()  # a write does not fail for them


def _is_link(handle: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode)
    except OSError:
        return False


def expect_bytes(path: str, found: Current | None, expect: str | None) -> None:
    """Raise EditedMeanwhile unless `found` has the SHA-256 `expect`; None expects that there is no file."""
    if found is None and expect is not None:
        raise EditedMeanwhile("deleted or moved since it was read", where=path, hint="try again")
    if found is not None and expect is None:
        raise EditedMeanwhile("a file with that name already exists", where=path, hint="try again")
    if found is not None and found.sha256 != expect:
        raise EditedMeanwhile("edited since it was read; the edit was kept", where=path, hint="try again")


def still_named(handle: int, folder: int, name: str) -> bool:
    """Return whether the open file still has that name in the open folder."""
    try:
        return identity_of(os.fstat(handle)) == identity_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _entry(path: str, status: os.stat_result) -> Entry:
    kinds = {stat.S_IFREG: FileKind.FILE, stat.S_IFDIR: FileKind.FOLDER, stat.S_IFLNK: FileKind.LINK}
    kind = kinds.get(stat.S_IFMT(status.st_mode), FileKind.OTHER)
    return Entry(path, kind, status.st_size, status.st_mtime_ns)


def _entries(handle: int, path: str) -> list[Entry]:
    found = []
    with os.scandir(handle) as scan:
        for each in scan:
            if each.name.startswith(TEMP_PREFIX):
                continue
            try:
                status = each.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # gone since it was listed
            found.append(_entry(f"{path}/{each.name}" if path else each.name, status))
    return sorted(found, key=lambda entry: entry.path)


class _Reading:
    """A context that turns errors of reading into Damaged, and ignores a missing file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            return True
        if isinstance(error, OSError):
            reason = os.strerror(error.errno or 0).lower()
            raise Damaged(f"cannot be read: {reason}", where=self._path) from error
        return False
