"""How a vault's files stand, seen from their stamps alone, and whether that is how the last build left them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CACHE = ".retain/cache/build.json"
VERSION = 1  # of the steps between engine and file: when it grows, everything is laid out anew
READERS = "markdown/1 text/1 html/1 pdf/1"  # the versions of the readers: a new one reads everything again
TICK_S = 0.02  # file systems stamp by a clock of the kernel's that moves in steps of up to 10 ms
_TICK_NS = int(TICK_S * 1e9)
_WHOLE_NS = 1_000_000_000  # a stamp of whole seconds: perhaps from a file system that keeps no finer ones
_COARSE_NS = 2 * _WHOLE_NS  # the coarsest there is (FAT)
_WATCHED = ("raw", "wiki", "learning", "ledger", "output/proposals")
_SETTINGS = "retain.toml"
_NO_INPUT = ("learning/reviews", "learning/_review")  # the review log and its page: no build depends on them


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Path -> "size mtime ctime inode" of every file that a build reads or writes, as seen at `taken_ns`.

    A change made after `settled_ns` is sure to show; one made before it may find the clock of the file system where
    the last change found it.
    """

    stamps: Mapping[str, str]
    taken_ns: int
    settled_ns: int

    @property
    def settled(self) -> bool:
        return self.settled_ns < self.taken_ns

    def size(self, path: str) -> int:
        """Bytes in the file; 0 if there is none."""
        return int(self.stamps.get(path, "0").partition(" ")[0])

    def digest(self, engine: str) -> str:
        """A digest of all stamps, and of the versions of what made the files."""
        import hashlib

        lines = (f"{path}\0{stamp}" for path, stamp in sorted(self.stamps.items()))
        state = "\n".join((f"{VERSION} {READERS} {engine}", *lines))
        return hashlib.sha256(state.encode("utf-8", "surrogateescape")).hexdigest()

    def changed_since(self, before: Snapshot) -> set[str]:
        """The files that came, went, or have another stamp."""
        return {path for path, _ in set(self.stamps.items()) ^ set(before.stamps.items())}


def look(root: Path) -> Snapshot:
    """The files of the vault at `root` as they stand now."""
    taken, top = time.time_ns(), os.fspath(root)
    stamps: dict[str, str] = {}
    settled = 0
    for path, status in _files(top):
        changed = status.st_ctime_ns
        stamps[path] = f"{status.st_size} {status.st_mtime_ns} {changed} {status.st_ino}"
        settled = max(settled, changed + (_TICK_NS if changed % _WHOLE_NS else _COARSE_NS))
    return Snapshot(stamps, taken, settled)


def steady(root: Path) -> Snapshot:
    """The files as they stand now; a tick is waited for if that is all it takes for them to be settled."""
    seen = look(root)
    if 0 <= seen.settled_ns - seen.taken_ns <= _TICK_NS:
        time.sleep(TICK_S)
        seen = look(root)
    return seen


def _files(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """Every plain file that is watched, less hidden ones; a folder that cannot be listed has none."""
    yield _SETTINGS, Path(top, _SETTINGS).stat()  # time zone and the like are in what a build writes
    folders = list(_WATCHED)
    while folders:
        here = folders.pop()
        try:
            with os.scandir(f"{top}/{here}") as entries:
                for entry in entries:
                    if entry.name[0] == ".":
                        continue
                    path = f"{here}/{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(path)
                    elif entry.is_file(follow_symlinks=False) and not path.startswith(_NO_INPUT):
                        yield path, entry.stat(follow_symlinks=False)
        except OSError:
            continue


def last_build(root: Path, engine: str) -> dict[str, Any] | None:
    """What the last build wrote down, if it left everything just as it is now; None when in doubt."""
    try:
        cached = json.loads((root / CACHE).read_text(encoding="utf-8"))
        if isinstance(cached, dict) and cached.get("fingerprint") == look(root).digest(engine):
            return cached
    except (OSError, ValueError):
        pass
    return None
