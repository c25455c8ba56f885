"""Submission of replies to orders: judged at once, and recorded if there is nothing wrong with them.

They go into the journal at once; in the sandbox, where no ledger can be written, into the work folder, and
`finalize_staged` judges them again when the run has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from compiler.model.requests import CheckReply, Reply, Request
from compiler.orders.board import Board, OrderDesk, is_order, open_board, refreshed_board
from compiler.orders.checks import AGENT, count_soft_items
from compiler.orders.faults import Fault, judge_reply
from compiler.orders.leases import end_leases
from compiler.orders.questions import has_true_claims, remove_questions
from compiler.replies.asker import Answered, entry_of
from compiler.replies.journal import Entry, JournalWriter
from compiler.replies.reuse import merged
from vault.audit.agent_runs import refuse_beside_agents
from vault.files.guard import Guard
from vault.locks import lock
from vault.log import ledger
from vault.text.formatting import clean_line
from vault.vault import Vault

ENGINE = AGENT
_WAIT_S = 60.0  # for a compile that is publishing
State = Literal["accepted", "refused", "closed", "unknown"]
_CHECKED = "so many items use other words than their evidence: each counts once a `check` order says that it follows"
_KEPT_OUT = "these words stay out of the wiki; `yes` alone lets them in"


@dataclass(frozen=True, slots=True)
class Submission:
    """A reply (JSON) to the order of that id."""

    id: str
    reply: object


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of a submission. `faults` of an accepted one are items that were left out of it."""

    id: str
    state: State
    faults: tuple[Fault, ...] = ()
    to_check: int = 0  # of its items: those that count only if a check finds that they follow
    kept_out: bool = False  # whether it is a check by which words stay out

    def as_json(self) -> dict[str, Any]:
        head = {"id": clean_line(self.id)[:80], "state": self.state}
        hints = {
            "closed": "it is answered, or what it asked about has changed; `retain agent next` has what is open",
            "unknown": "no such order was given out; ids are those of `retain agent next`",
        }
        out: dict[str, Any] = head | ({"hint": hints[self.state]} if self.state in hints else {})
        out |= {"to_check": self.to_check, "hint": _CHECKED} if self.to_check else {}
        out |= {"hint": _KEPT_OUT} if self.kept_out else {}
        return out | ({"faults": [f.as_json() for f in self.faults]} if self.faults else {})


@dataclass(slots=True)
class _AcceptedReplies:
    """The accepted replies of one submission, and the receipts of all."""

    replies: list[tuple[Request, Reply, object]] = field(default_factory=list)  # with the reply as it came
    receipts: list[Receipt] = field(default_factory=list)


def submit(
    desk: OrderDesk, submissions: Sequence[Submission], name: str, at: datetime, *, partial: bool = False
) -> tuple[list[Receipt], Board]:
    """Judge the replies and record the good ones under the agent's `name`; return receipts and what is open then.

    With `partial`, a reply with some good items is recorded without the others. Raises: LockHeld while a compile runs;
    Refused beside an agent in a sandbox; WriteFailed; and as `open_board` does.
    """
    if desk.sandboxed:
        return _submitted(desk, open_board(desk, at), submissions, name, at, partial=partial)
    now = open_board(desk, at)  # before the lock: it may take a while
    with lock(desk.vault.root, "publish", purpose="recording replies", timeout_s=_WAIT_S):
        refuse_beside_agents(desk.vault)
        return _submitted(desk, refreshed_board(desk, now), submissions, name, at, partial=partial)


def _submitted(
    desk: OrderDesk, now: Board, submissions: Iterable[Submission], name: str, at: datetime, *, partial: bool
) -> tuple[list[Receipt], Board]:
    """Judge the replies and record the accepted ones; return the receipts and the board after it."""
    accepted = _AcceptedReplies()
    for each in submissions:
        _judge(desk.vault, now, each, accepted, partial=partial)
        now.answered |= {r.id for r in accepted.receipts if r.state == "accepted"}
    if accepted.replies:
        keeper = _ReplyWriter(desk.guard, desk.journal, now.run)
        instant = ledger.after([{"at": now.latest}], at)  # the last reply counts, though a clock was set back
        for request, reply, said in accepted.replies:
            answer = Answered(merged(request, reply), f"{ENGINE} {name}")
            keeper.keep(entry_of(request, answer, instant, now.run), said if desk.sandboxed else None)
    remove_questions(
        desk.vault, [r.id for r in accepted.receipts if r.state in ("accepted", "closed") and r.id in now.asked]
    )
    end_leases(desk.vault, [r.id for r in accepted.receipts if r.state in ("accepted", "closed")], at)
    return accepted.receipts, now


def _judge(vault: Vault, now: Board, given: Submission, accepted: _AcceptedReplies, *, partial: bool) -> None:
    """Add the receipt of one submission, and the reply if it is good."""
    request = now.get(given.id)
    if request is None or (given.id in now.asked and not has_true_claims(vault, request)):
        accepted.receipts.append(Receipt(given.id, "closed" if is_order(given.id) else "unknown"))
        return
    found = judge_reply(request, given.reply)
    good = found.reply is not None and (not found.faults or (partial and has_content(found.reply)))
    if good and found.reply is not None:
        accepted.replies.append((request, found.reply, given.reply))
    soft = count_soft_items(request, found.reply) if good and found.reply is not None else 0
    out = good and isinstance(found.reply, CheckReply) and found.reply.entailed != "yes"
    accepted.receipts.append(Receipt(given.id, "accepted" if good else "refused", tuple(found.faults), soft, out))


def has_content(reply: Reply) -> bool:
    """Return whether the reply has any item."""
    return any(getattr(reply, name) for name in type(reply).model_fields)


@dataclass(slots=True)
class _ReplyWriter:
    """Adds replies to the run's file in the journal, or in the work folder, there with the reply as it came."""

    guard: Guard
    folder: str
    run: str

    def keep(self, entry: Entry, said: object | None) -> None:
        """Add one reply. Raises: WriteFailed."""
        if said is None:
            JournalWriter(self.guard, self.run).keep(entry)
        else:
            line = ledger.encode(entry.event() | {"said": said})
            self.guard.append(f"{self.folder}/{self.run}.jsonl", line)
