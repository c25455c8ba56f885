"""The command `verify`: every quote, citation, sentence and card, checked against the sources."""

from __future__ import annotations

import click

from cli import output
from cli.options import opened, progress_option, vault_json_options
from compiler.query.verify import verify as check
from vault.text.formatting import plural


@click.command()
@progress_option
@vault_json_options
def verify(progress: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Check every quote, citation, sentence and card against the sources.

    Exit code 1 if anything is not supported.
    """
    vault = opened(vault_dir)
    with output.Progress(progress) as narrator:
        verdict = check(vault, narrator)
    if as_json:
        lists = {"unverified": verdict.unverified, "uncited": verdict.uncited, "unsupported": verdict.unsupported}
        counts = {"claims": verdict.claims, "verified": verdict.verified, "sentences": verdict.sentences}
        output.show_json({**counts, "cards": verdict.cards, **lists, "conflicts": verdict.conflicts})
    else:
        output.show(f"{verdict.verified} of {verdict.claims} claims verified, {len(verdict.unverified)} findings")
        output.show(f"{verdict.sentences} sentences, {len(verdict.uncited)} not supported")
        output.show(f"{verdict.cards} cards, {len(verdict.unsupported)} not supported")
        if verdict.conflicts:
            output.show(f"{plural(len(verdict.conflicts), 'version')} beside edited files")
        for each in (*verdict.unverified, *verdict.uncited, *verdict.unsupported, *verdict.conflicts):
            output.show(f"  {each['path']}:{each['line']}: {each['id']}: {each['reason']}")
    if not verdict.clean:
        return output.FINDINGS
    return output.DONE
