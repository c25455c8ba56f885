"""JSON files below .retain/cache that can be rebuilt at any time."""

from __future__ import annotations

import json
from typing import Any

from vault.files.guard import Guard


def read_cache(guard: Guard, path: str) -> dict[str, Any]:
    """The mapping kept at `path`; an empty one where it is gone or spoilt, as a cache may be."""
    try:
        found = json.loads(guard.read(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def save_cache(guard: Guard, path: str, value: object) -> None:
    """Put `value` as JSON at `path`, whatever was there."""
    overwrite(
        guard, path, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    )


def overwrite(guard: Guard, path: str, data: bytes) -> None:
    """Put `data` at `path`, whatever was there."""
    from vault.files.folder import sha256_hex

    old = guard.read(path)
    guard.write(path, data, expect=sha256_hex(old) if old is not None else None)
