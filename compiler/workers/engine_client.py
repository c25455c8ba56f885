"""The embedded engine behind the reading processes: its replies to the requests of a build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from compiler.model.report import Rejection
from compiler.model.requests import REPLY_TO, Reply, Request, digest
from compiler.workers.pool import REQUESTS_A_START, WorkerPool
from vault.cache.cache import read_json, write_json
from vault.errors import WorkerFailed
from vault.files.guard import Guard
from vault.text.formatting import clean_line

PATH = ".retain/cache/replies.json"


class EmbeddedAsker:
    """Puts the requests of a build to the embedded engine, but none that the cache of the last build answers."""

    def __init__(
        self, guard: Guard, crew: WorkerPool, engine: str, progress: Callable[[dict[str, Any]], None], fresh: bool
    ) -> None:
        """`engine` is the engine's name and version; with `fresh` the cache is not used."""
        self.crew, self.engine, self.progress = crew, engine, progress
        self.known: dict[str, Any] = {} if fresh else read_json(guard, PATH)
        self.used: dict[str, Any] = {}
        self.rejections: list[Rejection] = []  # replies of the wrong shape

    def ask(self, requests: Sequence[Request], stage: str) -> list[Reply | None]:
        """Return the reply to each request in order, None for one of the wrong shape. Raises: WorkerFailed."""
        keys = [digest(self.engine, r) for r in requests]
        todo = [n for n, key in enumerate(keys) if key not in self.known]
        messages = [{"op": "ask", "request": requests[n].model_dump(mode="json")} for n in todo]
        for done, (n, reply) in enumerate(self.crew.ask_all(messages, starts=len(messages) / REQUESTS_A_START), 1):
            self.progress({"event": stage, "done": done, "of": len(messages)})
            if isinstance(reply, WorkerFailed):
                # To go on without a reply would retract what rests on it: better nothing than half.
                raise WorkerFailed(
                    f"the engine failed at {stage}: {reply.what}", hint="nothing was written; run it again"
                )
            self.known[keys[todo[n]]] = reply.get("reply")
        return [self._reply(key, request, stage) for key, request in zip(keys, requests, strict=True)]

    def _reply(self, key: str, request: Request, stage: str) -> Reply | None:
        """Return the cached reply to a request; None if there is none, or it has the wrong shape."""
        if key not in self.known:
            return None
        try:
            reply = REPLY_TO[request.type].model_validate(self.known[key])
        except ValidationError as error:
            what, about = clean_line(str(error))[:200], f"{stage}: {clean_line(request.title)[:100]}"
            self.rejections.append(Rejection("reply", f"the engine's reply is invalid: {what}", about))
            return None
        self.used[key] = self.known[key]
        return reply

    def save(self, guard: Guard) -> None:
        """Write the replies that this build used to the cache."""
        write_json(guard, PATH, self.used)
