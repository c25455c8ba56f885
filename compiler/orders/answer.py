"""Answers to a question about the wiki, from the embedded engine, a model or an agent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from compiler.gates.checks import Verdicts
from compiler.model.engine_names import EXTRACTIVE
from compiler.model.requests import AnswerRequest, rests
from compiler.orders.board import OrderDesk, staged_entries
from compiler.orders.questions import save_questions
from compiler.query.answer import MAX_QUESTION, Answer, asked, gated, quoted, request_for
from compiler.query.retrieve import Known, all_claims, fitting
from compiler.replies.asker import Asker, Backend, KeepsNotes, Waiting
from compiler.replies.journal import Journal, JournalWriter
from vault.audit.agent_runs import refuse_beside_agents
from vault.errors import UsageError
from vault.ids import ulid
from vault.locks import lock
from vault.log import ledger
from vault.text.formatting import fold, normal

_WAIT_S = 60.0
Progress = Callable[[dict[str, Any]], None]


def answer_question(
    desk: OrderDesk,
    words: str,
    engine: str,
    at: datetime,
    backend: Backend | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Return the answer to a question in the user's `words`; each of its sentences rests on claims of the wiki.

    Raises: Waiting where nobody has answered it yet, after an order for an agent was saved (`engine`
    "agent"); UsageError; LockHeld while a compile runs.
    """
    question = fold(normal(words))
    if not question or len(question) > MAX_QUESTION:
        raise UsageError(f"a question has 1 to {MAX_QUESTION} characters", hint="ask one thing")
    everything = list(all_claims(desk.vault))
    claims = fitting(everything, question)
    plain = quoted(question, claims, everything)
    if engine == "extractive" or not claims:
        return gated(question, plain, claims, EXTRACTIVE)
    with _journal_asker(desk, backend, at, progress or (lambda _: None)) as (asker, verdicts):
        reply, who = _ask_agent(desk, request_for(question, claims), asker, verdicts, engine)
    if reply is None:
        return gated(question, plain, claims, EXTRACTIVE)
    return gated(question, reply, claims, who, verdicts)


def _ask_agent(
    desk: OrderDesk, request: AnswerRequest, asker: Asker, verdicts: Verdicts, engine: str
) -> tuple[Any, str]:
    """Return (reply, who gave it); where nobody has answered yet, save the question as an order. Raises: Waiting."""
    try:
        reply = asked(request, asker, verdicts)
    except Waiting as waiting:
        if engine == "agent":
            save_questions(desk.vault, waiting.requests)
        raise
    return reply, asker.engines.get(rests(request), "")


@contextmanager
def _journal_asker(
    desk: OrderDesk, backend: Backend | None, at: datetime, progress: Progress
) -> Iterator[tuple[Asker, Verdicts]]:
    """Yield an asker over the vault's journal; with a backend, its answers are recorded in the journal."""
    journal, _ = Journal.of(desk.vault)
    for entry in staged_entries(desk)[0] if desk.sandboxed else ():
        journal.learn(entry)
    instant = ledger.instant(at)
    hint = "`retain agent next` hands it out as a work order; then ask again"
    if backend is None:
        yield Asker(journal, None, None, instant, progress, hint=hint), Verdicts.of(journal)
        return
    with lock(desk.vault.root, "publish", purpose="answering", timeout_s=_WAIT_S):
        refuse_beside_agents(desk.vault)
        writer = JournalWriter(desk.guard, ulid(int(at.timestamp() * 1000), os.urandom(10)))
        if isinstance(backend, KeepsNotes):
            backend.opened(journal.notes, writer.note)
        yield Asker(journal, writer, backend, instant, progress), Verdicts.of(journal)


def cited_claims(answer: Answer) -> list[dict[str, Any]]:
    """Return an answer's claims as JSON, numbered as its sentences cite them."""
    return [_claim_as_json(n, known) for n, known in enumerate(answer.claims, 1)]


def _claim_as_json(number: int, known: Known) -> dict[str, Any]:
    claim = known.claim
    where = {"path": known.summary, "line": known.line, "source": known.raw, "place": claim.locator}
    return {"number": number, "id": claim.id, "quote": claim.quote, "kind": claim.kind.value, **where}


def answer_as_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON."""
    return {
        "question": answer.question,
        "engine": answer.engine,
        "sentences": [{"text": s.text, "cites": list(s.cites)} for s in answer.sentences],
        "claims": cited_claims(answer),
        "missing": answer.missing,
        "refused": [{"words": r.words, "reason": r.reason} for r in answer.rejections],
    }
