"""The command `trace`: a card, claim or sentence, traced back to its source."""

from __future__ import annotations

import click

from cli import output
from cli.options import opened, vault_json_options
from cli.shell import card_ids
from compiler.verification.trace import trace as follow
from vault.diagnostic import Diagnostic
from vault.log.card_history import history_json


@click.command()
@click.argument("what", metavar="ID|WORDS", shell_complete=card_ids)
@vault_json_options
def trace(what: str, vault_dir: str | None, as_json: bool) -> None:
    """Trace a card, claim or sentence of an article back to the text of its source.

    \b
    Examples:
      retain trace k7q2m9xd3f
      retain trace "the forgetting curve"
    """
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
