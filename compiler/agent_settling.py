"""A plan carried out: every step looks first whether it is done already, so that a killed one is done again whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from compiler.agent_plan import NOT_KEPT, Plan
from vault.clearing import take_away
from vault.diagnostic import Diagnostic
from vault.emptying import empty
from vault.errors import EditedMeanwhile, Refused
from vault.folder import Identity
from vault.guard import Guard, Scope, sha256_hex
from vault.modes import set_mode
from vault.store import Vault

QUARANTINE = "output/quarantine"
Clear = Callable[[str, Identity], bool]
OPEN = 0o700  # what the owner needs of a folder to change it


@dataclass(frozen=True, slots=True)
class Hands:
    """Who does it: `guard` writes what code names, `back` what stood there before under a human's name.

    `copy` gives the bytes of what is kept; None where they are gone.
    """

    guard: Guard
    back: Guard
    clear: Clear
    fell: Clear
    mode: Callable[[str, int], bool]
    copy: Callable[[str], bytes | None]

    @classmethod
    def of(cls, vault: Vault, copy: Callable[[str], bytes | None]) -> Hands:
        """The hands of this vault."""

        def fell(path: str, identity: Identity) -> bool:
            empty(back.root, path, identity=identity, forbidden=vault.kept_out())
            return take_away(back.root, path, identity, forbidden=vault.kept_out())

        back = vault.guard(Scope.RETURN)
        return cls(
            vault.guard(Scope.PUBLISHER),
            back,
            lambda path, identity: take_away(back.root, path, identity, forbidden=vault.kept_out()),
            fell,
            lambda path, mode: set_mode(back.root, path, mode, forbidden=vault.kept_out()),
            copy,
        )


def carry_out(plan: Plan, hands: Hands, today: date) -> list[Diagnostic]:
    """Do what the plan says; what somebody edited meanwhile stays, and is named.

    The ledgers come first, then what goes (a link may stand where something is to be laid aside), then what is laid
    aside or comes back: its bytes are kept outside the vault till then. A step that was done is passed over.
    Raises: WriteFailed, after which it can be carried out again.
    """
    found: list[Diagnostic] = []
    aside = f"{QUARANTINE}/{plan.run}/"
    for path, lines in sorted(plan.lines.items()):
        _append(hands.guard, path, lines)
    for path in sorted(plan.opens):
        hands.mode(path, plan.modes[path] | OPEN)  # closed again below, when all is done in it
    for path, identity in plan.fells.items():
        hands.fell(path, identity)
    _clear(plan, hands)
    for path, expect in sorted(plan.drops.items()):
        _drop(path, expect, hands.back, found)
    _clear(plan, hands)  # folders that are empty only now
    for path in sorted(plan.puts):
        _put(path, *plan.puts[path], hands.guard if path.startswith(aside) else hands.back, today, found)
    for path, (known, digest) in sorted(plan.backs.items()):  # one at a time: they are large
        copy = hands.copy(digest)
        if copy is None:
            found.append(Diagnostic(path, 0, NOT_KEPT, "its copy is gone", "take it from git or your backup"))
        else:
            _put(path, known, copy, hands.back, today, found)
    for path in sorted(plan.modes, key=lambda p: (-p.count("/"), p)):
        hands.mode(path, plan.modes[path])
    return found


def _clear(plan: Plan, hands: Hands) -> None:
    for path in sorted(plan.clears, key=lambda p: (-p.count("/"), p)):  # what lies in a folder goes before the folder
        hands.clear(path, plan.clears[path])


def _put(path: str, expect: str | None, data: bytes, guard: Guard, today: date, found: list[Diagnostic]) -> None:
    try:
        there = guard.read(path)
        if there is None or sha256_hex(there) != sha256_hex(data):
            guard.write(path, data, expect=expect)
    except EditedMeanwhile as error:
        found.append(_stays(path, error.what))
        if guard.exists(path):
            with suppress(Refused):
                guard.lay_beside(path, data, today)
    except Refused as error:
        found.append(_stays(path, error.what))


def _drop(path: str, expect: str, guard: Guard, found: list[Diagnostic]) -> None:
    try:
        if guard.exists(path):
            guard.remove(path, expect=expect)
    except Refused as error:
        found.append(_stays(path, error.what))


def _stays(path: str, why: str) -> Diagnostic:
    hint = "look at it: nobody has judged what stands there now"
    return Diagnostic(path, 0, "edited-meanwhile", f"left as it is: {why}", hint)


def _append(guard: Guard, path: str, lines: list[bytes]) -> None:
    """The lines that the ledger lacks, at its end."""
    there = set((guard.read(path) or b"").split(b"\n"))
    missing = [line for line in lines if line.rstrip(b"\n") not in there]
    if missing:
        guard.append(path, b"".join(missing))
