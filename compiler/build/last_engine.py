"""Which engine a vault is built with: the one that the user chose, or the one that repeats the last build."""

from __future__ import annotations

from compiler.model.engine_names import FAMILY
from vault.config.engine import of_user
from vault.log.entries import builds_in
from vault.log.ledger import BUILDS
from vault.vault import Vault


def chosen_engine(vault: Vault) -> str:
    """Return the engine in the user's settings, else the last one used. Raises: Damaged."""
    return of_user().compile or last_engine(vault)


def last_engine(vault: Vault) -> str:
    """Return the engine that repeats the last build and asks no model: "journal" after replies, else "extractive"."""
    if FAMILY.encode() not in (vault.read_bytes(BUILDS) or b""):  # most vaults: no need to parse the ledger
        return "extractive"
    builds = builds_in(vault.ledger_events(BUILDS)[0])
    return "journal" if builds and builds[-1].get("engine") == FAMILY else "extractive"
