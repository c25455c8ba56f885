"""The embedded engine behind the reading processes: its replies to the requests of a build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from compiler.index.steps import Steps, decoded, encoded
from compiler.model.report import Rejection
from compiler.model.requests import REPLY_TO, Reply, Request, digest
from compiler.workers.pool import WorkerPool
from vault.errors import WorkerFailed
from vault.text.formatting import clean_line

STEP = "reply"


class EmbeddedAsker:
    """Puts the requests of a build to the embedded engine, but none that was answered before."""

    def __init__(self, steps: Steps, crew: WorkerPool, engine: str, progress: Callable[[dict[str, Any]], None]) -> None:
        """`engine` is the engine's name and version."""
        self.steps, self.crew, self.engine, self.progress = steps, crew, engine, progress
        self.rejections: list[Rejection] = []  # replies of the wrong shape

    def ask(self, requests: Sequence[Request], stage: str) -> list[Reply | None]:
        """Return the reply to each request in order, None for one of the wrong shape. Raises: WorkerFailed."""
        keys = [digest(self.engine, r) for r in requests]
        todo = [n for n, key in enumerate(keys) if self.steps.get(STEP, key) is None]
        messages = [{"op": "ask", "request": requests[n].model_dump(mode="json")} for n in todo]
        for done, (n, reply) in enumerate(self.crew.ask_all(messages), 1):
            self.progress({"event": stage, "done": done, "of": len(messages)})
            if isinstance(reply, WorkerFailed):
                # To go on without a reply would retract what rests on it: better nothing than half.
                raise WorkerFailed(
                    f"the engine failed at {stage}: {reply.what}", hint="nothing was written; run it again"
                )
            self.steps.put(STEP, keys[todo[n]], encoded(reply.get("reply")))
        return [self._reply(key, request, stage) for key, request in zip(keys, requests, strict=True)]

    def _reply(self, key: bytes, request: Request, stage: str) -> Reply | None:
        """Return the stored reply to a request; None if it has the wrong shape."""
        try:
            return REPLY_TO[request.type].model_validate(decoded(self.steps.get(STEP, key)))
        except ValidationError as error:
            what, about = clean_line(str(error))[:200], f"{stage}: {clean_line(request.title)[:100]}"
            self.rejections.append(Rejection("reply", f"the engine's reply is invalid: {what}", about))
            return None
