"""Replies that an agent in the sandbox left in the work folder, taken over into the journal.

The folder is untrusted: a line is taken only if it has the shape of a reply, under an agent's name, with a new date.
What it says is looked up in the sources and goes through the rules again in every build, as any other reply.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from compiler.orders.board import STAGED, is_order, staged_lines
from compiler.orders.leases import NAME
from compiler.orders.take import ENGINE
from compiler.replies.journal import Entry, Journal, JournalWriter, entry_in
from compiler.replies.prompts import prompt_id
from vault.diagnostic import Diagnostic
from vault.files.guard import Scope
from vault.log import ledger
from vault.text.formatting import plural
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Finalized:
    """How many replies were added to the journal, and what was wrong with the others."""

    kept: int = 0
    refused: tuple[Diagnostic, ...] = ()


def finalize_staged(vault: Vault, run: str, at: datetime) -> Finalized:
    """Add the replies in the work folder to the journal's file of `run`: the last to each request.

    The caller holds the publisher's lock. Raises: WriteFailed; Refused where the folder cannot be read.
    """
    found: dict[str, Entry] = {}
    wrong: dict[str, int] = {}
    for path, event in staged_lines(vault):
        entry = entry_in(event)
        if entry is None or not _is_reply(entry):
            wrong[path] = wrong.get(path, 0) + 1
        elif entry.request not in found or found[entry.request].at <= entry.at:
            found[entry.request] = entry
    journal, _ = Journal.of(vault)
    writer = JournalWriter(vault.guard(Scope.PUBLISHER), run)
    for entry in sorted(found.values(), key=lambda entry: entry.at):
        dated = journal.dated(_checked(entry, run, at))
        writer.keep(dated)
        journal.learn(dated)
    return Finalized(len(found), tuple(_refused(path, count) for path, count in wrong.items()))


def _is_reply(entry: Entry) -> bool:
    """Return whether an entry answers a request of its type in the shape of that."""
    named = is_order(entry.request) and entry.request.partition("-")[0] == entry.of
    return named and not entry.failed and entry.value() is not None


def _checked(entry: Entry, run: str, at: datetime) -> Entry:
    """Return an entry with nothing but the reply, its sizes and the name of the agent that wrote it."""
    name = entry.engine.removeprefix(f"{ENGINE} ")
    value = entry.value()
    assert value is not None, "only replies that can be read are checked"
    return replace(
        entry,
        reply=value.as_brief_json(),
        engine=f"{ENGINE} {name if NAME.fullmatch(name) else 'agent'}",
        prompt=prompt_id(entry.of),
        at=ledger.instant(at),
        run=run,
        tokens=(0, 0),
        usd=0.0,
    )


def _refused(path: str, count: int) -> Diagnostic:
    """Return what is said about lines that are no replies."""
    hint = f"nothing was stored; only `retain agent submit` may write to {STAGED}"
    return Diagnostic(
        path, 0, "reply-refused", f"{plural(count, 'line')} not recognized as replies to work orders", hint
    )
