"""Orders handed out to agents and given back, and the state of the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from compiler.build.snapshot import last_report
from compiler.model.engine_names import FAMILY
from compiler.orders.board import Board, OrderDesk, is_order, open_board
from compiler.orders.files import read_order
from compiler.orders.leases import (
    Lease,
    active_leases,
    end_leases,
    has_other_agents,
    lease_orders,
    record_agent,
)
from compiler.protocol.requests import REQUESTS, CheckRequest, Request
from vault.errors import NotFound, UsageError
from vault.text.formatting import clean_line

ENGINE = "agent/2"  # before the agent's name, in what the journal says of a reply


@dataclass(frozen=True, slots=True)
class Work:
    """What is open, by type; how many orders are free; which are with the agent that asks; and what it can do next."""

    open: Mapping[str, int]
    free: int
    yours: tuple[str, ...]
    done: bool
    next: str

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "yours": list(self.yours)}


def take_orders(
    desk: OrderDesk, name: str, of: str, count: int, minutes: float, at: datetime
) -> tuple[Sequence[Request], Work]:
    """Lease at most `count` orders, of one type or any, to `name`; return them, and what is open besides.

    Where none is free for it, return those that it has already. Raises as `open_board` does; UsageError for an
    unknown type.
    """
    if of and of not in REQUESTS:
        raise UsageError(
            f"there is no work order type {clean_line(of)[:40]!r}", hint=f"available: {', '.join(REQUESTS)}"
        )
    board = open_board(desk, at)
    wanted = _for_agent(desk, board, board.open(of), name, at)
    taken = lease_orders(desk.vault, wanted, count, name, minutes, at) if wanted else []
    if not board.done:
        record_agent(desk.vault, name, at)
    work, found = work_left(desk, board, name, at), board.open(of)
    return [found[id_] for id_ in taken or work.yours if id_ in found][:count], work


def order_to_show(desk: OrderDesk, id_: str, at: datetime) -> Request:
    """Return an order that is open or was handed out. Raises: NotFound."""
    request = open_board(desk, at).open().get(id_) or read_order(desk.vault, id_)
    if request is None:
        hint = "`retain agent next` gives you an open work order"
        raise NotFound(f"there is no open work order {clean_line(id_)[:80]!r}", hint=hint)
    return request


def release_orders(desk: OrderDesk, orders: Iterable[str], name: str, at: datetime) -> list[str]:
    """Release those of the orders that `name` has; return them. Raises: UsageError for what is no id of an order."""
    given = list(dict.fromkeys(orders))
    if wrong := next((id_ for id_ in given if not is_order(id_)), None):
        hint = "use an id that `retain agent next` shows"
        raise UsageError(f"{clean_line(wrong)[:80]!r} is not the id of a work order", hint=hint)
    held = active_leases(desk.vault, at)
    released = [id_ for id_ in given if id_ in held and held[id_].name == name]
    end_leases(desk.vault, released, at)
    return released


def order_status(desk: OrderDesk, name: str, at: datetime) -> tuple[Work, dict[str, tuple[int, str]], int]:
    """Return (what is open, agent -> (how many orders it has, until when), how many replies are stored)."""
    board = open_board(desk, at)
    held = _held(desk, board, at)
    count = Counter(lease.name for lease in held.values())
    until = {who: max(lease.until_text for lease in held.values() if lease.name == who) for who in count}
    return work_left(desk, board, name, at), {who: (count[who], until[who]) for who in sorted(count)}, board.replies


def work_left(desk: OrderDesk, board: Board | None, name: str, at: datetime) -> Work:
    """Return what is open and what `name` can do next; without a board, that is to be found out first."""
    if board is None or board.stage_is_answered:
        return Work({}, 0, (), False, "run `retain agent next` for the next stage")
    held, everything = _held(desk, board, at), board.open()
    yours = tuple(id_ for id_, lease in held.items() if lease.name == name)
    free = {id_: request for id_, request in everything.items() if id_ not in held}
    advice = _advice(desk, board, yours, free, _for_agent(desk, board, free, name, at))
    return Work(board.counts(), len(free), yours, board.done, advice)


def _held(desk: OrderDesk, board: Board, at: datetime) -> dict[str, Lease]:
    """Return the leases on open orders."""
    everything = board.open()
    return {id_: lease for id_, lease in active_leases(desk.vault, at).items() if id_ in everything}


def _for_agent(desk: OrderDesk, board: Board, wanted: Mapping[str, Request], name: str, at: datetime) -> list[str]:
    """Return ids with checks of `name`'s own words last, or without them while other agents could do them."""
    own = [id_ for id_, request in wanted.items() if _is_own(request, name)]
    rest = [id_ for id_ in wanted if id_ not in own]
    others = any(not _is_own(request, name) for request in board.open().values())
    return rest if own and others and has_other_agents(desk.vault, name, at) else [*rest, *own]


def _is_own(request: Request, name: str) -> bool:
    """Return whether a request is a check of words that the agent wrote."""
    return isinstance(request, CheckRequest) and f"{ENGINE} {name}" in request.by


def _advice(desk: OrderDesk, board: Board, yours: Sequence[str], free: Mapping[str, Request], may: list[str]) -> str:
    """Return what the agent can do next, in one sentence."""
    if may:
        return "run `retain agent next` for the next work order"
    if yours:
        return f"answer the work orders that you already have: {', '.join(yours)}"
    if free:
        return (
            "the only open work orders are checks of your own answers, which are offered to other agents first;"
            " to wait for one: `retain agent next --wait 60`"
        )
    if board.open():
        return "other agents have all open work orders: `retain agent next --wait 60` waits until one is released"
    if not board.done:
        return "this stage is done: run `retain agent next` for the next one"
    if desk.sandboxed:
        return "no work orders are open: end your session; the replies are then stored, and the user can compile"
    if last_report(desk.vault, FAMILY) is not None:
        return "no work orders are open, and the wiki is up to date"
    return "no work orders are open: run `retain compile --engine agent`"
