"""A line diff of a changed file: the stored copy against the present file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault.audit.restore import Restorer
from vault.audit.scanner import shown
from vault.errors import RetainError
from vault.text.formatting import clean

if TYPE_CHECKING:
    from vault.audit.changes import Change
    from vault.audit.scanner import FileState, Key
    from vault.audit.watcher import Audit

MAX_LINES = 20_000  # of one side; comparing more would take minutes


def difference(audit: Audit, change: Change) -> Iterator[str]:
    """Yield the lines of a unified diff, sanitized; one message for a file that is no text or too long."""
    personal = audit.vault.personal
    before, after = (shown(key, personal) for key in (change.keys[0], change.key))
    if change.what == "mode" and change.was is not None and change.now is not None:
        yield f"{after}: mode {change.was.mode:04o} became {change.now.mode:04o}"
        return
    old = _lines(_stored(audit, change.was))
    new = _lines(_present(audit, change.key, change.now))
    if old is None or new is None:
        yield f"{before}: {change.what}; not compared (not text, or too long)"
        return

    names = (f"{before} (recorded)" if change.was else "/dev/null", f"{after} (now)" if change.now else "/dev/null")
    lines = list(difflib.unified_diff(old, new, *names, lineterm=""))
    yield from (clean(line) for line in lines)
    if not lines:
        yield f"{before} -> {after}: same content"


def _stored(audit: Audit, state: FileState | None) -> bytes | None:
    return audit.copies.get(state.sha256) if state is not None and state.sha256 else b""


def _present(audit: Audit, key: Key, state: FileState | None) -> bytes | None:
    if state is None or state.kind != "file":
        return b""
    try:
        return Restorer(audit.vault, key.place).read(key.path)
    except RetainError:
        return None


def _lines(data: bytes | None) -> list[str] | None:
    """Return the lines of a text; None for other data or too many lines."""
    if data is None or b"\0" in data:
        return None
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return None
    return lines if len(lines) <= MAX_LINES else None
