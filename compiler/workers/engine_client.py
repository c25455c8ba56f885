"""The embedded engine behind the reading processes: its replies to the requests of a build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from compiler.index.steps import Steps, encoded
from compiler.model.report import Rejection
from compiler.model.requests import (
    CardsReply,
    CardsRequest,
    ComposeReply,
    ComposeRequest,
)
from compiler.workers.pool import REQUESTS_A_START, WorkerPool
from vault.errors import WorkerFailed
from vault.text.formatting import clean_line

STEP = "reply"


R = TypeVar("R", ComposeReply, CardsReply)


@dataclass(frozen=True, slots=True)
class Question:
    """A request that is made only where nobody has answered it: `key` is the digest of all that is in it."""

    key: bytes
    request: Callable[[], ComposeRequest | CardsRequest]


class EmbeddedAsker:
    """Puts the requests of a build to the embedded engine, but none that was answered before."""

    def __init__(self, steps: Steps, crew: WorkerPool, engine: str, progress: Callable[[dict[str, Any]], None]) -> None:
        """`engine` is the engine's name and version."""
        self.steps, self.crew, self.engine, self.progress = steps, crew, engine, progress
        self.rejections: list[Rejection] = []  # replies of the wrong shape

    def ask(self, questions: Sequence[Question], type_: type[R]) -> list[R | None]:
        """Return the reply to each question in order, None for one of the wrong shape. Raises: WorkerFailed."""
        stage = "cards" if type_ is CardsReply else "compose"
        todo = [n for n, question in enumerate(questions) if self.steps.get(STEP, question.key) is None]
        messages = [{"op": "ask", "request": questions[n].request().as_json()} for n in todo]
        for done, (n, reply) in enumerate(self.crew.ask_all(messages, starts=len(messages) / REQUESTS_A_START), 1):
            self.progress({"event": stage, "done": done, "of": len(messages)})
            if isinstance(reply, WorkerFailed):
                # To go on without a reply would retract what rests on it: better nothing than half.
                raise WorkerFailed(
                    f"the engine failed at {stage}: {reply.what}", hint="nothing was written; run the command again"
                )
            self._store(questions[todo[n]], type_, reply.get("reply"), stage)
        return [self._reply(question, type_) for question in questions]

    def _store(self, question: Question, type_: type[R], reply: object, stage: str) -> None:
        """Store a reply; what has the wrong shape is reported, and asked again by the next build."""
        try:
            found = type_.from_json(reply)
        except ValueError as error:
            what, about = clean_line(str(error))[:200], f"{stage}: {clean_line(question.request().title)[:100]}"
            self.rejections.append(Rejection("reply", f"the engine's reply is invalid: {what}", about))
            return
        self.steps.put(STEP, question.key, encoded(found.as_json()))

    def _reply(self, question: Question, type_: type[R]) -> R | None:
        """Return the stored reply to a question, which was checked when it came; None without one."""
        found = self.steps.get(STEP, question.key)
        return None if found is None else type_.from_text(found)
