"""Handing out work orders, and telling how things stand, as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from compiler.asking import Waiting
from compiler.engines import FAMILY
from compiler.engines.port import Request
from compiler.order_guide import how, names
from compiler.order_leases import MINUTES, Lease, leases, take
from compiler.order_questions import order_id
from compiler.orders import Board, Place, board
from compiler.snapshot import last_report
from vault import ledger
from vault.errors import NotFound, UsageError

TYPES = ("extract", "match", "reconcile", "compose", "cards", "check", "answer")


def taken(
    place: Place, count: int, of: str, source: str, name: str, minutes: float, at: datetime, *, brief: bool = False
) -> dict[str, Any]:
    """The next orders, from now on with `name`. Raises as `board` does; UsageError for a type that is none."""
    if of and of not in TYPES:
        raise UsageError(f"there is no type {of!r}", hint=f"there are: {', '.join(TYPES)}")
    found = board(place, at)
    wanted = found.open(of, _source(place, source))
    ids = take(place.vault, wanted, count, name, minutes, at) if wanted else []
    held = leases(place.vault, at)
    orders = [_order(id_, request, held) for id_ in ids if (request := found.get(id_)) is not None]
    types = [order["type"] for order in orders]
    guide = {"prompts": names(types)} if brief else {"how": how(types)}
    return {"orders": orders, **(guide if orders else {}), **after(place, found, at)}


def _source(place: Place, wanted: str) -> str:
    """The id of the source that a path in raw/ names; any other word as it is."""
    if not wanted.startswith("raw/"):
        return wanted
    ids = ledger.fold(place.vault.ledger_events(ledger.IDS)[0])
    return ids.keys.get(("source", wanted), wanted)


def _order(id_: str, request: Request, held: Mapping[str, Lease]) -> dict[str, Any]:
    lease = {"until": held[id_].told} if id_ in held else {}
    return {"id": id_, "type": request.type, **lease, "request": plain(request)}


def plain(request: Request) -> dict[str, Any]:
    """The request as an agent sees it: without the marks of the document's structure and what says nothing."""
    return request.model_dump(mode="json", exclude={"marks", "type"}, exclude_defaults=True)


def shown(place: Place, id_: str, at: datetime) -> dict[str, Any]:
    """One open order. Raises: NotFound."""
    request = board(place, at).get(id_)
    if request is None:
        hint = "it is answered, or what it asked about has changed; `retain agent next` has what is open"
        raise NotFound(f"no open order is called {id_[:80]!r}", hint=hint)
    held = leases(place.vault, at)
    return {"orders": [_order(id_, request, held)], "how": how([request.type])}


def standing(place: Place, at: datetime) -> dict[str, Any]:
    """How much is open and with whom."""
    found = board(place, at)
    held = {i: lease for i, lease in leases(place.vault, at).items() if found.get(i) is not None}
    with_whom = Counter(lease.name for lease in held.values())
    until = {name: max(v.told for v in held.values() if v.name == name) for name in with_whom}
    people = [{"name": n, "orders": count, "until": until[n]} for n, count in sorted(with_whom.items())]
    return {**after(place, found, at), "with": people, "replies_kept": found.kept + len(found.said)}


def answered_or_order(place: Place, question: str, name: str, at: datetime) -> dict[str, Any]:
    """The wiki's answer, or the orders that stand between the question and it, which are with `name` now."""
    from compiler.answer_desk import answered, as_json

    try:
        return {"answered": True, **as_json(answered(place, question, "agent", at))}
    except Waiting as waiting:
        requests = {order_id(request): request for request in waiting.requests}
    take(place.vault, list(requests), len(requests), name, MINUTES, at)
    held = leases(place.vault, at)
    orders = [_order(id_, request, held) for id_, request in requests.items()]
    return {
        "answered": False,
        "orders": orders,
        "how": how(order["type"] for order in orders),
        "next": "`retain agent submit` the reply, then ask again",
    }


def after(place: Place, found: Board, at: datetime) -> dict[str, Any]:
    """What is open, and what to do about it; the next stage's orders are found out when they are asked for."""
    ids = found.open()
    held = leases(place.vault, at)
    free = [i for i in ids if i not in held]
    done = found.done
    return {"open": found.counts(), "free": len(free), "done": done, "next": _advice(place, ids, free, found)}


def _advice(place: Place, ids: list[str], free: list[str], found: Board) -> str:
    if free:
        return "`retain agent next` takes orders, `retain agent submit` hands replies in"
    if ids:
        return "all open orders are with others: `retain agent next --wait 60` takes one that is given back"
    if not found.done:
        return "this stage is answered: `retain agent next` finds out what the next one asks"
    if place.caged:
        return "nothing is open; replies are taken in when the human's `retain guard run` ends"
    if last_report(place.vault.root, FAMILY) is not None:
        return "nothing is open, and everything is published"
    return "nothing is open: `retain compile --engine agent` publishes"
