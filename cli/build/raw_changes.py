"""The bursts of changes in raw/ and in the notes in place, as `retain compile --watch` waits for them."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from compiler.sources.inventory import is_hidden, is_ignored_path
from vault.config.notes import NoteRules
from vault.errors import Refused, UsageError
from vault.files.write_scopes import is_conflict_copy

NO_NOTES = NoteRules()
_TICK_MS = 100  # how often changes are looked for; more often where the quiet time is short
_LONGEST_BURST_S = 30.0  # a file that is written for longer is compiled as it is, and again later
_POLLING = "`WATCHFILES_FORCE_POLLING=1 retain compile --watch` polls the files instead"


def require_watchfiles() -> None:
    """Raise UsageError if the package that watches folders is not installed."""
    if importlib.util.find_spec("watchfiles") is None:
        hint = "`pip install '.[watch]'` in the checkout (or `pipx inject retain watchfiles`)"
        raise UsageError("the package watchfiles is not installed", hint=hint)


def bursts(root: Path, quiet_s: float, notes: NoteRules = NO_NOTES) -> Iterator[bool]:
    """Yield True at the start, and when sources changed and have been quiet for `quiet_s`; else False each tick.

    raw/ may be removed and made again meanwhile, as git does. Raises: Refused where the system cannot watch it.
    """
    while True:
        try:
            yield from _bursts_until_replaced(root / "raw", quiet_s, notes)
        except FileNotFoundError:  # another one may come
            yield False
            time.sleep(quiet_s)


def _bursts_until_replaced(raw: Path, quiet_s: float, notes: NoteRules) -> Iterator[bool]:
    """Yield as `bursts` does, until raw/ is another folder. Raises: FileNotFoundError; Refused."""
    identity = _identity(raw)
    began: float | None = None  # of the burst that is going on
    last, is_start = 0.0, True
    folders = [raw.parent / folder for folder in notes.folders]
    for paths, is_gone in _changed_paths(raw, folders, min(_TICK_MS, int(quiet_s * 250))):
        now = time.monotonic()
        if any(_counts(raw, path, notes) for path in paths):
            began, last = now if began is None else began, now
        is_over = began is not None and (now - last >= quiet_s or now - began >= _LONGEST_BURST_S)
        if is_over or is_start:
            began, is_start = None, False
            yield True
        else:
            yield False
        if is_gone or _identity(raw) != identity:  # a new folder may have the number of the one before
            return


def _changed_paths(raw: Path, folders: Sequence[Path], tick_ms: int) -> Iterator[tuple[frozenset[str], bool]]:
    """Yield the paths that changed in each tick, none if nothing did, and whether raw/ itself was removed.

    What changes between ticks is kept. Where files are polled, a change in raw/ is reported as one of raw/ itself, too.
    """
    import watchfiles  # an extra, and only for this

    try:
        for changes in watchfiles.watch(
            raw,
            *folders,
            watch_filter=None,
            debounce=tick_ms,
            step=tick_ms // 2,
            rust_timeout=tick_ms,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield frozenset(path for _, path in changes), (watchfiles.Change.deleted, str(raw)) in changes
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError) as error:  # what the package raises for all else, such as too many folders
        what = f"changes in raw/ cannot be watched: {error}"
        raise Refused(what, where="raw", hint=_POLLING) from error


def _identity(folder: Path) -> tuple[int, int]:
    """Return what tells a folder from another at its place. Raises: FileNotFoundError."""
    status = folder.stat()
    return status.st_dev, status.st_ino


def _counts(raw: Path, path: str, notes: NoteRules) -> bool:
    """Return whether a compile reads what is at this path: no hidden file, no backup, nothing that programs fill.

    Of the notes in place, what their rules name; of a folder that is renamed, the folder alone is reported.
    """
    parts = Path(os.path.relpath(path, raw.parent)).parts
    if parts[:1] != ("raw",):
        inner = "/".join(parts)
        return notes.covers(inner) or ("." not in parts[-1] and notes.enters(inner))
    above = ("/".join(parts[: n + 1]) for n in range(len(parts)))
    return not (any(map(is_hidden, parts[1:])) or is_conflict_copy(path) or any(map(is_ignored_path, above)))
