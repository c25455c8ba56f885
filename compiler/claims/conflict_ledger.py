"""Ledger events of contradictions: one appeared, its verdict changed, it was resolved."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from compiler.claims.contradictions import Disagreement
from vault.ids import mint
from vault.log.ledger import Event, Ids, ordered


@dataclass(frozen=True, slots=True)
class DisputeState:
    """The state of a contradiction: the concepts that it is about, and the claim that weighs more, "" if none does."""

    one: Disagreement
    concepts: tuple[str, ...]
    winner: str

    @property
    def key(self) -> str:
        return ":".join(sorted((self.one.first.id, self.one.second.id)))


def dispute_events(
    disputes: Iterable[DisputeState], claims: Container[str], known: Sequence[Event], ids: Ids, at: str
) -> list[Event]:
    """Return the ledger events of contradictions that appeared, disappeared or were decided since the events `known`.

    Pages show contradictions as they stand now. That one is settled can be known only of what was there before, and
    that is what the user may want to think about: so the ledger keeps it.
    """
    last: dict[str, tuple[object, object]] = {}
    for event in ordered(e for e in known if e.get("of") == "dispute"):
        id_ = str(event.get("id"))
        before = last.get(id_, ("", []))
        last[id_] = (event.get("winner", before[0]), event.get("concepts", before[1]))
    present: set[str] = set()
    events: list[Event] = []
    for dispute in sorted(disputes, key=lambda s: s.key):
        id_ = ids.keys.get(("dispute", dispute.key)) or mint("dispute", dispute.key, ids.births)
        present.add(id_)
        events += _events_of(dispute, id_, last.get(id_), ids, at)
    for id_, birth in ids.births.items():
        if birth.noun == "dispute" and ids.alive(id_) and id_ not in present:
            gone = any(claim not in claims for claim in birth.key.split(":"))
            reason = "one of its claims no longer exists" if gone else "its claims no longer contradict each other"
            events.append({"v": 1, "type": "retire", "of": "dispute", "id": id_, "at": at, "reason": reason})
    for event in events:
        ids.apply(event)
    return events


def _events_of(
    dispute: DisputeState, id_: str, before: tuple[object, object] | None, ids: Ids, at: str
) -> Iterator[Event]:
    """Yield the event that brings the ledger from `before` to how the contradiction is now; none if nothing changed."""
    now: Event = {"of": "dispute", "id": id_, "at": at, "winner": dispute.winner, "concepts": list(dispute.concepts)}
    if id_ not in ids.births:
        yield {"v": 1, "type": "birth", **now, "key": dispute.key}
    elif id_ in ids.retired:
        yield {"v": 1, "type": "revive", **now}
    elif before != (dispute.winner, list(dispute.concepts)):
        yield {"v": 1, "type": "change", **now}
