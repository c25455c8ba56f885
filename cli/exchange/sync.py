"""The command group `sync`: anki."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import now
from cli.options import opened_to_write, progress_option, vault_json_options
from cli.workspace import report_cards
from learning.anki_connect.client import connected
from learning.anki_connect.sync import sync as sync_anki
from learning.cards.workspace import open_desk, read_desk
from vault.locks import lock
from vault.text.formatting import plural

if TYPE_CHECKING:
    from learning.anki_connect.sync import Synced

_URL = "http://127.0.0.1:8765"
_SHOWN = 10
_MANY = 500  # changes: from here on, progress is reported


@click.group()
def sync() -> None:
    """Sync cards and reviews with a running program.

    \b
    Examples:
      retain sync anki --dry-run
    """


@sync.command("anki")
@click.option("--url", default=_URL, show_default=True, help="The address of AnkiConnect on this machine.")
@click.option("--dry-run", is_flag=True, help="Show what would change; cards without an id are not counted.")
@click.option("--newer", is_flag=True, help="Overwrite notes that were edited in Anki, and create deleted ones again.")
@click.option("--imported", is_flag=True, help="Include cards that were imported from Anki.")
@progress_option
@vault_json_options
def anki(
    url: str, dry_run: bool, newer: bool, imported: bool, progress: str | None, vault_dir: str | None, as_json: bool
) -> int:
    """Send new and changed cards and reviews to a running Anki, and import all reviews from it.

    It sends questions, answers, quotes, sources, tags, pictures, sounds, and reviews that Anki lacks, with the due
    dates of their cards, and suspends withdrawn and deleted cards in Anki. It imports reviews, tags, flags, due dates
    that you set there, and which cards are suspended, buried or forgotten. It does not change notes that you deleted
    in Anki, or text that you edited there: a card edited on both sides is listed in `retain inbox`.

    Cards imported from Anki are skipped: they are already in your Anki, and AnkiConnect cannot identify them. Import
    again to update their reviews.

    Anki must be running on this machine with the add-on AnkiConnect (code 2055492159). If its settings require a key,
    set the environment variable RETAIN_ANKI_KEY.

    \b
    Examples:
      retain sync anki
      retain sync anki --dry-run --json
    """
    vault = opened_to_write(vault_dir, dry_run=dry_run)
    there = connected(url, os.environ.get("RETAIN_ANKI_KEY", ""))
    # Two syncs at once would each make what the other one is making.
    alone = nullcontext() if dry_run else lock(vault.root, "import", purpose="syncing", now=now())
    with alone:
        desk = replace(read_desk(vault), now=now()) if dry_run else open_desk(vault, now())
        report_cards(desk)
        done = sync_anki(
            desk, there, dry_run=dry_run, newer=newer, imported=imported, progress=_progress_callback(progress)
        )
    output.found(done.home.invalid)
    if as_json:
        output.show_json(_as_json(done, dry_run))
    else:
        _show(done, dry_run)
    return output.FINDINGS if done.failed else output.DONE


def _progress_callback(mode: str | None) -> Callable[[int, int], None]:
    """Return the callback for progress of the changes."""
    narrator = output.Progress(mode)
    if narrator.jsonl:
        return lambda done, of: narrator({"event": "changes", "done": done, "of": of})
    return _progress


def _progress(done: int, of: int) -> None:
    if of >= _MANY and (done % _MANY == 0 or done == of):
        output.say(f"{done:,} of {of:,} changes sent to Anki")


def _as_json(done: Synced, dry_run: bool) -> dict[str, object]:
    """Return the result of a sync as JSON."""
    plan, home = done.plan, done.home
    notes = {
        "created": len(done.created),
        "updated": len(done.changed),
        "unchanged": len({note.card for note in plan.unchanged}),
        "edited": list(plan.edited),
        "other_type": list(plan.other_type),
        "conflicts": [note.card for _, note in plan.conflicts],
        "deleted": list(plan.gone),
        "suspended": done.suspended,
        "resumed": done.resumed,
        "twice": list(plan.twice),
        "imported": list(done.left_out),
    }
    reviews = {"new": len(home.new), "known": home.known, "odd": len(home.invalid), "sent": done.sent}
    return {
        "dry_run": dry_run,
        "notes": notes,
        "reviews": reviews,
        "marks": dict(done.marks),
        "media": done.media,
        "failed": [asdict(each) for each in done.failed],
    }


def _show(done: Synced, dry_run: bool) -> None:
    """Print the result of a sync."""
    plan, home = done.plan, done.home
    would = "would be " if dry_run else ""
    output.show(f"{plural(len(home.new), 'review')} {would}imported, {home.known} already imported")
    if any(done.marks.values()):
        marks = ", ".join(f"{count} {would}{name}" for name, count in done.marks.items() if count)
        output.show(f"to match Anki: {marks}")
    if done.sent:
        output.show(f"{plural(done.sent, 'review')} {would}sent to Anki")
    same = len({note.card for note in plan.unchanged})
    output.show(
        f"{plural(len(done.created), 'note')} {would}created in Anki, {len(done.changed)} changed, {same} unchanged"
    )
    for cards, what in (
        (done.suspended, f"{would}suspended in Anki, as the cards were withdrawn or deleted (tag retain::retracted)"),
        (done.resumed, f"{would}unsuspended in Anki, as the cards are valid again"),
    ):
        if cards:
            output.show(f"{plural(len(cards), 'note')} {what}")
    if done.left_out:
        output.show(f"{plural(len(done.left_out), 'card')} imported from Anki skipped")
    for ids, what in (
        (plan.edited, "edited in Anki, so not changed; `--newer` overwrites them"),
        (
            plan.other_type,
            "not changed: their cards need another note type now, and Anki keeps the type of a note; to get new ones, "
            "delete them in Anki and sync with `--newer`",
        ),
        (
            tuple(note.card for _, note in plan.conflicts),
            "edited both here and in Anki: nothing was changed; decide with `retain inbox`",
        ),
        (plan.gone, "deleted in Anki, or without CardId; `--newer` creates them again"),
        (plan.twice, "duplicated in Anki; delete the note that you did not study"),
    ):
        if ids:
            more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
            output.say(f"{len(ids)} {what}: {', '.join(ids[:_SHOWN])}{more}")
    for each in done.failed:
        place = f"{each.path}:{each.line}: " if each.path else ""
        who = f"card {each.id}: " if each.id else ""
        output.say(f"failed: {place}{who}{each.reason}")
