"""Commands that bring the vault and other running programs together: sync anki."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from cli import report
from cli.opening import json_option, now, opened, vault_option

if TYPE_CHECKING:
    from learning.anki_sync import Synced

_URL = "http://127.0.0.1:8765"
_SHOWN = 10


@click.group()
def sync() -> None:
    """Bring cards and reviews together with a program that runs.

    \b
    Examples:
      retain sync anki --dry-run
    """


@sync.command("anki")
@click.option("--url", default=_URL, show_default=True, help="Where AnkiConnect listens on this machine.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--newer", is_flag=True, help="Let the vault's words win over edits made in Anki.")
@vault_option
@json_option
def anki(url: str, dry_run: bool, newer: bool, vault_dir: str | None, as_json: bool) -> int:
    """Take new and changed cards to a running Anki, and bring every review home.

    Anki must run with the add-on AnkiConnect (code 2055492159), on this machine. Where its settings ask for a key, it
    is read from the environment variable RETAIN_ANKI_KEY. docs/anki.md says what travels which way.

    \b
    Examples:
      retain sync anki
      retain sync anki --dry-run --json
    """
    from learning.anki_connect import connected
    from learning.anki_sync import sync as sync_anki
    from learning.desk import open_desk

    there = connected(url, os.environ.get("RETAIN_ANKI_KEY", ""))
    desk = open_desk(opened(vault_dir), now())
    report.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    done = sync_anki(desk, there, dry_run=dry_run, newer=newer)
    report.found(done.home.odd)
    if as_json:
        report.show_json(_as_json(done, dry_run))
    else:
        _show(done, dry_run)
    return report.FINDINGS if done.failed else report.DONE


def _as_json(done: Synced, dry_run: bool) -> dict[str, object]:
    plan, home = done.plan, done.home
    notes = {
        "created": len(plan.create),
        "updated": len(plan.update) + len(plan.retag),
        "unchanged": len(plan.unchanged),
        "edited": list(plan.edited),
        "suspended": [one.card for one in plan.retracted],
        "twice": list(plan.twice),
    }
    reviews = {"new": len(home.new), "known": home.known, "odd": len(home.odd)}
    return {
        "dry_run": dry_run,
        "notes": notes,
        "reviews": reviews,
        "media": done.media,
        "failed": [{"id": "", "path": "", "line": 0, "reason": what} for what in done.failed],
    }


def _show(done: Synced, dry_run: bool) -> None:
    plan, home = done.plan, done.home
    would = "would be " if dry_run else ""
    report.show(f"{len(home.new)} reviews {would}brought home, {home.known} known before")
    changed = len(plan.update) + len(plan.retag)
    report.show(f"{len(plan.create)} notes {would}made in Anki, {changed} changed, {len(plan.unchanged)} unchanged")
    if plan.retracted:
        report.show(
            f"{len(plan.retracted)} notes {would}suspended, as what they say was retracted: tag retain::retracted"
        )
    for ids, what in (
        (plan.edited, "edited in Anki, and left so; `--newer` puts the vault's words there"),
        (plan.twice, "in Anki twice; delete the note that you did not study"),
    ):
        if ids:
            more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
            report.say(f"{len(ids)} {what}: {', '.join(ids[:_SHOWN])}{more}")
    for what in done.failed:
        report.say(f"not taken: {what}")
