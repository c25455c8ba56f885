"""The first step of a build: the files of `raw/`, the notes in place, and which source each of them is."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from compiler.build.read import reading_key
from compiler.build.start import BuildInput
from compiler.index.steps import READING
from compiler.sources import inventory
from compiler.sources.inventory import RawFile, Tracked
from compiler.sources.notes import NoteFacts, facts_of, is_note
from vault.config.notes import HERE
from vault.diagnostic import Diagnostic
from vault.errors import Refused, UsageError
from vault.log.ledger import Event, Ids
from vault.text.formatting import plural


@dataclass(frozen=True, slots=True)
class Scanned:
    """The sources in the order in which they came, what is new of them, and `digests` for the cache.

    `changed` are the ids of sources that are new or hold other bytes than before; `notes` are what notes in place say
    of themselves, by path; `facts` the same by digest, for the cache, of those too that are left out.
    """

    sources: list[Tracked]
    events: list[Event]
    digests: dict[str, list[Any]]
    notes: Mapping[str, NoteFacts]
    facts: Mapping[str, NoteFacts]
    notices: list[Diagnostic]
    failures: list[Diagnostic]

    @property
    def changed(self) -> frozenset[str]:
        """Return the ids of the sources of which something changed."""
        return frozenset(str(e["id"]) for e in self.events)


def remember(start: BuildInput, scanned: Scanned) -> None:
    """Remember the digests of the raw files for the next build, and the sources for searches."""
    database = start.steps.database
    with database.transaction():
        database.run("DELETE FROM raw")
        database.run_many(
            "INSERT INTO raw VALUES(?, ?, ?, ?, ?)", ((path, *stamped) for path, stamped in scanned.digests.items())
        )
        database.run("DELETE FROM note")
        facts = ((digest, note.as_json()) for digest, note in scanned.facts.items())
        database.run_many("INSERT INTO note VALUES(?, ?)", facts)
        database.run("DELETE FROM source")
        sources = ((each.path, reading_key(each.path, each.sha256, start.engine)) for each in scanned.sources)
        database.run_many("INSERT INTO source VALUES(?, ?)", sources)


def scan(start: BuildInput, ids: Ids) -> Scanned:
    """Return the sources of `raw/`, and the notes in place.

    A file that cannot be read just now keeps the bytes that it last had: it is not gone. With the option `only`, so do
    the other files. Raises: Refused for an empty `raw/` that had sources; UsageError for a file that is not there.
    """
    scanning = _Scanning(start, ids)
    files = scanning.run()
    sources, events = inventory.track(files, ids, start.at)
    facts = scanning.facts
    notes = {path: facts.seen[digest] for path, digest in files.items() if digest in facts.seen}
    return Scanned(sources, events, scanning.digests.seen, notes, facts.seen, scanning.notices, scanning.failures)


class _Digests:
    """SHA-256 of raw files, cached by name and stamp so that an unchanged file isn't read again."""

    def __init__(self, start: BuildInput, now_ns: int) -> None:
        self.root, self.now_ns = start.vault.root, now_ns
        self.known = {path: stamped for path, *stamped in start.steps.database.rows("SELECT * FROM raw")}
        self.seen: dict[str, list[Any]] = {}

    def of(self, file: RawFile) -> str:
        """Return the digest of a file. Raises OSError if it cannot be read."""
        known = self.known.get(file.path)
        if known is not None and known[:3] == list(file.stamp):
            digest = str(known[3])
        else:
            with (self.root / file.path).open("rb") as handle:
                digest = hashlib.file_digest(handle, "sha256").hexdigest()
        if file.stamp[1] + inventory.RACY_NS < self.now_ns:
            self.seen[file.path] = [*file.stamp, digest]
        return digest


class _Facts:
    """What notes say of themselves, cached by digest so that an unchanged note isn't read again."""

    def __init__(self, start: BuildInput) -> None:
        self.root, self.rules = start.vault.root, start.vault.notes
        rows = start.steps.database.rows("SELECT * FROM note") if self.rules.folders else ()
        self.known = {digest: NoteFacts.from_json(text) for digest, text in rows}
        self.seen: dict[str, NoteFacts] = {}

    def leave_out(self, path: str, digest: str) -> bool:
        """Return whether the file at `path` is a note that is no source."""
        if not is_note(self.rules, path):
            return False
        facts = self.known.get(digest)
        if facts is None:
            try:
                facts = facts_of((self.root / path).read_bytes())
            except OSError:  # the reader will report it
                return False
        self.seen[digest] = facts
        return facts.is_left_out(self.rules)


class _Scanning:
    """Finds the raw files of one build, and what is wrong with them."""

    def __init__(self, start: BuildInput, ids: Ids) -> None:
        self.start, self.ids = start, ids
        self.digests, self.facts = _Digests(start, time.time_ns()), _Facts(start)
        self.notices: list[Diagnostic] = []
        self.failures: list[Diagnostic] = []

    def run(self) -> dict[str, str]:
        """Return the SHA-256 of every file that is a source, by path."""
        vault = self.start.vault
        found = inventory.scan_sources(vault.root, vault.notes)
        self.notices += found.notices
        self.failures += found.failures
        if not found.files and not found.unknown:
            self._refuse_empty()
        only = self.start.options.only
        unknown = set(only) - {f.path for f in found.files}
        if unknown:
            raise UsageError("no such source", where=sorted(unknown)[0], hint="add a file with `retain add FILE`")
        files: dict[str, str] = {}
        for file in found.files:
            digest = self._digest(file)
            if digest is not None and only and file.path not in only:
                digest = self._known_before(file.path, digest)
            if digest is not None and not self.facts.leave_out(file.path, digest):
                files[file.path] = digest
        return files | self._hidden(found.unknown)

    def _refuse_empty(self) -> None:
        """Raise Refused if raw/ had sources: an empty folder is more likely a disk that is not mounted."""
        living = sum(b.noun == "source" and self.ids.alive(i) for i, b in self.ids.births.items())
        if living:
            also = " and the notes folders contain no notes" if self.start.vault.notes.folders else ""
            what = f"raw/ is empty{also}, but the wiki is based on {plural(living, 'source')} from there"
            raise Refused(
                what, where="raw", hint="restore the files (or check that the disk is mounted); nothing was changed"
            )

    def _hidden(self, folders: Iterable[str]) -> dict[str, str]:
        """Return the last known files of folders that cannot be listed."""
        below = tuple("" if folder in ("", HERE) else f"{folder}/" for folder in folders)
        paths = [key for noun, key in self.ids.keys if noun == "source" and key.startswith(below)] if below else []
        return {path: digest for path in paths if (digest := self._last_digest(path)) is not None}

    def _last_digest(self, path: str) -> str | None:
        """Return the SHA-256 of the file at the last build; None for one that is new, or was gone."""
        id_ = self.ids.keys.get(("source", path))
        before = self.ids.changed.get(id_, {}).get("digest") if id_ and self.ids.alive(id_) else None
        return str(before) if before is not None else None

    def _known_before(self, path: str, now: str) -> str | None:
        """Return the digest of the last build if its reading is still cached, else `now`; None for a new file."""
        before = self._last_digest(path)
        if before is None:
            return None
        return before if self.start.steps.has(READING, reading_key(path, before, self.start.engine)) else now

    def _digest(self, file: RawFile) -> str | None:
        """Return the SHA-256 of a file, the last known one if it cannot be read now; None if there is none."""
        try:
            file.path.encode()
            return self.digests.of(file)
        except UnicodeEncodeError:
            shown = file.path.encode("utf-8", "replace").decode()
            self.failures.append(Diagnostic(shown, 0, "file-name", "the name is not UTF-8", "rename the file"))
            return None
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
            self.failures.append(Diagnostic(file.path, 0, "not-now", reason))
            return self._last_digest(file.path)
