"""The engine's replies to composed requests, kept by digest so that an unchanged request is never put twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from compiler.model.report import Rejection
from compiler.model.requests import REPLY_TO, Reply, Request, digest
from compiler.sources.cache_files import read_cache, save_cache
from compiler.workers.pool import Crew
from vault.errors import WorkerFailed
from vault.files.guard import Guard
from vault.text.sanitize import clean_line

PATH = ".retain/cache/replies.json"


class Replies:
    """Asks the crew, or remembers; `fresh` forgets what earlier builds were told."""

    def __init__(
        self, guard: Guard, crew: Crew, engine: str, progress: Callable[[dict[str, Any]], None], fresh: bool
    ) -> None:
        self.guard, self.crew, self.engine, self.progress = guard, crew, engine, progress
        self.known: dict[str, Any] = {}
        self.used: dict[str, Any] = {}
        self.rejections: list[Rejection] = []  # replies that make no sense
        if not fresh:
            self.known = read_cache(guard, PATH)

    def ask(self, requests: Sequence[Request], stage: str) -> list[Reply | None]:
        """The reply to each request, in order; None where it makes no sense. Raises: WorkerFailed."""
        keys = [digest(self.engine, r) for r in requests]
        todo = [n for n, key in enumerate(keys) if key not in self.known]
        messages = [{"op": "ask", "request": requests[n].model_dump(mode="json")} for n in todo]
        for done, (n, reply) in enumerate(self.crew.ask_all(messages), 1):
            self.progress({"event": stage, "done": done, "of": len(messages)})
            if isinstance(reply, WorkerFailed):
                # Going on without a reply would take back what rests on it: better nothing than half.
                raise WorkerFailed(
                    f"the engine failed at {stage}: {reply.what}", hint="nothing was written; run it again"
                )
            self.known[keys[todo[n]]] = reply.get("reply")
        return [self._reply(key, request, stage) for key, request in zip(keys, requests, strict=True)]

    def _reply(self, key: str, request: Request, stage: str) -> Reply | None:
        if key not in self.known:
            return None
        try:
            reply = REPLY_TO[request.type].model_validate(self.known[key])
        except ValidationError as error:
            what, about = clean_line(str(error))[:200], f"{stage}: {clean_line(request.title)[:100]}"
            self.rejections.append(Rejection("reply", f"the engine's reply makes no sense: {what}", about))
            return None
        self.used[key] = self.known[key]
        return reply

    def save(self) -> None:
        """Keep what this build used, and nothing older."""
        save_cache(self.guard, PATH, self.used)
