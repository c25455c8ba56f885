"""Whether a vault's files are as the last build left them, by size, change time and inode alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.index.steps import Steps, decoded
from compiler.readers.formats import VERSIONS
from vault.config.notes import HERE, NoteRules
from vault.config.settings import SCHEMA_VERSION
from vault.index.database import IndexDamaged
from vault.layout import SUGGESTIONS
from vault.vault import Vault

REPORT = "report"  # the name of what the last build reported, in the index
STAMPS = "stamps"  # of how it left the files: compared as text, with no digest and no parsing to pay for
VERSION = 6  # of the steps between engine and file: when it grows, the next compile runs them all again
TICK_S = 0.02  # file systems stamp by a clock of the kernel's that moves in steps of up to 10 ms
_TICK_NS = int(TICK_S * 1e9)
_WHOLE_NS = 1_000_000_000  # a stamp of whole seconds: perhaps from a file system that keeps no finer ones
_COARSE_NS = 2 * _WHOLE_NS  # the coarsest there is (FAT)
_WATCHED = ("raw", "wiki", "learning", "ledger", "output/proposals")
_SETTINGS = "retain.toml"  # the time zone and the like are in what a build writes
_NO_INPUT = ("learning/reviews", "learning/_review", "learning/anki/")  # of the review log only flags are an input
_LOG = ("learning/reviews", ".jsonl")  # how the log's files begin and end
_FLAG, _UNDO = b'"type":"flag"', b'"type":"undo"'
_ID = re.compile(rb'"([0-9A-Z]{26})"')  # of the event itself, or of the one that it voids


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Path -> "size ctime inode" of every file that a build reads or writes, as seen at `taken_ns`.

    Whatever changes a file moves its ctime, which nobody can set back. A change made after `settled_ns` is sure to
    show; one made before it may find the clock of the file system where the last change found it. The review log grows
    every day: of it counts only what its `flags` are, by a digest.
    """

    stamps: Mapping[str, str]
    taken_ns: int
    settled_ns: int
    flags: str = ""

    @property
    def settled(self) -> bool:
        """Return whether any later change is sure to show in the stamps."""
        return self.settled_ns < self.taken_ns

    def size(self, path: str) -> int:
        """Return the bytes in the file; 0 if there is none."""
        return int(self.stamps.get(path, "0").partition(" ")[0])

    def text(self, engine: str) -> bytes:
        """Return all stamps with the versions of engine and readers, to compare them as one text."""
        lines = [f"{path}\0{self.stamps[path]}" for path in sorted(self.stamps)]
        return "\n".join([f"{_versions(engine)} {self.flags}", *lines]).encode("utf-8", "surrogateescape")

    def changed_since(self, before: Snapshot) -> set[str]:
        """Return the files that came, went, or have another stamp."""
        return {path for path, _ in self.stamps.items() ^ before.stamps.items()}


def _versions(engine: str) -> str:
    return f"{VERSION} {SCHEMA_VERSION} {engine}"


def bytes_to_read(vault: Vault, engine: str, seen: Snapshot, *, fresh: bool) -> int:
    """Return the bytes of the sources that the last build did not see as they are now; of all if it is no guide."""
    text = ""
    with suppress(OSError, ValueError, IndexDamaged):
        if not fresh and (last := Steps.last(vault, VERSIONS)) is not None:
            with closing(last) as steps:
                text = (steps.state(STAMPS) or b"").decode("utf-8", "surrogateescape")
    known = set(text.split("\n")) if text.startswith(_versions(engine)) else set[str]()
    sources = (item for item in seen.stamps.items() if vault.is_source(item[0]))
    return sum(seen.size(path) for path, stamp in sources if f"{path}\0{stamp}" not in known)


def look(root: Path, notes: NoteRules) -> Snapshot:
    """Return the stamps of the vault's files and notes as they are now, without hidden files and links.

    Raises: OSError if there is no vault.
    """
    taken, top = time.time_ns(), os.fspath(root)
    settings = Path(top, _SETTINGS).stat()
    stamps = {_SETTINGS: f"{settings.st_size} {settings.st_ctime_ns} {settings.st_ino}"}
    newest, coarse = settings.st_ctime_ns, 0
    folders = [(folder, False) for folder in _WATCHED] + [(folder, True) for folder in notes.folders]
    while folders:  # the one loop that every compile waits for: plain on purpose
        here, ruled = folders.pop()  # of a folder of notes counts what the rules name
        prefix = "" if here == HERE else f"{here}/"
        try:
            entries = os.scandir(f"{top}/{here}")
        except OSError:
            continue  # what cannot be listed holds nothing to be compiled
        with entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                path, is_folder = prefix + name, entry.is_dir(follow_symlinks=False)
                if ruled and not (notes.enters(path) if is_folder else notes.covers(path)):
                    continue
                if not (is_folder or entry.is_symlink()):  # a pipe or a socket in raw/ is reported, so that it counts
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # gone since it was listed
                    changed = status.st_ctime_ns
                    stamps[path] = f"{status.st_size} {changed} {status.st_ino}"
                    if changed > newest:
                        newest = changed
                    if not changed % _WHOLE_NS:
                        coarse = max(coarse, changed)
                elif is_folder:
                    folders.append((path, ruled))
    logs = [p for p in stamps if p.startswith(_LOG[0]) and p.endswith(_LOG[1]) and p.count("/") == 1]
    for path in [p for p in stamps if p.startswith(_NO_INPUT)]:
        del stamps[path]
    return Snapshot(stamps, taken, max(newest + _TICK_NS, coarse + _COARSE_NS), _flags(top, logs))


def _flags(top: str, logs: Iterable[str]) -> str:
    """Return a digest of the review log's lines that flag cards, and of those that void one.

    It does not depend on their order, file or repetition. Lines are compared as they are and none is parsed: a log of
    years costs milliseconds.
    """
    flags: set[bytes] = set()
    undos: set[bytes] = set()
    for path in logs:
        try:
            data = Path(top, path).read_bytes()
        except OSError:
            return f"unread {path}"  # the build will say what is wrong with it
        if _FLAG in data or _UNDO in data:
            for line in data.split(b"\n"):
                if _FLAG in line:
                    flags.add(line.strip())
                elif _UNDO in line:
                    undos.add(line.strip())
    return hashlib.sha256(b"\n".join(sorted(flags | _voiding(flags, undos)))).hexdigest()


def _voiding(flags: Iterable[bytes], undos: Iterable[bytes]) -> set[bytes]:
    """Return those of the `undos` that void a flag, or an undo of one, and so on."""
    known = {id_ for line in flags for id_ in _ID.findall(line)}
    found: set[bytes] = set()
    rest = {line: set(_ID.findall(line)) for line in undos}
    while more := [line for line, ids in rest.items() if ids & known]:
        found.update(more)
        for line in more:
            known |= rest.pop(line)
    return found


def steady(root: Path, notes: NoteRules) -> Snapshot:
    """Return the stamps of the vault's files; wait a tick of the clock if they are settled after it."""
    seen = look(root, notes)
    if 0 <= seen.settled_ns - seen.taken_ns <= _TICK_NS:
        time.sleep(TICK_S)
        seen = look(root, notes)
    return seen


def stood_in(report: dict[str, Any]) -> bool:
    """Return whether the embedded engine answered in place of a model, so that one may be asked again."""
    return any(isinstance(n, dict) and n.get("id") == "stood-in" for n in report.get("notices", ()))


def last_report(vault: Vault, engine: str, seen: Snapshot | None = None) -> dict[str, Any] | None:
    """Return what the last build reported if the files are as it left them, or as `seen`; None when in doubt."""
    try:
        last = Steps.last(vault, VERSIONS)
        if last is None:
            return None
        with closing(last) as steps:
            if steps.state(STAMPS) != (seen or look(vault.root, vault.notes)).text(engine):
                return None
            report = decoded(steps.state(REPORT))
        if not isinstance(json.loads((vault.root / SUGGESTIONS).read_bytes())["suggestions"], list):
            return None  # made beside it; asked for before the next change
    except (OSError, ValueError, TypeError, LookupError, RecursionError, IndexDamaged):
        return None
    return report if isinstance(report, dict) else None
