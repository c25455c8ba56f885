"""The reading agenda on the command line: gaps list, resolve, ignore, plan, reopen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli import report
from cli.opening import json_option, now, opened, vault_option

if TYPE_CHECKING:
    from vault.agenda import Gap

SHOWN = 20


@click.group(invoke_without_command=True)
@vault_option
@json_option
@click.pass_context
def gaps(context: click.Context, vault_dir: str | None, as_json: bool) -> None:
    """What the wiki cannot say yet: list it, or settle a gap.

    \b
    Examples:
      retain gaps
      retain gaps list --kind structural --all
      retain gaps plan febc2
      retain gaps ignore febc2 9qk4m
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, vault_dir=vault_dir, as_json=as_json)


@gaps.command("list")
@click.option("--kind", type=click.Choice(["structural", "epistemic", "learner"]), help="Only gaps of this kind.")
@click.option("--all", "everything", is_flag=True, help="Settled gaps too, and no limit.")
@click.option("--limit", default=SHOWN, show_default=True, help="How many to show of each kind.")
@vault_option
@json_option
def list_(kind: str | None, everything: bool, limit: int, vault_dir: str | None, as_json: bool) -> None:
    """The open gaps, the most pressing first."""
    from learning.gaps import read_agenda

    found = [g for g in read_agenda(opened(vault_dir)) if (everything or g.open) and kind in (None, g.kind)]
    if as_json:
        report.show_json({"gaps": [_as_json(g) for g in found]})
        return
    for name in dict.fromkeys(g.kind for g in found):
        mine = [g for g in found if g.kind is name]
        report.show(f"{name} ({len(mine)})")
        for gap in mine if everything else mine[:limit]:
            state = "" if gap.status == "open" else f" [{gap.status}]"
            report.show(f"  {gap.id}  {gap.what}: {gap.missing}{state}")
        if not everything and len(mine) > limit:
            report.show(f"  and {len(mine) - limit} more (--all)")
    if not found:
        report.show("nothing is missing")


def _as_json(gap: Gap) -> dict[str, object]:
    from vault.store import GAPS

    return {
        "id": gap.id,
        "path": GAPS,
        "line": gap.line,
        "reason": gap.missing,
        "kind": gap.kind.value,
        "status": gap.status.value,
        "what": gap.what,
        "fill": gap.fill,
        "mentions": list(gap.mentions),
    }


def _decided(word: str, help_: str) -> None:
    @gaps.command(word, help=help_)
    @click.argument("ids", nargs=-1, required=True, metavar="GAP...")
    @vault_option
    @json_option
    def command(ids: tuple[str, ...], vault_dir: str | None, as_json: bool) -> None:
        from learning.gaps import Decision, decide, find_all

        vault = opened(vault_dir)
        meant = find_all(vault, ids, Decision(word))  # all or none: a mistyped id must not settle half of them
        done = [decide(vault, gap.id, Decision(word), now()) for gap in meant]
        if as_json:
            report.show_json({"gaps": [_as_json(g) for g in done]})
        else:
            for gap in done:
                report.show(f"{gap.id}  {gap.status}: {gap.what}")


_decided("resolve", "It is settled, whatever the wiki says.")
_decided("ignore", "It is not wanted; it will not come back.")
_decided("plan", "It will be read about; it stays on the agenda, marked.")
_decided("reopen", "Take an earlier decision back.")
