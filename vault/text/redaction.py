"""Redaction of API keys from everything that is shown, sent or written: the last step before it leaves the process."""

from __future__ import annotations

from typing import Any

MARK = "[redacted]"
_PART = 12  # characters of a key that are no coincidence, as where a message was cut off in the middle of it
_parts: set[str] = set()


def protect(secret: str) -> None:
    """Redact this key from now on, and parts of it.

    A short word without a digit is none: servers on one's own machine want any word for a key, as "ollama".
    """
    if len(secret) < 6 or (len(secret) < _PART and not any(map(str.isdigit, secret))):
        return
    _parts.update(secret[at : at + _PART] for at in range(max(1, len(secret) - _PART + 1)))


def redact(text: str) -> str:
    """Return `text` with a mark in place of each protected key and each part of one."""
    covered = sorted((at, at + len(part)) for part in _parts for at in _places(text, part))
    pieces: list[str] = []
    end = 0
    for start, stop in covered:
        if start > end or not pieces:
            pieces += [text[end:start], MARK]
        end = max(end, stop)
    return "".join([*pieces, text[end:]])


def redact_all(value: Any) -> Any:
    """Return a JSON value with every string in it redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [redact_all(each) for each in value]
    if isinstance(value, dict):
        return {redact_all(name): redact_all(each) for name, each in value.items()}
    return value


def _places(text: str, part: str) -> list[int]:
    """Return the offsets at which `part` occurs in `text`."""
    found, at = [], text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found
