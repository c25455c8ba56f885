"""Answers to a question about the wiki, from the embedded engine, a model or an agent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from compiler.build.search import with_search_index
from compiler.gates.gates import Accepted
from compiler.orders.board import OrderDesk
from compiler.orders.files import save_questions
from compiler.protocol.check import item_key
from compiler.protocol.replies import AnswerReply, CheckReply, Reply
from compiler.protocol.requests import AnswerRequest, Exchange, Request
from compiler.query.answer import MAX_QUESTION, Answer, check_for, extracted, gated
from compiler.query.follow_up import subject_of
from compiler.query.material import BUDGET, Material, gather
from compiler.query.retrieve import Known
from compiler.replies.asker import Asker, Backend, KeepsNotes, Waiting
from compiler.replies.journal import JournalWriter
from compiler.search.likeness import chosen_likeness
from compiler.verification.accepted import accepted_in
from vault.audit.agent_runs import refuse_beside_agents
from vault.errors import UsageError
from vault.ids import ulid
from vault.index.database import Database
from vault.locks import lock
from vault.log import ledger
from vault.text.formatting import fold, normal

_WAIT_S = 60.0
_EARLIER = 10  # the part of the budget that earlier answers may take besides it
# What is said where a question waits for an answer, and what brings one.
_BY_AGENT = (
    "the question is queued for your agent",
    "get it as a work order with `retain agent next`, then ask the question again",
)
_NOT_STORED = (
    "there is no stored answer to the question",
    "ask with `--engine claude`, `command` or `agent` to get one",
)
Progress = Callable[[dict[str, Any]], None]


class Unanswered(Waiting):
    """Raised where no model is asked and nobody has answered or checked a question; `extract` quotes the sources."""

    def __init__(self, waiting: Waiting, what: str, hint: str, extract: Answer) -> None:
        super().__init__(waiting.requests, what, hint)
        self.extract = extract


def answer_question(
    desk: OrderDesk,
    words: str,
    engine: str,
    at: datetime,
    backend: Backend | None = None,
    progress: Progress | None = None,
    earlier: Sequence[Exchange] = (),
    budget: int = BUDGET,
) -> Answer:
    """Return the answer to a question in the user's `words`: sentences that rest on claims of the wiki, or quotes.

    `earlier` are the questions and answers that it follows, the last one last (`Conversation.earlier`); `budget` are
    the characters of what a model is shown.
    Raises: Unanswered where nobody has answered or checked it yet, after an order for an agent was saved (`engine`
    "agent"); Waiting where a model gave no answer; UsageError; LockHeld while a compile runs.
    """
    question = fold(normal(words))
    if not question or len(question) > MAX_QUESTION:
        raise UsageError(f"a question must have 1 to {MAX_QUESTION} characters", hint="ask a shorter question")
    if not any(c.isalnum() for c in question):
        raise UsageError("the question is empty", hint='`retain ask "What is ...?"`')
    progress = progress or (lambda _: None)
    likeness = chosen_likeness(progress)

    def looked_up(index: Database) -> tuple[Answer, Material | None]:
        subject = subject_of(question, earlier)
        plain = extracted(index, question, subject, likeness)
        if engine == "extractive":
            return plain, None
        return plain, gather(desk.vault, index, " ".join([question, *subject.words]), budget, likeness)

    plain, material = with_search_index(desk.vault, looked_up, at, progress)
    if not material:
        return plain
    request = AnswerRequest(
        question=question,
        claims=tuple(known.view for known in material.claims),
        documents=material.documents,
        articles=material.articles,
        titles=material.titles,
        earlier=_shortened(earlier, budget // _EARLIER),
    )
    try:
        with asker_of(desk, backend, at, progress) as asker:
            return _checked(desk, request, asker, engine, material) or plain
    except Waiting as waiting:
        if backend is not None:
            raise
        raise Unanswered(waiting, *(_BY_AGENT if engine == "agent" else _NOT_STORED), plain) from waiting


def _checked(desk: OrderDesk, request: AnswerRequest, asker: Asker, engine: str, material: Material) -> Answer | None:
    """Return the answer to a request with its sentences checked; None where there is none. Raises: Waiting."""
    given, who = _answered(desk, request, asker, engine)
    if not isinstance(given, AnswerReply):
        return None
    reply, claims = material.resolved(given)
    accepted = accepted_in(asker.journal)
    check = check_for(request.question, reply, claims, accepted)
    if check is not None:
        checked, _ = _answered(desk, check.replaced(by=(who,)), asker, engine)
        reply, accepted = _mended(reply, claims, checked, accepted)
    return gated(request.question, reply, claims, who, accepted)


def _shortened(earlier: Sequence[Exchange], most: int) -> tuple[Exchange, ...]:
    """Return the last exchanges, together of at most so many characters; the answers of the others are left out."""
    out: list[Exchange] = []
    for exchange in reversed(earlier):
        most -= len(exchange.question) + len(exchange.answer)
        out.append(exchange if most >= 0 else exchange.replaced(answer=""))
    return tuple(reversed(out))


def _mended(
    reply: AnswerReply, claims: Sequence[Known], checked: Reply | None, accepted: Accepted
) -> tuple[AnswerReply, Accepted]:
    """Return the answer with its sentences as the check would have them, and what is accepted then."""
    verdicts = {v.item: v for v in checked.verdicts} if isinstance(checked, CheckReply) else {}
    quotes = {str(known.claim.id): known.claim.quote for known in claims}
    fine: set[str] = set()
    sentences = []
    for sentence in reply.sentences:
        cited = tuple(quotes[c] for c in sentence.cites if c in quotes)
        verdict = verdicts.get(item_key(sentence.text, "", cited))
        if verdict is not None and verdict.verdict == "fix":
            sentence = sentence.replaced(text=verdict.text)
        if verdict is not None and verdict.verdict in ("ok", "fix"):
            fine.add(item_key(sentence.text, "", cited))
        sentences.append(sentence)
    mended = reply.replaced(sentences=tuple(sentences))
    return mended, lambda text, answer, by: item_key(text, answer, tuple(by)) in fine or accepted(text, answer, by)


def _answered(desk: OrderDesk, request: Request, asker: Asker, engine: str) -> tuple[Reply | None, str]:
    """Return (reply, who gave it), None where there is none; what nobody answered becomes an order. Raises: Waiting."""
    if asker.journal.find(request) is None:
        try:
            asker.ask([request], "answer")
        except Waiting:
            if engine == "agent":
                save_questions(desk.vault, [request])
            raise
    entry = asker.journal.find(request)
    return (entry.value(), entry.engine) if entry is not None else (None, "")


@contextmanager
def asker_of(
    desk: OrderDesk, backend: Backend | None, at: datetime, progress: Progress, hint: str = ""
) -> Iterator[Asker]:
    """Yield an asker over the vault's journal; with a backend, its answers are recorded in the journal.

    `hint` says what to do where nobody answers.
    """
    journal, instant = desk.journal(), ledger.instant(at)
    if backend is None:
        yield Asker(journal, None, None, instant, progress, hint=hint)
        return
    with lock(desk.vault.root, "publish", purpose="answering", timeout_s=_WAIT_S):
        refuse_beside_agents(desk.vault)
        writer = JournalWriter(desk.guard, ulid(int(at.timestamp() * 1000), os.urandom(10)))
        if isinstance(backend, KeepsNotes):
            backend.opened(journal.notes, writer.note)
        yield Asker(journal, writer, backend, instant, progress)
