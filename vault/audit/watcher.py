"""The audit of the user's files: scan them, compare with the known state, accept or restore changes.

The known state is stored outside the vault, with a copy of every file; only the user's own commands change it.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from vault.audit.blobs import LARGEST, Copies
from vault.audit.changes import Change, compare, compare_folders, folder_of
from vault.audit.restore import Restorer
from vault.audit.scanner import NOT_THERE, PERSONAL, VAULT, FileState, Key, Root, Scan, Scanner, roots_of
from vault.audit.state import KnownFiles, LastScan
from vault.errors import Damaged, NotFound, Refused, RetainError, WriteFailed
from vault.files.folder import FileKind, sha256_hex
from vault.files.write_scopes import AGENT_FOLDERS, HUMAN_FOLDERS, is_within
from vault.log.ledger import instant
from vault.vault import Vault

_INSIGHTS = Key(VAULT, "insights")
_ROOT = Key(VAULT, "")
_CHANGED_AGAIN = "it has changed again since the scan"
Step = tuple[FileState | None, FileState | None]  # the present and the wanted state of a file; None: no file


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit found. `first`: there was no known state to compare with, and all files were recorded.

    `unreachable` are the user's folders that can't be read, and why: their files do not count as vanished. `begun` are
    folders that were scanned for the first time.
    """

    first: bool
    last: LastScan | None
    files: int
    changes: tuple[Change, ...]
    scan: Scan
    unreachable: dict[Key, str]
    begun: tuple[Key, ...] = ()


@dataclass(slots=True)
class Outcome:
    """What became of changes that were to be accepted, restored or undone."""

    done: list[Key] = field(default_factory=list)
    left: list[tuple[Key, str]] = field(default_factory=list)  # skipped, and why
    messages: list[str] = field(default_factory=list)  # about what was deleted or renamed to make room


class Audit:
    """The known state of one vault's files of the user. Create it by `open`."""

    def __init__(self, vault: Vault, copies: Copies) -> None:
        self.vault = vault
        self.copies = copies
        self.known = KnownFiles(copies.database)

    @classmethod
    @contextmanager
    def open(cls, vault: Vault) -> Iterator[Audit]:
        """Yield the audit of a vault."""
        with Copies.open(vault.settings.vault_id) as copies:
            yield cls(vault, copies)

    def scan(self, at: datetime, *, quick: bool = False, force: bool = False) -> AuditReport:
        """Scan all files and compare; the first time, record everything, with a copy.

        With `quick`, files with the known times and inode are not read. With `force`, folders that do not exist count
        as emptied. Raises: Damaged, WriteFailed, LockHeld.
        """
        self._check_copies_location()
        with self.copies.database.transaction():
            last = self.known.last_scan()
            roots = roots_of(self.vault)
            before = self.known.roots()
            new = [r for r in roots if last is None or (r.key.place == PERSONAL and r.key not in before)]
            begun = self._record_first(new, at)
            old = [root for root in roots if root not in new]
            known = self.known.files()
            scan = Scanner(now_ns=time.time_ns(), trusted=known if quick else None).scan(old)
            _join(scan, begun)
            unreachable = self._classify_unreachable(scan, known, before, force=force)
            self._reread_modes(known, scan)
            changes = self._changes(known, scan, last)
            self._restamp(known, scan)
            self.known.mark((key for change in changes for key in change.keys if key in known), last.at if last else "")
            self.known.learn_roots({key: identity for key, identity in scan.roots.items() if key not in unreachable})
            self.known.record_scan(instant(at), len(scan.files), len(changes))
        return AuditReport(last is None, last, len(scan.files), changes, scan, unreachable, tuple(begun.roots))

    def _classify_unreachable(
        self, scan: Scan, known: Mapping[Key, FileState], before: Mapping[Key, tuple[int, int]], *, force: bool
    ) -> dict[Key, str]:
        """Return the missing or unreadable folders to report, and why; with `force` none."""
        no_insights = scan.unreachable.get(_INSIGHTS) == NOT_THERE and _INSIGHTS not in before
        if no_insights and self.vault.personal is None:
            scan.unreachable[_INSIGHTS] = "it does not exist, and no personal vault is set on this machine"
        missing = {} if force else _unreachable(scan, known, before)
        new = {key: why for key, why in scan.unreachable.items() if key not in before and not force}
        scan.unreachable = missing | new
        return missing

    def _changes(self, known: Mapping[Key, FileState], scan: Scan, last: LastScan | None) -> tuple[Change, ...]:
        """Return the changes of files and folders, by path, each with when it was last unchanged; none at first."""
        changes = sorted([*compare(known, scan), *self._compare_folders(scan)], key=lambda change: change.key)
        if last is None:
            return ()
        last_good = self.known.good_until()
        return tuple(replace(change, good=last_good.get(change.keys[0], last.at)) for change in changes)

    def _reread_modes(self, known: Mapping[Key, FileState], scan: Scan) -> None:
        """Recognize an unreadable file by its times and inode: then only its mode changed, and can be restored."""
        for key in [key for key in scan.unread if key in known and known[key].kind is FileKind.FILE]:
            was = known[key]
            with suppress(OSError):
                status = self._path(key).lstat()
                now = (status.st_size, status.st_dev, status.st_ino, status.st_mtime_ns)
                same = stat.S_ISREG(status.st_mode) and now == (was.size, was.dev, was.ino, was.mtime_ns)
                mode = stat.S_IMODE(status.st_mode)
                if same and mode != was.mode:
                    scan.files[key] = was._replace(mode=mode, ctime_ns=0)
                    del scan.unread[key]

    def _compare_folders(self, scan: Scan) -> list[Change]:
        """Return changes of folder modes, and record new folders."""
        scan.modes[_ROOT] = stat.S_IMODE(self.vault.root.stat().st_mode)
        known = self.known.folders()
        self.known.learn_folders({key: mode for key, mode in scan.modes.items() if key not in known})
        self.known.forget_folders(key for key in known if key not in scan.modes and not scan.hides(key))
        return compare_folders(known, scan.modes)

    def _path(self, key: Key) -> Path:
        personal = self.vault.personal
        return (personal if key.place == PERSONAL and personal is not None else self.vault.root) / key.path

    def _check_copies_location(self) -> None:
        """Raise Refused if the copies would be where agents write, or among the user's files."""
        folder = self.copies.database.path.parent
        inside = [self.vault.root / top for top in {path.split("/")[0] for path in (*AGENT_FOLDERS, *HUMAN_FOLDERS)}]
        if any(is_within(folder, each, on_disk=True) for each in (*inside, *self.vault.kept_out())):
            hint = "set XDG_STATE_HOME to a folder outside both vaults"
            raise Refused("the copies of your files would be inside a vault", where=str(folder), hint=hint)

    def _record_first(self, roots: list[Root], at: datetime) -> Scan:
        """Scan these folders for the first time: record every file, with a copy."""
        scan = Scanner(now_ns=time.time_ns(), sink=self.copies.put).scan(roots)
        self.known.learn(scan.files, instant(at))
        self.known.learn_roots(scan.roots)
        return scan

    def _restamp(self, known: dict[Key, FileState], scan: Scan) -> None:
        """Record new times and inodes of files with the same bytes and mode."""
        now = scan.files
        same = (key for key, was in known.items() if key in now and now[key] != was and now[key][:4] == was[:4])
        self.known.restamp({key: now[key] for key in same})

    def accept(self, changes: Iterable[Change], at: datetime) -> Outcome:
        """Record these changes as the user's own, with a copy of each file.

        A file that changed again since the scan stays unconfirmed. Raises: WriteFailed, and nothing is accepted.
        """
        outcome = Outcome()
        with self.copies.database.transaction():
            for change in changes:
                now = change.now
                if now is not None and _is_folders_mode(now, change.was):
                    self.known.learn_folders({change.key: now.mode})
                    outcome.done.append(change.key)
                    continue
                if now is not None and now.kind is FileKind.FILE and not self._store_copy(change.key, now, outcome):
                    continue
                gone = change.keys if now is None or now.kind is FileKind.FOLDER else change.keys[:-1]
                self.known.forget(gone)
                if change.key not in gone and now is not None:
                    self.known.learn({change.key: now}, instant(at))
                outcome.done.append(change.key)
            self._update_count(outcome)
            self._forget_roots()
        return outcome

    def _forget_roots(self) -> None:
        """Forget roots that do not exist and of which no file is known any more."""
        there = {root.key for root in roots_of(self.vault) if root.folder.is_dir()}
        gone = [key for key in self.known.roots() if key not in there]
        known = self.known.files() if gone else {}
        self.known.forget_roots(key for key in gone if not any(_below(one, key) for one in known))

    def _store_copy(self, key: Key, now: FileState, outcome: Outcome) -> bool:
        """Return whether the file is still as scanned, with a copy stored unless it is too large."""
        if now.size > LARGEST:  # not read at once either
            seen = self._current_state(key)
            if seen is None or seen.sha256 != now.sha256:
                outcome.left.append((key, _CHANGED_AGAIN))
                return False
            return True
        try:
            data = Restorer(self.vault, key.place).read(key.path)
        except WriteFailed:
            raise
        except RetainError as error:
            outcome.left.append((key, error.what))
            return False
        if data is None or sha256_hex(data) != now.sha256:
            outcome.left.append((key, _CHANGED_AGAIN))
            return False
        self.copies.put(data)
        return True

    def _update_count(self, outcome: Outcome) -> None:
        """Subtract the finished changes from the last scan's count."""
        last = self.known.last_scan()
        if last is not None and outcome.done:
            self.known.record_scan(last.at, last.files, max(0, last.changes - len(outcome.done)))

    def restore(self, changes: Sequence[Change], at: datetime) -> Outcome:
        """Restore files to their known state: bytes, mode and path; one that appeared is deleted.

        The present bytes are stored first, so that `undo` can restore them. Raises: WriteFailed.
        """
        steps: dict[Key, Step] = {}
        for change in changes:
            steps.setdefault(change.key, (change.now, change.was if change.origin is None else None))
            if change.origin is not None:
                steps.setdefault(change.origin, (None, change.was))
        return self._apply(steps, at)

    def undo(self, at: datetime) -> Outcome:
        """Restore what the last restore replaced; twice is a redo. Raises: NotFound."""
        before = self.known.last_undo()
        if before is None:
            raise NotFound("nothing has been restored yet")
        return self._apply({key: (self._now(key, was), was) for key, was in before.items()}, at)

    def _now(self, key: Key, was: FileState | None) -> FileState | None:
        if was is not None and was.kind is FileKind.FOLDER:
            with suppress(OSError):
                status = self._path(key).lstat()
                if stat.S_ISDIR(status.st_mode):
                    return folder_of(stat.S_IMODE(status.st_mode))
        return self._current_state(key)

    def _apply(self, steps: Mapping[Key, Step], at: datetime) -> Outcome:
        """Change each file to its wanted state; deletions first, so that paths are free."""
        outcome = Outcome()
        with self.copies.database.transaction():
            ready = {k: step for k, step in steps.items() if self._is_safe(k, *step, outcome)}
            self.known.record_undo({key: now for key, (now, _) in ready.items()}, instant(at))
        restorers = {place: Restorer(self.vault, place) for place in {key.place for key in ready}}
        for key, (now, wanted) in sorted(ready.items(), key=_step_order):
            try:
                outcome.messages += self._apply_one(restorers[key.place], key.path, now, wanted)
            except RetainError as error:
                outcome.left.append((key, error.what))
            else:
                outcome.done.append(key)
        with self.copies.database.transaction():
            self._update_count(outcome)
        return outcome

    def _is_safe(self, key: Key, now: FileState | None, wanted: FileState | None, outcome: Outcome) -> bool:
        """Return whether the step loses nothing: there are copies of the wanted and of the present bytes."""
        if _is_mode_alone(now, wanted):
            return True
        if wanted is not None and wanted.kind is not FileKind.FILE:
            what = "a link" if wanted.kind is FileKind.LINK else "not a regular file"
            outcome.left.append((key, f"it was {what}, which cannot be restored"))
            return False
        if wanted is not None and not self.copies.has(wanted.sha256):
            outcome.left.append((key, "no copy was stored because the file was too large"))
            return False
        if now is None or now.kind is not FileKind.FILE:
            return True
        if now.size > LARGEST and not self.copies.has(now.sha256):
            outcome.left.append((key, "the current file is too large to back up: move it yourself"))
            return False
        return self._store_copy(key, now, outcome)

    def _apply_one(self, restorer: Restorer, path: str, now: FileState | None, wanted: FileState | None) -> list[str]:
        if wanted is not None and _is_mode_alone(now, wanted):
            restorer.set_mode(path, wanted.mode)
            return []
        here = now.sha256 if now is not None and now.kind is FileKind.FILE else None
        if wanted is None:
            if now is not None and now.kind in (FileKind.LINK, FileKind.OTHER):
                return [restorer.clear(path)]
            if here is not None:
                restorer.remove(path, here)
            return []
        data = self.copies.get(wanted.sha256)
        if data is None:
            raise Damaged("the copy no longer exists", where=path)
        return restorer.put(path, data, wanted.mode, expect=here)

    def confirm(self, keys: Iterable[Key], at: datetime) -> None:
        """Record the present state of files that the user's own commands have just written.

        Before the first scan nothing is done.
        """
        if self.known.last_scan() is None:
            return
        with self.copies.database.transaction():
            seen = {key: self._current_state(key, keep=True) for key in keys}
            self.known.learn({key: one for key, one in seen.items() if one is not None}, instant(at))

    def _current_state(self, key: Key, *, keep: bool = False) -> FileState | None:
        root = next((r for r in roots_of(self.vault) if _below(key, r.key)), None)
        looker = Scanner(now_ns=time.time_ns(), sink=self.copies.put if keep else None)
        return None if root is None else looker.one(root, key)


def _is_folders_mode(now: FileState | None, was: FileState | None) -> bool:
    return now is not None and was is not None and now.kind is was.kind is FileKind.FOLDER


def _is_mode_alone(now: FileState | None, wanted: FileState | None) -> bool:
    """Return whether only the mode differs."""
    if now is None or wanted is None or now.mode == wanted.mode:
        return False
    same = now.kind is wanted.kind is FileKind.FILE and now.sha256 == wanted.sha256
    return same or _is_folders_mode(now, wanted)


def _step_order(step: tuple[Key, Step]) -> tuple[int, Key]:
    """Return the sort key of a step: folders made accessible, deletions, writes, folders made inaccessible."""
    key, (_, wanted) = step
    if wanted is not None and wanted.kind is FileKind.FOLDER:
        return (0 if wanted.mode & 0o700 == 0o700 else 3), key
    return (1 if wanted is None else 2), key


def confirm(vault: Vault, paths: Iterable[str | Path], at: datetime) -> None:
    """Record in the audit that the user's own command has just written these files.

    `paths` are vault paths, or absolute ones in the personal vault. Raises: WriteFailed, Damaged, LockHeld; the files
    are intact then, and the next audit reports them.
    """
    with Audit.open(vault) as audit:
        if audit.copies.database.is_there():
            audit.confirm([key_of(vault, path) for path in paths], at)


def key_of(vault: Vault, path: str | Path) -> Key:
    """Return the key of a vault path or an absolute path. Raises: NotFound for a path in neither vault."""
    given = Path(path)
    if not given.is_absolute():
        return Key(VAULT, str(path).rstrip("/"))
    for place, folder in ((PERSONAL, vault.personal), (VAULT, vault.root)):
        for root in (folder, folder.resolve()) if folder is not None else ():
            if is_within(given, root):
                below = given.relative_to(root).as_posix()
                return Key(place, "" if below == "." else below)
    raise NotFound("this path is neither in this vault nor in its personal vault", where=str(path))


def _unreachable(scan: Scan, known: Mapping[Key, FileState], before: Mapping[Key, tuple[int, int]]) -> dict[Key, str]:
    """Return the known folders that can't be read now, or were replaced by empty ones, and why."""
    seen = scan.unreachable.items()
    gone = {key: why for key, why in seen if key in before or key.place == PERSONAL or why != NOT_THERE}
    for key, identity in before.items():
        if key not in scan.roots and key not in scan.unreachable:
            gone[key] = "your settings no longer specify a personal vault"
        elif scan.roots.get(key, identity) != identity:
            empty = not any(_below(one, key) for one in scan.files)
            if empty and any(_below(one, key) for one in known):
                gone[key] = "it was replaced by an empty folder"
    return gone


def _join(scan: Scan, begun: Scan) -> None:
    """Add a scan of new folders to a scan."""
    scan.files |= begun.files
    scan.folders |= begun.folders
    scan.modes |= begun.modes
    scan.roots |= begun.roots
    scan.unreachable |= begun.unreachable
    scan.unread |= begun.unread
    scan.notes += begun.notes


def _below(key: Key, root: Key) -> bool:
    return key.place == root.place and (not root.path or key.path.startswith(f"{root.path}/"))
