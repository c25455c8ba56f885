"""The narrator: owns stderr and the exit codes. What it prints is clean, whatever document or model it came from."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from typing import Any

from vault.clean import clean, clean_line
from vault.diagnostic import Diagnostic
from vault.errors import (
    Damaged,
    EngineUnavailable,
    Refused,
    RetainError,
    SchemaTooNew,
    UsageError,
    WriteFailed,
)

DONE, FINDINGS, USAGE, REFUSED, NO_MODEL, DEFECT, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
_CODES: tuple[tuple[type[RetainError], int], ...] = (
    (UsageError, USAGE),
    (Refused, REFUSED),
    (Damaged, REFUSED),
    (SchemaTooNew, REFUSED),
    (WriteFailed, REFUSED),
    (EngineUnavailable, NO_MODEL),
    (RetainError, FINDINGS),
)


def exit_code(error: RetainError) -> int:
    """The exit code that a failure of this kind has."""
    return next(code for kind, code in _CODES if isinstance(error, kind))


def failed(error: RetainError) -> int:
    """Print the error and give its exit code."""
    say(f"retain: {_lined(error)}")
    return exit_code(error)


def _lined(error: RetainError) -> str:
    head = f"{error.where}: {error.what}" if error.where else error.what
    return f"{head}\n  {error.hint}" if error.hint else head


def defect(error: BaseException) -> int:
    """Print that retain itself failed, leave the trace in a file, and give the exit code."""
    import traceback

    from vault.guard import write_trace

    trace = write_trace("".join(traceback.format_exception(error)))
    what = f"{type(error).__name__}: {clean_line(str(error))[:300]}"
    say(f"retain: a defect of retain itself: {what}\n  the trace is in {trace}")
    return DEFECT


def say(text: str) -> None:
    """One message on stderr."""
    print(clean(text), file=sys.stderr)


def show(text: str) -> None:
    """Data on stdout."""
    print(clean(text))


def show_json(value: Any) -> None:
    """One JSON object on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def found(diagnostics: Iterable[Diagnostic]) -> None:
    """Each finding on a line of stderr."""
    for each in diagnostics:
        say(f"  {each}")


def listed(each: Diagnostic) -> dict[str, object]:
    """A finding as JSON listings have it."""
    return {"id": each.code, "path": each.path, "line": each.line, "reason": each.message, "hint": each.hint}


_VERBS = {
    "scan": "scanning",
    "source": "reading",
    "compose": "composing",
    "cards": "writing cards",
    "write": "saving",
}


class Progress:
    """Long work on stderr: a line that renews itself on a terminal, JSON lines on request, else silence."""

    def __init__(self, mode: str | None) -> None:
        self.jsonl = mode == "jsonl"
        self.live = mode is None and sys.stderr.isatty()
        self._last = 0.0

    def __call__(self, event: dict[str, Any]) -> None:
        if self.jsonl:
            print(json.dumps(event, ensure_ascii=False), file=sys.stderr, flush=True)
        elif self.live:
            now = time.monotonic()
            if event["done"] == event["of"] or now - self._last > 0.1:
                self._last = now
                name = clean_line(str(event.get("path", "")).rsplit("/", 1)[-1])[:48]
                words = f"{_VERBS.get(event['event'], event['event'])} {event['done']}/{event['of']}  {name}"
                print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)

    def done(self) -> None:
        """Clear the renewing line."""
        if self.live and self._last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
