"""The command `verify`: every quote, citation, sentence and card, checked against the sources."""

from __future__ import annotations

from typing import Any

import click

from cli import output
from cli.options import opened, progress_option, vault_json_options
from compiler.verification.verify import verify as check
from vault.index.logs import CODE
from vault.log.records import unreadable_lines
from vault.text.formatting import plural

SHOWN = 200  # lines of a list that a terminal is given


@click.command()
@click.option(
    "--compare/--no-compare",
    default=True,
    help="Also compare quotes with the text that a second parser extracts from each source.",
)
@progress_option
@vault_json_options
def verify(compare: bool, progress: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Check every quote, citation, sentence and card against the sources.

    Each quote is searched for in the compiled text, and in the text that a second, independent parser extracts from
    the file (for PDFs, this needs pdftotext). A quote that the second parser does not find is listed for you to check:
    either parser can be wrong. Exits with code 1 if anything is not supported, or if the review log or a ledger has
    lost records.

    \b
    Examples:
      retain verify
      retain verify --no-compare --json
    """
    vault = opened(vault_dir, thorough=True)
    logs = [*(each for each in vault.notices if each.code == CODE), *unreadable_lines(vault.root)]
    with output.Progress(progress) as narrator:
        verdict = check(vault, narrator, compare=compare)
    if as_json:
        lists = {"unverified": verdict.unverified, "uncited": verdict.uncited, "unsupported": verdict.unsupported}
        counts = {"claims": verdict.claims, "verified": verdict.verified, "sentences": verdict.sentences}
        lists |= {"conflicts": verdict.conflicts, "differences": verdict.differences}
        lists["logs"] = [{"id": d.code, "path": d.path, "line": d.line, "reason": d.message} for d in logs]
        output.show_json({**counts, "cards": verdict.cards, **lists, "not_compared": verdict.not_compared})
    else:
        output.show(
            f"{verdict.verified} of {verdict.claims} claims verified, "
            f"{plural(len(verdict.unverified), 'problem', zero='no')}"
        )
        output.show(f"{verdict.sentences} sentences, {len(verdict.uncited)} not supported")
        output.show(f"{verdict.cards} cards, {len(verdict.unsupported)} not supported")
        if verdict.conflicts:
            output.show(f"{plural(len(verdict.conflicts), 'generated version')} next to edited files")
        if logs:
            output.show(f"{plural(len(logs), 'problem')} in the review log and ledger/:")
            output.show_first([f"  {each}" for each in logs], SHOWN)
        for each in (*verdict.unverified, *verdict.uncited, *verdict.unsupported, *verdict.conflicts):
            _show(each)
        if verdict.differences:
            output.show(
                f"{plural(len(verdict.differences), 'quote')} not found by the second parser; "
                "check them against the source yourself:"
            )
        for each in verdict.differences:
            _show(each)
        if verdict.not_compared:
            output.show(f"{plural(len(verdict.not_compared), 'source')} not checked with a second parser:")
        for each in verdict.not_compared:
            output.show(f"  {each['path']}: {each['reason']}")
    return output.DONE if verdict.clean and not logs else output.FINDINGS


def _show(finding: dict[str, Any]) -> None:
    output.show(f"  {finding['path']}:{finding['line']}: {finding['id']}: {finding['reason']}")
