"""A human takes back what was kept of an agent's: a decision in the ledger, which every later build keeps to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from compiler.agent_record import REJECT, agents_cards, alive_events, is_agents, kept_pages
from compiler.cards import as_proposed, became, how, live_cards
from vault import ledger
from vault.agent_run import refuse_beside_agents
from vault.clean import clean_line
from vault.errors import NotFound
from vault.guard import Scope
from vault.ids import ID, CardId
from vault.ledger import Event
from vault.locks import lock
from vault.store import Vault


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was taken back: `what` is "page" or "card"; `was_new` if nothing of the machine's comes in its place."""

    name: str
    what: str
    was_new: bool


def reject(vault: Vault, name: str, at: datetime) -> Rejected:
    """Take back the page at a vault path, or the card with an id. The next build puts the machine's version there.

    Raises: NotFound where no agent's words stand there; LockHeld; Refused while an agent's work is not settled.
    """
    with lock(vault.root, "publish", purpose="taking back an agent's work"):
        refuse_beside_agents(vault)
        ids = ledger.ordered(vault.ledger_events(ledger.IDS)[0])
        decided = ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])
        builds = vault.ledger_events(ledger.BUILDS)[0]
        pages = kept_pages(vault, decided)
        # Never before what is taken back, should the clock have been set back since.
        known: list[Event] = [{"at": page.at} for page in pages.values()]
        instant = ledger.after([*ids, *decided, *builds, *known], at)
        decision: Event = {"v": 1, "type": REJECT, "at": instant, "via": "cli"}
        path = name if name.endswith(".md") else f"{name}.md"
        guard = vault.guard(Scope.LOG)
        if path in pages:
            guard.append(ledger.DECISIONS, ledger.encode(decision | {"path": path}))
            return Rejected(path, "page", pages[path].is_new)
        folded = ledger.fold(ids)
        cards = agents_cards(alive_events(ids, decided), folded) if ID.fullmatch(name) else {}
        if name not in cards:
            hint = "`retain status --json` counts them; ledger/replies/ and ledger/ids.jsonl list them"
            raise NotFound(f"no page or card with an agent's words goes by {clean_line(name)[:80]}", hint=hint)
        born = next(e for e in ids if e.get("id") == name and e.get("type") == "birth")
        guard.append(ledger.DECISIONS, ledger.encode(decision | {"card": name}))
        if is_agents(born):
            gone: Event = {"v": 1, "type": "retire", "of": "card", "id": name, "at": instant}
            guard.append(ledger.IDS, ledger.encode(gone | {"reason": "the human took it back"}))
        elif (event := _changed_back(name, ids, [*decided, decision | {"card": name}], decided, instant)) is not None:
            guard.append(ledger.IDS, ledger.encode(event))
        return Rejected(name, "card", is_agents(born))


def _changed_back(name: str, ids: list[Event], now: list[Event], before: list[Event], instant: str) -> Event | None:
    """What the ledger learns of a card that has the machine's words again, so that whoever learnt the agent's is told.

    `now` and `before` are the decisions with and without this one. None where nobody knows what it said.
    """
    folded = ledger.fold(ids)
    agents, own = (live_cards(alive_events(ids, decided), folded).get(CardId(name)) for decided in (before, now))
    if agents is None or own is None:
        return None
    head: Event = {"v": 1, "type": "change", "of": "card", "id": name, "at": instant, "concept": own.concept}
    words = {"kind": own.kind.value, "q": own.question, "a": own.answer, "cites": list(own.cites)}
    head |= words | {"proof": own.proof, "engine": own.engine}
    return head | became(agents, own, how(agents, as_proposed(own)))
