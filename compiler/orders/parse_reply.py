"""Parsing of what an agent submits: one reply, a JSON list of them, or one on each line."""

from __future__ import annotations

import json
from typing import Any

from compiler.orders.submit import Submission
from vault.errors import UsageError

_MOST = 1_000  # replies at once
_SHAPE = 'several are handed in as {"id": ORDER, "reply": {...}}, in one JSON list or one on a line'


def parse_json(text: str, where: str) -> Any:
    """Return the JSON value in `text`. Raises: UsageError with the position of a fault."""
    try:
        return json.loads(text, parse_constant=_refused)
    except json.JSONDecodeError as error:
        position = f"{where}:{error.lineno}"
        what = f"not JSON: {error.msg.lower()} (column {error.colno})" if text.strip() else "there is nothing in it"
        raise UsageError(what, where=position, hint="send the reply as one JSON value, in UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise UsageError("not JSON: nested too deeply, or an invalid number", where=where) from error


def _refused(name: str) -> float:
    """Raise ValueError for NaN and infinities."""
    raise ValueError(name)


def parse_submissions(text: str, where: str) -> list[Submission]:
    """Return the replies in `text`. Raises: UsageError."""
    try:
        value = parse_json(text, where)
    except UsageError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        value = [parse_json(line, f"{where}, reply {n}") for n, line in enumerate(lines, 1)]
    found = value if isinstance(value, list) else [value]
    if not found or len(found) > _MOST:
        raise UsageError(f"{len(found)} replies; 1 to {_MOST} are taken at once", where=where, hint=_SHAPE)
    return [_submission(each, n, where) for n, each in enumerate(found, 1)]


def _submission(value: object, number: int, where: str) -> Submission:
    """Return one submission. Raises: UsageError."""
    if isinstance(value, dict) and isinstance(value.get("id"), str) and "reply" in value:
        return Submission(value["id"], value["reply"])
    raise UsageError(f"reply {number} does not say which order it answers", where=where, hint=_SHAPE)
