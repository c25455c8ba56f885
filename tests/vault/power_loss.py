"""What a disk may hold after the power fails: every state that the calls a writer really made allow.

The calls are those that strace saw. A name is on disk once its folder was synced, bytes once their file was; until then
each may be there or not, in any combination, and bytes may be there in part.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CALLS = (
    "access,openat,openat2,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,"
    "ftruncate,truncate,mkdir,mkdirat,rmdir,fchmod"
)
BEGIN, END = "/power-loss-begin/", "/power-loss-end/"
_LINE = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+)(<[^>]*>)?")
_FD = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')

Content = bytes | None


@dataclass(frozen=True)
class Op:
    """One call: `path` and `other` are absolute; `data` is what was written, or b"exchange"."""

    call: str
    path: str
    other: str = ""
    data: bytes = b""
    size: int = 0


def recorded(script: str, arguments: list[str], trace: Path) -> Iterator[Op]:
    """The calls that `script`, run by a Python of its own, made: the part between the marks, marks included."""
    command = ["strace", "-f", "-y", "-xx", "-s", "65536", "-e", f"trace={CALLS}", "-o", str(trace)]
    subprocess.run([*command, sys.executable, "-c", script, *arguments], check=True, timeout=300)
    for line in trace.read_text("ascii", "replace").splitlines():
        found = _LINE.match(line)
        if found and (int(found[3]) >= 0 or found[1] == "access"):
            yield from _op(found[1], found[2], (found[4] or "")[1:-1])


def _op(call: str, arguments: str, opened: str) -> Iterator[Op]:
    folders = [_bytes(f).decode("utf-8", "replace") for f in _FD.findall(arguments)]
    texts = [_bytes(t) for t in _TEXT.findall(_FD.sub("", arguments))]
    if call in ("write", "pwrite64") and folders and texts:
        yield Op("write", folders[0], data=texts[0])
    elif call in ("fsync", "fdatasync") and folders:
        yield Op("sync", folders[0])
    elif call in ("ftruncate",) and folders:
        yield Op("truncate", folders[0], size=int(arguments.rsplit(",", 1)[1]))
    elif texts:
        names = [str(Path(*folders[i : i + 1], t.decode())) for i, t in enumerate(texts)]
        if call.startswith("open") and "O_CREAT" in arguments:
            yield Op("create", _bytes(opened).decode())
        elif call.startswith("open") and "O_TRUNC" in arguments:
            yield Op("truncate", _bytes(opened).decode())
        elif call.startswith(("rename", "link")):
            swap = b"exchange" if "RENAME_EXCHANGE" in arguments else b""
            yield Op(call[:4], names[0], names[1], swap)
        elif call.startswith(("unlink", "mkdir", "access")):
            yield Op(call[:6].rstrip("a"), names[0])


def _bytes(escaped: str) -> bytes:
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), escaped.encode())


def _above(path: str) -> str:
    return path.rpartition("/")[0]


@dataclass
class _File:
    """A file's bytes as a running system sees them, and every state in which the disk may have them."""

    now: bytes
    on_disk: set[bytes]

    def becomes(self, now: bytes) -> None:
        added = now[len(self.now) :] if now.startswith(self.now) else b""
        kept = self.now if added else b""
        rest = added or now
        self.on_disk |= {now, kept + rest[: len(rest) // 2], kept + b"\0" * len(rest), kept}
        self.now = now


@dataclass
class Disk:
    """Follows the calls; `states` are what a path may hold if the power fails now."""

    names: dict[str, _File | None] = field(default_factory=dict)
    since_sync: dict[str, list[_File | None]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)  # made, and perhaps not on disk yet

    @classmethod
    def of(cls, root: Path) -> Disk:
        """Everything below `root` as it lies there, and on disk."""
        files = [p for p in root.rglob("*") if p.is_file()]
        return cls({str(p): _File(data, {data}) for p in files if (data := p.read_bytes()) is not None})

    def make(self, op: Op) -> None:
        file = self.names.get(op.path)
        match op.call:
            case "create":
                if file is None:
                    self._name(op.path, _File(b"", {b""}))
            case "write" if file is not None:
                file.becomes(file.now + op.data)
            case "truncate" if file is not None:
                file.becomes(file.now[: op.size])
            case "sync":
                self._sync(op.path)
            case "rena":
                old = self.names.get(op.other)
                self._name(op.other, file)
                self._name(op.path, old if op.data == b"exchange" else None)
            case "link":
                self._name(op.other, file)
            case "unlink":
                self._name(op.path, None)
            case "mkdir":
                self.folders.add(op.path)

    def _name(self, path: str, file: _File | None) -> None:
        self.since_sync.setdefault(path, [self.names.get(path)]).append(file)
        self.names[path] = file

    def _sync(self, path: str) -> None:
        file = self.names.get(path)
        if file is not None:
            file.on_disk = {file.now}
            return
        self.since_sync = {p: seen for p, seen in self.since_sync.items() if _above(p) != path}
        self.folders = {folder for folder in self.folders if _above(folder) != path}

    def states(self, path: str) -> set[Content]:
        """All that the path may hold after a power loss; None for nothing."""
        files = self.since_sync.get(path, [self.names.get(path)])
        found: set[Content] = {content for f in files for content in (f.on_disk if f is not None else {None})}
        folder = _above(path)
        while folder not in ("", "/"):
            if folder in self.folders:
                found.add(None)
            folder = _above(folder)
        return found
