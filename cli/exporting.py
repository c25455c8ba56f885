"""Commands that write the cards for other programs: export anki, csv, qa, jsonl, obsidian-sr."""

from __future__ import annotations

from pathlib import Path

import click

from cli import report
from cli.opening import json_option, now, opened, vault_option


@click.group()
def export() -> None:
    """Write the cards for other programs.

    \b
    Examples:
      retain export anki deck.apkg
      retain export csv cards.csv
      retain export qa ~/decks
    """


@export.command("anki")
@click.argument("out", metavar="OUT.apkg", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--newer", is_flag=True, help="Let every note win over what Anki holds, even one exported later.")
@click.option("--imported", is_flag=True, help="Put cards that came from Anki in too: for another profile or person.")
@vault_option
@json_option
def anki(out: Path, newer: bool, imported: bool, vault_dir: str | None, as_json: bool) -> int:
    """A package for Anki: importing it again updates the notes and keeps their schedule.

    Cards that `retain import anki` brought are left out: in the Anki they came from they would be there twice.

    \b
    Examples:
      retain export anki ~/Desktop/retain.apkg
    """
    from learning.anki import doubled_there, export_anki, retracted_there
    from learning.anki_siblings import imported_cards
    from learning.desk import open_desk

    desk = open_desk(opened(vault_dir), now())
    report.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    left_out = [] if imported else imported_cards(desk.cards, desk.vault)
    notes, retracted = export_anki(desk, out, fresh=newer, left_out=set(left_out)), retracted_there(desk)
    doubled = doubled_there(desk)
    if as_json:
        report.show_json(
            {"path": str(out), "notes": notes, "retracted": retracted, "doubled": doubled, "imported": left_out}
        )
        return report.DONE
    report.show(f"{report.number(notes, 'note')} in {out}; in Anki: File, Import")
    if left_out:
        report.show(f"{report.number(len(left_out), 'card')} left out that came from Anki; `--imported` puts them in")
    if retracted:
        search = " OR ".join(f"CardId:{card}" for card in retracted)
        report.show(f"retracted since they were exported; find and suspend them in Anki: {search}")
    if doubled:
        report.say(
            f"{report.number(len(doubled), 'note')} that a sync made in Anki would be there twice: first export from "
            "Anki and `retain import anki` that file, which tells their GUIDs"
        )
    return report.DONE


@export.command("csv")
@click.argument("out", metavar="OUT.csv", type=click.Path(dir_okay=False, path_type=Path))
@vault_option
@json_option
def csv_(out: Path, vault_dir: str | None, as_json: bool) -> int:
    """A table for spreadsheets: a row a card, with its quotes and sources. No cell acts as a formula.

    \b
    Examples:
      retain export csv ~/Desktop/cards.csv
    """
    from learning.desk import open_desk
    from learning.table import export_table

    desk = open_desk(opened(vault_dir), now())
    report.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    rows = export_table(desk, out)
    if as_json:
        report.show_json({"path": str(out), "cards": rows})
    else:
        report.show(f"{rows} cards in {out}")
    return report.DONE


@export.command("qa")
@click.argument("out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@vault_option
@json_option
def qa(out: Path, vault_dir: str | None, as_json: bool) -> int:
    """Bare Q:/A: files, one a concept, which hashcards and repeater read.

    Run again, it brings the folder up to date; a file that something else put there, or changed, is never overwritten.

    \b
    Examples:
      retain export qa ~/decks
    """
    from learning.desk import open_desk
    from learning.export_qa import export_qa

    desk = open_desk(opened(vault_dir), now())
    report.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    return _folder(out, export_qa(desk, out), as_json)


@export.command("obsidian-sr")
@click.argument("out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@vault_option
@json_option
def obsidian_sr(out: Path, vault_dir: str | None, as_json: bool) -> int:
    """Notes for Obsidian's plugin Spaced Repetition, with the day that each card is due.

    The plugin keeps a day, an interval and an ease; stability, difficulty and the reviews themselves stay here, and
    what is reviewed there doesn't come home. Suspended cards are left out. Once the plugin has written into a note,
    export to another folder.

    \b
    Examples:
      retain export obsidian-sr ~/Notes/flashcards
    """
    from learning.desk import open_desk
    from learning.export_obsidian_sr import export_obsidian_sr

    desk = open_desk(opened(vault_dir), now())
    report.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    return _folder(out, export_obsidian_sr(desk, out), as_json)


def _folder(out: Path, counts: tuple[int, int], as_json: bool) -> int:
    cards, files = counts
    if as_json:
        report.show_json({"path": str(out), "cards": cards, "files": files})
    else:
        report.show(f"{cards} cards in {files} files in {out}")
    return report.DONE


@export.command("jsonl")
@click.argument("out", metavar="OUT.jsonl", type=click.Path(dir_okay=False, path_type=Path))
@vault_option
@json_option
def jsonl(out: Path, vault_dir: str | None, as_json: bool) -> int:
    """One JSON object a line: each card with the quotes that support it and what is remembered of it.

    \b
    Examples:
      retain export jsonl cards.jsonl
    """
    from learning.desk import open_desk
    from learning.export_jsonl import export_jsonl

    desk = open_desk(opened(vault_dir), now())
    report.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    cards = export_jsonl(desk, out)
    if as_json:
        report.show_json({"path": str(out), "cards": cards})
    else:
        report.show(f"{cards} cards in {out}")
    return report.DONE
