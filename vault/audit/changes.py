"""What lies between two looks at the human's files: pure, over what was known and what was seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from vault.audit.scanner import Key, Look, Seen
from vault.files.folder import FileKind


class What(StrEnum):
    """What became of a file."""

    CHANGED = "changed"
    MODE = "mode"  # the bytes are the same, who may read or run it is not
    REPLACED = "replaced"  # by a link, a folder, a pipe; or one of these by a file
    MOVED = "moved"
    VANISHED = "vanished"
    APPEARED = "appeared"


@dataclass(frozen=True, slots=True)
class Change:
    """One file that is not as it was known. `was` is None for one that appeared, `now` for one that vanished.

    `origin` is where a moved one was. `good` is the instant of the last look at which all was well with it.
    """

    what: What
    key: Key
    was: Seen | None
    now: Seen | None
    origin: Key | None = None
    good: str = ""

    @property
    def keys(self) -> tuple[Key, ...]:
        """Every path that the change touches."""
        return (self.key,) if self.origin is None else (self.origin, self.key)


def compare(known: Mapping[Key, Seen], look: Look) -> list[Change]:
    """Every change, by path. What could not be looked at now is not taken for gone."""
    found = [change for key, was in known.items() if (change := _fate(key, was, look)) is not None]
    hidden = bool(look.unreachable or look.unread)
    missing = {key: was for key, was in known.items() if key not in look.files and not (hidden and look.hides(key))}
    replaced = {change.key for change in found}
    vanished = {key: was for key, was in missing.items() if key not in replaced}
    appeared = {key: now for key, now in look.files.items() if key not in known}
    for old, new in _moves(vanished, appeared):
        found.append(Change(What.MOVED, new, vanished.pop(old), appeared.pop(new), old))
    found += (Change(What.VANISHED, key, was, None) for key, was in vanished.items())
    found += (Change(What.APPEARED, key, None, now) for key, now in appeared.items())
    return sorted(found, key=lambda change: change.key)


def compare_folders(known: Mapping[Key, int], modes: Mapping[Key, int]) -> list[Change]:
    """Every folder that is there and has another mode than it is known with."""
    changed = {key: was for key, was in known.items() if modes.get(key, was) != was}
    return [Change(What.MODE, key, folder_of(was), folder_of(modes[key])) for key, was in changed.items()]


def folder_of(mode: int) -> Seen:
    """A folder as the audit sees it: nothing but its mode counts."""
    return Seen(FileKind.FOLDER, "", 0, mode, 0, 0, 0, 0)


def _fate(key: Key, was: Seen, look: Look) -> Change | None:
    """What became of a file that is still known by its name; None if nothing, or if nothing goes by that name."""
    now = look.files.get(key)
    if now is None:
        if key not in look.folders:
            return None
        return Change(What.REPLACED, key, was, folder_of(0))
    if now.kind is not was.kind:
        return Change(What.REPLACED, key, was, now)
    if now.sha256 != was.sha256:
        return Change(What.CHANGED, key, was, now)
    if now.mode != was.mode and now.kind is not FileKind.LINK:
        return Change(What.MODE, key, was, now)
    return None


def _moves(vanished: Mapping[Key, Seen], appeared: Mapping[Key, Seen]) -> Iterable[tuple[Key, Key]]:
    """Pairs of old and new name with the same bytes: the very same file first, then one of the same name.

    Empty files are alike, so only the very same one counts as moved.
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


def _same_file(_old: Key, was: Seen, _new: Key, now: Seen) -> bool:
    return (was.dev, was.ino) == (now.dev, now.ino)


def _same_name(old: Key, was: Seen, new: Key, _now: Seen) -> bool:
    return was.size > 0 and old.path.rpartition("/")[2] == new.path.rpartition("/")[2]


def _same_bytes(_old: Key, was: Seen, _new: Key, _now: Seen) -> bool:
    return was.size > 0
