"""The commands `import cards` and `import undo`: cards from other programs than Anki."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import now
from cli.options import dry_run_option, opened_to_write, progress_option, vault_json_options
from cli.workspace import render_saved
from vault.text.formatting import plural

if TYPE_CHECKING:
    from learning.imports.importing import CardsReport

_FORMATS = ("csv", "hashcards", "jsonl", "mnemosyne", "mochi", "obsidian-sr", "remnote", "repeater")
_SHOWN = 20  # of what is reported; --json has all


@click.command("cards")
@click.argument("source", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    help="The program that the files come from (default: detected from their content).",
)
@click.option(
    "--columns", metavar="A,B,...", default="", help="The content of each column of a table; - skips a column."
)
@click.option("--deck", metavar="NAME", default="", help="Put all cards into this deck.")
@click.option(
    "--database",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The database of the decks: hashcards.db or cards.db.",
)
@click.option(
    "--separators",
    metavar="'::,:::,?,??'",
    default="",
    help="The four card separators set in the Spaced Repetition plugin.",
)
@click.option(
    "--notes", is_flag=True, help="Make cards from notes that the Spaced Repetition plugin schedules as a whole."
)
@click.option(
    "--without-history", is_flag=True, help="Do not import schedules and reviews, for example from a shared deck."
)
@click.option("--restore", is_flag=True, help="Restore imported cards that were deleted here.")
@dry_run_option
@progress_option
@vault_json_options
def cards(
    source: Path,
    format_: str | None,
    columns: str,
    deck: str,
    database: Path | None,
    separators: str,
    notes: bool,
    without_history: bool,
    restore: bool,
    dry_run: bool,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Import cards with tags and schedules: notes for Obsidian's Spaced Repetition plugin, hashcards and repeater
    decks, tables (CSV, TSV), exports from Mochi, Mnemosyne and RemNote, and files from `retain export jsonl`.

    The cards are added to decks in learning/flashcards/ and keep their due dates. A card that cannot be read is
    reported with its line number and skipped, and the exit code is 1. Importing again changes nothing; cards that you
    edited keep your text.
    `retain import undo` undoes the last import. docs/formats-exchange.md describes what is imported from each format.

    Columns are front, back, tags, deck, due, interval, ease, stability, difficulty, reps, lapses, id.

    \b
    Examples:
      retain import cards ~/Notes --dry-run
      retain import cards vocabulary.csv --columns front,back,-,tags
      retain import cards ~/decks --format repeater --database ~/.local/share/repeater/cards.db
    """
    from learning.imports.importing import ImportOptions, import_cards

    vault = opened_to_write(vault_dir, dry_run=dry_run)
    options = ImportOptions(
        format_ or "",
        tuple(columns.split(",")) if columns else (),
        deck,
        database,
        history=not without_history,
        restore=restore,
        separators=tuple(separators.split(",")) if separators else (),
        notes=notes,
        dry_run=dry_run,
    )
    with output.Progress(progress) as narrator:
        narrator({"event": "source", "done": 0, "of": 1, "path": source.name})
        done = import_cards(vault, source, now(), options)
        narrator({"event": "source", "done": 1, "of": 1, "path": source.name})
    if not dry_run:
        render_saved(vault)
    if as_json:
        output.show_json({"path": str(source), **done.as_json()})
    else:
        _show(done)
    return output.FINDINGS if done.problems else output.DONE


def _show(done: CardsReport) -> None:
    """Print what was imported."""
    would, made = ("would be ", done.cards) if done.dry_run else ("", done.cards)
    output.show(f"format: {done.format} ({done.reason})")
    for name, part, example in done.columns:
        output.show(f"  column {name}: {'skipped' if part == '-' else part}, such as {example!r}")
    output.show(
        f"cards: {made['created']:,} {would}created, {made['updated']:,} {would}updated, {made['kept']:,} kept, "
        f"{made['skipped']:,} skipped"
    )
    for name, count in list(done.decks.items())[:_SHOWN]:
        output.show(f"  {plural(count, 'card')} in the deck {name}")
    if len(done.decks) > _SHOWN:
        output.show(f"  and {len(done.decks) - _SHOWN} more decks")
    _show_log(done, would)
    if any(done.media.values()):
        media = done.media
        output.show(f"media: {media['added']} {would}added, {media['kept']} kept, {media['left_out']} left out")
    for card in done.examples if done.dry_run else ():
        more = ", ".join(filter(None, (card["deck"], card["tags"], card["due"] and f"due {card['due']}")))
        output.show(f"  {card['question']}  →  {card['answer'] or '(cloze)'}  [{more}]")
    for problem in done.problems[:_SHOWN]:
        output.show(
            f"  {problem.path}:{problem.line}: {problem.message}" + (f"; {problem.hint}" if problem.hint else "")
        )
    for remark in done.remarks[:_SHOWN]:
        output.show(f"  {remark}")
    left = max(0, len(done.problems) - _SHOWN) + max(0, len(done.remarks) - _SHOWN)
    if left:
        output.show(f"  and {left} more (--json lists all)")
    if done.dry_run:
        output.show("nothing changed")
    elif done.cards["created"]:
        output.show("`retain import undo` undoes this")


def _show_log(done: CardsReport, would: str) -> None:
    """Print what the log got."""
    log = done.log
    if log.schedules or log.known_schedules:
        output.show(f"schedules: {log.schedules:,} {would}imported, {log.known_schedules:,} already imported")
    if log.reviews or log.known_reviews or log.undated:
        late = f", {log.undated:,} skipped (dated before 1970 or in the future)" if log.undated else ""
        output.show(f"reviews: {log.reviews:,} {would}added, {log.known_reviews:,} already imported{late}")
    if log.tags or log.suspended:
        output.show(f"tagged: {log.tags:,}, suspended: {log.suspended:,}")


@click.command("undo")
@dry_run_option
@vault_json_options
def undo(dry_run: bool, vault_dir: str | None, as_json: bool) -> int:
    """Undo the last `import cards`: remove its cards, with the schedules, reviews and tags imported with them.

    Cards that you have reviewed or edited since then are kept. `retain card delete CARD --restore` restores a removed
    card.

    \b
    Examples:
      retain import undo
      retain import undo --dry-run
    """
    from learning.imports.undoing import undo_import

    vault = opened_to_write(vault_dir, dry_run=dry_run)
    done = undo_import(vault, now(), dry_run=dry_run)
    if not dry_run:
        render_saved(vault)
    if as_json:
        output.show_json({"deleted": done.deleted, "kept": done.kept, "voided": done.voided, "dry_run": dry_run})
        return output.DONE
    would = "would be " if dry_run else ""
    output.show(f"{plural(len(done.deleted), 'card')} {would}deleted, {plural(done.voided, 'event')} {would}voided")
    if done.kept:
        output.show(f"{plural(len(done.kept), 'card')} kept because you have reviewed or edited them since the import")
    if not dry_run and done.deleted:
        output.show("to import these again, give --restore")
    return output.DONE
