"""The changes between the known state of the user's files and a scan: pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from vault.audit.scanner import FileState, Key, Scan
from vault.files.folder import FileKind


class ChangeKind(StrEnum):
    """How a file changed."""

    CHANGED = "changed"
    MODE = "mode"  # the same bytes with another mode
    REPLACED = "replaced"  # by a link, a folder, a pipe; or one of these by a file
    MOVED = "moved"
    VANISHED = "vanished"
    APPEARED = "appeared"


@dataclass(frozen=True, slots=True)
class Change:
    """One file that is not as it was known. `was` is None for one that appeared, `now` for one that vanished.

    `origin` is where a moved one was. `good` is the instant of the last scan at which it was unchanged.
    """

    what: ChangeKind
    key: Key
    was: FileState | None
    now: FileState | None
    origin: Key | None = None
    good: str = ""

    @property
    def keys(self) -> tuple[Key, ...]:
        """Return every path that the change touches."""
        return (self.key,) if self.origin is None else (self.origin, self.key)


def compare(known: Mapping[Key, FileState], scan: Scan) -> list[Change]:
    """Return every change, by path. Files that could not be read now do not count as vanished."""
    found = [change for key, was in known.items() if (change := _change_at(key, was, scan)) is not None]
    hidden = bool(scan.unreachable or scan.unread)
    missing = {key: was for key, was in known.items() if key not in scan.files and not (hidden and scan.hides(key))}
    replaced = {change.key for change in found}
    vanished = {key: was for key, was in missing.items() if key not in replaced}
    appeared = {key: now for key, now in scan.files.items() if key not in known}
    for old, new in _moves(vanished, appeared):
        found.append(Change(ChangeKind.MOVED, new, vanished.pop(old), appeared.pop(new), old))
    found += (Change(ChangeKind.VANISHED, key, was, None) for key, was in vanished.items())
    found += (Change(ChangeKind.APPEARED, key, None, now) for key, now in appeared.items())
    return sorted(found, key=lambda change: change.key)


def compare_folders(known: Mapping[Key, int], modes: Mapping[Key, int]) -> list[Change]:
    """Return every existing folder whose mode is not the known one."""
    changed = {key: was for key, was in known.items() if modes.get(key, was) != was}
    return [Change(ChangeKind.MODE, key, folder_of(was), folder_of(modes[key])) for key, was in changed.items()]


def folder_of(mode: int) -> FileState:
    """Return the state of a folder, of which only the mode counts."""
    return FileState(FileKind.FOLDER, "", 0, mode, 0, 0, 0, 0)


def _change_at(key: Key, was: FileState, scan: Scan) -> Change | None:
    """Return the change of a file whose path still exists; None for no change or no such path."""
    now = scan.files.get(key)
    if now is None:
        if key not in scan.folders:
            return None
        return Change(ChangeKind.REPLACED, key, was, folder_of(0))
    if now.kind is not was.kind:
        return Change(ChangeKind.REPLACED, key, was, now)
    if now.sha256 != was.sha256:
        return Change(ChangeKind.CHANGED, key, was, now)
    if now.mode != was.mode and now.kind is not FileKind.LINK:
        return Change(ChangeKind.MODE, key, was, now)
    return None


def _moves(vanished: Mapping[Key, FileState], appeared: Mapping[Key, FileState]) -> Iterable[tuple[Key, Key]]:
    """Return pairs of old and new path with the same bytes: the same inode first, then the same name.

    Of empty files only the same inode counts as moved.
    """
    waiting: dict[tuple[FileKind, str], list[Key]] = defaultdict(list)
    for key, was in vanished.items():
        waiting[was.kind, was.sha256].append(key)
    pairs = []
    for likeness in (_same_file, _same_name, _same_bytes):
        for new, now in appeared.items():
            candidates = waiting.get((now.kind, now.sha256), [])
            old = next((k for k in candidates if likeness(k, vanished[k], new, now)), None)
            if old is not None:
                candidates.remove(old)
                pairs.append((old, new))
        paired = {new for _, new in pairs}
        appeared = {key: now for key, now in appeared.items() if key not in paired}
    return pairs


def _same_file(_old: Key, was: FileState, _new: Key, now: FileState) -> bool:
    return (was.dev, was.ino) == (now.dev, now.ino)


def _same_name(old: Key, was: FileState, new: Key, _now: FileState) -> bool:
    return was.size > 0 and old.path.rpartition("/")[2] == new.path.rpartition("/")[2]


def _same_bytes(_old: Key, was: FileState, _new: Key, _now: FileState) -> bool:
    return was.size > 0
