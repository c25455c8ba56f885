"""Copy the user's files into raw/: asked about first if they are many, and all of them or none if it is stopped."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from cli import output
from vault.errors import Refused, RetainError, UsageError
from vault.files.guard import Guard
from vault.log.provenance import Origin
from vault.process.signals import ending_as_interrupt, uninterrupted
from vault.text.formatting import plural

MANY_FILES = 2_000
MANY_BYTES = 500_000_000


@dataclass(slots=True)
class Outcome:
    """What was added, by vault path; `began` is the instant before the first copy."""

    began: str
    added: list[str] = field(default_factory=list)
    there: list[str] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)  # path and reason of what folders hold and is left out
    refused: list[dict[str, Any]] = field(default_factory=list)
    fetched: list[dict[str, Any]] = field(default_factory=list)
    in_place: list[str] = field(default_factory=list)  # sources that are in the vault already
    origins: list[Origin] = field(default_factory=list)  # for the ledger

    def refuse(self, path: str, error: RetainError) -> None:
        """Record and report the error of one source; the others are still added."""
        self.refused.append({"id": "refused", "path": path, "line": 0, "reason": error.what})
        output.say(f"  {error}")


def check_amount(files: Sequence[Path], to: Path, *, sure: bool) -> None:
    """Ask whether so many files are to be copied; not where `sure`, or where they are few.

    Raises: Refused if the disk of the folder `to` has no room for them, or the answer is no; UsageError where nobody
    can be asked.
    """
    size = sum(map(_size, files))
    free = shutil.disk_usage(to).free
    amount = f"{plural(len(files), 'file')}, {_shown(size)}"
    if size > free:
        raise Refused(f"not enough disk space for {amount}: {_shown(free)} free", where=str(to), hint="add fewer files")
    if sure or (len(files) <= MANY_FILES and size <= MANY_BYTES):
        return
    answer = output.ask(f"Copy {amount} into raw/?")
    if answer is None:
        limits = (
            f"more than {MANY_FILES:,} files or {_shown(MANY_BYTES)} are copied only after you confirm, or with --yes"
        )
        raise UsageError(f"too much to copy without asking: {amount}", hint=limits)
    if not answer:
        raise Refused("nothing was added", hint="specify fewer files or folders")


def copy_files(guard: Guard, found: Sequence[tuple[Path, str]], narrator: output.Progress, outcome: Outcome) -> None:
    """Copy files into raw/, and record each in `outcome`.

    Raises: KeyboardInterrupt for Ctrl-C, SIGTERM or SIGHUP, after removing the copies again.
    """
    folders = _missing_folders(guard, found)
    with ending_as_interrupt():
        try:
            for done, (source, path) in enumerate(found, 1):
                try:
                    existed = guard.exists(path)
                    guard.copy_in(source, path)
                except RetainError as error:
                    outcome.refuse(path, error)
                else:
                    (outcome.there if existed else outcome.added).append(path)
                narrator({"event": "copy", "done": done, "of": len(found), "path": path})
        except KeyboardInterrupt:
            narrator.done()
            with uninterrupted():
                _take_back(guard, folders)
            outcome.added.clear()
            outcome.there.clear()
            raise


def _missing_folders(guard: Guard, found: Sequence[tuple[Path, str]]) -> list[str]:
    """Return the folders of raw/ that copying will make, inner ones first."""
    needed = {str(folder) for _, path in found for folder in PurePosixPath(path).parents if len(folder.parts) > 1}
    return sorted((folder for folder in needed if not (guard.root / folder).exists()), key=len, reverse=True)


def _take_back(guard: Guard, folders: Sequence[str]) -> None:
    """Delete the copies and folders that were made; what was changed since stays, and is reported."""
    made = {path: digest for path, digest in guard.made.items() if guard.exists(path)}
    output.say(f"stopped: removing the {plural(len(made), 'copy', 'copies')} made so far")
    for path, digest in made.items():
        try:
            guard.remove(path, expect=digest)
        except RetainError as error:
            output.say(f"  {error}")
    for folder in folders:
        with suppress(RetainError):
            guard.remove_empty_folder(folder)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # copying reports it


def _shown(size: int) -> str:
    """Return a number of bytes as people read it."""
    for unit, least in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= least:
            return f"{size / least:.1f} {unit}"
    return f"{size} bytes"
