"""The command group `log`: what was done, what was rejected, and how much of each source became claims; and the way
back where the review log has lost records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import now
from cli.maintenance.log_restore import accept, restore
from cli.options import opened, progress_option, vault_json_options
from compiler.build.compile import raw_path
from compiler.model.report import Rejection
from vault.log.entries import builds_in, entries_in
from vault.log.ledger import BUILDS, minute_of
from vault.text.formatting import plural
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.build.coverage import Coverage, Survey

SHOWN = 200  # lines of a list that a terminal is given


@click.group(invoke_without_command=True)
@click.option(
    "--rejected",
    is_flag=True,
    help="List rejected sentences and cards instead: the check that each failed, the reason and the engine.",
)
@click.option(
    "--coverage",
    is_flag=True,
    help="Instead, show how much of each source was turned into claims; sources not used in any article or card come "
    "first.",
)
@click.option("--source", "given", metavar="SOURCE", help="Only this file in raw/.")
@progress_option
@vault_json_options
@click.pass_context
def log(
    context: click.Context,
    rejected: bool,
    coverage: bool,
    given: str | None,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> None:
    """List compiles, saved questions, checks and your own notes, newest last.

    Use `restore` or `accept` if the review log has lost records.

    --rejected and --coverage check sources, ledgers and stored answers as a compile does, and write nothing: they show
    the current state of raw/.

    \b
    Examples:
      retain log
      retain log --rejected --source raw/papers/attention.pdf
      retain log --coverage --json
      retain log restore --dry-run
    """
    if context.invoked_subcommand is not None:
        return
    if rejected and coverage:
        raise click.UsageError("--rejected and --coverage are mutually exclusive")
    if given is not None and not (rejected or coverage):
        raise click.UsageError("--source can be used only with --rejected or --coverage")
    vault = opened(vault_dir)
    if not (rejected or coverage):
        _entries(vault, as_json)
        return
    path = _source(vault, given)
    found = _survey(vault, progress)
    if rejected:
        rejected_here = [r for r in found.rejections if path is None or path in (r.path, *r.sources)]
        _show_rejected(rejected_here, vault.settings.zone, as_json)
    else:
        _show_coverage([c for c in found.coverage if path is None or c.path == path], path is not None, as_json)


log.add_command(restore)
log.add_command(accept)


def _entries(vault: Vault, as_json: bool) -> None:
    """Print the entries of the log."""
    events, diagnostics = vault.ledger_events(BUILDS)
    output.found(diagnostics)
    entries = entries_in(events)
    if as_json:
        output.show_json({"builds": builds_in(events), "entries": [asdict(entry) for entry in entries]})
        return
    for entry in entries:
        output.show(f"{minute_of(entry.at, vault.settings.zone)}  {entry.kind}  {entry.title}")


def _source(vault: Vault, given: str | None) -> str | None:
    """Return the vault path of the source given, None if none was given."""
    return raw_path(vault, given, Path.cwd()) if given is not None else None


def _survey(vault: Vault, progress: str | None) -> Survey:
    from compiler.build.coverage import survey

    with output.Progress(progress) as narrator:
        return survey(vault, now(), narrator)


def _show_rejected(found: Sequence[Rejection], zone: tzinfo, as_json: bool) -> None:
    """Print rejected sentences and cards with gate, reason and engine."""
    if as_json:
        output.show_json({"rejected": [asdict(r) for r in found]})
        return
    lines = []
    for each in found:
        when = f", {minute_of(each.at, zone)}" if each.at else ""
        lines.append(f"{each.path}: {each.gate}: {each.reason}\n    {each.words}\n    by {each.said_by}{when}")
    output.show_first(lines, SHOWN)
    output.show(f"{len(found)} rejected" if found else "no rejections")


def _show_coverage(found: Sequence[Coverage], listed: bool, as_json: bool) -> None:
    """Print how much of each source became claims; with `listed` also the passages that did not."""
    if as_json:
        output.show_json({"sources": [c.as_json() for c in found]})
        return
    for each in sorted(found, key=lambda c: (c.used, c.share, c.path)):
        used, unused = each.passages["claimed"], each.passages["passed_over"]
        rest = [f"{n} {kind}" for kind, n in each.passages.items() if n and kind not in ("claimed", "passed_over")]
        claims, passages = plural(each.claims, "claim"), plural(used + unused, "passage")
        how = f"{claims} from {used} of {passages} ({each.share:.0%})" if used + unused else "no sentences to quote"
        output.show(f"{each.path}: {how}" + ("" if each.used else ": not used in any article or card"))
        if rest:
            output.show(f"    besides: {', '.join(rest)}")
        if listed:
            lines = [
                f"skipped: “{one.words}” ({', '.join(filter(None, (one.heading, one.place)))})"
                + (f": {one.why}" if one.why else "")
                for one in each.passed_over
            ]
            output.show_first(lines, SHOWN, indent="    ")
