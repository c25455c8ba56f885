"""What `retain lint --fix` does, and its undo: pages, indexes and decks that nobody edited are written again.

A build writes them, so that nothing is fixed in another way than a compile would. What is replaced is copied outside
the vault first; the ledger has the digests before and after, by which an undo knows what was changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from compiler.build.compile import Options, compile_vault
from compiler.build.last_engine import last_engine
from compiler.pages.indexes import CONCEPTS, GRAPH, INDEX, LOG
from vault.audit.agent_runs import refuse_beside_agents
from vault.audit.blobs import Copies
from vault.errors import EditedMeanwhile, NotFound, Refused
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope
from vault.ids import digest12
from vault.layout import GAPS, READING_LIST, REVIEW_PAGE
from vault.locks import lock
from vault.log import ledger
from vault.log.ledger import Event
from vault.text.formatting import clean_line, plural
from vault.vault import Vault

TYPE = "lint-fix"
UNDO = "lint-undo"
_LISTS = frozenset({INDEX, CONCEPTS, GRAPH, LOG, GAPS, READING_LIST, REVIEW_PAGE})  # which any compile may write again
_SHOWN = 5  # files in a message
Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Fixed:
    """What was written again and removed, as vault paths; `id` is "" where nothing was to do."""

    id: str = ""
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def fix(vault: Vault, at: datetime, progress: Progress) -> Fixed:
    """Write all pages, indexes and decks again that are not as a compile leaves them; return what was done.

    Nothing new enters the vault. Raises: Refused where sources, decisions or cards changed since the last compile, or
    an agent's work is not checked; LockHeld; WriteFailed; Waiting where a model would be asked.
    """
    refuse_beside_agents(vault)
    engine = last_engine(vault)
    planned = compile_vault(vault, Options(engine, dry_run=True), at, progress)
    if planned.nothing_new or set(planned.written) <= {LOG}:  # which shows what was done, this check too
        return Fixed()
    if planned.recorded:
        what = "sources, cards or decisions changed since the last compile, so the pages cannot simply be regenerated"
        raise Refused(what, where="raw/", hint="run `retain compile`, then `retain lint --fix`")
    before = {path: vault.read_bytes(path) for path in planned.written}
    with Copies.open(vault.settings.vault_id) as copies:
        copies.put_all([data for data in before.values() if data is not None])
    done = compile_vault(vault, Options(engine, command="lint", wait_s=60), at, progress)
    files = {path: [_digest(before[path]), _digest(vault.read_bytes(path))] for path in done.written if path in before}
    with lock(vault.root, "publish", purpose="recording what was fixed", timeout_s=60):
        decided = vault.ledger_events(ledger.DECISIONS)[0]
        instant = ledger.after(decided, at)
        id_ = digest12("\x1f".join([TYPE, *files, instant]))
        event: Event = {"v": 1, "type": TYPE, "id": id_, "files": files, "at": instant, "via": "cli"}
        vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event))
    return Fixed(id_, tuple(p for p in done.written if p not in done.removed), tuple(done.removed))


def undo(vault: Vault, at: datetime) -> Fixed:
    """Take the last fix back: the files that it wrote are as they were before; return what was written and removed.

    Indexes, log and agenda that changed since stay as they are, as a compile writes them from the others.

    Raises: NotFound where there is none; EditedMeanwhile, which names the files that changed since; Refused where a
    copy is not on this machine; LockHeld. Nothing is changed then.
    """
    with lock(vault.root, "publish", purpose="undoing a fix"):
        refuse_beside_agents(vault)
        decided = ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])
        undone = {str(e.get("fix")) for e in decided if e.get("type") == UNDO}
        last = next((e for e in reversed(decided) if e.get("type") == TYPE and str(e.get("id")) not in undone), None)
        if last is None:
            raise NotFound("there is no fix to undo", hint="run `retain lint --fix` first")
        guard = vault.guard(Scope.PUBLISHER)
        changes = _changes(vault, guard, dict(_files(last.get("files"))))
        with Copies.open(vault.settings.vault_id) as copies:
            copies.put_all([now for now, _ in changes.values() if now is not None])
        event: Event = {"v": 1, "type": UNDO, "fix": str(last.get("id")), "at": ledger.after(decided, at), "via": "cli"}
        guard.append(ledger.DECISIONS, ledger.encode(event))
        for path, (now, then) in changes.items():
            _replace(guard, path, now, then)
    written = tuple(path for path, (_, then) in changes.items() if then is not None)
    return Fixed(str(last.get("id")), written, tuple(path for path in changes if path not in written))


def _changes(
    vault: Vault, guard: Guard, files: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Return by path the bytes that are there now and those to restore. Raises as `undo` does."""
    current = {path: guard.read(path) for path in files}
    renewed = {path for path in _LISTS & files.keys() if _digest(current[path]) != files[path][1]}
    open_ = {path: both for path, both in files.items() if path not in renewed and _digest(current[path]) != both[0]}
    if edited := [path for path, both in open_.items() if _digest(current[path]) != both[1]]:
        names = ", ".join(map(clean_line, edited[:_SHOWN])) + (" ..." if len(edited) > _SHOWN else "")
        what = f"{plural(len(edited), 'file')} changed since the fix: {names}"
        raise EditedMeanwhile(what, hint="nothing was undone; restore the old text from git if you need it")
    with Copies.open(vault.settings.vault_id) as copies:
        old = {path: copies.get(before) if before else None for path, (before, _) in open_.items()}
    if missing := [path for path, (before, _) in open_.items() if before and old[path] is None]:
        where = clean_line(missing[0])
        raise Refused("there is no copy of the old text on this machine", where=where, hint="restore it from git")
    return {path: (current[path], old[path]) for path in open_}


def _replace(guard: Guard, path: str, now: bytes | None, then: bytes | None) -> None:
    if then is not None:
        guard.write(path, then, expect=_digest(now) or None)
    elif now is not None:
        guard.remove(path, expect=_digest(now))


def _files(given: object) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield (path, (digest before, digest after)) of an event, which may be untrusted."""
    for path, both in given.items() if isinstance(given, dict) else ():
        if isinstance(both, list) and len(both) == 2:
            yield str(path), (str(both[0]), str(both[1]))


def _digest(data: bytes | None) -> str:
    return sha256_hex(data) if data is not None else ""
