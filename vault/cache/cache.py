"""Small files that can be made again, as JSON. What is damaged counts as missing."""

from __future__ import annotations

import json
from typing import Any

from vault.files.folder import sha256_hex
from vault.files.guard import Guard


def read_json(guard: Guard, path: str) -> dict[str, Any]:
    """Return the mapping in the file `path`; {} if it is missing or damaged."""
    try:
        found = json.loads(guard.read(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(guard: Guard, path: str, value: object) -> None:
    """Write `value` as JSON to `path`, whatever was there."""
    overwrite(
        guard, path, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    )


def overwrite(guard: Guard, path: str, data: bytes) -> None:
    """Write `data` to `path`, whatever was there."""
    old = guard.read(path)
    guard.write(path, data, expect=sha256_hex(old) if old is not None else None)
