"""The command `log`: what was built and when, what was refused and why, what of each source became claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, vault_option
from compiler.build.compile import raw_path
from compiler.model.report import Rejection
from vault.log.ledger import BUILDS, ordered
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.build.coverage import Coverage, Survey

SHOWN = 200  # lines of a list that a terminal is given


@click.command()
@click.option("--rejected", is_flag=True, help="List rejected claims instead: gate, reason and engine.")
@click.option("--coverage", is_flag=True, help="Show instead how much of each source became claims.")
@click.option("--source", "given", metavar="SOURCE", help="Only this file in raw/.")
@click.option(
    "--progress", type=click.Choice(["jsonl", "none"]), help="Print progress as JSON lines on stderr, or not at all."
)
@vault_option
@json_option
def log(
    rejected: bool, coverage: bool, given: str | None, progress: str | None, vault_dir: str | None, as_json: bool
) -> None:
    """List builds, newest last.

    --rejected and --coverage check sources, ledgers and replies as a compile does, and write nothing: they show raw/ as
    it is now.

    \b
    Examples:
      retain log
      retain log --rejected --source raw/papers/attention.pdf
      retain log --coverage --json
    """
    if rejected and coverage:
        raise click.UsageError("--rejected and --coverage are mutually exclusive")
    if given is not None and not (rejected or coverage):
        raise click.UsageError("--source goes with --rejected or --coverage")
    vault = opened(vault_dir)
    if not (rejected or coverage):
        _builds(vault, as_json)
        return
    path = _source(vault, given)
    found = _survey(vault, progress)
    if rejected:
        _show_rejected([r for r in found.rejections if path is None or path in (r.path, *r.sources)], as_json)
    else:
        _show_coverage([c for c in found.coverage if path is None or c.path == path], path is not None, as_json)


def _builds(vault: Vault, as_json: bool) -> None:

    events, diagnostics = vault.ledger_events(BUILDS)
    output.found(diagnostics)
    if as_json:
        output.show_json({"builds": ordered(events)})
        return
    for event in ordered(events):
        output.show(f"{event.get('at')}  {event.get('command')}  {event.get('words')}")


def _source(vault: Vault, given: str | None) -> str | None:

    return raw_path(vault, given, Path.cwd()) if given is not None else None


def _survey(vault: Vault, progress: str | None) -> Survey:
    from compiler.build.coverage import survey

    narrator = output.Progress(progress)
    try:
        return survey(vault, now(), narrator)
    finally:
        narrator.done()


def _show_rejected(found: Sequence[Rejection], as_json: bool) -> None:
    if as_json:
        output.show_json({"rejected": [asdict(r) for r in found]})
        return
    for each in found[:SHOWN]:
        output.show(f"{each.path}: {each.gate}: {each.reason}")
        output.show(f"    {each.words}")
        output.show(f"    by {each.said_by}" + (f", {each.at}" if each.at else ""))
    _more(len(found), "no rejections" if not found else f"{len(found)} rejected")


def _show_coverage(found: Sequence[Coverage], listed: bool, as_json: bool) -> None:
    if as_json:
        output.show_json({"sources": [c.as_json() for c in found]})
        return
    for each in sorted(found, key=lambda c: (c.share, c.path)):
        told, over = each.passages["claimed"], each.passages["passed_over"]
        rest = [f"{n} {kind}" for kind, n in each.passages.items() if n and kind not in ("claimed", "passed_over")]
        output.show(f"{each.path}: {each.claims} claims from {told} of {told + over} passages ({each.share:.0%})")
        if rest:
            output.show(f"    besides: {', '.join(rest)}")
        for one in each.passed_over[: SHOWN if listed else 0]:
            place = ", ".join(filter(None, (one.heading, one.place)))
            output.show(f"    passed over: “{one.words}” ({place})")
    _more(max((len(c.passed_over) for c in found), default=0) if listed else 0, "")


def _more(count: int, words: str, show: Callable[[str], None] = output.show) -> None:
    if count > SHOWN:
        show(f"and {count - SHOWN} more (--json lists all)")
    if words:
        show(words)
