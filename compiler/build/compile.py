"""The entry to a compile: if nothing changed it returns at once, else it runs the pipeline under a lock."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler.build.snapshot import Snapshot, bytes_to_read, last_report, look, stood_in
from compiler.model.engine_names import VERSIONS
from compiler.model.options import Options
from compiler.model.report import Report
from vault.errors import UsageError
from vault.index.database import IndexDamaged, IndexUnwritable
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.replies.asker import Backend
    from compiler.workers.pool import WorkerPool

__all__ = ["Options", "compile_vault", "raw_path"]


def compile_vault(
    vault: Vault,
    options: Options,
    at: datetime,
    progress: Callable[[dict[str, Any]], None],
    seen: Snapshot | None = None,
    backend: Backend | None = None,
) -> Report:
    """Bring the wiki, the cards and the agenda up to date with `raw/`.

    A build is a pure function of `raw/`, the ledgers, and what users edited. When nothing changed since the last
    one, nothing is read or written; `seen` is how things stand, if somebody has looked already. `backend` answers what
    the vault's journal does not.
    Raises: UsageError, LockHeld, SchemaTooNew or Damaged where the review log is not for this retain to read, and
    what the guard raises.
    """
    engine = VERSIONS.get(options.engine)
    if engine is None:
        raise UsageError(f"there is no engine named {options.engine!r}", hint=f"available: {', '.join(VERSIONS)}")
    last = None if options.fresh or options.renew or options.decisions else last_report(vault, engine, seen)
    if last is not None and not (options.engine in ("claude", "command", "agent") and stood_in(last)):
        return Report.from_json(last)
    from compiler.workers.pool import WorkerPool  # here, as the others below: there may be nothing to do

    with WorkerPool("extractive", vault.root / "raw") as crew:
        if options.engine == "extractive":  # they load their libraries while this process loads its own
            crew.start(bytes_to_read(vault, engine, seen or look(vault.root, vault.notes), fresh=options.fresh))
        return _build(vault, options, engine, at, progress, backend, crew)


def _build(
    vault: Vault,
    options: Options,
    engine: str,
    at: datetime,
    progress: Callable[[dict[str, Any]], None],
    backend: Backend | None,
    crew: WorkerPool,
) -> Report:
    """Bring everything up to date, under the lock unless nothing is written."""
    from compiler.build.pipeline import build
    from compiler.build.start import open_build
    from vault.audit.agent_runs import refuse_beside_agents
    from vault.locks import lock
    from vault.log.review_log import read_log

    def made() -> Report:
        """Build; once more where the index is found damaged, or cannot be written."""
        gc.freeze()  # what is loaded by now stays: the collector need not look at it again and again
        try:
            return build(open_build(vault, options, engine, at, progress, backend), crew).report
        except IndexDamaged as error:
            keeps = not isinstance(error, IndexUnwritable)
            return build(open_build(vault, options, engine, at, progress, backend, keeps=keeps), crew).report

    read_log(vault.root)  # only flags are an input; but where a newer retain wrote it, this one writes nothing
    if options.dry_run:
        return made()
    waited: list[str] = []

    def waiting(words: str) -> None:
        waited.append(words)
        progress({"event": "wait", "done": 0, "of": 1, "words": words})

    purpose = "compiling" if options.command == "compile" else "rebuilding"
    with lock(vault.root, "publish", purpose=purpose, timeout_s=options.wait_s, waiting=waiting):
        refuse_beside_agents(vault)
        last = last_report(vault, engine) if waited and not options.fresh else None
        if last is not None:  # the other one did it all
            return Report.from_json(last)
        return made()


def raw_path(vault: Vault, given: str, cwd: Path) -> str:
    """Return the vault path of a source given by any path, or by its path in the vault. Raises UsageError."""
    for base in (cwd, vault.root):
        path = (base / given).absolute()
        relative = os.path.relpath(path.resolve(), vault.root).replace(os.sep, "/")
        if vault.is_source(relative) and vault.has_file(relative):
            return relative
    raise UsageError("not a source", where=given, hint="add a file to raw/ with `retain add FILE`")
