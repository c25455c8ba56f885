"""Commands that build: compile and rebuild."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, settle_left_over, vault_option
from cli.review_pages import render_if_stale

if TYPE_CHECKING:
    from compiler.model.report import Report
    from vault.vault import Vault

SHOWN = 20
ENGINES = ("extractive", "claude", "agent", "journal")
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
    "--engine",
    metavar="|".join(ENGINES),
    help="Who reads and writes: extractive is built in and offline, claude a model (see docs/model.md), agent a coding "
    "agent, journal nobody: what was answered before. Without it: your settings, else as this vault was compiled last.",
)
@click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="USD", help="Never spend more than this.")
@click.option("--batch", is_flag=True, help="Ask the model by batches: half the price, and up to a day.")
@click.option("--renew", is_flag=True, help="Ask again what was answered to an older prompt.")
@click.option("--dry-run", is_flag=True, help="Say what would change; write nothing.")
@_wait_option
@click.option("--progress", type=click.Choice(["jsonl", "none"]), help="Progress as JSON lines on stderr, or none.")
@vault_option
@json_option
def compile_(
    sources: tuple[str, ...],
    engine: str | None,
    budget: float | None,
    batch: bool,
    renew: bool,
    dry_run: bool,
    wait_s: float,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Bring the wiki, the cards and the reading agenda up to date with raw/.

    Only what changed is done again. Without SOURCE, all of raw/ is looked at. What a model answered is kept in the
    vault: nothing is asked twice, nor paid twice.

    \b
    Examples:
      retain compile
      retain compile --dry-run
      retain compile raw/papers/attention.pdf --json
      retain compile --engine claude --dry-run
      retain compile --engine claude --budget 2
    """
    from cli.commands.engine_choice import backend_of, engine_of, paid_words
    from compiler.build.compile import Options, compile_vault, raw_path
    from compiler.build.snapshot import look

    vault = opened(vault_dir)
    if not dry_run:
        settle_left_over(vault)
    only = tuple(raw_path(vault, s, Path.cwd()) for s in sources)
    engine = engine_of(vault, engine)
    narrator = output.Progress(progress)
    try:
        seen = look(vault.root)  # once for all: with nothing to do, looking is most of the work
        options = Options(engine, only, dry_run, wait_s=wait_s, renew=renew)
        asking = backend_of(vault, engine, seen, narrator, budget=budget, batch=batch, renew=renew)
        with asking as backend:
            done = compile_vault(vault, options, now(), narrator, seen, None if dry_run else backend)
        told = paid_words(backend)
    finally:
        narrator.done()
    if told:
        output.say(f"paid: {told}")
    if not dry_run:
        render_if_stale(vault, seen.stamps if done.nothing_new else None)
        _count_learners(vault, done)
    _show(vault, done, as_json, dry_run, batch=batch if engine == "claude" else None)
    if done.failures:
        return output.FINDINGS
    return output.DONE


@click.command()
@_wait_option
@click.option("--progress", type=click.Choice(["jsonl", "none"]), help="Progress as JSON lines on stderr, or none.")
@vault_option
@json_option
def rebuild(wait_s: float, progress: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Make every product anew from raw/, the ledgers and the review log, using no cache and asking nobody.

    The same bytes come out; what you edited by hand stays.
    """
    from cli.commands.engine_choice import engine_of_last
    from compiler.build.compile import Options, compile_vault

    vault = opened(vault_dir)
    settle_left_over(vault)
    narrator = output.Progress(progress)
    try:
        done = compile_vault(
            vault, Options(engine_of_last(vault), fresh=True, command="rebuild", wait_s=wait_s), now(), narrator
        )
    finally:
        narrator.done()
    render_if_stale(vault)
    _count_learners(vault, done)
    _show(vault, done, as_json, dry_run=False)
    if done.failures:
        return output.FINDINGS
    return output.DONE


def _count_learners(vault: Vault, done: Report) -> None:
    """What is forgotten comes of the review log: it stands in the agenda once the pages are rendered."""
    from vault.layout import GAPS
    from vault.model.gaps import counts

    if not done.nothing_new:
        done.gaps["learner"] = counts((vault.read_bytes(GAPS) or b"").decode("utf-8", "replace"))["learner"]


def _estimated(done: Report, batch: bool | None) -> dict[str, Any]:
    if batch is None or not done.open:
        return {}
    from cli.commands.costs import estimate_json

    return estimate_json(done.open, batch)


def _show_open(done: Report, estimate: dict[str, Any]) -> None:
    """What a dry run found that would be asked."""
    if not done.open:
        return
    counts = Counter(request.type for request in done.open)
    output.show("would ask " + ", ".join(f"{n} {type_}" for type_, n in sorted(counts.items())))
    for request in done.open[:SHOWN]:
        output.show(f"  {request.type}: {request.title}")
    if len(done.open) > SHOWN:
        output.show(f"  and {len(done.open) - SHOWN} more")
    if estimate:
        from cli.commands.costs import show_estimate

        show_estimate(estimate)


def _show(vault: Vault, done: Report, as_json: bool, dry_run: bool, batch: bool | None = None) -> None:
    """`batch` is None where no model would be asked."""
    from vault.inbox.listing import waiting

    inbox, odd = waiting(vault)
    output.found(odd)
    estimate = _estimated(done, batch)
    if as_json:
        output.show_json({**done.as_json(), "inbox": inbox, **({"estimate": estimate} if estimate else {})})
        return
    for noun, verbs in done.counts().items():
        output.show(f"{noun:9}" + ", ".join(f"{n} {verb}" for verb, n in verbs.items()))
    if done.agent["pages"]:
        output.show(f"agents   {output.number(done.agent['pages'], 'page')}")
    output.show("gaps     " + ", ".join(f"{n} {kind}" for kind, n in done.gaps.items()))
    if inbox:
        output.show(f"inbox    {inbox} for you to settle: `retain inbox`")
    _show_open(done, estimate)
    if done.blast is not None and done.written:
        from cli.commands.preview import blast_lines

        output.show("\n".join(blast_lines(done.blast)))
    if dry_run:
        output.show(
            "\n".join(["would write:", *(f"  {p}" for p in done.written)]) if done.written else "nothing would change"
        )
    elif done.nothing_new:
        output.show("nothing changed, nothing written")
    if done.failures:
        output.say(f"could not be read ({len(done.failures)}):")
        output.found(done.failures)
    if done.notices:
        output.say(f"noticed ({len(done.notices)}):")
        output.found(done.notices[:SHOWN])
        if len(done.notices) > SHOWN:
            output.say(f"  and {len(done.notices) - SHOWN} more (--json lists all)")
