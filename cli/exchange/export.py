"""The command group `export`: anki, csv, qa, jsonl, obsidian-sr, train."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from cli import output
from cli.exchange.train import train
from cli.options import move_older, progress_option, vault_json_options
from cli.workspace import opened_desk
from learning.anki.deck_names import DECK_TREES
from learning.anki.export_package import export_anki
from learning.cards.workspace import Desk
from learning.formats.csv import export_table, render_table
from learning.formats.jsonl import export_jsonl, render_jsonl
from learning.formats.obsidian_sr import export_obsidian_sr
from learning.formats.qa import export_qa
from learning.store.siblings import imported_cards
from vault.errors import UsageError
from vault.text.formatting import plural

F = TypeVar("F", bound=Callable[..., Any])
_STDOUT = Path("-")


force_option = click.option("--force", is_flag=True, help="Overwrite a file even if it is not an earlier export.")


def _file_argument(metavar: str, *, stdout: bool = False) -> Callable[[F], F]:
    """Return the argument OUT, a file; with `stdout` also "-"."""
    return click.argument("out", metavar=metavar, type=click.Path(dir_okay=False, allow_dash=stdout, path_type=Path))


_folder_argument = click.argument("out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))


def _named(out: Path, noun: str) -> Path:
    """Return `out`. Raises UsageError for "-", which is stdout elsewhere."""
    if out == _STDOUT:
        raise UsageError(f"{noun} cannot be written to stdout", where="-", hint="give a file name")
    return out


def _export_file(
    out: Path,
    vault_dir: str | None,
    as_json: bool,
    render: Callable[[Desk], str],
    write: Callable[..., int],
    *,
    force: bool,
) -> int:
    """Write one file of cards with `write`, or print it with `render` if `out` is "-"."""
    if out == _STDOUT and as_json:
        raise UsageError("--json and `-` both write to stdout", where="-", hint="omit one of them")
    desk = opened_desk(vault_dir, read_only=True)
    if out == _STDOUT:
        output.show_file(render(desk).encode())
        return output.DONE
    cards = write(desk, out, force=force)
    if as_json:
        output.show_json({"path": str(out), "cards": cards})
    else:
        output.show(f"{plural(cards, 'card')} in {out}")
    return output.DONE


def _export_folder(
    out: Path, vault_dir: str | None, as_json: bool, write: Callable[[Desk, Path], tuple[int, int]]
) -> int:
    """Write a folder of cards with `write`, which returns the number of cards and of changed files."""
    desk = opened_desk(vault_dir, read_only=True)
    cards, files = write(desk, _named(out, "a folder"))
    if as_json:
        output.show_json({"path": str(out), "cards": cards, "files": files})
    else:
        output.show(f"{plural(cards, 'card')} in {plural(files, 'file')} in {out}")
    return output.DONE


@click.group()
def export() -> None:
    """Export cards to other programs, or training data for a model.

    \b
    Examples:
      retain export anki deck.apkg
      retain export csv cards.csv
      retain export qa ~/decks
      retain export train ~/data/know
    """


@export.command("anki")
@_file_argument("OUT.apkg")
@click.option("--newer", is_flag=True, help="Overwrite notes in Anki even if they are newer.")
@force_option
@click.option("--imported", is_flag=True, help="Include cards imported from Anki, for another profile or person.")
@click.option("--with-schedule", is_flag=True, help="Include reviews, memory states, due dates and a preset.")
@click.option(
    "--decks",
    type=click.Choice(DECK_TREES),
    default="topic",
    show_default=True,
    help="Create one deck in Anki for each topic or concept, or one for all cards.",
)
@progress_option
@vault_json_options
def anki(
    out: Path,
    newer: bool,
    force: bool,
    imported: bool,
    with_schedule: bool,
    decks: str,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Export an Anki package. Importing a newer export updates the notes and keeps their schedule.

    Cards imported from Anki are not exported, because Anki would then have them twice. An existing file is overwritten
    only if it is an earlier export.

    With --with-schedule, Anki continues with the schedule of this vault: in its import dialog, check "Import any
    learning progress" and "Import any deck presets", and switch on FSRS in the deck options.

    \b
    Examples:
      retain export anki ~/Desktop/retain.apkg
      retain export anki --with-schedule --imported ~/Desktop/leaving.apkg
    """
    out = _named(out, "a package")
    desk = opened_desk(vault_dir, read_only=True)
    move_older(desk.vault)
    left_out = [] if imported else imported_cards(desk.cards, desk.vault)
    narrator, cards = output.Progress(progress), len(desk.cards) - len(left_out)
    with narrator:
        narrator({"event": "export", "done": 0, "of": cards, "path": out.name})
        done = export_anki(
            desk, out, fresh=newer, scheduled=with_schedule, decks=decks, left_out=set(left_out), force=force
        )
        narrator({"event": "export", "done": cards, "of": cards, "path": out.name})
    if as_json:
        output.show_json(
            {
                "path": str(out),
                "notes": done.notes,
                "retracted": done.retracted,
                "doubled": done.doubled,
                "imported": left_out,
                "incomplete": done.incomplete,
                "divided": done.divided,
            }
        )
        return output.DONE
    output.show(f"{plural(done.notes, 'note')} in {out}; in Anki: File, Import")
    if left_out:
        output.show(f"{plural(len(left_out), 'card')} imported from Anki skipped; `--imported` includes them")
    if done.incomplete:
        output.show(f"{plural(len(done.incomplete), 'imported note')} with fewer cards: the others were deleted here")
    if done.divided:
        output.show(f"{plural(len(done.divided), 'imported note')} with too many cards: each card is a separate note")
    if done.retracted:
        search = " OR ".join(f"CardId:{card}" for card in done.retracted)
        output.show(f"cards withdrawn since the last export; to find and suspend them in Anki, search: {search}")
    if done.doubled:
        output.say(
            f"{plural(len(done.doubled), 'note')} created by a sync would be duplicated in Anki: export from "
            "Anki and run "
            "`retain import anki` first, to import their GUIDs"
        )
    return output.DONE


@export.command("csv")
@_file_argument("OUT.csv", stdout=True)
@force_option
@vault_json_options
def csv_(out: Path, force: bool, vault_dir: str | None, as_json: bool) -> int:
    """Export a table for spreadsheets: one row per card, with quotes, sources and memory state.

    Cells hold no formulas. `-` is stdout. An existing file is overwritten only if it is an earlier export.

    \b
    Examples:
      retain export csv ~/Desktop/cards.csv
      retain export csv - | less
    """
    return _export_file(out, vault_dir, as_json, render_table, export_table, force=force)


@export.command("qa")
@_folder_argument
@click.option("--with-schedule", is_flag=True, help="Include hashcards.db: stability, difficulty and due dates.")
@vault_json_options
def qa(out: Path, with_schedule: bool, vault_dir: str | None, as_json: bool) -> int:
    """Export Q:/A: and C: files, one per concept, for hashcards and repeater.

    A later run updates the folder; a file that another program wrote or changed is never overwritten. If you use
    --with-schedule, export to a new folder once, and from then on study there. repeater keeps its schedule outside the
    folder.

    \b
    Examples:
      retain export qa ~/decks
      retain export qa ~/leaving --with-schedule
    """
    return _export_folder(out, vault_dir, as_json, partial(export_qa, scheduled=with_schedule))


@export.command("obsidian-sr")
@_folder_argument
@click.option("--fsrs", is_flag=True, help="Write schedules for the plugin's FSRS, with stability and difficulty.")
@vault_json_options
def obsidian_sr(out: Path, fsrs: bool, vault_dir: str | None, as_json: bool) -> int:
    """Export notes for Obsidian's Spaced Repetition plugin, with due dates.

    The plugin stores a date, an interval and an ease (with its FSRS, stability and difficulty instead of the ease),
    but no reviews. Suspended cards are not exported. Once the plugin has changed a note, export to another folder;
    `retain import cards` imports its schedules.

    \b
    Examples:
      retain export obsidian-sr ~/Notes/flashcards
      retain export obsidian-sr ~/Notes/flashcards --fsrs
    """
    return _export_folder(out, vault_dir, as_json, partial(export_obsidian_sr, fsrs=fsrs))


@export.command("jsonl")
@_file_argument("OUT.jsonl", stdout=True)
@force_option
@vault_json_options
def jsonl(out: Path, force: bool, vault_dir: str | None, as_json: bool) -> int:
    """Export JSON lines: each card with its quotes, its memory state and every review.

    `retain import cards` creates the same cards, due on the same days, in another vault. `-` is stdout. An existing
    file is overwritten only if it is an earlier export.

    \b
    Examples:
      retain export jsonl cards.jsonl
      retain export jsonl - | head -1
    """
    return _export_file(out, vault_dir, as_json, render_jsonl, export_jsonl, force=force)


export.add_command(train)
