"""The command `status`: what the vault contains, counted from files and ledgers."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import click

from cli import output
from cli.environment import now
from cli.guard import personal
from cli.maintenance.upgrade import outdated
from cli.options import opened, vault_json_options
from cli.workspace import mend
from compiler.agents.record import count_pages
from compiler.sources.freshness import late_sources
from learning.cards.workspace import open_desk
from learning.pages.promotion import promotion
from learning.store.freshness import look
from vault.audit.agent_runs import open_count
from vault.diagnostic import Diagnostic
from vault.inbox.listing import waiting as waiting_for_you
from vault.inbox.suggestions import offered
from vault.layout import CONCEPTS, GAPS, SUMMARIES, TOPICS
from vault.locks import holder_of
from vault.log import ledger
from vault.log.ledger import minute_of
from vault.model.gaps import open_gap_counts
from vault.text.formatting import plural
from vault.vault import Vault

SHOWN = 5  # late sources; --json has all
LOCKS = ("publish", "review")
_CLAIM = re.compile(rb"^\^c-[0-9a-z]{10}\s*$", re.MULTILINE)


@click.command()
@click.option("--cost", is_flag=True, help="Instead, show model costs by run, stage and model.")
@vault_json_options
def status(cost: bool, vault_dir: str | None, as_json: bool) -> None:
    """Show what the vault contains: sources, wiki, due and new cards, gaps.

    \b
    Examples:
      retain status
      retain status --cost
    """
    vault = opened(vault_dir)
    if cost:
        from cli.engines.costs import show_costs  # for --cost alone

        show_costs(vault, as_json)
        return
    facts, diagnostics = counted(vault, now())
    diagnostics += [*personal.finding(vault), *personal.notes_in_vault(vault)]
    if as_json:
        output.show_json(facts)
    else:
        gaps = facts["gaps"]
        assert isinstance(gaps, dict)
        output.show(f"{vault.settings.name}  {vault.root}  schema {facts['schema']}")
        output.show(personal.personal_line(facts["vault"]["personal"]))
        nouns = ("sources", "summaries", "concepts", "topics", "claims")
        output.show(", ".join(f"{facts[noun]} {noun}" for noun in nouns))
        output.show(_cards_line(facts))
        for held in facts["locks"]:
            since = minute_of(held["since"], vault.settings.zone)
            output.show(f"running: process {held['pid']} on {held['host']}, {held['purpose']} since {since}")
        agent = facts["agent"]
        if any(agent.values()):
            waits = f"; {plural(agent['open_runs'], 'run')} not checked yet" if agent["open_runs"] else ""
            output.show(f"pages with text by agents: {agent['pages']}{waits}")
        output.show("gaps: " + ", ".join(f"{n} {kind}" for kind, n in gaps.items()))
        if facts["inbox"]:
            output.show(f"inbox: {plural(facts['inbox'], 'item')} to decide on (`retain inbox`)")
        if facts["suggested"]:
            output.show(f"suggested: {plural(facts['suggested'], 'card')} to keep or drop (`retain card suggest`)")
        if facts["late"]:
            output.show(
                f"due for a check: {plural(len(facts['late']), 'source')} (still valid? `retain add --current FILE`)"
            )
            output.show_first([each["path"] for each in facts["late"]], SHOWN, indent="  ")
        if facts["upgrade"]:
            output.show(facts["upgrade"])
        if facts["promotion"]:
            output.show(
                f"concepts you could write a note on: {facts['promotion']:,} (`retain insight` starts with the first)"
            )
    output.found(diagnostics)


def _cards_line(facts: dict[str, Any]) -> str:
    """Return the number of cards, and what today takes of them."""
    today, beyond = facts["today"], facts["beyond"]
    line = f"{facts['cards']} cards: {today['due']} due, {today['new']} new today"
    more = f"; beyond today's limit: {beyond['due']} due, {beyond['new']} new" if any(beyond.values()) else ""
    return line + more


def counted(vault: Vault, at: datetime) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Return the counts for `retain status`, and diagnostics for what could not be read."""
    seen = look(vault.root)
    desk = open_desk(vault, at)
    mend(desk, seen)
    waiting = promotion(desk).waiting
    events, found = vault.ledger_events(ledger.IDS)
    ids = ledger.fold(events)
    summaries = vault.paths(SUMMARIES, ".md")
    inbox, problems = waiting_for_you(vault)
    facts = {
        "schema": vault.settings.schema,
        "upgrade": outdated(vault),
        "sources": sum(b.noun == "source" and ids.alive(i) for i, b in ids.births.items()),
        "summaries": len(summaries),
        "concepts": len(vault.paths(CONCEPTS, ".md")),
        "topics": len(vault.paths(TOPICS, ".md")),
        "claims": sum(len(_CLAIM.findall(vault.read_bytes(p) or b"")) for p in summaries),
        "cards": len(desk.cards),
        "due": len(desk.queue.due),
        "new": len(desk.queue.new),
        "today": desk.today,
        "beyond": desk.beyond,
        "promotion": len(waiting),
        "inbox": inbox,
        "suggested": len(offered(vault).suggestions),
        "agent": {"pages": count_pages(vault), "open_runs": open_count(vault)},
        "gaps": open_gap_counts((vault.read_bytes(GAPS) or b"").decode("utf-8", "replace")),
        "late": [each.as_json() for each in late_sources(vault, at)],
        "locks": [{"name": name, **held.facts()} for name in LOCKS if (held := holder_of(vault.root, name))],
        "vault": {
            "id": vault.settings.vault_id,
            "name": vault.settings.name,
            "root": str(vault.root),
            "personal": personal.personal_json(vault),
        },
    }
    return facts, [*(d for d in desk.diagnostics if d not in vault.notices), *found, *problems]
