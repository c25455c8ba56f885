"""The whole state of a folder as it looks from outside: what changed, and how to have it back as it was."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field

GET_FLAGS, SET_FLAGS = 0x80086601, 0x40086602
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHANGEABLE = 0x40 | 0x80  # no dump, no access time: the flags that an attack may set


@dataclass(frozen=True, slots=True)
class Entry:
    """One name: what it is, whose identity it has, what it holds; and what stands about it."""

    kind: int
    device: int
    inode: int
    data: bytes  # of a file; of a link, where it leads
    about: tuple[object, ...] = field(default=())  # mode, owner, group, time, number of names, attributes, flags

    @property
    def substance(self) -> tuple[int, int, int, bytes]:
        return self.kind, self.device, self.inode, self.data


Tree = dict[str, Entry]


class Scanner:
    """Looks at everything below `root`, again and again.

    What was read once is not read again while the kernel's time of its last change, which nobody can set, stays the
    same. That time has a grain: only what had not changed for longer than that when it was read is remembered.
    """

    GRAIN_NS = 100_000_000

    def __init__(self, root: str) -> None:
        self.root = root
        self._seen: dict[str, tuple[int, Entry]] = {}

    def forget(self) -> None:
        """Read every byte at the next look."""
        self._seen.clear()

    def scan(self) -> Tree:
        """Every name below the root, by its path."""
        found: Tree = {}
        self._scan(self.root, found)
        return found

    def _scan(self, folder: str, found: Tree) -> None:
        try:
            with os.scandir(folder) as entries:
                names = [entry.path for entry in entries]
        except PermissionError:  # somebody locked us out: look, and leave it locked
            mode = stat.S_IMODE(os.stat(folder).st_mode)
            os.chmod(folder, 0o700)
            try:
                self._scan(folder, found)
            finally:
                os.chmod(folder, mode)
            return
        for path in names:
            with suppress(FileNotFoundError):
                entry = self.entry(path)
                found[path] = entry
                if entry.kind == stat.S_IFDIR:
                    self._scan(path, found)

    def entry(self, path: str) -> Entry:
        """What stands at `path`."""
        now, status = time.time_ns(), os.lstat(path)
        changed, known = self._seen.get(path, (0, None))
        if known is not None and changed == status.st_ctime_ns and known.inode == status.st_ino:
            return known
        entry = _entry(path, status)
        if status.st_ctime_ns < now - self.GRAIN_NS:
            self._seen[path] = status.st_ctime_ns, entry
        return entry


def _entry(path: str, status: os.stat_result) -> Entry:
    kind, data = stat.S_IFMT(status.st_mode), b""
    attributes: tuple[object, ...] = ()
    flags = 0
    if kind == stat.S_IFLNK:
        data = os.readlink(path).encode()
    elif kind in (stat.S_IFREG, stat.S_IFDIR):
        data, attributes, flags = _opened(path, status)
    times = status.st_mtime_ns if kind in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK) else 0
    about = (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, times, status.st_nlink, attributes, flags)
    return Entry(kind, status.st_dev, status.st_ino, data, about)


def _opened(path: str, status: os.stat_result) -> tuple[bytes, tuple[object, ...], int]:
    try:
        handle = os.open(path, _OPEN)
    except PermissionError:
        os.chmod(path, 0o700)
        try:
            handle = os.open(path, _OPEN)
        finally:
            os.chmod(path, stat.S_IMODE(status.st_mode))
    try:
        data = b""
        if stat.S_ISREG(status.st_mode):
            while block := os.read(handle, 1 << 20):
                data += block
        names = sorted(os.listxattr(handle))
        attributes = tuple((name, os.getxattr(handle, name)) for name in names)
        word = bytearray(8)
        with suppress(OSError):  # not every file system has flags
            fcntl.ioctl(handle, GET_FLAGS, word)
        return data, attributes, struct.unpack_from("I", word)[0] & _CHANGEABLE
    finally:
        os.close(handle)


def restore(scanner: Scanner, before: Tree, after: Tree) -> Tree:
    """Have everything, found as `after`, as it was; give what is there then.

    Identities are kept wherever what was there is still somewhere.
    """
    now = _move_back(scanner, before, after)
    for path in sorted(now.keys() - before.keys()):
        _remove(path)
    for path, entry in sorted(before.items()):
        there = now.get(path)
        right = there is not None and there.kind == entry.kind and (entry.kind != stat.S_IFLNK or there == entry)
        if there is not None and not right:
            _remove(path)
        if not right:
            _make(path, entry)
    now = scanner.scan()
    differ = [path for path, entry in before.items() if now[path].data != entry.data or now[path].about != entry.about]
    for path in sorted(differ, reverse=True):  # folders after what is in them: their times
        _put_right(path, before[path], now[path])
    return now | {path: scanner.entry(path) for path in differ}


def _move_back(scanner: Scanner, before: Tree, now: Tree) -> Tree:
    """What was moved goes back to its place, parents first; gives what is there then."""
    for path, wanted in sorted(before.items()):
        here = now.get(path)
        if here is not None and here.inode == wanted.inode:
            continue
        elsewhere = next((p for p, entry in now.items() if _same(entry, wanted) and not _at_home(p, before, now)), None)
        if elsewhere is None:
            continue
        if here is not None:
            os.rename(path, f"{scanner.root}/put-aside-{wanted.inode}")
        with suppress(OSError):
            os.rename(elsewhere, path)
        now = scanner.scan()
    return now


def _same(entry: Entry, other: Entry) -> bool:
    return (entry.kind, entry.device, entry.inode) == (other.kind, other.device, other.inode)


def _at_home(path: str, before: Tree, now: Tree) -> bool:
    """Whether what stands at `path` belongs there: it may have a second name elsewhere."""
    return path in before and _same(before[path], now[path])


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        if os.path.isdir(path) and not os.path.islink(path):
            _unlock(path)
            shutil.rmtree(path)
        else:
            os.unlink(path)


def _unlock(folder: str) -> None:
    """Let the folders below be looked into: an overlay leaves some that nobody may."""
    os.chmod(folder, 0o700)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _unlock(entry.path)


def _make(path: str, entry: Entry) -> None:
    if entry.kind == stat.S_IFDIR:
        os.mkdir(path)
    elif entry.kind == stat.S_IFLNK:
        os.symlink(entry.data.decode(), path)
        time_ns = entry.about[3]
        assert isinstance(time_ns, int)
        os.utime(path, ns=(time_ns, time_ns), follow_symlinks=False)
    elif entry.kind == stat.S_IFREG:
        with open(path, "xb") as file:
            file.write(entry.data)


def _put_right(path: str, entry: Entry, now: Entry) -> None:
    """Bytes, mode, owner, attributes, flags and time."""
    if entry.kind not in (stat.S_IFREG, stat.S_IFDIR):
        return
    mode, uid, gid, time_ns, _, attributes, flags = entry.about
    assert isinstance(mode, int) and isinstance(uid, int) and isinstance(gid, int)
    assert isinstance(time_ns, int) and isinstance(attributes, tuple) and isinstance(flags, int)
    os.chmod(path, 0o700)
    if now.data != entry.data:
        with open(path, "r+b") as file:
            file.truncate(0)
            file.write(entry.data)
    _attributes(path, dict(attributes), flags)
    if (now.about[1], now.about[2]) != (uid, gid):
        os.chown(path, uid, gid)
    os.chmod(path, mode)
    os.utime(path, ns=(time_ns, time_ns))


def _attributes(path: str, wanted: dict[str, bytes], flags: int) -> None:
    for name in os.listxattr(path):
        if name not in wanted:
            os.removexattr(path, name)
    for name, value in wanted.items():
        os.setxattr(path, name, value)
    handle, word = os.open(path, _OPEN), bytearray(8)
    with suppress(OSError):
        fcntl.ioctl(handle, GET_FLAGS, word)
        (old,) = struct.unpack_from("I", word)
        if old & _CHANGEABLE != flags:
            fcntl.ioctl(handle, SET_FLAGS, struct.pack("Q", (old & ~_CHANGEABLE) | flags))
    os.close(handle)
