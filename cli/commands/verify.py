"""Commands that look and do not write: verify, trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli import output
from cli.options import json_option, opened, vault_option

if TYPE_CHECKING:
    from vault.diagnostic import Diagnostic


@click.command()
@click.option(
    "--progress", type=click.Choice(["jsonl", "none"]), help="Print progress as JSON lines on stderr, or not at all."
)
@vault_option
@json_option
def verify(progress: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Check every quote, citation, sentence and card against the sources.

    Exit code 1 if anything is not supported.
    """
    from compiler.query.verify import verify as check

    vault = opened(vault_dir)
    narrator = output.Progress(progress)
    try:
        verdict = check(vault, narrator)
    finally:
        narrator.done()
    if as_json:
        lists = {"unverified": verdict.unverified, "uncited": verdict.uncited, "unsupported": verdict.unsupported}
        counts = {"claims": verdict.claims, "verified": verdict.verified, "sentences": verdict.sentences}
        output.show_json({**counts, "cards": verdict.cards, **lists, "conflicts": verdict.conflicts})
    else:
        output.show(f"{verdict.verified} of {verdict.claims} claims verified, {len(verdict.unverified)} findings")
        output.show(f"{verdict.sentences} sentences, {len(verdict.uncited)} not supported")
        output.show(f"{verdict.cards} cards, {len(verdict.unsupported)} not supported")
        if verdict.conflicts:
            output.show(f"{output.number(len(verdict.conflicts), 'version')} beside edited files")
        for each in (*verdict.unverified, *verdict.uncited, *verdict.unsupported, *verdict.conflicts):
            output.show(f"  {each['path']}:{each['line']}: {each['id']}: {each['reason']}")
    if not verdict.clean:
        return output.FINDINGS
    return output.DONE


@click.command()
@click.argument("what", metavar="ID|WORDS")
@vault_option
@json_option
def trace(what: str, vault_dir: str | None, as_json: bool) -> None:
    """Trace a card, a claim or an article's sentence back to the words in its source.

    \b
    Examples:
      retain trace k7q2m9xd3f
      retain trace "the forgetting curve"
    """
    from compiler.query.trace import trace as follow
    from vault.log.card_history import history_json

    damaged: list[Diagnostic] = []
    try:
        found = follow(opened(vault_dir), what, damaged)
    finally:
        output.found(damaged)
    if as_json:
        claims = [step.as_json() for step in found.steps]
        gone = found.past
        past = {"retired": gone.retired(), "history": history_json(gone.versions)} if gone is not None else {}
        output.show_json({"what": found.what, "path": found.path, "line": found.line, "claims": claims, **past})
        return
    output.show(found.what)
    output.show(f"  in {found.path}" + (f":{found.line}" if found.line else ""))
    for step in found.steps:
        output.show(f"\n  claim {step.claim.id} ({step.claim.kind}, {step.claim.state}), {step.path}:{step.line}")
        output.show(f"    “{step.claim.quote}”")
        output.show(f"    {step.source}" + (f", {step.claim.locator}" if step.claim.locator else ""))
