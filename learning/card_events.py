"""What the ledger says became of cards, as memory takes it."""

from __future__ import annotations

from contextlib import suppress

from learning.memory import CardEvent
from vault import ledger
from vault.ids import CardId

_CARD_EVENTS = {"retire": "retracted", "revive": "revived"}


def card_events(data: bytes) -> tuple[CardEvent, ...]:
    """What the lines of `ledger/ids.jsonl` did to cards, as memory takes it; other lines are passed over unread."""
    lines = [line for line in data.split(b"\n") if b'"retire"' in line or b'"revive"' in line]
    events, _ = ledger.decode(b"\n".join(lines), ledger.IDS)
    out = []
    for event in events:
        if event.get("of") == "card" and event["type"] in _CARD_EVENTS:
            with suppress(ValueError):
                at = ledger.parse_instant(str(event.get("at")))
                out.append(CardEvent(CardId(str(event.get("id"))), _CARD_EVENTS[event["type"]], at))
    return tuple(out)
