"""Choose the engine that compiles or answers, and start a model for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli import output
from compiler.build.snapshot import Snapshot, last_report, stood_in
from compiler.model.engine_names import FAMILY
from vault.config.engine import of_user
from vault.errors import UsageError
from vault.log.ledger import BUILDS, ordered
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.workers.model_backend import ModelBackend


def engine_of(vault: Vault, given: str | None) -> str:
    """Return the engine given, else the one in the user's settings, else the last one used. Raises Damaged."""
    return given or of_user().compile or engine_of_last(vault)


def engine_of_last(vault: Vault) -> str:
    """Return the engine that repeats the last build without a model: "journal" if replies are stored."""
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
    """Yield the model that answers requests for `engine`; None for other engines, or if nothing will be asked.

    The cost is reported even if the block fails. Raises UsageError; ModelUnavailable without a key or model.
    """
    if engine != "claude":
        if budget is not None or batch:
            raise UsageError("--budget and --batch need a model", hint="give --engine claude too")
        yield None
        return

    last = None if renew else last_report(vault.root, FAMILY, seen)
    if last is not None and not stood_in(last):
        yield None  # nothing changed: no question, no key, and nothing slow is loaded
        return
    from compiler.workers.model_backend import ModelBackend, Spending

    settings = of_user()
    spending = Spending(budget, batch)
    with ModelBackend(settings, lambda: settings.key(os.environ), spending, narrator) as backend:
        try:
            yield backend
        except BaseException:
            narrator.done()
            if words := paid_words(backend):
                output.say(f"paid before the error: {words}")
            raise


def paid_words(backend: ModelBackend | None) -> str:
    """Return tokens and cost of this run as text; "" if no model was asked."""
    if backend is None or not (any(backend.paid.tokens) or backend.lost):
        return ""
    sent, received = backend.paid.tokens
    words = f"{sent} tokens sent, {received} received, {dollars(backend.paid.usd)}"
    if backend.lost:
        words += f"; up to {dollars(backend.lost)} more may be billed for interrupted calls"
    return words


def dollars(usd: float | None) -> str:
    """Return an amount in dollars with two digits, or four below one dollar; "price unknown" for None."""
    if usd is None:
        return "price unknown"
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"
