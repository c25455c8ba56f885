"""What every command does for review log and ledgers: notice what they have lost, and copy the log once a day."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from typing import TypeVar

import click

from cli.environment import is_sandboxed, now
from learning.store.index import with_index
from vault.diagnostic import Diagnostic
from vault.errors import RetainError
from vault.index.database import Database, IndexDamaged
from vault.index.logs import CODE, accept, copy_failure, is_copy_due, lost_records, save_copy
from vault.vault import Vault

T = TypeVar("T")


def watched(vault: Vault, *, thorough: bool = False) -> Vault:
    """Return the vault with a notice for each folder whose logs have lost records since they were seen last.

    With `thorough` the files are read even if nothing has touched them since.
    """
    if is_sandboxed():  # nothing there can remember them, or lose them
        return vault

    def look(database: Database) -> list[Diagnostic]:
        return lost_records(vault, database, thorough=thorough)

    lost = _in_index(vault, look) or []
    others = (notice for notice in vault.notices if notice.code != CODE)
    return replace(vault, notices=(*others, *lost))


def watch_end(vault: Vault) -> None:
    """Remember at the end of this command what it appended, and copy the review log if it is the first of the day."""
    context = click.get_current_context(silent=True)
    if context is not None and not is_sandboxed():
        context.find_root().call_on_close(lambda: _in_index(vault, lambda database: _end(vault, database)))


def accept_losses(vault: Vault, at: datetime) -> None:
    """Remember the logs as they are, and make a copy that says so where the index is lost. Raises as `accept`."""

    def remember(database: Database) -> None:
        accept(vault, database)
        save_copy(vault, database, _day(vault, at))

    with_index(vault, remember)


def failed_copy(vault: Vault) -> str:
    """Return why the last copy of the review log could not be written; "" if it could."""
    return _in_index(vault, copy_failure) or ""


def _end(vault: Vault, database: Database) -> None:
    lost_records(vault, database)
    day = _day(vault, now())
    if is_copy_due(vault, database, day):
        lost_records(vault, database, thorough=True)  # the bytes are read anyway
        save_copy(vault, database, day)


def _day(vault: Vault, at: datetime) -> date:
    return at.astimezone(vault.settings.zone).date()


def _in_index(vault: Vault, use: Callable[[Database], T]) -> T | None:
    """Return what `use` returns for the index; None where that fails, which must not stop a command."""
    with suppress(RetainError, OSError, IndexDamaged):
        return with_index(vault, use)
    return None
