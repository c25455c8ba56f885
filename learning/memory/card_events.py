"""What the ledger says became of cards, as memory takes it."""

from __future__ import annotations

from contextlib import suppress

from learning.memory.state import CardEvent
from vault.ids import CardId
from vault.log import ledger
from vault.log.card_history import lines_with

# What to look for in a line, and what else it must hold. In a line of JSON these stand nowhere but as keys and values:
# within a string their quotation marks would be escaped.
_MARKS = ((b'"retire"', b'"card"'), (b'"revive"', b'"card"'), (b'"how"', b'"card"'))
_TYPES = {"retire": "retracted", "revive": "revived"}
_HOW = {"fact": "changed", "reworded": "reworded"}  # what is cosmetic, or of before anyone asked, is no event


def card_events(data: bytes) -> tuple[CardEvent, ...]:
    """What the lines of `ledger/ids.jsonl` did to cards, in the order of the lines; other lines are passed over unread.

    The types are retracted, revived, changed (a fact) and reworded (nothing that memory minds).
    """
    lines: dict[int, bytes] = {}
    for mark, other in _MARKS:
        lines |= {start: line for start, line in lines_with(data, mark) if other in line}
    events, _ = ledger.decode(b"\n".join(lines[start] for start in sorted(lines)), ledger.IDS)
    out = []
    for event in events:
        type_ = _HOW.get(str(event.get("how"))) if event["type"] == "change" else _TYPES.get(event["type"])
        if event.get("of") == "card" and type_ is not None:
            with suppress(ValueError):
                at = ledger.parse_instant(str(event.get("at")))
                out.append(CardEvent(CardId(str(event.get("id"))), type_, at))
    return tuple(out)
