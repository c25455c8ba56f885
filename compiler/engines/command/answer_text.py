"""The text of an answer in what a program printed: without colours, thoughts, a fence or a JSON envelope around it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from vault.text.formatting import clean

# Control sequences (CSI), strings for the terminal (OSC, DCS ...) and single escapes.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_THOUGHTS = re.compile(
    r"\A\s*(?:<think(?:ing)?>.*?</think(?:ing)?>|Thinking\.\.\.\n.*?\n\.\.\.done thinking\.)", re.DOTALL
)
_FENCED = re.compile(r"\A\s*(`{3,})[\w-]*\n(.*)\n\1\s*\Z", re.DOTALL)
_FIELDS = ("result", "response", "text")


@dataclass(frozen=True, slots=True)
class Said:
    """The text of an answer, or the error that a program reports in its place."""

    text: str
    error: str = ""


def said(output: bytes) -> Said:
    """Return the answer in what a program printed, as text that is safe to show."""
    text = _ESCAPES.sub("", output.decode("utf-8-sig", "replace"))
    envelope = _envelope(text)
    if envelope is not None:
        words = clean(next(envelope[key] for key in _FIELDS if isinstance(envelope.get(key), str)))
        if envelope.get("is_error") is True:
            return Said("", words.strip() or "it reports an error")
        text = words
    text = _THOUGHTS.sub("", clean(text))
    fenced = _FENCED.match(text)
    if fenced and fenced[1] not in fenced[2]:
        text = fenced[2]
    return Said(text.strip("\n") if text.strip() else "")


def _envelope(text: str) -> dict[str, Any] | None:
    """Return the JSON object around an answer, as `claude -p --output-format json` prints it; None if there is none."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _FIELDS)
    return value if found else None
