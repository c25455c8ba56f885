"""The command `export train`: data to train a language model on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import output
from cli.options import FiniteRange, progress_option, vault_json_options
from cli.workspace import opened_desk
from vault.errors import UsageError
from vault.text.formatting import clean_line, plural

if TYPE_CHECKING:
    from learning.training.export import Exported

_STDOUT = Path("-")
_share = FiniteRange(0, 0.5)


@click.command("train")
@click.argument("out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--format",
    "layout",
    type=click.Choice(["messages", "prompt", "sharegpt"]),
    default="messages",
    show_default=True,
    help="The format of each line.",
)
@click.option("--test-share", type=_share, default=0.1, show_default=True, help="Share of the records for testing.")
@click.option(
    "--validation-share", type=_share, default=0.0, show_default=True, help="Share of the records for validation."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for the random split.")
@progress_option
@vault_json_options
def train(
    out: Path,
    layout: str,
    test_share: float,
    validation_share: float,
    seed: int,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Export cards, articles and saved answers as training data for a language model.

    Only those with high or medium confidence and current claims are exported, split by concept. The format `messages`
    is read by TRL, Axolotl and Unsloth; `prompt` has a prompt and a completion, `sharegpt` has conversations. README.md
    in the folder is the data card: counts, licences of the sources, what was skipped, and a warning for small models.

    A later run updates the folder; a folder with other files is refused. Exits with code 1 if there is nothing to
    export.

    \b
    Examples:
      retain export train ~/data/know
      retain export train data --format sharegpt --test-share 0.2 --seed 7
      python -c 'from datasets import load_dataset; print(load_dataset("data"))'
    """
    from learning.training.data_card import Options
    from learning.training.export import export_train

    if out == _STDOUT:
        raise UsageError("a folder cannot be written to stdout", where="-", hint="give the name of a folder")
    desk = opened_desk(vault_dir, read_only=True)
    options = Options(layout, test_share, validation_share, seed)
    with output.Progress(progress) as narrator:

        def report(done: int, of: int, path: str) -> None:
            narrator({"event": "source", "done": done, "of": of, "path": path})

        done = export_train(desk, out, options, report)
    if as_json:
        output.show_json({"path": str(out), "changed": done.changed, **done.summary.as_json()})
    else:
        _show(out, done)
    return output.DONE


def _show(out: Path, done: Exported) -> None:
    """Print what an export holds and what it lacks."""
    summary = done.summary
    output.show(f"{plural(summary.records, 'record')} in {out}")
    for side, counts in summary.counts().items():
        parts = ", ".join(plural(count, kind) for kind, count in counts.items() if count)
        output.show(f"  {side}: {parts}")
    for kind, reasons in summary.left_out.items():
        said = ", ".join(f"{count:,} ({clean_line(reason)})" for reason, count in reasons.items())
        output.show(f"skipped {kind}: {said}")
    for warning in summary.warnings:
        output.say(f"retain: {warning}")
    output.show(
        "README.md in the folder has more details, including what to expect of models with fewer than 7 billion "
        "parameters"
    )
