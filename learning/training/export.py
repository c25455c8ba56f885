"""Export of a folder that `datasets.load_dataset` reads: a file of JSON lines for each split, and the data card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from learning.cards.workspace import Desk
from learning.training.collect import Collected, Progress, collect
from learning.training.data_card import Options, Summary, render_card
from learning.training.layout import render_lines
from learning.training.record import Record
from learning.training.sources import NOT_STATED
from learning.training.split import SPLITS, TEST, VALIDATION, Split, split_records
from vault.errors import RetainError
from vault.files.exports import export_folder, foreign_files, refusal_of_files
from vault.text.formatting import plural

KIND = "train"
CARD = "README.md"
_SHOWN = 3  # reasons


class NothingToExport(RetainError):
    """No card, article or answer of the vault may be trained on."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote, and how many of its files changed."""

    summary: Summary
    changed: int


def export_train(desk: Desk, out: Path, options: Options, progress: Progress = lambda done, of, path: None) -> Exported:
    """Write the records of a vault into the folder `out`.

    Raises: NothingToExport if there is no record; Refused for a folder with other files, and as `export_folder` does.
    """
    check_folder(out)
    summary = summarize(collect(desk, progress), options, desk.vault.settings.name)
    files = render_files(summary)
    return Exported(summary, export_folder(out, files, kind=KIND, forbidden=desk.vault.kept_out()))


def check_folder(out: Path) -> None:
    """Raise Refused if `out` is a folder with a file that no export for training wrote: it would be trained on, too."""
    if foreign := foreign_files(out, kind=KIND):
        raise refusal_of_files(out, foreign)


def summarize(collected: Collected, options: Options, vault_name: str) -> Summary:
    """Return what an export holds. Raises: NothingToExport if that is nothing."""
    records = collected.records
    if not records:
        raise NothingToExport("nothing to export for training", hint=_why_nothing(collected))
    shares = {TEST: options.test_share, VALIDATION: options.validation_share}
    split = split_records(records, collected.ids, shares, options.seed)
    return Summary(
        vault_name,
        options,
        {side: tuple(r for r, its in zip(records, split.sides, strict=True) if its == side) for side in SPLITS},
        collected.left_out.as_json(),
        split,
        _licenses(records, collected),
        _warnings(records, split, options),
    )


def _why_nothing(collected: Collected) -> str:
    """Return the commonest reasons for which everything is left out."""
    reasons = Counter[str]()
    for kind, counts in collected.left_out.counts.items():
        for reason, count in counts.items():
            reasons[f"{plural(count, kind)}: {reason}"] += count
    if not reasons:
        return "the vault has no articles or cards yet: `retain compile` writes them"
    shown = [reason for reason, _ in sorted(reasons.items(), key=lambda each: (-each[1], each[0]))[:_SHOWN]]
    return "left out: " + "; ".join(shown)


def _licenses(records: list[Record], collected: Collected) -> tuple[tuple[str, str, int], ...]:
    """Return (title, licence, records) of each source that is cited, by title."""
    counts = Counter(source for record in records for source in collected.sources.of(record.claims))
    return tuple(
        (s.title, s.license, n) for s, n in sorted(counts.items(), key=lambda each: (each[0].title, each[0].path))
    )


def _warnings(records: list[Record], split: Split, options: Options) -> tuple[str, ...]:
    """Return what to know before use, each a sentence."""
    found = []
    silent = {name for record in records for name in record.licenses if name == NOT_STATED}
    if silent:
        found.append(
            "some sources state no licence: check that you may publish their text before you publish this data"
        )
    if options.test_share and TEST not in split.sides:
        found.append("there is no test split: all records are connected by shared claims")
    if split.oversized:
        largest = len(split.oversized[0].rows)
        found.append(
            f"{plural(len(split.oversized), 'group')} of concepts that share claims (the largest has "
            f"{plural(largest, 'record')}) are too large for a split and were placed in train"
        )
    return tuple(found)


def render_files(summary: Summary) -> dict[str, bytes]:
    """Return by name the files of an export; a split without records has none."""
    files: Mapping[str, bytes] = {
        f"{side}.jsonl": render_lines(records, summary.options.layout)
        for side, records in summary.splits.items()
        if records
    }
    return {**files, CARD: render_card(summary).encode()}
