"""The embedded engine's answer where a model has none, and "unsure" where only a model could say."""

from __future__ import annotations

from pydantic import ValidationError

from compiler.model.requests import REPLY_TO, CheckReply, MatchReply, ReconcileReply, Reply, Request
from compiler.workers.pool import Crew
from vault.errors import WorkerFailed

_UNSURE: dict[str, Reply] = {
    "check": CheckReply(entailed="unsure"),
    "match": MatchReply(same="unsure"),
    "reconcile": ReconcileReply(verdict="unsure"),
}


def embedded(crew: Crew, request: Request) -> Reply | None:
    """The reply that needs no model; None where there is none."""
    if request.type in _UNSURE:
        return _UNSURE[request.type]
    if request.type == "answer":
        return None
    try:
        answer = crew.ask({"op": "ask", "request": request.model_dump(mode="json")})
        return REPLY_TO[request.type].model_validate(answer["reply"])
    except (WorkerFailed, ValidationError, KeyError):
        return None
