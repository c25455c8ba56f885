"""A disk to which case and composition of names mean nothing, as macOS and Windows have them: folds another folder.

Speaks the kernel's FUSE protocol itself, so that it needs /dev/fuse and the right to mount, and no library. Run as
`python folding_disk.py BACKING MOUNTPOINT [no-exchange] [no-link]`; it says "ready", and unmounts when its standard
input ends.
"""
# A file system speaks of names and handles.
# ruff: noqa: PTH101, PTH102, PTH106, PTH108, PTH115, PTH118, PTH208, PTH211

from __future__ import annotations

import ctypes
import errno
import os
import select
import stat
import struct
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress

_IN = struct.Struct("<IIQQIIII")
_OUT = struct.Struct("<IiQ")
_ATTR = struct.Struct("<QQQQQQIIIIIIIIII")
_ENTRY = struct.Struct("<QQQQII")
_SETATTR = struct.Struct("<IIQQQQQQIIIIIIII")
_BUFFER = (1 << 17) + (1 << 13)
_MOVED = 2  # RENAME_EXCHANGE
_MOUNT, _DETACH = 2 | 4, 2  # MS_NOSUID | MS_NODEV; MNT_DETACH


def fold(name: str) -> str:
    """What two names have in common that are one name here."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", name).casefold())


class Disk:
    """Nodes of the kernel's are paths of the backing folder; names are looked up by their fold."""

    def __init__(self, backing: str, lacking: set[str]) -> None:
        self.paths = {1: backing}
        self.nodes = {self._identity(os.lstat(backing)): 1}
        self.names: dict[str, dict[str, str]] = {}  # folder -> fold -> the name as it was given
        self.handles: dict[int, list[str]] = {}
        self.next_node, self.next_handle, self.lacking = 2, 1 << 32, lacking
        self.calls: dict[int, Callable[[int, bytes], bytes]] = {
            1: lambda node, body: self._entry(self._at(node, _name(body))),
            3: lambda node, body: self._attributes(self.paths[node]),
            4: self._setattr,
            5: lambda node, body: os.fsencode(os.readlink(self.paths[node])),
            6: self._symlink,
            8: self._mknod,
            9: self._mkdir,
            10: self._unlink,
            11: self._rmdir,
            12: lambda node, body: self._rename(node, body[8:], int.from_bytes(body[:8], "little"), 0),
            13: self._link,
            14: self._open,
            15: self._read,
            16: self._write,
            17: lambda node, body: struct.pack("<QQQQQIIII24x", *[1 << 20] * 5, 4096, 255, 4096, 0),
            18: self._release,
            20: lambda node, body: b"",  # what survives a power cut is not this disk's business
            25: lambda node, body: b"",
            26: lambda node, body: struct.pack("<IIIIHHIIHHI28x", 7, 31, 1 << 16, 0, 12, 9, 1 << 16, 1, 0, 0, 0),
            27: self._opendir,
            28: self._readdir,
            29: self._releasedir,
            30: lambda node, body: b"",
            35: self._create,
            45: self._rename2,
        }

    def answer(self, opcode: int, node: int, body: bytes) -> tuple[int, bytes]:
        """(error, reply) to one request."""
        call = self.calls.get(opcode)
        if call is None:
            return -errno.ENOSYS, b""
        try:
            return 0, call(node, body)
        except OSError as error:
            return -(error.errno or errno.EIO), b""
        except KeyError:
            return -errno.ESTALE, b""

    def _listed(self, folder: str) -> dict[str, str]:
        if folder not in self.names:
            self.names[folder] = {fold(name): name for name in os.listdir(folder)}
        return self.names[folder]

    def _at(self, node: int, name: str) -> str:
        """The backing path of what goes by that name, in whatever case, else of what would."""
        folder = self.paths[node]
        return os.path.join(folder, self._listed(folder).get(fold(name), name))

    def _came(self, path: str) -> None:
        folder, name = os.path.split(path)
        self._listed(folder)[fold(name)] = name

    def _went(self, path: str) -> None:
        folder, name = os.path.split(path)
        self._listed(folder).pop(fold(name), None)
        self.names.pop(path, None)

    @staticmethod
    def _identity(status: os.stat_result) -> tuple[int, int]:
        return status.st_dev, status.st_ino

    def _forget(self, path: str) -> None:
        """The last name of a file goes: its inode may be another's tomorrow."""
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return
        if stat.S_ISDIR(status.st_mode) or status.st_nlink == 1:
            self.nodes.pop(self._identity(status), None)

    def _node(self, path: str) -> tuple[int, os.stat_result]:
        status = os.lstat(path)
        node = self.nodes.get(self._identity(status))
        if node is None:
            node = self.nodes[self._identity(status)] = self.next_node
            self.next_node += 1
        self.paths[node] = path
        return node, status

    def _entry(self, path: str) -> bytes:
        node, status = self._node(path)
        return _ENTRY.pack(node, 0, 0, 0, 0, 0) + _attributes_of(status)

    def _attributes(self, path: str) -> bytes:
        return struct.pack("<QII", 0, 0, 0) + _attributes_of(os.lstat(path))

    def _setattr(self, node: int, body: bytes) -> bytes:
        valid, _, _, size, *_ = fields = _SETATTR.unpack_from(body)
        mode, uid, gid, path = fields[11], fields[13], fields[14], self.paths[node]
        if valid & 8:
            os.truncate(path, size)
        if valid & 6:
            os.chown(path, uid if valid & 2 else -1, gid if valid & 4 else -1, follow_symlinks=False)
        if valid & 1:
            os.chmod(path, stat.S_IMODE(mode))
        if valid & 0x1B0:
            os.utime(path)
        return self._attributes(path)

    def _symlink(self, node: int, body: bytes) -> bytes:
        name, target, _ = body.split(b"\0", 2)
        path = self._at(node, os.fsdecode(name))
        os.symlink(os.fsdecode(target), path)
        self._came(path)
        return self._entry(path)

    def _mknod(self, node: int, body: bytes) -> bytes:
        mode, device = struct.unpack_from("<II", body)
        path = self._at(node, _name(body[16:]))
        os.mknod(path, mode, device)
        self._came(path)
        return self._entry(path)

    def _mkdir(self, node: int, body: bytes) -> bytes:
        path = self._at(node, _name(body[8:]))
        os.mkdir(path, int.from_bytes(body[:4], "little"))
        self._came(path)
        return self._entry(path)

    def _unlink(self, node: int, body: bytes) -> bytes:
        path = self._at(node, _name(body))
        self._forget(path)
        os.unlink(path)
        self._went(path)
        return b""

    def _rmdir(self, node: int, body: bytes) -> bytes:
        path = self._at(node, _name(body))
        self._forget(path)
        os.rmdir(path)
        self._went(path)
        return b""

    def _rename2(self, node: int, body: bytes) -> bytes:
        there, flags = struct.unpack_from("<QI", body)
        return self._rename(node, body[16:], there, flags)

    def _rename(self, node: int, names: bytes, there: int, flags: int) -> bytes:
        if flags and "no-exchange" in self.lacking:
            raise OSError(errno.EINVAL, "no flags here")
        old, new = (os.fsdecode(name) for name in names.split(b"\0")[:2])
        source, target = self._at(node, old), self._at(there, new)
        if flags == 0:
            if fold(old) != fold(new) or node != there:
                self._forget(target)
                self._went(target)
            target = os.path.join(self.paths[there], new)
        if _LIBC.renameat2(-100, os.fsencode(source), -100, os.fsencode(target), flags):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        self._moved(source, target, both=flags == _MOVED)
        return b""

    def _moved(self, source: str, target: str, *, both: bool) -> None:
        places = {source: target} | ({target: source} if both else {})
        for node, path in self.paths.items():
            for old, new in places.items():
                if path == old or path.startswith(old + "/"):
                    self.paths[node] = new + path[len(old) :]
                    break
        self.names = {f: n for f, n in self.names.items() if not (f + "/").startswith((source + "/", target + "/"))}
        if not both:
            self._went(source)
        self._came(target)

    def _link(self, node: int, body: bytes) -> bytes:
        if "no-link" in self.lacking:
            raise OSError(errno.EPERM, "no links here")
        path = self._at(node, _name(body[8:]))
        os.link(self.paths[int.from_bytes(body[:8], "little")], path, follow_symlinks=False)
        self._came(path)
        return self._entry(path)

    def _open(self, node: int, body: bytes) -> bytes:
        flags = int.from_bytes(body[:4], "little") & ~(os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND)
        return struct.pack("<QII", os.open(self.paths[node], flags), 1, 0)  # 1: no cache of the kernel's

    def _create(self, node: int, body: bytes) -> bytes:
        flags, mode = struct.unpack_from("<II", body)
        path = self._at(node, _name(body[16:]))
        handle = os.open(path, flags & ~(os.O_NOFOLLOW | os.O_APPEND), mode)
        self._came(path)
        return self._entry(path) + struct.pack("<QII", handle, 1, 0)

    def _read(self, node: int, body: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", body)
        return os.pread(handle, size, offset)

    def _write(self, node: int, body: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", body)
        return struct.pack("<II", os.pwrite(handle, body[40 : 40 + size], offset), 0)

    def _release(self, node: int, body: bytes) -> bytes:
        os.close(int.from_bytes(body[:8], "little"))
        return b""

    def _opendir(self, node: int, body: bytes) -> bytes:
        self.next_handle += 1
        self.handles[self.next_handle] = [".", "..", *sorted(self._listed(self.paths[node]).values())]
        return struct.pack("<QII", self.next_handle, 0, 0)

    def _readdir(self, node: int, body: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", body)
        out = b""
        for number, name in enumerate(self.handles[handle][offset:], offset + 1):
            raw = os.fsencode(name)
            entry = struct.pack("<QQII", 1, number, len(raw), 0) + raw  # of an unknown kind: the kernel asks
            entry += bytes(-len(entry) % 8)
            if len(out) + len(entry) > size:
                break
            out += entry
        return out

    def _releasedir(self, node: int, body: bytes) -> bytes:
        self.handles.pop(int.from_bytes(body[:8], "little"), None)
        return b""


def _name(body: bytes) -> str:
    return os.fsdecode(body.split(b"\0", 1)[0])


def _attributes_of(status: os.stat_result) -> bytes:
    times = [getattr(status, f"st_{which}time_ns") for which in "amc"]
    seconds, rest = [t // 10**9 for t in times], [t % 10**9 for t in times]
    numbers = (status.st_mode, status.st_nlink, status.st_uid, status.st_gid, status.st_rdev, 4096, 0)
    return _ATTR.pack(status.st_ino, status.st_size, status.st_blocks, *seconds, *rest, *numbers)


_LIBC = ctypes.CDLL(None, use_errno=True)


def main(backing: str, mountpoint: str, lacking: set[str]) -> None:
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other".encode()
    if _LIBC.mount(b"folding", os.fsencode(mountpoint), b"fuse.folding", _MOUNT, options):
        raise SystemExit(f"not mounted: {os.strerror(ctypes.get_errno())}")
    os.umask(0)
    disk, ready = Disk(backing, lacking), select.poll()
    for watched in (device, 0):
        ready.register(watched, select.POLLIN | select.POLLHUP)
    print("ready", flush=True)
    try:
        while all(handle == device for handle, _ in ready.poll()):
            try:
                request = os.read(device, _BUFFER)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
                    continue  # taken back before we read it
                break  # unmounted
            _, opcode, unique, node, *_ = _IN.unpack_from(request)
            if opcode in (2, 42, 36):  # forget, forget many, interrupt: nobody waits
                continue
            code, reply = disk.answer(opcode, node, request[_IN.size :])
            with suppress(FileNotFoundError):  # whoever asked was killed
                os.write(device, _OUT.pack(_OUT.size + len(reply), code, unique) + reply)
    finally:
        _LIBC.umount2(os.fsencode(mountpoint), _DETACH)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], set(sys.argv[3:]))
