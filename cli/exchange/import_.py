"""The command group `import`: anki, cards, undo."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import now
from cli.exchange.import_cards import cards, undo
from cli.options import dry_run_option, opened_to_write, option_for, progress_option, vault_json_options
from vault.text.formatting import clean_line, plural

if TYPE_CHECKING:
    from learning.anki.import_package import ImportReport
    from learning.anki.presets import Preset

_BIG = 50_000  # reviews: from here on, progress is reported
_SHOWN = 40  # of what is reported; --json has all


@click.group("import")
def import_() -> None:
    """Import cards and reviews from other programs.

    \b
    Examples:
      retain import anki ~/Downloads/phone.apkg
      retain import anki ~/Downloads/collection.colpkg --dry-run
      retain import cards ~/Notes
      retain import cards vocabulary.csv --dry-run
    """


@import_.command("anki")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--deck", metavar="NAME", default="", help="Import only this deck and its subdecks.")
@click.option("--without-history", is_flag=True, help="Do not import reviews, for example from a shared deck.")
@click.option("--restore", is_flag=True, help="Restore imported cards that were deleted here.")
@click.option("--preset", metavar="NAME", help="Adopt the FSRS parameters and retention of this preset.")
@dry_run_option
@progress_option
@vault_json_options
def anki(
    file: Path,
    deck: str,
    without_history: bool,
    restore: bool,
    preset: str | None,
    dry_run: bool,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Import cards and reviews from an .apkg or .colpkg file.

    Reviews of cards exported from this vault are added to the review log; other notes become cards.

    Exported cards are recognized by their ids; each review is imported only once, regardless of the order of imports.
    Cards are suspended or unsuspended as in the newest package. FSRS parameters and desired retention of a preset are
    only named, unless --preset adopts them. Other notes are written to learning/flashcards/, their
    pictures and sounds to learning/media/. Cards that you edited in the vault keep your text. To undo an import, go
    back to the previous commit in git. docs/anki.md explains this, and what is not imported.

    The exit code is 1 if there are cards that cannot be imported: these are listed, all others are imported.

    \b
    Examples:
      retain import anki ~/Downloads/phone.apkg
      retain import anki shared.apkg --deck Biology --without-history
      retain import anki ~/Downloads/collection.colpkg --dry-run --json
    """
    from learning.anki.import_package import import_package
    from learning.anki.package_reader import open_package

    vault = opened_to_write(vault_dir, dry_run=dry_run)
    narrator = output.Progress(progress)
    if narrator.jsonl:
        narrator({"event": "source", "done": 0, "of": 1, "path": file.name})
    with open_package(file) as package:
        if narrator.jsonl:
            narrator({"event": "source", "done": 1, "of": 1, "path": file.name})
        done = import_package(
            vault,
            package,
            now(),
            deck=deck,
            history=not without_history,
            restore=restore,
            preset=preset,
            dry_run=dry_run,
            progress=_progress_callback(narrator, package.reviews),
        )
    again = ["retain", "import", "anki", str(file), *(["--deck", deck] if deck else [])]
    again += [*(["--without-history"] if without_history else []), *(["--restore"] if restore else [])]
    again += option_for(vault.root)
    presets = [(each, shlex.join([*again, "--preset", each.name])) for each in done.presets]
    if as_json:
        with_commands = [{**asdict(each), "command": command} for each, command in presets]
        output.show_json({"path": str(file), **done.as_json(), "presets": with_commands})
    else:
        _show(done, presets)
    return output.FINDINGS if done.is_partial else output.DONE


def _progress_callback(narrator: output.Progress, reviews: int) -> Callable[[int, int], None] | None:
    """Return the callback for progress of the reviews: JSON for every step, messages if there are many, or None."""
    if narrator.jsonl:
        return lambda done, of: narrator({"event": "reviews", "done": done, "of": of})
    return _progress if reviews >= _BIG and not narrator.none else None


def _progress(done: int, of: int) -> None:
    output.say(f"{done:,} of {of:,} reviews imported")


def _show(done: ImportReport, presets: list[tuple[Preset, str]]) -> None:
    """Print what was imported."""
    cards, reviews, media = done.cards, done.reviews, done.media
    would = "would be " if done.dry_run else ""
    output.show(
        f"reviews: {reviews['added']} {would}added, {reviews['known']} already imported, {reviews['left_out']} skipped"
        + "".join(f"\n  {count} skipped: {reason}" for reason, count in done.left_out.items())
        + (f"\ncards exported from this vault: {done.notes['ours']}" if done.notes["ours"] else "")
        + f"\ncards{' from elsewhere' if done.notes['ours'] else ''}: {cards['created']} {would}created, "
        f"{cards['updated']} {would}updated, {cards['kept']} unchanged, {cards['skipped']} skipped"
    )
    if any(done.marks.values()):
        counts = ", ".join(f"{count} {would}{name}" for name, count in done.marks.items() if count)
        output.show(f"to match Anki: {counts}")
    if any(media.values()):
        output.show(f"media: {media['added']} {would}added, {media['kept']} unchanged, {media['left_out']} skipped")
    for name, note_type in sorted(done.note_types.items()):
        for each in note_type["reported"]:
            output.show(f"note type {name} not imported ({plural(each['cards'], 'card')}): {each['reason']}")
        for each in note_type["without"]:
            output.show(f"note type {name} imported ({plural(each['cards'], 'card')}) without {each['reason']}")
    for preset, command in presets:
        output.show(_preset_text(preset, command, would))
    for found in done.reported[:_SHOWN]:
        place = f"{found.path}:{found.line}: " if found.path else ""
        output.show("  " + place + " ".join(filter(None, (found.id, found.reason))))
    if len(done.reported) > _SHOWN:
        output.show(f"  and {len(done.reported) - _SHOWN} more (--json lists all)")
    if done.dry_run:
        output.show("nothing changed")


def _preset_text(preset: Preset, command: str, would: str) -> str:
    """Return what a preset in the package holds, and how to adopt it."""
    retention = "" if preset.retention is None else f" and desired retention {preset.retention:g}"
    what = f"preset {preset.name} ({plural(preset.cards, 'card')}): FSRS parameters{retention}"
    match preset.state:
        case "offered":
            return f"{what}, not adopted; to adopt them:\n  {clean_line(command)}"
        case "adopted":
            undo = "`retain optimize --undo` restores the parameters; the retention is in retain.toml"
            return f"{what} {would}adopted; {undo}"
        case "in use":
            return f"{what}, which this vault uses already"
    return f"preset {preset.name} ({plural(preset.cards, 'card')}) cannot be adopted: {preset.problem}"


import_.add_command(cards)
import_.add_command(undo)
