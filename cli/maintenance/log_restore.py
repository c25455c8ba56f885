"""The commands `log restore` and `log accept`: what to do where the review log has lost records."""

from __future__ import annotations

from datetime import date
from typing import Any

import click

from cli import output
from cli.environment import now
from cli.log_watch import accept_losses, watched
from cli.options import dry_run_option, opened, opened_to_write, vault_json_options
from cli.workspace import render_saved
from vault.errors import NotFound, UsageError
from vault.files.guard import Scope
from vault.index.logs import CODE
from vault.log.copies import Copies, Copy
from vault.log.records import missing_lines, unreadable_lines
from vault.log.review_log import LOG_PATH, log_files
from vault.text.formatting import plural
from vault.vault import Vault

_WITHOUT_COPIES = "restore the file from git or a backup"


@click.command()
@click.option(
    "--from", "day", metavar="DATE", help="Use the most complete copy of this day (default: the newest copy)."
)
@click.option("--list", "listed", is_flag=True, help="List the copies and the number of events in each; write nothing.")
@dry_run_option
@vault_json_options
def restore(day: str | None, listed: bool, dry_run: bool, vault_dir: str | None, as_json: bool) -> int:
    """Use a daily copy to restore events that are missing from the review log.

    The first review or compile of a day copies the log to your data folder; the last 30 copies are kept. Events already
    in the log are not added twice, and no line is changed: an unreadable line is kept and reported. Exits with code 1
    if records are still missing.

    \b
    Examples:
      retain log restore --list
      retain log restore --dry-run
      retain log restore --from 2026-11-21
    """
    vault = opened_to_write(vault_dir, dry_run=dry_run or listed)
    copies = Copies(vault.root, vault.settings.vault_id)
    if listed:
        _show_list(copies, as_json)
        return output.DONE
    copy = _chosen(copies, day)
    present = b"\n".join(data for _, data in log_files(vault.root))
    lines = missing_lines(copies.read(copy), present)
    if lines and not dry_run:
        vault.guard(Scope.LOG).append(LOG_PATH, b"\n".join(lines) + b"\n")
        render_saved(vault)
        vault = watched(vault)
    lost = [notice for notice in vault.notices if notice.code == CODE]
    unreadable = unreadable_lines(vault.root)
    if as_json:
        added = {"copy": _as_json(copy), "added": len(lines), "dry_run": dry_run}
        findings = {"lost": lost, "unreadable": unreadable}
        output.show_json(added | {name: [each.as_json() for each in found] for name, found in findings.items()})
    else:
        done = "would add" if dry_run else "added"
        output.show(f"{done} {plural(len(lines), 'event')} from the copy of {copy.day}")
        output.found([*(() if dry_run else lost), *unreadable])
    return output.FINDINGS if lost and not dry_run else output.DONE


def _show_list(copies: Copies, as_json: bool) -> None:
    """Print the copies, the oldest first; before them those made when the vault was in other folders."""
    found, elsewhere = copies.listed(), copies.listed(elsewhere=True)
    if as_json:
        lists = {"copies": found, "elsewhere": elsewhere}
        shown = {name: [_as_json(copy) for copy in each] for name, each in lists.items()}
        output.show_json({"folder": str(copies.folder)} | shown)
        return
    for copy in elsewhere:
        output.show(f"{copy.day}  {plural(copy.events, 'event')}, made when this vault was in another folder")
    for copy in found:
        output.show(f"{copy.day}  {plural(copy.events, 'event')}")
    output.show(f"{plural(len(found), 'copy', 'copies')} in {copies.folder}")


def _as_json(copy: Copy) -> dict[str, Any]:
    return {"date": copy.day.isoformat(), "events": copy.events, "file": copy.name}


def _chosen(copies: Copies, day: str | None) -> Copy:
    """Return the newest copy, or of those of `day` the one with most events. Raises: NotFound, UsageError.

    One made when the vault was in another folder only where there is no other, or none of that day.
    """
    every = [copies.listed(elsewhere=True), copies.listed()]
    if day is not None:
        try:
            wanted = date.fromisoformat(day)
        except ValueError as error:
            raise UsageError("not a date", where=day, hint="write it like 2026-11-21") from error
        every = [sorted((c for c in each if c.day == wanted), key=lambda copy: copy.events) for each in every]
    found = [copy for each in every for copy in each]
    if not found:
        hint = "`retain log restore --list` lists the copies" if day else _WITHOUT_COPIES
        raise NotFound(f"there is no copy of the review log{f' of {day}' if day else ''}", hint=hint)
    return found[-1]


@click.command()
@vault_json_options
def accept(vault_dir: str | None, as_json: bool) -> None:
    """Accept the current state of logs that have lost records.

    Use this, for example, after going back to an older commit or backup. The missing records are no longer reported;
    copies of the review log that contain them are kept.

    \b
    Examples:
      retain log accept
    """
    vault: Vault = opened(vault_dir)
    lost = [notice for notice in vault.notices if notice.code == CODE]
    if lost:
        accept_losses(vault, now())
    if as_json:
        output.show_json({"accepted": [each.as_json() for each in lost]})
    else:
        output.show("; ".join(f"accepted: {each.path}" for each in lost) or "nothing is missing")
