"""Handing out of orders, their release, and the status of the work, as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from compiler.build.snapshot import last_report
from compiler.model.engine_names import FAMILY
from compiler.model.requests import Request
from compiler.orders.answer import answer_as_json, answer_question
from compiler.orders.board import Board, OrderDesk, is_order, open_board
from compiler.orders.guide import instructions, prompt_names
from compiler.orders.leases import (
    MINUTES,
    Lease,
    active_leases,
    end_leases,
    has_other_agents,
    lease_orders,
    record_agent,
)
from compiler.orders.questions import order_id
from compiler.replies.asker import Waiting
from vault.errors import NotFound, UsageError
from vault.log import ledger
from vault.text.formatting import clean_line

TYPES = ("extract", "match", "reconcile", "compose", "cards", "check", "answer")
ROOM = 24_000  # characters of requests in one answer, since hosts cut off longer ones


def take_orders(
    desk: OrderDesk, count: int, of: str, source: str, name: str, minutes: float, at: datetime, *, brief: bool = False
) -> dict[str, Any]:
    """Lease the next orders to `name` and return them: at most `count`, and not more than fit into one answer.

    Raises as `open_board` does; UsageError for an unknown type.
    """
    if of and of not in TYPES:
        raise UsageError(f"there is no type {of!r}", hint=f"there are: {', '.join(TYPES)}")
    board = open_board(desk, at)
    wanted = _own_checks_last(desk, board, board.open(of, _source(desk, source)), name, at)
    ids = lease_orders(desk.vault, wanted, count, name, minutes, at, _first_that_fit(board)) if wanted else []
    if not board.done:
        record_agent(desk.vault, name, at)
    return _hand_out(desk, board, ids, name, at, brief=brief)


def orders_of(desk: OrderDesk, name: str, at: datetime, *, brief: bool = False) -> dict[str, Any]:
    """Return the orders that `name` has already; those that don't fit by their ids alone."""
    board = open_board(desk, at)
    mine = _leased_to(board, active_leases(desk.vault, at), name)
    ids = _first_that_fit(board)(mine)
    more = {"more": mine[len(ids) :]} if len(ids) < len(mine) else {}
    return {**_hand_out(desk, board, ids, name, at, brief=brief), **more}


def release_orders(desk: OrderDesk, orders: Iterable[str], name: str, at: datetime) -> dict[str, Any]:
    """Release those of the orders that `name` has. Raises: UsageError for an invalid id."""
    given = list(dict.fromkeys(orders))
    strange = next((id_ for id_ in given if not is_order(id_)), None)
    if strange is not None:
        raise UsageError(
            f"{clean_line(strange)[:80]!r} is not the id of an order", hint="ids are those of `retain agent next`"
        )
    held = active_leases(desk.vault, at)
    gone = [id_ for id_ in given if id_ in held and held[id_].name == name]
    end_leases(desk.vault, gone, at)
    return {
        "released": gone,
        "not_yours": [i for i in given if i not in gone],
        **remaining_work(desk, open_board(desk, at), at, name),
    }


def _hand_out(
    desk: OrderDesk, board: Board, ids: Iterable[str], name: str, at: datetime, *, brief: bool
) -> dict[str, Any]:
    """Return the orders with their instructions and what else is open."""
    held = active_leases(desk.vault, at)
    orders = [_order(id_, request, held) for id_ in ids if (request := board.get(id_)) is not None]
    types = [order["type"] for order in orders]
    guide = {"prompts": prompt_names(types)} if brief else {"how": instructions(types)}
    return {"orders": orders, **(guide if orders else {}), **remaining_work(desk, board, at, name)}


def _leased_to(board: Board, held: Mapping[str, Lease], name: str) -> list[str]:
    """Return the ids of open orders that `name` has."""
    return [id_ for id_ in board.open() if id_ in held and held[id_].name == name]


def _first_that_fit(board: Board) -> Callable[[list[str]], list[str]]:
    """Return a function that selects the first of several orders that fit into one answer, at least one."""

    def fitting(ids: list[str]) -> list[str]:
        left, out = ROOM, list[str]()
        for id_ in ids:
            request = board.get(id_)
            left -= len(json.dumps(request_for_agent(request), ensure_ascii=False)) if request is not None else 0
            if out and left < 0:
                break
            out.append(id_)
        return out

    return fitting


def _own_checks_last(desk: OrderDesk, board: Board, wanted: list[str], name: str, at: datetime) -> list[str]:
    """Return `wanted` with checks of `name`'s own words last, or without them while other agents could do them."""
    own = {id_ for id_ in wanted if board.writers.get(id_) == name}
    rest = [id_ for id_ in wanted if id_ not in own]
    if own and has_other_agents(desk.vault, name, at) and any(board.writers.get(id_) != name for id_ in board.open()):
        return rest
    return [*rest, *(id_ for id_ in wanted if id_ in own)]


def _source(desk: OrderDesk, wanted: str) -> str:
    """Return the id of the source that a path in raw/ names; any other word unchanged."""
    if not wanted.startswith("raw/"):
        return wanted
    ids = ledger.fold(desk.vault.ledger_events(ledger.IDS)[0])
    return ids.keys.get(("source", wanted), wanted)


def _order(id_: str, request: Request, held: Mapping[str, Lease]) -> dict[str, Any]:
    """Return one order as JSON."""
    lease = {"until": held[id_].until_text} if id_ in held else {}
    return {"id": id_, "type": request.type, **lease, "request": request_for_agent(request)}


def request_for_agent(request: Request) -> dict[str, Any]:
    """Return the request as an agent sees it: without the marks of the document's structure and empty fields.

    A claim that says its quote has no `words`: half of a request would be there twice.
    """
    out = request.model_dump(mode="json", exclude={"marks", "type"}, exclude_defaults=True)
    if "claims" in out:
        out["claims"] = [{k: v for k, v in c.items() if k != "words" or v != c["quote"]} for c in out["claims"]]
    return out


def show_order(desk: OrderDesk, id_: str, at: datetime) -> dict[str, Any]:
    """Return one open order. Raises: NotFound."""
    request = open_board(desk, at).get(id_)
    if request is None:
        hint = "it is answered, or what it asked about has changed; `retain agent next` has what is open"
        raise NotFound(f"no open order is called {id_[:80]!r}", hint=hint)
    held = active_leases(desk.vault, at)
    return {"orders": [_order(id_, request, held)], "how": instructions([request.type])}


def order_status(desk: OrderDesk, at: datetime, name: str = "") -> dict[str, Any]:
    """Return how much is open and with whom, and the orders that `name` has."""
    board = open_board(desk, at)
    held = {i: lease for i, lease in active_leases(desk.vault, at).items() if board.get(i) is not None}
    with_whom = Counter(lease.name for lease in held.values())
    until = {name: max(v.until_text for v in held.values() if v.name == name) for name in with_whom}
    people = [{"name": n, "orders": count, "until": until[n]} for n, count in sorted(with_whom.items())]
    mine = [{"id": id_, "until": held[id_].until_text} for id_ in _leased_to(board, held, name)]
    own = {"mine": mine} if name else {}
    return {
        **remaining_work(desk, board, at, name),
        "with": people,
        **own,
        "replies_kept": board.known_replies + len(board.answered),
    }


def answer_or_orders(desk: OrderDesk, question: str, name: str, at: datetime) -> dict[str, Any]:
    """Return the wiki's answer, or the orders that must be answered first, now leased to `name`."""
    try:
        return {"answered": True, **answer_as_json(answer_question(desk, question, "agent", at))}
    except Waiting as waiting:
        requests = {order_id(request): request for request in waiting.requests}
    lease_orders(desk.vault, list(requests), len(requests), name, MINUTES, at)
    held = active_leases(desk.vault, at)
    orders = [_order(id_, request, held) for id_, request in requests.items()]
    return {
        "answered": False,
        "orders": orders,
        "how": instructions(order["type"] for order in orders),
        "next": "`retain agent submit` the reply, then ask again",
    }


def remaining_work(desk: OrderDesk, board: Board, at: datetime, name: str = "") -> dict[str, Any]:
    """Return what is open and what `name` can do next; orders of the next stage are found when they are requested."""
    ids = board.open()
    held = active_leases(desk.vault, at)
    free = [i for i in ids if i not in held]
    done = board.done
    mine = len(_leased_to(board, held, name))
    may = _own_checks_last(desk, board, free, name, at)
    advice = _leased_message(mine) if mine and not may else _advice(desk, ids, free, may, board)
    return {"open": board.counts(), "free": len(free), "yours": mine, "done": done, "next": advice}


def _leased_message(mine: int) -> str:
    """Return a sentence on how many orders the agent has."""
    return f"{mine} open with you: answer them; `retain agent next --mine` shows them again, `release` gives them back"


def _advice(desk: OrderDesk, ids: list[str], free: list[str], may: list[str], board: Board) -> str:
    """Return what the agent can do next, in one sentence."""
    if free and not may:
        return "what is free are checks of your own words, for others first: `retain agent next --wait 60`"
    if free:
        return "`retain agent next` takes orders, `retain agent submit` hands replies in"
    if ids:
        return "all open orders are with others: `retain agent next --wait 60` takes one that is given back"
    if not board.done:
        return "this stage is answered: `retain agent next` finds out what the next one asks"
    if desk.sandboxed:
        return "nothing is open; replies are stored when the user's `retain guard run` ends"
    if last_report(desk.vault.root, FAMILY) is not None:
        return "nothing is open, and everything is published"
    return "nothing is open: `retain compile --engine agent` publishes"
