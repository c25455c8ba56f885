"""Watching over what is the human's: looks taken and compared, changes confirmed, old bytes put back.

What is known lies outside the vault, with a copy of every file; nobody but the human's own commands changes it.
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
from vault.audit.scanner import NOT_THERE, PERSONAL, VAULT, Key, Look, Looker, Root, Seen, roots_of
from vault.audit.state import KnownFiles, LastLook
from vault.errors import Damaged, NotFound, Refused, RetainError, WriteFailed
from vault.files.folder import FileKind, sha256_hex
from vault.files.paths import AGENT_FOLDERS, HUMAN_FOLDERS, is_within
from vault.log.ledger import instant
from vault.vault import Vault

_INSIGHTS = Key(VAULT, "insights")
_ROOT = Key(VAULT, "")
_CHANGED_AGAIN = "it changed again since it was looked at"
Step = tuple[Seen | None, Seen | None]  # how a file is, and how it is to be; None: there is none


@dataclass(frozen=True, slots=True)
class Found:
    """What one look gave. `first` says that it was the first: there is nothing to compare with, all was taken down.

    `unreachable` are folders of the human's that are there, or were known, and cannot be looked into, and why: nothing
    is said of what they hold. `begun` are those that were looked into for the first time.
    """

    first: bool
    last: LastLook | None
    files: int
    changes: tuple[Change, ...]
    look: Look
    unreachable: dict[Key, str]
    begun: tuple[Key, ...] = ()

    @property
    def is_well(self) -> bool:
        return not (self.changes or self.unreachable or self.look.unread)


@dataclass(slots=True)
class Outcome:
    """What became of the changes that were to be accepted, restored or undone."""

    done: list[Key] = field(default_factory=list)
    left: list[tuple[Key, str]] = field(default_factory=list)  # what was not done, and why
    told: list[str] = field(default_factory=list)  # what gave way, in words


class Watch:
    """What is known of one vault's human files, open to be compared and changed. `open` makes one."""

    def __init__(self, vault: Vault, copies: Copies) -> None:
        self.vault = vault
        self.copies = copies
        self.known = KnownFiles(copies.database)

    @classmethod
    @contextmanager
    def open(cls, vault: Vault) -> Iterator[Watch]:
        with Copies.open(vault.settings.vault_id) as copies:
            yield cls(vault, copies)

    def take(self, at: datetime, *, quick: bool = False, force: bool = False) -> Found:
        """Looks at everything and compares; the first time it takes everything down, with a copy.

        With `quick`, files whose times and inode are as they were are not read. With `force`, folders that are not
        there are taken for emptied. Raises: Damaged, WriteFailed, LockHeld.
        """
        self._check_the_place()
        with self.copies.database.transaction():
            last = self.known.last_look()
            roots = roots_of(self.vault)
            before = self.known.roots()
            new = [r for r in roots if last is None or (r.key.place == PERSONAL and r.key not in before)]
            begun = self._begin(new, at)
            old = [root for root in roots if root not in new]
            known = self.known.files()
            look = Looker(now_ns=time.time_ns(), trusted=known if quick else None).take(old)
            _join(look, begun)
            if self.vault.personal is None and look.unreachable.get(_INSIGHTS) == NOT_THERE and _INSIGHTS not in before:
                look.unreachable[_INSIGHTS] = "it is not there, and no personal vault is known on this machine"
            gone = {} if force else _unreachable(look, known, before)
            look.unreachable = gone | {k: why for k, why in look.unreachable.items() if k not in before and not force}
            good = self.known.good_until() if last else {}
            self._reread_modes(known, look)
            different = [*compare(known, look), *self._compare_folders(look)]
            different.sort(key=lambda change: change.key)
            changes = tuple(replace(c, good=good.get(c.keys[0], last.at)) for c in different if last)
            self._restamp(known, look)
            self.known.mark((key for change in changes for key in change.keys if key in known), last.at if last else "")
            self.known.learn_roots({key: identity for key, identity in look.roots.items() if key not in gone})
            self.known.looked(instant(at), len(look.files), len(changes))
        return Found(last is None, last, len(look.files), changes, look, gone, tuple(begun.roots))

    def _reread_modes(self, known: Mapping[Key, Seen], look: Look) -> None:
        """A file that nobody may read is known by its stamps: it has another mode, which can be put back."""
        for key in [key for key in look.unread if key in known and known[key].kind is FileKind.FILE]:
            was = known[key]
            with suppress(OSError):
                status = self._path(key).lstat()
                now = (status.st_size, status.st_dev, status.st_ino, status.st_mtime_ns)
                same = stat.S_ISREG(status.st_mode) and now == (was.size, was.dev, was.ino, was.mtime_ns)
                mode = stat.S_IMODE(status.st_mode)
                if same and mode != was.mode:
                    look.files[key] = was._replace(mode=mode, ctime_ns=0)
                    del look.unread[key]

    def _compare_folders(self, look: Look) -> list[Change]:
        """Folders with another mode. One that is new is known from now on."""
        look.modes[_ROOT] = stat.S_IMODE(self.vault.root.stat().st_mode)
        known = self.known.folders()
        self.known.learn_folders({key: mode for key, mode in look.modes.items() if key not in known})
        self.known.forget_folders(key for key in known if key not in look.modes and not look.hides(key))
        return compare_folders(known, look.modes)

    def _path(self, key: Key) -> Path:
        personal = self.vault.personal
        return (personal if key.place == PERSONAL and personal is not None else self.vault.root) / key.path

    def _check_the_place(self) -> None:
        """Raises Refused if the copies would lie where agents write, or among the files that they are copies of."""
        folder = self.copies.database.path.parent
        inside = [self.vault.root / top for top in {path.split("/")[0] for path in (*AGENT_FOLDERS, *HUMAN_FOLDERS)}]
        if any(is_within(folder, each, on_disk=True) for each in (*inside, *self.vault.kept_out())):
            hint = "let XDG_STATE_HOME name a folder outside both vaults"
            raise Refused("the copies of your files would lie inside a vault", where=str(folder), hint=hint)

    def _begin(self, roots: list[Root], at: datetime) -> Look:
        """The first look at these folders: all they hold is taken down, and a copy is kept."""
        look = Looker(now_ns=time.time_ns(), sink=self.copies.put).take(roots)
        self.known.learn(look.files, instant(at))
        self.known.learn_roots(look.roots)
        return look

    def _restamp(self, known: dict[Key, Seen], look: Look) -> None:
        """The same bytes and mode under other times or inode: from now on it is these that tell."""
        now = look.files
        same = (key for key, was in known.items() if key in now and now[key] != was and now[key][:4] == was[:4])
        self.known.restamp({key: now[key] for key in same})

    def accept(self, changes: Iterable[Change], at: datetime) -> Outcome:
        """These changes were the human's: from now on this is how the files are known, with a copy of each.

        A file that changed again since the look stays unconfirmed. Raises: WriteFailed, and nothing is accepted.
        """
        outcome = Outcome()
        with self.copies.database.transaction():
            for change in changes:
                now = change.now
                if now is not None and _is_folders_mode(now, change.was):
                    self.known.learn_folders({change.key: now.mode})
                    outcome.done.append(change.key)
                    continue
                if now is not None and now.kind is FileKind.FILE and not self._keep(change.key, now, outcome):
                    continue
                gone = change.keys if now is None or now.kind is FileKind.FOLDER else change.keys[:-1]
                self.known.forget(gone)
                if change.key not in gone and now is not None:
                    self.known.learn({change.key: now}, instant(at))
                outcome.done.append(change.key)
            self._settle(outcome)
            self._forget_roots()
        return outcome

    def _forget_roots(self) -> None:
        """A folder that is not there, and of which nothing is known any more, is not missed from now on."""
        there = {root.key for root in roots_of(self.vault) if root.folder.is_dir()}
        gone = [key for key in self.known.roots() if key not in there]
        known = self.known.files() if gone else {}
        self.known.forget_roots(key for key in gone if not any(_below(one, key) for one in known))

    def _keep(self, key: Key, now: Seen, outcome: Outcome) -> bool:
        """Whether what the look saw is still so, and a copy of it kept by now; of too large a file there is none."""
        if now.size > LARGEST:  # not read at once either
            seen = self._seen_now(key)
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

    def _settle(self, outcome: Outcome) -> None:
        """The last look's count of changes, less those that are settled."""
        last = self.known.last_look()
        if last is not None and outcome.done:
            self.known.looked(last.at, last.files, max(0, last.changes - len(outcome.done)))

    def restore(self, changes: Sequence[Change], at: datetime) -> Outcome:
        """Puts the files back as they were known: bytes and mode, in their old places; one that appeared goes.

        What stands there now is kept first, so that `undo` can bring it back. Raises: WriteFailed.
        """
        steps: dict[Key, Step] = {}
        for change in changes:
            steps.setdefault(change.key, (change.now, change.was if change.origin is None else None))
            if change.origin is not None:
                steps.setdefault(change.origin, (None, change.was))
        return self._bring(steps, at)

    def undo(self, at: datetime) -> Outcome:
        """Brings back what the last restore replaced; done twice, it is restored again. Raises: NotFound."""
        before = self.known.last_undo()
        if before is None:
            raise NotFound("nothing was restored yet, so there is nothing to undo")
        return self._bring({key: (self._now(key, was), was) for key, was in before.items()}, at)

    def _now(self, key: Key, was: Seen | None) -> Seen | None:
        if was is not None and was.kind is FileKind.FOLDER:
            with suppress(OSError):
                status = self._path(key).lstat()
                if stat.S_ISDIR(status.st_mode):
                    return folder_of(stat.S_IMODE(status.st_mode))
        return self._seen_now(key)

    def _bring(self, steps: Mapping[Key, Step], at: datetime) -> Outcome:
        """Brings each file from how it is to how it is to be; those that go first, so that names are free."""
        outcome = Outcome()
        with self.copies.database.transaction():
            ready = {k: step for k, step in steps.items() if self._is_safe(k, *step, outcome)}
            self.known.take_down_undo({key: now for key, (now, _) in ready.items()}, instant(at))
        hands = {place: Restorer(self.vault, place) for place in {key.place for key in ready}}
        for key, (now, wanted) in sorted(ready.items(), key=_turn):
            try:
                outcome.told += self._one(hands[key.place], key.path, now, wanted)
            except RetainError as error:
                outcome.left.append((key, error.what))
            else:
                outcome.done.append(key)
        with self.copies.database.transaction():
            self._settle(outcome)
        return outcome

    def _is_safe(self, key: Key, now: Seen | None, wanted: Seen | None, outcome: Outcome) -> bool:
        """Whether nothing is lost by the step: there is a copy of what is to come, and of what will go."""
        if _is_mode_alone(now, wanted):
            return True
        if wanted is not None and wanted.kind is not FileKind.FILE:
            what = "a link" if wanted.kind is FileKind.LINK else "no file"
            outcome.left.append((key, f"it was {what}, which is not made again"))
            return False
        if wanted is not None and not self.copies.has(wanted.sha256):
            outcome.left.append((key, "no copy of it was kept, as it was too large"))
            return False
        if now is None or now.kind is not FileKind.FILE:
            return True
        if now.size > LARGEST and not self.copies.has(now.sha256):
            outcome.left.append((key, "too large for a copy to be kept of what stands there: move it away yourself"))
            return False
        return self._keep(key, now, outcome)

    def _one(self, hand: Restorer, path: str, now: Seen | None, wanted: Seen | None) -> list[str]:
        if wanted is not None and _is_mode_alone(now, wanted):
            hand.set_mode(path, wanted.mode)
            return []
        here = now.sha256 if now is not None and now.kind is FileKind.FILE else None
        if wanted is None:
            if now is not None and now.kind in (FileKind.LINK, FileKind.OTHER):
                return [hand.clear(path)]
            if here is not None:
                hand.remove(path, here)
            return []
        data = self.copies.get(wanted.sha256)
        if data is None:
            raise Damaged("the copy is gone", where=path)
        return hand.put(path, data, wanted.mode, expect=here)

    def confirm(self, keys: Iterable[Key], at: datetime) -> None:
        """Takes down how these files stand now, as the human's own commands have just written them.

        Before the first look there is nothing to compare with, and nothing is done.
        """
        if self.known.last_look() is None:
            return
        with self.copies.database.transaction():
            seen = {key: self._seen_now(key, keep=True) for key in keys}
            self.known.learn({key: one for key, one in seen.items() if one is not None}, instant(at))

    def _seen_now(self, key: Key, *, keep: bool = False) -> Seen | None:
        root = next((r for r in roots_of(self.vault) if _below(key, r.key)), None)
        looker = Looker(now_ns=time.time_ns(), sink=self.copies.put if keep else None)
        return None if root is None else looker.one(root, key)


def _is_folders_mode(now: Seen | None, was: Seen | None) -> bool:
    return now is not None and was is not None and now.kind is was.kind is FileKind.FOLDER


def _is_mode_alone(now: Seen | None, wanted: Seen | None) -> bool:
    """Whether nothing but the mode is to be set: no byte changes, so none need be read."""
    if now is None or wanted is None or now.mode == wanted.mode:
        return False
    same = now.kind is wanted.kind is FileKind.FILE and now.sha256 == wanted.sha256
    return same or _is_folders_mode(now, wanted)


def _turn(step: tuple[Key, Step]) -> tuple[int, Key]:
    """Folders that are opened come first, from above; then what goes, what comes, and folders that are shut."""
    key, (_, wanted) = step
    if wanted is not None and wanted.kind is FileKind.FOLDER:
        return (0 if wanted.mode & 0o700 == 0o700 else 3), key
    return (1 if wanted is None else 2), key


def confirm(vault: Vault, paths: Iterable[str | Path], at: datetime) -> None:
    """Tells the audit that the human's own command has just written these files: vault paths, or absolute ones in the
    personal vault. Raises: WriteFailed, Damaged, LockHeld; the files themselves are well then, and the next audit
    names them.
    """
    with Watch.open(vault) as watch:
        if watch.copies.database.is_there():
            watch.confirm([key_of(vault, path) for path in paths], at)


def key_of(vault: Vault, path: str | Path) -> Key:
    """Which file a vault path means, or an absolute path. Raises: NotFound for one that is in neither vault."""
    given = Path(path)
    if not given.is_absolute():
        return Key(VAULT, str(path).rstrip("/"))
    for place, folder in ((PERSONAL, vault.personal), (VAULT, vault.root)):
        for root in (folder, folder.resolve()) if folder is not None else ():
            if given == root or root in given.parents:
                below = given.relative_to(root).as_posix()
                return Key(place, "" if below == "." else below)
    raise NotFound("not a file of this vault, nor of its personal vault", where=str(path))


def _unreachable(look: Look, known: Mapping[Key, Seen], before: Mapping[Key, tuple[int, int]]) -> dict[Key, str]:
    """Folders of the human's that were there and cannot be looked into now, or are others with nothing in them."""
    seen = look.unreachable.items()
    gone = {key: why for key, why in seen if key in before or key.place == PERSONAL or why != NOT_THERE}
    for key, identity in before.items():
        if key not in look.roots and key not in look.unreachable:
            gone[key] = "your settings name no personal vault any more"
        elif look.roots.get(key, identity) != identity:
            empty = not any(_below(one, key) for one in look.files)
            if empty and any(_below(one, key) for one in known):
                gone[key] = "another folder has taken its place, with nothing in it"
    return gone


def _join(look: Look, begun: Look) -> None:
    """Adds what was looked at for the first time to a look."""
    look.files |= begun.files
    look.folders |= begun.folders
    look.modes |= begun.modes
    look.roots |= begun.roots
    look.unreachable |= begun.unreachable
    look.unread |= begun.unread
    look.notes += begun.notes


def _below(key: Key, root: Key) -> bool:
    return key.place == root.place and (not root.path or key.path.startswith(f"{root.path}/"))
