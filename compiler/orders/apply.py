"""Replies that an agent in the sandbox left in the work folder, judged again and added to the journal.

The content of the folder is untrusted: open orders are computed again, a reply counts for the order whose words it
rests on, and only items that pass the gates are recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from compiler.model.requests import REPLY_TO, Request, rests
from compiler.orders.board import OrderDesk, open_requests, staged_lines
from compiler.orders.faults import judge_reply
from compiler.orders.leases import NAME
from compiler.orders.questions import order_id, valid_questions
from compiler.orders.submit import ENGINE, has_content
from compiler.replies.asker import Answered, entry_of
from compiler.replies.journal import Entry, JournalWriter
from compiler.replies.reuse import merged
from vault.diagnostic import Diagnostic
from vault.log import ledger
from vault.vault import Vault

_STAGES = 40  # more than any build has


@dataclass(frozen=True, slots=True)
class Finalized:
    """How many replies were added to the journal, and what was wrong with the others."""

    kept: int = 0
    refused: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class _Staged:
    """A reply in the work folder: its file, the agent's name, the reply itself."""

    path: str
    name: str
    reply: Any


def finalize_staged(vault: Vault, run: str, at: datetime) -> Finalized:
    """Judge the replies in the work folder, stage by stage, and add the good ones to the journal's file of `run`.

    The caller holds the publisher's lock. Raises what a build raises; WriteFailed.
    """
    waiting = _staged_replies(vault)
    if not waiting:
        return Finalized()
    kept: list[Entry] = []
    refused: list[Diagnostic] = []
    for _ in range(_STAGES):
        requests, pipeline = open_requests(OrderDesk(vault), at, kept)
        assert pipeline.asker is not None, "this family has a journal"
        instant = ledger.after([{"at": e.at} for e in pipeline.asker.journal.entries], at)
        new = _accept_replies(requests, waiting, run, instant, refused)
        kept += new
        if not new:
            kept += _accept_replies(valid_questions(vault), waiting, run, instant, refused)
            break
    writer = JournalWriter(vault.guard(OrderDesk(vault).scope), run)
    for entry in kept:
        writer.keep(entry)
    return Finalized(len(kept), tuple(refused))


def _staged_replies(vault: Vault) -> dict[tuple[str, str], _Staged]:
    """Return the last staged reply to each question, by (type, digest of what it rests on)."""
    found: dict[tuple[str, str], _Staged] = {}
    for path, event in staged_lines(vault):
        of, rest, engine = (event.get(key) for key in ("of", "rests", "engine"))
        if event.get("type") != "reply" or of not in REPLY_TO or not isinstance(rest, str) or "said" not in event:
            continue
        name = engine.removeprefix(f"{ENGINE} ") if isinstance(engine, str) else ""
        found[str(of), rest] = _Staged(path, name if NAME.fullmatch(name) else "agent", event["said"])
    return found


def _accept_replies(
    requests: Sequence[Request],
    waiting: dict[tuple[str, str], _Staged],
    run: str,
    instant: str,
    refused: list[Diagnostic],
) -> list[Entry]:
    """Return journal entries for the staged replies to these requests that pass; add the others to `refused`."""
    out: list[Entry] = []
    for request in requests:
        staged = waiting.pop((request.type, rests(request)), None)
        if staged is None:
            continue
        found = judge_reply(request, staged.reply)
        if found.reply is not None and (not found.faults or has_content(found.reply)):
            answer = Answered(merged(request, found.reply), f"{ENGINE} {staged.name}")
            out.append(entry_of(request, answer, instant, run))
        else:
            fault = found.faults[0]
            what = f"{order_id(request)}: {fault.path}: {fault.why}"
            refused.append(Diagnostic(staged.path, 0, "reply-refused", what, fault.hint))
    return out
