"""The command `verify`: every quote, citation, sentence and card, checked against the sources."""

from __future__ import annotations

import click

from cli import output
from cli.options import json_option, opened, vault_option


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
