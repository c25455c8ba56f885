"""Commands that write the cards for other programs: export anki, csv, qa, jsonl, obsidian-sr."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, vault_option
from learning.cards.workspace import open_desk
from learning.formats.csv import export_table, render_table
from learning.formats.jsonl import export_jsonl, render_jsonl
from learning.formats.obsidian_sr import export_obsidian_sr
from learning.formats.qa import export_qa
from learning.store.siblings import imported_cards
from vault.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
_STDOUT = Path("-")


def force_option(command: F) -> F:
    """`--force`: replace a file of anybody's."""
    what = "Replace a file that no export wrote."
    return click.option("--force", is_flag=True, help=what)(command)


def _named(out: Path, noun: str) -> Path:
    """`out`, which is a name. Raises: UsageError for the `-` that stands for stdout elsewhere."""
    if out == _STDOUT:
        raise UsageError(f"{noun} cannot be written to stdout", where="-", hint="give a name")
    return out


def _to_stdout(out: Path, as_json: bool) -> bool:
    """Whether `-` was given. Raises: UsageError with --json, which has stdout for itself."""
    if out == _STDOUT and as_json:
        raise UsageError("--json and `-` both write to stdout", where="-", hint="omit one of them")
    return out == _STDOUT


@click.group()
def export() -> None:
    """Export cards to other programs.

    \b
    Examples:
      retain export anki deck.apkg
      retain export csv cards.csv
      retain export qa ~/decks
    """


@export.command("anki")
@click.argument("out", metavar="OUT.apkg", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--newer", is_flag=True, help="Overwrite the notes in Anki, even newer ones.")
@force_option
@click.option("--imported", is_flag=True, help="Include cards imported from Anki: for another profile or person.")
@vault_option
@json_option
def anki(out: Path, newer: bool, force: bool, imported: bool, vault_dir: str | None, as_json: bool) -> int:
    """Export an Anki package; importing it again updates the notes and keeps their schedule.

    Cards imported from Anki are left out, as their Anki would have them twice. Only an earlier export is replaced.

    \b
    Examples:
      retain export anki ~/Desktop/retain.apkg
    """
    from learning.anki.export_package import doubled_there, export_anki, retracted_there

    out = _named(out, "a package")
    desk = open_desk(opened(vault_dir), now())
    output.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    left_out = [] if imported else imported_cards(desk.cards, desk.vault)
    notes = export_anki(desk, out, fresh=newer, left_out=set(left_out), force=force)
    retracted, doubled = retracted_there(desk), doubled_there(desk)
    if as_json:
        output.show_json(
            {"path": str(out), "notes": notes, "retracted": retracted, "doubled": doubled, "imported": left_out}
        )
        return output.DONE
    output.show(f"{output.number(notes, 'note')} in {out}; in Anki: File, Import")
    if left_out:
        output.show(f"{output.number(len(left_out), 'card')} imported from Anki left out; `--imported` includes them")
    if retracted:
        search = " OR ".join(f"CardId:{card}" for card in retracted)
        output.show(f"retracted since the last export; find and suspend them in Anki: {search}")
    if doubled:
        output.say(
            f"{output.number(len(doubled), 'note')} created by a sync would be twice in Anki: export from Anki and run "
            "`retain import anki` first, to learn their GUIDs"
        )
    return output.DONE


@export.command("csv")
@click.argument("out", metavar="OUT.csv", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@force_option
@vault_option
@json_option
def csv_(out: Path, force: bool, vault_dir: str | None, as_json: bool) -> int:
    """Export a table for spreadsheets: one row per card, with quotes and sources. No cell is a formula.

    `-` is stdout. Only an earlier export is replaced.

    \b
    Examples:
      retain export csv ~/Desktop/cards.csv
      retain export csv - | less
    """

    to_stdout = _to_stdout(out, as_json)
    desk = open_desk(opened(vault_dir), now())
    output.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    if to_stdout:
        output.show_file(render_table(desk).encode())
        return output.DONE
    rows = export_table(desk, out, force=force)
    if as_json:
        output.show_json({"path": str(out), "cards": rows})
    else:
        output.show(f"{output.number(rows, 'card')} in {out}")
    return output.DONE


@export.command("qa")
@click.argument("out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@vault_option
@json_option
def qa(out: Path, vault_dir: str | None, as_json: bool) -> int:
    """Export Q:/A: files, one per concept, for hashcards and repeater.

    A later run updates the folder; a file that another program wrote or changed is never overwritten.

    \b
    Examples:
      retain export qa ~/decks
    """

    out = _named(out, "a folder")
    desk = open_desk(opened(vault_dir), now())
    output.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    return _folder(out, export_qa(desk, out), as_json)


@export.command("obsidian-sr")
@click.argument("out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@vault_option
@json_option
def obsidian_sr(out: Path, vault_dir: str | None, as_json: bool) -> int:
    """Export notes for Obsidian's plugin Spaced Repetition, with due dates.

    The plugin stores a date, an interval and an ease; stability, difficulty and reviews are not exported, and its
    reviews cannot be imported. Suspended cards are left out. Once the plugin has changed a note, export to another
    folder.

    \b
    Examples:
      retain export obsidian-sr ~/Notes/flashcards
    """

    out = _named(out, "a folder")
    desk = open_desk(opened(vault_dir), now())
    output.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    return _folder(out, export_obsidian_sr(desk, out), as_json)


def _folder(out: Path, counts: tuple[int, int], as_json: bool) -> int:
    cards, files = counts
    if as_json:
        output.show_json({"path": str(out), "cards": cards, "files": files})
    else:
        output.show(f"{output.number(cards, 'card')} in {output.number(files, 'file')} in {out}")
    return output.DONE


@export.command("jsonl")
@click.argument("out", metavar="OUT.jsonl", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@force_option
@vault_option
@json_option
def jsonl(out: Path, force: bool, vault_dir: str | None, as_json: bool) -> int:
    """Export JSON lines: each card with its quotes and memory state.

    `-` is stdout. Only an earlier export is replaced.

    \b
    Examples:
      retain export jsonl cards.jsonl
      retain export jsonl - | head -1
    """

    to_stdout = _to_stdout(out, as_json)
    desk = open_desk(opened(vault_dir), now())
    output.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    if to_stdout:
        output.show_file(render_jsonl(desk).encode())
        return output.DONE
    cards = export_jsonl(desk, out, force=force)
    if as_json:
        output.show_json({"path": str(out), "cards": cards})
    else:
        output.show(f"{output.number(cards, 'card')} in {out}")
    return output.DONE
