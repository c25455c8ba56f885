"""Questions that somebody asks the wiki, and checks of their answers, laid down until an agent answers them.

They lie where an agent in its cage can write, too: of a question only what the wiki itself says counts.
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
_MOST = 200  # that are looked at
_LARGEST = 1 << 20  # bytes of one
_TYPES: dict[str, type[AnswerRequest] | type[CheckRequest]] = {"answer": AnswerRequest, "check": CheckRequest}


def order_id(request: Request) -> str:
    """The request's short name: it stays the same while its words do."""
    return f"{request.type}-{rests(request)[:12]}"


def save_questions(vault: Vault, requests: Iterable[Request]) -> None:
    """Take the requests down, for whoever asks for orders next. Raises: WriteFailed."""
    guard = vault.guard(Scope.AGENT)
    for request in requests:
        body = {"type": request.type, **request.model_dump(mode="json", exclude_defaults=True)}
        with suppress(EditedMeanwhile):  # it lies there already
            guard.write(f"{FOLDER}/{order_id(request)}.json", json.dumps(body).encode(), expect=None)


def remove_questions(vault: Vault, orders: Sequence[str]) -> None:
    """Remove what has been answered."""
    guard = vault.guard(Scope.AGENT)
    for id_ in orders:
        path = f"{FOLDER}/{id_}.json"
        data = guard.read(path)
        if data is not None:
            with suppress(EditedMeanwhile):
                guard.remove(path, expect=sha256_hex(data))


def saved_questions(vault: Vault) -> dict[str, dict[str, Any]]:
    """The requests that lie there, by their ids; what is none is passed over."""
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
    """Whether the claims of a question are the wiki's, word for word; a check only asks what follows from what."""
    if not isinstance(request, AnswerRequest):
        return True
    wanted = {view.id for view in request.claims}
    there = {str(known.claim.id): known.view for known in all_claims(vault) if known.claim.id in wanted}
    return all(c.id in there and (c.words, c.quote) == (there[c.id].words, there[c.id].quote) for c in request.claims)


def valid_questions(vault: Vault) -> list[Request]:
    """The requests that lie there and may be answered."""
    found: list[Request] = [_TYPES[body["type"]].model_validate(body) for body in saved_questions(vault).values()]
    return [request for request in found if has_true_claims(vault, request)]
