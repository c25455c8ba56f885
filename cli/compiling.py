"""Commands that build: compile and rebuild."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import report
from cli.opening import json_option, now, opened, settle_left_over, vault_option
from cli.review_page import render_if_stale

if TYPE_CHECKING:
    from compiler.report import Report
    from vault.store import Vault

SHOWN = 20
_wait_option = click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(0, 86_400),
    default=300,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for another compile to end.",
)


@click.command("compile")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option(
    "--engine", default="extractive", show_default=True, help="Who reads: extractive is built in and offline."
)
@click.option("--dry-run", is_flag=True, help="Say what would change; write nothing.")
@_wait_option
@click.option("--progress", type=click.Choice(["jsonl", "none"]), help="Progress as JSON lines on stderr, or none.")
@vault_option
@json_option
def compile_(
    sources: tuple[str, ...],
    engine: str,
    dry_run: bool,
    wait_s: float,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Bring the wiki, the cards and the reading agenda up to date with raw/.

    Only what changed is done again. Without SOURCE, all of raw/ is looked at.

    \b
    Examples:
      retain compile
      retain compile --dry-run
      retain compile raw/papers/attention.pdf --json
    """
    from compiler.build import Options, compile_vault, raw_path
    from compiler.snapshot import look

    vault = opened(vault_dir)
    if not dry_run:
        settle_left_over(vault)
    only = tuple(raw_path(vault, s, Path.cwd()) for s in sources)
    narrator = report.Progress(progress)
    try:
        seen = look(vault.root)  # once for all: with nothing to do, looking is most of the work
        done = compile_vault(vault, Options(engine, only, dry_run, wait_s=wait_s), now(), narrator, seen)
    finally:
        narrator.done()
    if not dry_run:
        render_if_stale(vault, seen.stamps if done.nothing_new else None)
        _count_learners(vault, done)
    _show(vault, done, as_json, dry_run)
    if done.failures:
        return report.FINDINGS
    return report.DONE


@click.command()
@_wait_option
@click.option("--progress", type=click.Choice(["jsonl", "none"]), help="Progress as JSON lines on stderr, or none.")
@vault_option
@json_option
def rebuild(wait_s: float, progress: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Make every product anew from raw/, the ledgers and the review log, using no cache.

    The same bytes come out; what you edited by hand stays.
    """
    from compiler.build import Options, compile_vault

    vault = opened(vault_dir)
    settle_left_over(vault)
    narrator = report.Progress(progress)
    try:
        done = compile_vault(vault, Options(fresh=True, command="rebuild", wait_s=wait_s), now(), narrator)
    finally:
        narrator.done()
    render_if_stale(vault)
    _count_learners(vault, done)
    _show(vault, done, as_json, dry_run=False)
    if done.failures:
        return report.FINDINGS
    return report.DONE


def _count_learners(vault: Vault, done: Report) -> None:
    """What is forgotten comes of the review log: it stands in the agenda once the pages are rendered."""
    from vault.agenda import counts
    from vault.store import GAPS

    if not done.nothing_new:
        done.gaps["learner"] = counts((vault.read_bytes(GAPS) or b"").decode("utf-8", "replace"))["learner"]


def _show(vault: Vault, done: Report, as_json: bool, dry_run: bool) -> None:
    from compiler.inbox import waiting

    inbox, odd = waiting(vault)
    report.found(odd)
    if as_json:
        report.show_json({**done.as_json(), "inbox": inbox})
        return
    for noun, verbs in done.counts().items():
        report.show(f"{noun:9}" + ", ".join(f"{n} {verb}" for verb, n in verbs.items()))
    if any(done.agent.values()):
        report.show("agents   " + ", ".join(f"{n} {noun}" for noun, n in done.agent.items()))
    report.show("gaps     " + ", ".join(f"{n} {kind}" for kind, n in done.gaps.items()))
    if inbox:
        report.show(f"inbox    {inbox} for you to settle: `retain inbox`")
    if dry_run:
        report.show(
            "\n".join(["would write:", *(f"  {p}" for p in done.written)]) if done.written else "nothing would change"
        )
    elif done.nothing_new:
        report.show("nothing changed, nothing written")
    if done.failures:
        report.say(f"could not be read ({len(done.failures)}):")
        report.found(done.failures)
    if done.notices:
        report.say(f"noticed ({len(done.notices)}):")
        report.found(done.notices[:SHOWN])
        if len(done.notices) > SHOWN:
            report.say(f"  and {len(done.notices) - SHOWN} more (--json lists all)")
