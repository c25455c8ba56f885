"""The files in `raw/` and the notes in place, and the source that each of them is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from vault.config.notes import HERE, NoteRules
from vault.diagnostic import Diagnostic
from vault.files.write_scopes import file_of_conflict_copy, is_conflict_copy
from vault.ids import SourceId, free_slug, mint
from vault.log import ledger
from vault.text.formatting import clean_line

# Folders that programs fill; in a repository, those too that its builds fill or that hold what others wrote.
_MACHINES = frozenset({"node_modules", "bower_components", "__pycache__", "site-packages"})
_BUILT = frozenset({"dist", "build", "target", "vendor", "third_party", "venv", "htmlcov", "coverage"})
RACY_NS = 2_000_000_000  # a file this young may change again without its time stamp showing it
CONFLICT_COPY = "conflict-copy"  # the code of a notice


@dataclass(frozen=True, slots=True)
class RawFile:
    """The file of a source; `stamp` is (size, mtime ns, inode), which changes whenever the bytes do."""

    path: str  # from the vault's root, as the file system spells it
    stamp: tuple[int, int, int]


@dataclass(slots=True)
class Scan:
    """The files below a folder. `unknown` are folders that could not be listed, whose files are not taken for
    deleted."""

    files: list[RawFile] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    failures: list[Diagnostic] = field(default_factory=list)
    notices: list[Diagnostic] = field(default_factory=list)


def scan_sources(root: Path, notes: NoteRules) -> Scan:
    """Return the files of `raw/`, and those outside it that `notes` makes sources, whatever their tags."""
    found = scan(root, "raw")
    seen: set[str] = set()
    for folder in notes.folders:
        if not (root / folder).is_dir():  # a disk that is not mounted, rather than the end of all its notes
            found.unknown.append(folder)
            hint = "restore the folder, or change [notes] in retain.toml"
            found.failures.append(Diagnostic(folder, 0, "missing-folder", "this notes folder does not exist", hint))
            continue
        part = scan(root, "" if folder == HERE else folder, notes)
        found.files += [file for file in part.files if file.path not in seen]
        seen |= {file.path for file in part.files}
        found.unknown += part.unknown
        found.failures += part.failures
        found.notices += part.notices
    found.notices += [_copy_notice(file.path) for file in found.files if is_conflict_copy(file.path)]
    found.files = sorted((f for f in found.files if not is_conflict_copy(f.path)), key=lambda f: f.path)
    return found


def _copy_notice(path: str) -> Diagnostic:
    """Return the notice on a source that is only another version of one beside it."""
    original = clean_line(file_of_conflict_copy(path).rpartition("/")[2])
    hint = f"keep what you need in {original}, then delete this file; if it is a separate source, rename it"
    return Diagnostic(path, 0, CONFLICT_COPY, f"not read: a conflicted copy of {original}", hint)


def scan(root: Path, folder: str, notes: NoteRules | None = None) -> Scan:
    """Return the plain files below `folder`, by path, without hidden files and backups; links are only reported.

    With `notes`, only folders and files that its rules name.
    """
    found = Scan()
    stack = [folder]
    while stack:
        here = stack.pop()
        prefix = f"{here}/" if here else ""
        try:
            with os.scandir(root / here) as entries:
                for entry in entries:
                    if notes is None or notes.enters(prefix + entry.name):
                        _add_entry(entry, prefix + entry.name, stack, found, notes)
        except FileNotFoundError:
            continue
        except OSError as error:
            found.unknown.append(here)
            reason = f"cannot be listed: {error.strerror}"
            found.failures.append(Diagnostic(here, 0, "unreadable-folder", reason, "check its permissions"))
    found.files.sort(key=lambda f: f.path)
    found.notices.sort(key=lambda n: n.path)
    return found


def is_hidden(name: str) -> bool:
    """Return whether a file or folder of this name is hidden, or a backup that an editor keeps beside a file."""
    return name.startswith(".") or name.endswith("~") or (len(name) > 2 and name[0] == name[-1] == "#")


def is_ignored_path(path: str) -> bool:
    """Return whether programs fill the folder at this vault path, as node_modules."""
    name = path.rsplit("/", 1)[-1]
    return name in _MACHINES or (path.startswith("raw/repos/") and name in _BUILT)


def _add_entry(
    entry: os.DirEntry[str], path: str, stack: list[str], found: Scan, notes: NoteRules | None = None
) -> None:
    """Add a directory entry to the files, the folders still to be read, or the notices."""
    if is_hidden(entry.name):
        return
    is_folder = entry.is_dir(follow_symlinks=False)
    if notes is not None and not is_folder and not notes.covers(path):
        return
    if entry.is_symlink():
        found.notices.append(
            Diagnostic(
                path, 0, "link", "a symbolic link, which is not followed", "replace the link with the file itself"
            )
        )
    elif is_folder and is_ignored_path(path):
        what, hint = (
            "not read: folders like this are usually filled by programs",
            "move the files you want to another folder in raw/",
        )
        found.notices.append(Diagnostic(path, 0, "passed-over", what, hint))
    elif is_folder:
        stack.append(path)
    elif entry.is_file(follow_symlinks=False):
        stat = entry.stat(follow_symlinks=False)
        found.files.append(RawFile(path, (stat.st_size, stat.st_mtime_ns, stat.st_ino)))
    else:
        what = "not read: a pipe, socket or device, not a regular file"
        found.notices.append(Diagnostic(path, 0, "no-file", what, "restore the file, or remove the source"))


@dataclass(frozen=True, slots=True)
class Tracked:
    """A source with its files: `paths` are all names of the same bytes, the source's own first."""

    id: SourceId
    paths: tuple[str, ...]
    sha256: str
    birth: tuple[str, str]  # (instant, path at birth): the order in which sources came
    slug: str

    @property
    def path(self) -> str:
        return self.paths[0]

    @property
    def content(self) -> str:
        """Return what its text, marks and segments follow from: its bytes, and its file's name."""
        return f"{self.sha256} {self.path.rpartition('/')[2]}"


def track(files: dict[str, str], ids: ledger.Ids, at: str) -> tuple[list[Tracked], list[ledger.Event]]:
    """Return the sources among `files` (path -> sha256 of the bytes), and the events to be added to the ledger.

    Identity is the path first, then the bytes: a known path is that source whatever it holds now; a new path with
    the bytes of a source whose file is gone is that source moved; equal bytes under two names are one source.
    """
    tracking = _Tracking(files, ids, at)
    tracking.known_paths()
    tracking.new_paths()
    tracking.vanished()
    return sorted(tracking.sources(), key=lambda s: (s.birth, s.id)), tracking.events


class _Tracking:
    """The assignment of raw files to sources, with the events for the ledger."""

    def __init__(self, files: dict[str, str], ids: ledger.Ids, at: str) -> None:
        self.files, self.ids, self.at = files, ids, at
        self.events: list[ledger.Event] = []
        self.paths: dict[str, list[str]] = {}  # id -> its paths, its own first
        self.by_bytes: dict[str, str] = {}  # sha256 -> id
        self.births: dict[str, ledger.Birth] = {}

    def _event(self, type_: str, id_: str, **rest: str | int) -> None:
        """Add an event for the ledger."""
        self.events.append({"v": 1, "type": type_, "of": "source", "id": id_, "at": self.at, **rest})

    def known_paths(self) -> None:
        """Assign the paths that the ledger knows, oldest source first; of two with equal bytes the older continues."""
        known = [
            (self.ids.births[i].at, key, i)
            for (noun, key), i in self.ids.keys.items()
            if noun == "source" and key in self.files
        ]
        for _, path, id_ in sorted(known):
            self._assign(path, self.by_bytes.get(self.files[path], id_))

    def _assign(self, path: str, id_: str) -> None:
        """Assign a path to a source."""
        self.by_bytes.setdefault(self.files[path], id_)
        self.paths.setdefault(id_, []).append(path)

    def new_paths(self) -> None:
        """Assign new paths to known sources with the same bytes, or create sources."""
        given = {path for paths in self.paths.values() for path in paths}
        last_bytes = {str(e.get("digest")): i for i, e in sorted(self.ids.changed.items()) if e.get("of") == "source"}
        slugs = self.ids.slugs("source")
        for path in sorted(set(self.files) - given):
            digest = self.files[path]
            gone = last_bytes.get(digest)
            if digest in self.by_bytes:
                self._assign(path, self.by_bytes[digest])
            elif gone is not None and self.ids.present_key[gone] not in self.files:
                self._assign(path, gone)
                self._event("rename", gone, key=path)
            else:
                self._assign(path, self._create_source(path, slugs))

    def _create_source(self, path: str, slugs: set[str]) -> str:
        """Create a source for a new file and return its id."""
        id_ = mint("source", path, {**self.ids.births, **self.births})
        name = path.rsplit("/", 1)[-1]
        slug = free_slug(name.rsplit(".", 1)[0] or name, id_, slugs)
        slugs.add(slug.casefold())
        self.births[id_] = ledger.Birth("source", id_, self.at, path, slug=slug)
        self._event("birth", id_, key=path, slug=slug)
        return id_

    def vanished(self) -> None:
        """Record the sources whose files are gone."""
        for id_, birth in self.ids.births.items():
            if birth.noun == "source" and id_ not in self.paths and self.ids.alive(id_):
                self._event("retire", id_, reason="its file no longer exists")

    def sources(self) -> list[Tracked]:
        """Return the sources with their paths."""
        out = []
        for id_, paths in self.paths.items():
            birth = self.ids.births.get(id_) or self.births[id_]
            digest = self.files[paths[0]]
            out.append(Tracked(SourceId(id_), tuple(paths), digest, (birth.at, birth.key), birth.slug))
            if id_ in self.ids.retired:
                self._event("revive", id_)
            before = self.ids.changed.get(id_, {})
            if before.get("digest") != digest:
                kept = {key: before[key] for key in ("authority", "copy_of") if key in before}
                self._event("change", id_, digest=digest, **kept)
        return out
