"""Carry out a plan: every step looks first whether it is done, so that a killed run is finished by running it again."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

from compiler.agents.plan import NOT_KEPT, Plan
from compiler.agents.quarantine import QUARANTINE
from vault.audit.blobs import Copies
from vault.diagnostic import Diagnostic
from vault.errors import EditedMeanwhile, Refused
from vault.files.cleanup import take_away
from vault.files.empty_folder import empty
from vault.files.guard import Guard, Scope, sha256_hex
from vault.files.permissions import set_mode
from vault.vault import Vault

OPEN = 0o700  # what the owner needs of a folder to change it


def apply(plan: Plan, vault: Vault, copies: Copies, today: date) -> list[Diagnostic]:
    """Do what the plan says; what somebody edited meanwhile stays, and is returned as a finding.

    The ledgers come first, then what goes (a link may be in the place of something that comes back), then what is
    quarantined or comes back: its bytes are among the copies. Raises: WriteFailed, after which it can be run again.
    """
    found: list[Diagnostic] = []
    forbidden = vault.kept_out()
    publisher, restorer = vault.guard(Scope.PUBLISHER), vault.guard(Scope.RETURN)  # the latter takes a user's names
    for path, lines in sorted(plan.lines.items()):
        _append(publisher, path, lines)
    for path in sorted(plan.opened):
        set_mode(vault.root, path, plan.modes[path] | OPEN, forbidden=forbidden)  # closed again below
    for path, identity in plan.trees.items():
        empty(vault.root, path, identity=identity, forbidden=forbidden)
        take_away(vault.root, path, identity, forbidden=forbidden)
    _remove(plan, vault)
    for path, expected in sorted(plan.deletes.items()):
        try:
            if restorer.exists(path):
                restorer.remove(path, expect=expected)
        except Refused as error:
            found.append(_stays(path, error.what))
    _remove(plan, vault)  # folders that are empty only now
    for path, (expected_before, digest) in sorted(plan.writes.items()):
        data = copies.get(digest)
        if data is None:
            found.append(
                Diagnostic(path, 0, NOT_KEPT, "the backup copy no longer exists", "restore it from git or a backup")
            )
        else:
            guard = publisher if path.startswith(f"{QUARANTINE}/{plan.outcome.run}/") else restorer
            found += _write(path, expected_before, data, guard, today)
    for path in sorted(plan.modes, key=lambda p: (-p.count("/"), p)):
        set_mode(vault.root, path, plan.modes[path], forbidden=forbidden)
    return found


def _remove(plan: Plan, vault: Vault) -> None:
    for path in sorted(plan.removals, key=lambda p: (-p.count("/"), p)):  # what is in a folder goes before the folder
        take_away(vault.root, path, plan.removals[path], forbidden=vault.kept_out())


def _write(path: str, expected: str | None, data: bytes, guard: Guard, today: date) -> list[Diagnostic]:
    try:
        there = guard.read(path)
        if there is None or sha256_hex(there) != sha256_hex(data):
            guard.write(path, data, expect=expected)
    except EditedMeanwhile as error:
        if guard.exists(path):
            with suppress(Refused):
                guard.lay_beside(path, data, today)
        return [_stays(path, error.what)]
    except Refused as error:
        return [_stays(path, error.what)]
    return []


def _stays(path: str, why: str) -> Diagnostic:
    hint = "check the file yourself: its current content was not checked"
    return Diagnostic(path, 0, "edited-meanwhile", f"left unchanged: {why}", hint)


def _append(guard: Guard, path: str, lines: list[str]) -> None:
    """Append the lines that the ledger lacks."""
    there = set((guard.read(path) or b"").split(b"\n"))
    missing = [line for line in (text.encode() for text in lines) if line.rstrip(b"\n") not in there]
    if missing:
        guard.append(path, b"".join(missing))
