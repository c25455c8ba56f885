"""Commands that bring the vault and other running programs together: sync anki."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, progress_option, settle_left_over, vault_option

if TYPE_CHECKING:
    from learning.anki_connect.sync import Synced

_URL = "http://127.0.0.1:8765"
_SHOWN = 10
_MANY = 500  # changes, from which on it is told how far they are


@click.group()
def sync() -> None:
    """Bring cards and reviews together with a program that runs.

    \b
    Examples:
      retain sync anki --dry-run
    """


@sync.command("anki")
@click.option("--url", default=_URL, show_default=True, help="Where AnkiConnect listens on this machine.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done; cards that have no id yet aren't counted.")
@click.option("--newer", is_flag=True, help="Let the vault's words win over what was edited or deleted in Anki.")
@click.option("--imported", is_flag=True, help="Send cards that came from Anki too: it was another Anki.")
@progress_option
@vault_option
@json_option
def anki(
    url: str, dry_run: bool, newer: bool, imported: bool, progress: str | None, vault_dir: str | None, as_json: bool
) -> int:
    """Take new and changed cards to a running Anki, and bring every review home.

    Sent are question, answer, quotes, source, tags, pictures and sounds of every card; cards that were retracted are
    suspended there. Home come the reviews and whether a card is suspended. Left are due dates, words that you edited
    in Anki, until the vault says something new, and notes that you deleted there.

    Cards that `retain import anki` brought are left out: they are notes in your Anki already, and AnkiConnect does not
    tell which. Their reviews come home by importing again.

    Anki must run with the add-on AnkiConnect (code 2055492159), on this machine. Where its settings ask for a key, it
    is read from the environment variable RETAIN_ANKI_KEY.

    \b
    Examples:
      retain sync anki
      retain sync anki --dry-run --json
    """
    from learning.anki_connect.client import connected
    from learning.anki_connect.sync import sync as sync_anki
    from learning.cards.workspace import open_desk, read_desk
    from vault.locks import lock

    vault = opened(vault_dir)
    if not dry_run:
        settle_left_over(vault)
    there = connected(url, os.environ.get("RETAIN_ANKI_KEY", ""))
    # Two syncs at once would each make what the other one is making.
    alone = nullcontext() if dry_run else lock(vault.root, "import", purpose="syncing", now=now())
    with alone:
        desk = replace(read_desk(vault), now=now()) if dry_run else open_desk(vault, now())
        output.found(d for d in desk.diagnostics if d not in vault.notices)
        done = sync_anki(desk, there, dry_run=dry_run, newer=newer, imported=imported, progress=_told(progress))
    output.found(done.home.odd)
    if as_json:
        output.show_json(_as_json(done, dry_run))
    else:
        _show(done, dry_run)
    return output.FINDINGS if done.failed else output.DONE


def _told(mode: str | None) -> Callable[[int, int], None]:
    narrator = output.Progress(mode)
    if narrator.jsonl:
        return lambda done, of: narrator({"event": "changes", "done": done, "of": of})
    return _progress


def _progress(done: int, of: int) -> None:
    if of >= _MANY and (done % _MANY == 0 or done == of):
        output.say(f"{done:,} of {of:,} changes are in Anki")


def _as_json(done: Synced, dry_run: bool) -> dict[str, object]:
    plan, home = done.plan, done.home
    notes = {
        "created": len(done.created),
        "updated": len(done.changed),
        "unchanged": len({note.card for note in plan.unchanged}),
        "edited": list(plan.edited),
        "deleted": list(plan.gone),
        "suspended": done.suspended,
        "resumed": done.resumed,
        "twice": list(plan.twice),
        "imported": list(done.left_out),
    }
    reviews = {"new": len(home.new), "known": home.known, "odd": len(home.odd)}
    return {
        "dry_run": dry_run,
        "notes": notes,
        "reviews": reviews,
        "marks": dict(done.marks),
        "media": done.media,
        "failed": [asdict(each) for each in done.failed],
    }


def _show(done: Synced, dry_run: bool) -> None:
    plan, home, number = done.plan, done.home, output.number
    would = "would be " if dry_run else ""
    output.show(f"{number(len(home.new), 'review')} {would}brought home, {home.known} known before")
    if any(done.marks.values()):
        output.show(f"{done.marks['suspended']} {would}suspended as in Anki, {done.marks['resumed']} {would}resumed")
    same = len({note.card for note in plan.unchanged})
    output.show(
        f"{number(len(done.created), 'note')} {would}made in Anki, {len(done.changed)} changed, {same} unchanged"
    )
    for cards, what in (
        (done.suspended, f"{would}suspended there, as what they say was retracted: tag retain::retracted"),
        (done.resumed, f"{would}no longer suspended there, as what they say counts again"),
    ):
        if cards:
            output.show(f"{number(len(cards), 'note')} {what}")
    if done.left_out:
        cards_ = number(len(done.left_out), "card")
        output.show(f"{cards_} left out that came from Anki: sent there, they would be in it twice")
    for ids, what in (
        (plan.edited, "edited in Anki, and left so; `--newer` puts the vault's words there"),
        (plan.gone, "deleted in Anki, or without their CardId there; `--newer` makes them again"),
        (plan.twice, "in Anki twice; delete the note that you did not study"),
    ):
        if ids:
            more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
            output.say(f"{len(ids)} {what}: {', '.join(ids[:_SHOWN])}{more}")
    for each in done.failed:
        place = f"{each.path}:{each.line}: " if each.path else ""
        who = f"card {each.id}: " if each.id else ""
        output.say(f"not taken: {place}{who}{each.reason}")
