"""Commands that write the cards for other programs: export anki, export csv."""

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
    """


@export.command("anki")
@click.argument("out", metavar="OUT.apkg", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--newer", is_flag=True, help="Let every note win over what Anki holds, even one exported later.")
@vault_option
@json_option
def anki(out: Path, newer: bool, vault_dir: str | None, as_json: bool) -> int:
    """A package for Anki: importing it again updates the notes and keeps their schedule.

    \b
    Examples:
      retain export anki ~/Desktop/retain.apkg
    """
    from learning.anki import export_anki
    from learning.desk import open_desk

    desk = open_desk(opened(vault_dir), now())
    report.found(d for d in desk.diagnostics if d not in desk.vault.notices)
    notes = export_anki(desk, out, fresh=newer)
    if as_json:
        report.show_json({"path": str(out), "notes": notes})
    else:
        report.show(f"{notes} notes in {out}; in Anki: File, Import")
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
