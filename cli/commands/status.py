"""What `retain status` counts, from files and ledgers alone."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from cli.guard import personal
from cli.review_pages import mend
from compiler.agents.record import count_pages
from learning.cards.workspace import open_desk
from learning.pages.promotion import promotion
from learning.store.freshness import look
from vault.audit.agent_runs import open_count
from vault.diagnostic import Diagnostic
from vault.inbox.listing import waiting as waiting_for_you
from vault.layout import CONCEPTS, GAPS, SUMMARIES, TOPICS
from vault.locks import holder_of
from vault.log import ledger
from vault.model.gaps import counts
from vault.vault import Vault

LOCKS = ("publish", "review")
_CLAIM = re.compile(rb"^\^c-[0-9a-z]{10}\s*$", re.MULTILINE)


def counted(vault: Vault, at: datetime) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The facts, and what could not be read on the way."""
    seen = look(vault.root)
    desk = open_desk(vault, at)
    mend(desk, seen)
    waiting = promotion(desk).waiting
    events, found = vault.ledger_events(ledger.IDS)
    ids = ledger.fold(events)
    summaries = vault.paths(SUMMARIES, ".md")
    inbox, odd = waiting_for_you(vault)
    facts = {
        "schema": vault.settings.schema,
        "sources": sum(b.noun == "source" and ids.alive(i) for i, b in ids.births.items()),
        "summaries": len(summaries),
        "concepts": len(vault.paths(CONCEPTS, ".md")),
        "topics": len(vault.paths(TOPICS, ".md")),
        "claims": sum(len(_CLAIM.findall(vault.read_bytes(p) or b"")) for p in summaries),
        "cards": len(desk.cards),
        "due": len(desk.queue.due),
        "new": len(desk.queue.new),
        "today": desk.today,
        "promotion": len(waiting),
        "inbox": inbox,
        "agent": {"pages": count_pages(vault), "open_runs": open_count(vault)},
        "gaps": counts((vault.read_bytes(GAPS) or b"").decode("utf-8", "replace")),
        "locks": [{"name": name, **held.facts()} for name in LOCKS if (held := holder_of(vault.root, name))],
        "vault": {
            "id": vault.settings.vault_id,
            "name": vault.settings.name,
            "root": str(vault.root),
            "personal": personal.personal_json(vault),
        },
    }
    return facts, [*(d for d in desk.diagnostics if d not in vault.notices), *found, *odd]
