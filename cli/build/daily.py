"""The command `daily`: compile what is new, look for faults in what changed, and show what today needs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import click

from cli import output
from cli.engines.choice import ASKING, engine_of
from cli.environment import now
from cli.options import opened_to_write, progress_option, vault_json_options
from cli.wiki.lint import changed_since
from cli.wiki_check import wiki_to_check
from cli.workspace import render_if_stale
from compiler.build.compile import Options, compile_vault
from compiler.build.snapshot import look
from compiler.model.report import Report
from compiler.sources.freshness import LATE, LateSource, late_sources
from vault.diagnostic import Diagnostic
from vault.errors import LockHeld, ModelUnavailable
from vault.inbox.listing import waiting
from vault.inbox.suggestions import offered
from vault.layout import GAPS
from vault.model.gaps import Gap, parse_agenda
from vault.text.formatting import plural
from vault.vault import Vault

SHOWN = 5  # of each list on the screen; --json has all


@click.command()
@progress_option
@vault_json_options
def daily(progress: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Compile new files, check the logs and recent changes, and show what matters today on one screen.

    Run it by hand or from a timer (docs/daily.md): a second run on the same day repeats nothing. No model is called; if
    a model compiles this vault, only its stored answers are used. Exits with code 1 if a source failed or a check found
    problems.

    \b
    Examples:
      retain daily
      retain daily --json
    """
    vault = opened_to_write(vault_dir)
    at = now()
    with output.Progress(progress) as narrator:
        done, why_not = _compiled(vault, at, narrator)
    render_if_stale(vault)
    found = _linted(vault, at, narrator)
    facts = _facts(vault, at)
    gaps = [gap for gap in parse_agenda((vault.read_bytes(GAPS) or b"").decode("utf-8", "replace")) if gap.open]
    late = late_sources(vault, at)
    if as_json:
        compiled = None if done is None else done.as_json()
        listed = [{"id": gap.id, "kind": gap.kind, "what": gap.what} for gap in gaps]
        lint = [each.as_json() for each in found]
        rest = {"late": [each.as_json() for each in late], "gaps": listed, "lint": lint}
        output.show_json({"compile": compiled, "not_compiled": why_not or None, **facts, **rest})
    else:
        _show(done, why_not, facts, gaps, late, found)
    return output.FINDINGS if found or late or (done is not None and done.failures) else output.DONE


def _compiled(vault: Vault, at: datetime, narrator: output.Progress) -> tuple[Report | None, str]:
    """Return the report of a compile; or None and why there is none: another one runs, or a model has to be asked."""
    engine = engine_of(vault, None)
    options = Options("journal" if engine in ASKING else engine)
    try:
        return compile_vault(vault, options, at, narrator, look(vault.root, vault.notes)), ""
    except (LockHeld, ModelUnavailable) as reason:
        return None, f"{reason.what}: {reason.hint}" if reason.hint else reason.what


def _linted(vault: Vault, at: datetime, narrator: output.Progress) -> list[Diagnostic]:
    """Return what is wrong with logs, and with files that changed since yesterday; agenda and late sources are shown by
    themselves.

    What asks for something to read is noted in the agenda, of all files.
    """
    from compiler.lint.agenda import note_gaps
    from compiler.lint.logs import CODES
    from compiler.lint.rules import lint

    wiki = wiki_to_check(vault, at)
    found = lint(wiki)
    with suppress(LockHeld):  # then the next run notes it
        if note_gaps(wiki, found, at):
            _compiled(vault, at, narrator)  # which writes the agenda and the reading list
    yesterday = wiki.today - timedelta(days=1)
    shown = (each for each in found if each.path != GAPS and each.code != LATE)
    return [each for each in shown if each.code in CODES or changed_since(vault, each.path, yesterday)]


def _facts(vault: Vault, at: datetime) -> dict[str, Any]:
    """Return what waits for the user."""
    from learning.cards.workspace import open_desk

    desk = open_desk(vault, at)
    return {"today": desk.today, "inbox": waiting(vault)[0], "suggested": len(offered(vault).suggestions)}


def _show(
    done: Report | None,
    why_not: str,
    facts: dict[str, Any],
    gaps: Sequence[Gap],
    late: Sequence[LateSource],
    found: Sequence[Diagnostic],
) -> None:
    """Print one screen."""
    today = facts["today"]
    output.show(f"Today: {today['due']} due, {today['new']} new, about {today['minutes']} min: `retain review`")
    output.show(f"Compile: {_compile_words(done, why_not)}")
    if facts["inbox"] or facts["suggested"]:
        inbox = f"{facts['inbox']} in `retain inbox`" if facts["inbox"] else ""
        cards = f"{plural(facts['suggested'], 'suggested card')} in `retain card suggest`" if facts["suggested"] else ""
        output.show(f"Needs your decision: {', '.join(filter(None, (inbox, cards)))}")
    if gaps:
        output.show(f"Read next: {plural(len(gaps), 'gap')} (`retain gaps`)")
        output.show_first([gap.what for gap in gaps], SHOWN, indent="  ")
    if late:
        output.show(f"Due for a check: {plural(len(late), 'source')} (still valid? `retain add --current FILE`)")
        output.show_first([each.path for each in late], SHOWN, indent="  ")
    if found:
        output.show(f"Problems: {plural(len(found), 'finding')} in logs and changed files (`retain lint`)")
        output.show_first([f"{each.code}: {each}" for each in found], SHOWN, indent="  ")
    if done is not None and done.failures:
        output.show(f"Failed: {plural(len(done.failures), 'source')}")
        output.show_first([str(each) for each in done.failures], SHOWN, indent="  ")


def _compile_words(done: Report | None, why_not: str) -> str:
    """Return what a compile did, in one line."""
    if done is None:
        return why_not
    return "nothing new" if done.nothing_new else done.summary
