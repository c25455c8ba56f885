"""What the ledger records since an instant: new articles and cards, changes, contradictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from vault.log import ledger
from vault.log.card_history import lines_with
from vault.log.ledger import Event
from vault.text.formatting import clean_line
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class News:
    """`articles` are the names of concepts that came, in order; the others count cards, and facts in contradiction.

    `changed` cards ask for a fact that is another now, `reworded` say the same in other words, `retracted` hold no
    longer; `contested` contradictions came or opened again, `settled` ones were decided or went.
    """

    articles: tuple[str, ...] = ()
    cards: int = 0
    changed: int = 0
    reworded: int = 0
    retracted: int = 0
    contested: int = 0
    settled: int = 0


def news(vault: Vault, since: datetime, now: datetime) -> News:
    """Return what happened from `since` to `now`. Raises: Refused where the ledger cannot be read."""
    events = list(_events(vault.read_bytes(ledger.IDS) or b"", since, now))
    cards = _last_by_id(event for event in events if event.get("of") == "card")
    disputes = _last_by_id(event for event in events if event.get("of") == "dispute")
    kinds = [_of_card(event) for event in cards]
    open_now = [event["type"] != "retire" and not event.get("winner") for event in disputes]
    names = (event.get("name") for event in events if event["type"] == "birth" and event.get("of") == "concept")
    return News(
        tuple(dict.fromkeys(clean_line(str(name)) for name in names if name)),
        kinds.count("birth"),
        kinds.count("fact"),
        kinds.count("reworded"),
        kinds.count("retire"),
        sum(open_now),
        len(open_now) - sum(open_now),
    )


def _events(data: bytes, since: datetime, now: datetime) -> Iterator[Event]:
    """Return the events between the two, in order."""
    first, last = ledger.instant(since), ledger.instant(now)
    found, _ = ledger.decode(lines_of_days(data, since, now), ledger.IDS)
    return (event for event in ledger.ordered(found) if first <= str(event["at"]) <= last)


def lines_of_days(data: bytes, since: datetime, now: datetime) -> bytes:
    """Return the lines of a ledger that name a day from `since` to `now`, in their order; they are found unparsed."""
    day, last = since, ledger.instant(now)[:10]
    lines: dict[int, bytes] = {}
    while ledger.instant(day)[:10] <= last:
        lines |= dict(lines_with(data, f'"at":"{ledger.instant(day)[:10]}'.encode()))
        day += timedelta(days=1)
    return b"\n".join(lines[at] for at in sorted(lines))


def _last_by_id(events: Iterator[Event]) -> list[Event]:
    """Return the latest event of each thing; of one that was created and changed meanwhile, its creation."""
    last: dict[str, Event] = {}
    for event in events:
        id_ = str(event.get("id"))
        if id_ not in last or last[id_]["type"] != "birth" or event["type"] == "retire" or event.get("of") != "card":
            last[id_] = event
    return list(last.values())


def _of_card(event: Event) -> str:
    """Return what became of a card: birth, fact, reworded or retire."""
    return str(event.get("how")) if event["type"] == "change" else str(event["type"])
