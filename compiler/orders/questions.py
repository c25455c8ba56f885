"""Questions asked about the wiki, and checks of their answers, saved until an agent answers them.

They are where an agent in the sandbox can write, so a question counts only if its claims are the wiki's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from compiler.model.requests import AnswerRequest, CheckRequest, Request, rests
from compiler.query.retrieve import all_claims
from vault.errors import EditedMeanwhile, RetainError
from vault.files.guard import Scope, sha256_hex
from vault.vault import Vault

FOLDER = ".retain/work/questions"
_MOST = 200  # questions that are read
_LARGEST = 1 << 20  # bytes of one
_TYPES: dict[str, type[AnswerRequest] | type[CheckRequest]] = {"answer": AnswerRequest, "check": CheckRequest}


def order_id(request: Request) -> str:
    """Return the id of a request, which stays the same while its words do."""
    return f"{request.type}-{rests(request)[:12]}"


def save_questions(vault: Vault, requests: Iterable[Request]) -> None:
    """Save the requests for the next agent that asks for orders. Raises: WriteFailed."""
    guard = vault.guard(Scope.AGENT)
    for request in requests:
        body = {"type": request.type, **request.model_dump(mode="json", exclude_defaults=True)}
        with suppress(EditedMeanwhile):  # it is there already
            guard.write(f"{FOLDER}/{order_id(request)}.json", json.dumps(body).encode(), expect=None)


def remove_questions(vault: Vault, orders: Sequence[str]) -> None:
    """Remove the questions that were answered."""
    guard = vault.guard(Scope.AGENT)
    for id_ in orders:
        path = f"{FOLDER}/{id_}.json"
        data = guard.read(path)
        if data is not None:
            with suppress(EditedMeanwhile):
                guard.remove(path, expect=sha256_hex(data))


def saved_questions(vault: Vault) -> dict[str, dict[str, Any]]:
    """Return the saved requests by id; invalid files are skipped."""
    found: dict[str, dict[str, Any]] = {}
    for path in vault.paths(FOLDER, ".json")[:_MOST]:
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError, RetainError):
            if (vault.root / path).lstat().st_size > _LARGEST:
                continue
            body = json.loads(vault.read_bytes(path) or b"")
            id_ = order_id(_TYPES[body["type"]].model_validate(body))
            if path == f"{FOLDER}/{id_}.json":
                found[id_] = body
    return found


def has_true_claims(vault: Vault, request: Request) -> bool:
    """Return whether the claims of a question are the wiki's, word for word; checks have none."""
    if not isinstance(request, AnswerRequest):
        return True
    wanted = {view.id for view in request.claims}
    there = {str(known.claim.id): known.view for known in all_claims(vault) if known.claim.id in wanted}
    return all(c.id in there and (c.words, c.quote) == (there[c.id].words, there[c.id].quote) for c in request.claims)


def valid_questions(vault: Vault) -> list[Request]:
    """Return the saved requests whose claims are the wiki's."""
    found: list[Request] = [_TYPES[body["type"]].model_validate(body) for body in saved_questions(vault).values()]
    return [request for request in found if has_true_claims(vault, request)]
