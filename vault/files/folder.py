"""A folder read through directory handles: no path below its root is ever followed through a link."""

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
from vault.files.paths import HUMAN_FOLDERS, TEMP_PREFIX, refusal, split

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
# O_NONBLOCK: a pipe laid in the vault must not hang us; for regular files it means nothing.
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
    """One name in a folder, as the disk has it; `path` is relative to the root, POSIX."""

    path: str
    kind: FileKind
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Current:
    """A file as it was found: its bytes and what a rewrite of it should keep."""

    data: bytes
    status: os.stat_result
    attributes: tuple[tuple[str, bytes], ...] = ()

    @property
    def sha256(self) -> str:
        return sha256_hex(self.data)


def sha256_hex(data: bytes) -> str:
    """SHA-256 of `data` in hex: what `Guard.write` takes as `expect`."""
    return hashlib.sha256(data).hexdigest()


class Folder:
    """An open root; `root` itself may be a link to the folder, resolved once and honoured."""

    def __init__(self, root: Path) -> None:
        if os.open not in os.supports_dir_fd or not _NOFOLLOW:
            raise Refused(
                f"{sys.platform} cannot open folders without following links",
                where=str(root),
                hint="run retain inside WSL2",
            )
        self.root = Path(os.path.realpath(root))
        self._identity: Identity | None = None

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file; None if there is none. Refused for links, pipes and folders."""
        parts = split(path)
        with _Reading(self._told(path)), self._handle(parts[:-1]) as folder:
            found = read_at(folder, parts[-1] if parts else ".", path)
            return found.data if found else None
        return None

    def lines(self, path: str) -> Iterator[tuple[bytes, bool]]:
        """The lines of a regular file one by one, without their newlines, and whether one ended there; none if it
        isn't there. However large the file is, little of it is in memory. Refused as `read` refuses."""
        parts = split(path)
        with _Reading(self._told(path)), self._handle(parts[:-1]) as folder:
            with open_file_at(folder, parts[-1] if parts else ".", path) as opened:
                if not stat.S_ISREG(os.fstat(opened).st_mode):
                    raise refusal(path, "not a regular file")
                handle = os.dup(opened)
            with os.fdopen(handle, "rb", buffering=_BLOCK) as file:
                for line in file:
                    yield line.removesuffix(b"\n"), line.endswith(b"\n")

    def exists(self, path: str) -> bool:
        """Whether something goes by that name, a dangling link included."""
        return self.entry(path) is not None

    def entry(self, path: str) -> Entry | None:
        """What goes by that name, itself and not what it points to; None if nothing does."""
        parts = split(path)
        with _Reading(self._told(path)), self._handle(parts[:-1]) as folder:
            return _entry(path, os.stat(parts[-1] if parts else ".", dir_fd=folder, follow_symlinks=False))
        return None

    def listing(self, path: str = "") -> list[Entry]:
        """What a folder holds, by name; nothing if it isn't there. Our own temporary files are left out."""
        with _Reading(self._told(path)), self._handle(split(path)) as folder:
            return _entries(folder, path)
        return []

    def _told(self, path: str) -> str:
        """How a message about what the system would not do names `path`."""
        return path

    @contextmanager
    def _handle(self, parts: tuple[str, ...]) -> Iterator[int]:
        """A read-only handle on the folder `parts`; FileNotFoundError if it isn't there."""
        with open_beneath(self._open_root(), parts) as folder:
            yield folder

    def _open_root(self) -> int:
        handle = os.open(self.root, _DIRECTORY)
        try:
            identity = identity_of(os.fstat(handle))
            if self._identity not in (None, identity):
                raise Refused("the vault's folder was replaced", where=str(self.root), hint="run it again")
        except BaseException:
            os.close(handle)
            raise
        self._identity = identity
        return handle


def identity_of(status: os.stat_result) -> Identity:
    """What makes a folder itself, whatever its name: device and inode."""
    return status.st_dev, status.st_ino


def identity_at(path: str | Path, handle: int | None = None) -> Identity | None:
    """The identity of what a name leads to, links followed; None if it leads nowhere that we could reach."""
    try:
        return identity_of(os.stat(path, dir_fd=handle))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # what nobody can reach by its name is not written under another; any other error is one


def is_folder(path: Path) -> bool:
    """Whether a folder is there and can be reached; `Path.is_dir` raises where a disk has died or a way is closed."""
    return os.path.isdir(path)  # noqa: PTH112


def named(path: Path) -> os.stat_result | None:
    """What a path that a human named leads to, links followed; None if nothing is there.

    Raises: UsageError where the system won't say: below a folder that only others may enter, `Path.exists` raises too.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        hint = "check the owners and modes of the folders above it"
        raise UsageError(f"what is there cannot be told: {reason}", where=str(path), hint=hint) from error


def open_folder_at(handle: int, name: str, path: str) -> int:
    """A handle on the folder `name` of an open folder; Refused if it is a link, FileNotFoundError if nothing."""
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
        what = "this is one of your folders under another name; retain does not write there"
        raise refusal("/".join(parts), what)


def humans_folders(root: Path, forbidden: Iterable[Path] = ()) -> frozenset[Identity]:
    """Return device and inode of insights/ and raw/ of the vault at `root`, and of the folders `forbidden`."""
    found = [identity_at(root / name) for name in HUMAN_FOLDERS] + [identity_at(each) for each in forbidden]
    return frozenset(identity for identity in found if identity)


class refuse_link:  # a class for the same reason as `durable.failing`
    """Says of a name that could not be opened that it is a link, if it is one: Refused."""

    __slots__ = ("_handle", "_name", "_path")

    def __init__(self, handle: int, name: str, path: str) -> None:
        self._handle, self._name, self._path = handle, name, path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and _is_link(self._handle, self._name):
            what = "a symbolic link, which retain does not follow"
            raise refusal(self._path, what, hint="replace the link with the file") from error


def read_at(handle: int, name: str, path: str, *, attributes: bool = False) -> Current | None:
    """The regular file `name` of an open folder; None if there is none, Refused if it is something else."""
    try:
        with open_file_at(handle, name, path) as opened:
            found = read_open(opened, path)
            return replace(found, attributes=_attributes(opened)) if attributes else found
    except FileNotFoundError:
        return None


@contextmanager
def open_file_at(handle: int, name: str, path: str) -> Iterator[int]:
    """A handle to read the file `name` of an open folder; FileNotFoundError if there is none, Refused for a link."""
    with refuse_link(handle, name, path):
        opened = os.open(name, _FILE, dir_fd=handle)
    try:
        yield opened
    finally:
        os.close(opened)


def read_open(opened: int, path: str) -> Current:
    """What an open file holds now, from its beginning; Refused if it is no regular file."""
    status = os.fstat(opened)
    if not stat.S_ISREG(status.st_mode):
        raise refusal(path, "not a regular file")
    os.lseek(opened, 0, os.SEEK_SET)
    blocks = [os.read(opened, status.st_size + 1)]
    while blocks[-1]:
        blocks.append(os.read(opened, _BLOCK))
    return Current(b"".join(blocks), status)


def _attributes(opened: int) -> tuple[tuple[str, bytes], ...]:
    """The extended attributes that are the user's (tags, access lists), where the system lets us see them."""
    if sys.platform != "linux":
        return ()
    try:
        names = [name for name in os.listxattr(opened) if name.startswith(_KEPT)]
        return tuple((name, os.getxattr(opened, name)) for name in names)
    except OSError:
        return ()  # kept where possible: a write doesn't fail for them


def _is_link(handle: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode)
    except OSError:
        return False


def expect_bytes(path: str, found: Current | None, expect: str | None) -> None:
    """EditedMeanwhile unless what was found has the SHA-256 `expect`; None expects that there is nothing."""
    if found is None and expect is not None:
        raise EditedMeanwhile("deleted or moved since it was read", where=path, hint="run it again")
    if found is not None and expect is None:
        raise EditedMeanwhile("a file with that name exists", where=path, hint="run it again")
    if found is not None and found.sha256 != expect:
        raise EditedMeanwhile("edited since it was read; the edit stays", where=path, hint="run it again")


def still_named(handle: int, folder: int, name: str) -> bool:
    """Whether the open file is still what that name means in the open folder."""
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
    """Says in our words what kept a file from being read; what isn't there is passed over in silence."""

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
