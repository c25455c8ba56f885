"""Leases on orders, so that several agents share the work: a file whose leases expire by themselves.

The file is where an agent in the sandbox can write: it coordinates agents and protects nothing. It is changed by
compare and swap, since there is no lock in the sandbox.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from vault.errors import EditedMeanwhile, LockHeld
from vault.files.guard import Guard, Scope, sha256_hex
from vault.vault import Vault

PATH = ".retain/work/leases.json"
MINUTES = 20
_AROUND_S = 180.0  # for so long an agent that asked for orders counts as working
_SIGN = "@"  # before a name: until when its bearer counts so; no order is called that
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,39}")
_LARGEST = 4 << 20
_TRIES = 200  # of changing the file while others do, 2 s in all
Change = Callable[[dict[str, "Lease"]], dict[str, "Lease"]]


@dataclass(frozen=True, slots=True)
class Lease:
    """Until `until` (seconds since 1970) the order belongs to the agent `name`."""

    name: str
    until: float

    @property
    def until_text(self) -> str:
        """Return the end of the lease as an ISO instant."""
        return datetime.fromtimestamp(self.until, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def active_leases(vault: Vault, at: datetime) -> dict[str, Lease]:
    """Return the leases that have not expired, by order."""
    held = _parse_leases(vault.guard(Scope.AGENT).read(PATH), at.timestamp())
    return {id_: lease for id_, lease in held.items() if not id_.startswith(_SIGN)}


def has_other_agents(vault: Vault, name: str, at: datetime) -> bool:
    """Return whether another agent has an order, or asked for one in the last minutes."""
    return any(
        lease.name != name for lease in _parse_leases(vault.guard(Scope.AGENT).read(PATH), at.timestamp()).values()
    )


def record_agent(vault: Vault, name: str, at: datetime) -> None:
    """Record that `name` asks for orders. Raises as `lease_orders` does."""
    now, key = at.timestamp(), f"{_SIGN}{name}"
    known = _parse_leases(vault.guard(Scope.AGENT).read(PATH), now).get(key)
    if known is None or known.until < now + _AROUND_S / 2:  # who waits asks every second
        _update_leases(vault, at, lambda held: held | {key: Lease(name, now + _AROUND_S)})


def lease_orders(vault: Vault, wanted: Sequence[str], count: int, name: str, minutes: float, at: datetime) -> list[str]:
    """Lease to `name` the first `count` of the `wanted` orders that are free; return them.

    Raises: LockHeld where too many others change the leases; WriteFailed.
    """
    until = at.timestamp() + 60 * minutes
    taken: list[str] = []

    def change(held: dict[str, Lease]) -> dict[str, Lease]:
        taken[:] = [id_ for id_ in wanted if id_ not in held][:count]
        return held | {id_: Lease(name, until) for id_ in taken}

    _update_leases(vault, at, change)
    return taken


def end_leases(vault: Vault, orders: Sequence[str], at: datetime) -> None:
    """End the leases on these orders. Raises as `lease_orders` does."""
    gone = frozenset(orders)
    if gone.intersection(active_leases(vault, at)):
        _update_leases(vault, at, lambda held: {i: lease for i, lease in held.items() if i not in gone})


def _update_leases(vault: Vault, at: datetime, change: Change) -> None:
    """Replace the leases by what `change` makes of them, again if another process wrote meanwhile."""
    guard = vault.guard(Scope.AGENT)
    for _ in range(_TRIES):
        data = guard.read(PATH)
        now = change(_parse_leases(data, at.timestamp()))
        text = json.dumps({i: [lease.name, round(lease.until, 3)] for i, lease in now.items()}, separators=(",", ":"))
        if _compare_and_swap(guard, data, text.encode()):
            return
        time.sleep(random.uniform(0.001, 0.019))  # noqa: S311 (only so that two do not meet again)
    raise LockHeld("another agent is updating the work orders", where=PATH, hint="run the command again")


def _compare_and_swap(guard: Guard, old: bytes | None, new: bytes) -> bool:
    """Write the file of leases if it still has the `old` bytes; return whether it was written."""
    if old == new:
        return True
    try:
        guard.write(PATH, new, expect=sha256_hex(old) if old is not None else None)
    except EditedMeanwhile:
        return False
    return True


def _parse_leases(data: bytes | None, now: float) -> dict[str, Lease]:
    """Return the valid leases in the file; none is longer than a day."""
    if data is None or len(data) > _LARGEST:
        return {}
    try:
        found = json.loads(data)
        plain = {str(i): Lease(str(name), float(until)) for i, (name, until) in found.items()}
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        return {}
    return {i: v for i, v in plain.items() if now < v.until <= now + 86_400 and NAME.fullmatch(v.name)}
