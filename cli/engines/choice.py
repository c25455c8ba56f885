"""Choose the engine that compiles or answers, and start a model or a program for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli import output
from compiler.build.last_engine import chosen_engine
from compiler.build.snapshot import Snapshot, last_report, stood_in
from compiler.model.engine_names import FAMILY
from vault.config.engine import EngineSettings, of_user
from vault.errors import ModelUnavailable, UsageError
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.engines.command.backend import CommandBackend
    from compiler.replies.asker import Backend
    from compiler.workers.model_backend import ModelBackend

    StartedBackend = ModelBackend | CommandBackend

ASKING = ("claude", "command")  # the engines that ask somebody


def engine_of(vault: Vault, given: str | None) -> str:
    """Return the engine given, else the one in the user's settings, else the last one used. Raises Damaged."""
    return given or chosen_engine(vault)


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
) -> Iterator[StartedBackend | None]:
    """Yield the model or program that answers requests for `engine`; None for other engines, or if nothing is asked.

    What it cost is reported even if the block fails. Raises UsageError; ModelUnavailable without a key or model.
    """
    if engine != "claude" and (budget is not None or batch):
        raise UsageError(
            "--budget and --batch work only with a model whose price is known", hint="also use --engine claude"
        )
    if engine not in ASKING:
        yield None
        return
    last = None if renew else last_report(vault, FAMILY, seen)
    if last is not None and not stood_in(last):
        yield None  # nothing changed: no question, no key, and nothing slow is loaded
        return
    with started(of_user(), engine, narrator, budget=budget, batch=batch) as backend:
        try:
            yield backend
        except BaseException as error:
            narrator.done()
            if words := paid_words(backend):
                output.say(f"{words} (before the error)")
                if isinstance(error, KeyboardInterrupt):
                    output.say("the answers so far are stored; the next `retain compile` requests the rest")
            raise


@contextmanager
def started(
    settings: EngineSettings,
    engine: str,
    narrator: output.Progress,
    *,
    budget: float | None = None,
    batch: bool = False,
) -> Iterator[StartedBackend]:
    """Yield the backend of an engine of ASKING. Raises ModelUnavailable without a key, model or command; UsageError."""
    if engine == "command":
        from compiler.engines.command.backend import CommandBackend

        if settings.command is None:
            hint = "run `retain engine use command -- claude -p`, or use another program that `retain engine` lists"
            raise ModelUnavailable("no command is configured", hint=hint)
        with CommandBackend(settings.command) as commands:
            yield commands
        return
    from compiler.workers.model_backend import ModelBackend, Spending

    with ModelBackend(settings, lambda: settings.key(os.environ), Spending(budget, batch), narrator) as model:
        yield model


def checked_by_rule(backend: StartedBackend, settings: EngineSettings) -> Backend:
    """Return a backend for a compile: what a small model writes is checked by rule, not by itself."""
    if settings.size != "small":
        return backend
    from compiler.replies.literal import LiteralChecks

    return LiteralChecks(backend)


def paid_words(backend: StartedBackend | None) -> str:
    """Return what was paid or asked in this run, and its tokens, as text; "" if nothing was."""
    if backend is None:
        return ""
    from compiler.engines.command.backend import CommandBackend

    if isinstance(backend, CommandBackend):
        sent, received = backend.tokens
        name = backend.name.partition(" ")[2]
        return f"{name}: about {sent} tokens sent, {received} received" if sent else ""
    if not (any(backend.paid.tokens) or backend.lost):
        return ""
    sent, received = backend.paid.tokens
    words = f"paid: {sent} tokens sent, {received} received, {dollars(backend.paid.usd)}"
    if backend.lost:
        words += f"; up to {dollars(backend.lost)} more may be billed for interrupted requests"
    return words


def dollars(usd: float | None) -> str:
    """Return an amount in dollars with two digits, or four below one dollar; "price unknown" for None."""
    if usd is None:
        return "price unknown"
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"
