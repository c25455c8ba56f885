"""Who compiles: what the command says, else the user's settings, else whoever compiled this vault last."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli import output
from vault.errors import UsageError

if TYPE_CHECKING:
    from compiler.build.snapshot import Snapshot
    from compiler.workers.model_backend import ModelBackend
    from vault.vault import Vault


def engine_of(vault: Vault, given: str | None) -> str:
    """The engine that compiles. Raises: Damaged, of the user's settings."""
    if given:
        return given
    from vault.config import user

    if "compile" in user.config_text():
        from vault.config.engine import of_user

        if chosen := of_user().compile:
            return chosen
    return engine_of_last(vault)


def engine_of_last(vault: Vault) -> str:
    """The engine that needs nobody and makes what the last build made: "journal" where replies were kept."""
    from compiler.model.engine_names import FAMILY
    from vault.log.ledger import BUILDS, ordered

    if FAMILY.encode() not in (vault.read_bytes(BUILDS) or b""):
        return "extractive"
    events, _ = vault.ledger_events(BUILDS)
    last = next((e for e in reversed(ordered(events)) if e.get("type") == "build"), {})
    return "journal" if last.get("engine") == FAMILY else "extractive"


@contextmanager
def backend_of(
    vault: Vault,
    engine: str,
    seen: Snapshot,
    narrator: output.Progress,
    *,
    budget: float | None,
    batch: bool,
    renew: bool,
) -> Iterator[ModelBackend | None]:
    """Whoever answers questions for this engine; None where nobody does, or nothing will be asked.

    What was paid is told however the block ends. Raises: UsageError; ModelUnavailable, for want of a key or a model.
    """
    if engine != "claude":
        if budget is not None or batch:
            raise UsageError("only a model costs anything", hint="--budget and --batch go with --engine claude")
        yield None
        return
    from compiler.build.snapshot import last_report, stood_in
    from compiler.model.engine_names import FAMILY

    last = None if renew else last_report(vault.root, FAMILY, seen)
    if last is not None and not stood_in(last):
        yield None  # nothing changed: no question, no key, and nothing slow is loaded
        return
    from compiler.workers.model_backend import ModelBackend, Spending
    from vault.config.engine import of_user

    settings = of_user()
    spending = Spending(budget, batch)
    with ModelBackend(settings, lambda: settings.key(os.environ), spending, narrator) as backend:
        try:
            yield backend
        except BaseException:
            narrator.done()
            if words := paid_words(backend):
                output.say(f"paid before it ended: {words}")
            raise


def paid_words(backend: ModelBackend | None) -> str:
    """What a model was paid in this run, and what it may cost on top; "" where nothing was."""
    if backend is None or not (any(backend.paid.tokens) or backend.lost):
        return ""
    sent, received = backend.paid.tokens
    words = f"{sent} tokens sent, {received} received, {dollars(backend.paid.usd)}"
    if backend.lost:
        words += f"; up to {dollars(backend.lost)} more may be billed for calls that broke off"
    return words


def dollars(usd: float | None) -> str:
    """An amount as people read it: two digits, four below a dollar."""
    if usd is None:
        return "at a price that nobody knows"
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"
