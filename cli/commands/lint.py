"""The command `lint`: what is wrong with the wiki, its cards and the links into it."""

from __future__ import annotations

from datetime import date, datetime
from itertools import groupby

import click

from cli import output
from cli.environment import now
from cli.options import opened, vault_json_options
from vault.diagnostic import Diagnostic
from vault.index.logs import CODE
from vault.log.records import unreadable_lines
from vault.text.formatting import plural
from vault.vault import Vault

SHOWN = 20  # findings of one rule that a terminal is given


@click.command()
@click.option("--rule", "codes", multiple=True, metavar="CODE", help="Only this rule (repeatable); see docs/lint.md.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only files that changed on this day or later.")
@vault_json_options
def lint(codes: tuple[str, ...], since: datetime | None, vault_dir: str | None, as_json: bool) -> int:
    """Look for what is wrong with the wiki: links, pages, claims, cards and logs.

    Nothing is changed. Each finding names its rule, place, reason and remedy. Exit code 1 if anything is found.

    \b
    Examples:
      retain lint
      retain lint --rule broken-link --rule orphan
      retain lint --since 2026-11-21 --json
    """
    from compiler.lint.rules import RULES
    from compiler.lint.rules import lint as check
    from compiler.lint.wiki import Wiki

    if unknown := set(codes) - {rule.code for rule in RULES} - set(LOG_RULES):
        known = ", ".join([*(rule.code for rule in RULES), *LOG_RULES])
        raise click.UsageError(f"no rule is named {', '.join(sorted(unknown))}; there are: {known}")
    vault = opened(vault_dir, thorough=True)
    at = now()
    today = at.astimezone(vault.settings.zone).date()
    wanted = [code for code in codes if code not in LOG_RULES]
    found = check(Wiki(vault, today, at=at), wanted) if wanted or not codes else []
    found += [each for each in _logs(vault) if not codes or each.code in codes]
    if since is not None:
        found = [each for each in found if changed_since(vault, each.path, since.date())]
    if as_json:
        output.show_json({"findings": [each.as_json() for each in found]})
    else:
        _show(found)
    return output.FINDINGS if found else output.DONE


LOG_RULES = {CODE: "A log that has lost records.", "damaged-line": "A line of a log that cannot be read."}


def _logs(vault: Vault) -> list[Diagnostic]:
    """Return what is wrong with the review log and the ledgers."""
    lost = [each for each in vault.notices if each.code == CODE]
    damaged = (Diagnostic(d.path, d.line, "damaged-line", d.message, d.hint) for d in unreadable_lines(vault.root))
    return [*lost, *damaged]


def changed_since(vault: Vault, path: str, day: date) -> bool:
    """Return whether a file changed on that day or later; one that is gone counts."""
    try:
        changed = (vault.root / path).stat().st_mtime
    except OSError:
        return True
    return datetime.fromtimestamp(changed, vault.settings.zone).date() >= day


def _show(found: list[Diagnostic]) -> None:
    """Print findings by rule."""
    for code, each in groupby(sorted(found, key=lambda d: (d.code, d)), key=lambda d: d.code):
        lines = [str(one) for one in each]
        output.show(f"{code} ({len(lines)})")
        output.show_first(lines, SHOWN, indent="  ")
    output.show(plural(len(found), "finding", zero="no"))
