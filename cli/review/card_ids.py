"""The ids of cards that a command is given, as arguments or on stdin."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from vault.errors import UsageError

_MOST_IDS = 1_000_000  # read from a pipe


def ids_of(given: Sequence[str]) -> list[str]:
    """Return the ids given, with those on stdin in place of "-". Raises: UsageError where there is none."""
    out: list[str] = []
    for id_ in given:
        out += sys.stdin.read(_MOST_IDS * 11).split() if id_ == "-" else [id_]
    if not out:
        raise UsageError("no card id given", hint="`retain due --json` lists the ids")
    return out
