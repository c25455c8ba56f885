"""Line by line what became of a file of the human's: the kept copy against what stands there now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault.audit.restore import Restorer
from vault.audit.scanner import shown
from vault.errors import RetainError
from vault.text.sanitize import clean

if TYPE_CHECKING:
    from vault.audit.changes import Change
    from vault.audit.scanner import FileState, Key
    from vault.audit.watcher import Audit

MOST_LINES = 20_000  # of one side; comparing more would take minutes


def difference(watch: Audit, change: Change) -> Iterator[str]:
    """A unified diff, cleaned, line by line; one line in words for what is no text, or too long."""
    personal = watch.vault.personal
    before, after = (shown(key, personal) for key in (change.keys[0], change.key))
    if change.what == "mode" and change.was is not None and change.now is not None:
        yield f"{after}: mode {change.was.mode:04o} became {change.now.mode:04o}"
        return
    old = _lines(_kept(watch, change.was))
    new = _lines(_present(watch, change.key, change.now))
    if old is None or new is None:
        yield f"{before}: {change.what}; no text, or too long, to be compared line by line"
        return
    import difflib

    names = (f"{before} (as known)" if change.was else "/dev/null", f"{after} (now)" if change.now else "/dev/null")
    lines = list(difflib.unified_diff(old, new, *names, lineterm=""))
    yield from (clean(line) for line in lines)
    if not lines:
        yield f"{before} -> {after}: the same bytes"


def _kept(watch: Audit, seen: FileState | None) -> bytes | None:
    return watch.copies.get(seen.sha256) if seen is not None and seen.sha256 else b""


def _present(watch: Audit, key: Key, seen: FileState | None) -> bytes | None:
    if seen is None or seen.kind != "file":
        return b""
    try:
        return Restorer(watch.vault, key.place).read(key.path)
    except RetainError:
        return None


def _lines(data: bytes | None) -> list[str] | None:
    """The lines of a text; None for what is none, or too long."""
    if data is None or b"\0" in data:
        return None
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return None
    return lines if len(lines) <= MOST_LINES else None
