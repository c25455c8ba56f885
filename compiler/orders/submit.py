"""Answers to orders: read at once, and stored as far as they are good.

They go into the journal; in the sandbox, where no ledger can be written, into the work folder, and `finalize_staged`
takes them over when the run has ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from compiler.orders.board import OrderDesk, cached_board, is_order
from compiler.orders.files import order_text, read_order, remove_question, saved_questions
from compiler.orders.leases import end_leases
from compiler.orders.take import ENGINE
from compiler.protocol import forms
from compiler.protocol.faults import SHOWN, Fault
from compiler.protocol.replies import (
    AnswerReply,
    CheckReply,
    ReadReply,
    ReconcileReply,
    Reply,
    SettleReply,
    WriteReply,
)
from compiler.protocol.requests import Request
from compiler.replies.journal import entry_of
from compiler.replies.prompts import prompt_id
from vault.audit.agent_runs import refuse_beside_agents
from vault.ids import ulid
from vault.locks import lock
from vault.log import ledger
from vault.text.formatting import clean_line, plural, short_line

_WAIT_S = 60.0  # for a compile that is publishing


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an answer. `kept` says what was stored; `faults` are what was left out, or why all was."""

    id: str
    state: Literal["accepted", "refused", "unknown"]
    kept: str = ""
    faults: tuple[Fault, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Return whether everything was accepted."""
        return self.state == "accepted" and not self.faults

    def as_json(self) -> dict[str, Any]:
        faults = [{**f.as_json(), "words": short_line(f.words, SHOWN)} for f in self.faults]
        return {"id": clean_line(self.id)[:80], "state": self.state, "kept": self.kept, "faults": faults}


def submit(desk: OrderDesk, id_: str, text: str, name: str, at: datetime) -> Receipt:
    """Read an answer and store what is good of it under the agent's `name`; a later one to the same order counts.

    Raises: LockHeld while a compile runs; Refused beside an agent in a sandbox; WriteFailed.
    """
    request = _request(desk, id_)
    if request is None:
        return Receipt(id_, "unknown")
    reply, faults = forms.parse(request, text)
    if not forms.is_usable(request, reply):
        return Receipt(id_, "refused", faults=tuple(faults))
    sizes = _bytes(order_text(request, "")), _bytes(text)
    with _publishing(desk):
        journal = desk.journal()
        engine, prompt = f"{ENGINE} {name}", prompt_id(request.type)
        board = cached_board(desk)
        run = board.run if board is not None else ulid(int(at.timestamp() * 1000), os.urandom(10))
        entry = journal.dated(entry_of(request, reply, engine, prompt, ledger.instant(at), run=run, size=sizes))
        last = journal.find(request)
        if last is None or (last.engine, last.reply) != (entry.engine, entry.reply):
            desk.guard.append(f"{desk.folder}/{run}.jsonl", ledger.encode(entry.event()))
        remove_question(desk.vault, id_)
    end_leases(desk.vault, [id_], at)
    return Receipt(id_, "accepted", counts(reply), tuple(faults))


@contextmanager
def _publishing(desk: OrderDesk) -> Iterator[None]:
    """Hold the lock under which the journal grows; in the sandbox there is none."""
    if desk.sandboxed:
        yield
        return
    with lock(desk.vault.root, "publish", purpose="recording replies", timeout_s=_WAIT_S):
        refuse_beside_agents(desk.vault)
        yield


def _request(desk: OrderDesk, id_: str) -> Request | None:
    """Return the request of that id: one that was found open, a question, or one that was handed out before."""
    if not is_order(id_):
        return None
    board = cached_board(desk)
    found: Mapping[str, Request] = {**saved_questions(desk.vault), **(board.requests if board is not None else {})}
    return found.get(id_) or read_order(desk.vault, id_)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def counts(reply: Reply) -> str:
    """Return what a reply holds, in a few words."""
    match reply:
        case ReadReply():
            found = [
                (len(reply.concepts), "concept"),
                (len(reply.summaries), "sentence in a summary"),
                (len(reply.terms), "unexplained term"),
                (len(reply.clashes), "clash"),
            ]
        case SettleReply():
            found = [(len(reply.clusters), "cluster"), (len(reply.same), "merged name"), (len(reply.lines), "line")]
        case WriteReply():
            written = [a for a in reply.articles if a.sections]
            found = [
                (len(written), "article"),
                (sum(len(a.cards) for a in written), "card"),
                (sum(len(a.questions) for a in written), "open question"),
                (len(reply.clashes), "clash"),
            ]
        case CheckReply() | ReconcileReply():
            named = sum(v.verdict not in ("ok", "none") for v in reply.verdicts)
            noticed = len(reply.clashes) if isinstance(reply, CheckReply) else 0
            said = f"{plural(len(reply.verdicts), 'verdict')}, {named} wrong"
            return f"{said}, {_counted(noticed, 'clash')}" if noticed else said
        case AnswerReply():
            found = [(len(reply.sentences), "sentence")]
    return ", ".join(_counted(n, noun) for n, noun in found if n) or "nothing to change"


def _counted(count: int, noun: str) -> str:
    many = {"sentence in a summary": "sentences in summaries", "clash": "clashes"}
    return plural(count, noun, many.get(noun, ""))
