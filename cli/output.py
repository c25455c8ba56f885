"""Everything that is printed: data on stdout, messages and progress on stderr, exit codes. Text is sanitized here."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

from cli.terminal import bold, fitted, is_dumb, red
from vault.diagnostic import Diagnostic
from vault.errors import (
    Damaged,
    ModelUnavailable,
    Refused,
    RetainError,
    SchemaTooNew,
    UsageError,
    WriteFailed,
)
from vault.text.formatting import clean, clean_line
from vault.text.redaction import redact

if TYPE_CHECKING:
    import click

DONE, FINDINGS, USAGE, REFUSED, UNAVAILABLE, DEFECT, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
_CODES: tuple[tuple[type[RetainError], int], ...] = (
    (UsageError, USAGE),
    (Refused, REFUSED),
    (Damaged, REFUSED),
    (SchemaTooNew, REFUSED),
    (WriteFailed, REFUSED),
    (ModelUnavailable, UNAVAILABLE),
    (RetainError, FINDINGS),
)

# The end of a pipe to the app that lent this terminal, and will paint over it at once; taken out of what editors get.
_app_pipe = os.environ.pop("RETAIN_TELL", "")
_live: _Live | None = None  # the line of stderr that renews itself, while it is there
_json_events = False  # whether messages on stderr are JSON; set once for each command line
# DEL, C1 and the marks that reorder text: those that JSON leaves as they are.
_CONTROLS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]")


def exit_code(error: RetainError) -> int:
    """Return the exit code for an error of this kind."""
    return next(code for kind, code in _CODES if isinstance(error, kind))


def failed(error: RetainError) -> int:
    """Print the error and give its exit code."""
    if _json_events:
        event({"event": "error", "what": error.what, "where": error.where, "hint": error.hint})
    else:
        _send_to_app({"what": error.what, "where": error.where, "hint": error.hint})
        _write_lines(f"{red('retain:', sys.stderr)} {clean(_error_text(error))}")
    return exit_code(error)


def _error_text(error: RetainError) -> str:
    head = f"{error.where}: {error.what}" if error.where else error.what
    return f"{head}\n  {error.hint}" if error.hint else head


def usage(error: click.ClickException) -> None:
    """Print why a command line cannot be used; its words may be the names of files from anywhere."""
    if _json_events:
        context = getattr(error, "ctx", None)
        where = context.command_path if context is not None else "retain"
        event({"event": "error", "what": error.format_message(), "where": where, "hint": f"see `{where} -h`"})
        return
    words = io.StringIO()
    error.show(words)
    say(words.getvalue().rstrip("\n"))


def defect(error: BaseException) -> int:
    """Print that retain itself failed, leave the trace in a file, and give the exit code."""
    import traceback

    from vault.files.exports import write_trace

    trace = write_trace("".join(traceback.format_exception(error)))
    what = f"{type(error).__name__}: {clean_line(str(error))[:300]}"
    say(f"retain: internal error: {what}\n  this is a bug; please report it with the trace in {trace}")
    return DEFECT


def speak_events(arguments: Sequence[str]) -> None:
    """With `--json` or `--progress jsonl`, make all messages on stderr JSON objects, one per line; on a terminal, not
    the line of progress.
    """
    global _json_events
    own = list(itertools.takewhile(lambda word: word != "--", arguments))  # what follows are no options of ours
    pairs = itertools.pairwise(own)
    _json_events = "--json" in own or ("--progress", "jsonl") in pairs or "--progress=jsonl" in own


def event(fields: dict[str, Any]) -> None:
    """Print one JSON object on a line of stderr."""
    _write_stderr(_json(fields, sys.stderr) + "\n")


def say(text: str) -> None:
    """Print one message on stderr."""
    if _json_events:
        event({"event": "note", "words": clean(text).strip()})
    else:
        _send_to_app({"words": text})
        _write_lines(clean(text))


def _send_to_app(fields: dict[str, str]) -> None:
    if _app_pipe.isdecimal():
        with suppress(OSError):
            os.write(
                int(_app_pipe),
                json.dumps({name: redact(words)[:1000] for name, words in fields.items()}).encode() + b"\n",
            )


def _write_lines(text: str) -> None:
    """Write whole lines to stderr, broken between words at the width of a terminal."""
    _write_stderr(fitted(redact(text), sys.stderr) + "\n")


def _write_stderr(text: str) -> None:
    """Write to stderr, in place of a line that renews itself."""
    if _live is not None:
        _live.done()
    _write(text)


def _write(text: str) -> None:
    """Write to stderr; ignore errors, as a full or closed stderr must not end the work."""
    with suppress(OSError):
        sys.stderr.write(redact(text))
        sys.stderr.flush()


def show(text: str) -> None:
    """Print text on stdout."""
    _print(clean(text), is_fitted=True)


def show_marked(text: str, marks: Sequence[tuple[int, int]]) -> None:
    """Print text on stdout, the (start, end) parts of it in bold type where that is a terminal."""
    parts, at = [], 0
    for start, end in marks:
        parts += [clean(text[at:start]), bold(clean(text[start:end]), sys.stdout)]
        at = end
    _print("".join([*parts, clean(text[at:])]), is_fitted=True)


def show_file(data: bytes) -> None:
    """Write bytes to stdout unchanged. Raises as `show` does."""
    flush()
    with _reporting_errors():
        sys.stdout.buffer.write(data)


def show_json(value: Any) -> None:
    """Print one JSON object on stdout."""
    _print(_json(value, sys.stdout, indent=2))


def show_json_line(value: Any) -> None:
    """Print one JSON object on a line of stdout, at once."""
    _print(_json(value, sys.stdout), flush=True)


def show_first(lines: Sequence[str], most: int, *, indent: str = "") -> None:
    """Print the first `most` lines, and how many more there are."""
    for line in lines[:most]:
        show(indent + line)
    if len(lines) > most:
        show(f"{indent}and {len(lines) - most} more (--json lists all)")


def on_terminal() -> bool:
    """Return whether a person reads stdout."""
    return sys.stdout.isatty()


def ask(question: str) -> bool | None:
    """Ask a question that y answers with yes and anything else with no; None where no person can be asked."""
    if _json_events or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    _write_stderr(f"{clean(question)} [y/N] ")
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def flush() -> None:
    """Flush stdout, so that an error can still be reported."""
    _print("", end="", flush=True)


def _print(text: str, *, end: str = "\n", flush: bool = False, is_fitted: bool = False) -> None:
    """Print redacted text on stdout; `is_fitted`: within the width of a terminal.

    Raises WriteFailed; BrokenPipeError if the reader is gone.
    """
    text = redact(text)
    with _reporting_errors():
        print(fitted(text, sys.stdout) if is_fitted else text, end=end, flush=flush)


@contextmanager
def _reporting_errors() -> Iterator[None]:
    """Turn an error of stdout into WriteFailed, but for BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WriteFailed(f"the output could not be written: {error.strerror}") from error


def _json(value: Any, out: TextIO, indent: int | None = None) -> str:
    """Return `value` as JSON, with escapes for characters that control a terminal or that `out` cannot encode."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode(getattr(out, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value)
    if indent is not None:
        import msgspec  # json.dumps takes ten times as long to indent

        try:
            text = msgspec.json.format(text, indent=indent)
        except msgspec.DecodeError:  # half characters, as broken file names have
            text = json.dumps(value, indent=indent)
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def found(diagnostics: Iterable[Diagnostic]) -> None:
    """Report diagnostics on stderr, one per line."""
    for each in diagnostics:
        if _json_events:
            place = {"path": each.path, "line": each.line}
            event({"event": "finding", "id": each.code, **place, "reason": each.message, "hint": each.hint})
        else:
            say(f"  {each}")


_STEP_NAMES = {
    "scan": "scanning",
    "source": "reading",
    "export": "exporting",
    "compare": "comparing quotes",
    "compose": "composing",
    "cards": "writing cards",
    "read": "finding concepts",
    "settle": "merging concept names",
    "write": "writing pages",
    "check": "checking sentences",
    "reconcile": "comparing claims",
    "answer": "answering",
    "embed": "preparing search by meaning",
    "batch": "waiting for the batch request to finish",
    "save": "saving",
    "copy": "copying",
    "fetch": "fetching",
    "fit": "optimizing the parameters",
    "reviews": "importing reviews",
    "changes": "sending changes",
}


_CLEARED = "\r\x1b[K"


class _Live:
    """A line of stderr that renews itself, cleared before a message and at the end of the `with` block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.done()

    def done(self) -> None:
        """Clear the line."""
        global _live
        if _live is self:
            _live = None
            _write(_CLEARED)

    def _renew(self, line: str) -> None:
        """Show `line` in place of the last one."""
        global _live
        _write(_CLEARED + line if _live is not None else line)
        _live = self


class Loading(_Live):
    """A line on stderr until the app draws its first screen; nothing if it is `plain` or there is no terminal."""

    def __init__(self, *, plain: bool) -> None:
        streams = (sys.stdin, sys.stdout, sys.stderr)
        if not plain and not is_dumb() and all(stream.isatty() for stream in streams):
            self._renew("retain: loading ...")


class Progress(_Live):
    """The progress of long work on stderr: a line that renews itself, JSON lines on request, or nothing."""

    def __init__(self, mode: str | None) -> None:
        self.jsonl, self.none = mode == "jsonl", mode == "none"
        self.live = mode is None and sys.stderr.isatty()
        self._last = 0.0

    def __call__(self, event: dict[str, Any]) -> None:
        if self.jsonl:
            _write_stderr(_json(event, sys.stderr) + "\n")
        elif event["event"] == "wait" and not self.none:  # also without a terminal: it can take minutes
            say(f"retain: {event['words']}")
        elif self.live:
            now = time.monotonic()
            if event["done"] in (0, event["of"]) or now - self._last > 0.1:
                self._last = now
                self._renew(_step_line(event))


def _step_line(event: dict[str, Any]) -> str:
    """Return how far a step is as a line; of requests to a model also what they took, and the time left."""
    done = f"{_STEP_NAMES.get(event['event'], event['event'])} {event['done']}/{event['of']}"
    name = clean_line(str(event.get("path", "")).rsplit("/", 1)[-1])[:48]
    tokens = f"{event['tokens']:,} tokens" if event.get("tokens") else ""
    usd = f"${event['usd']:.4f}" if event.get("usd") else ""
    return "  ".join(filter(None, (done, name, tokens, usd, _time_left(event.get("seconds_left")))))


def _time_left(seconds: int | None) -> str:
    """Return a remaining time in words; "" if it is unknown or over."""
    if not seconds:
        return ""
    return f"about {seconds} s left" if seconds < 90 else f"about {round(seconds / 60)} min left"


class Counter(_Live):
    """How many files were found so far, on a line of stderr that renews itself; nothing if stderr is no terminal."""

    def __init__(self) -> None:
        self.live, self.count = sys.stderr.isatty(), 0
        self._last = time.monotonic()

    def __call__(self) -> None:
        self.count += 1
        now = time.monotonic()
        if self.live and now - self._last > 0.2:
            self._last = now
            self._renew(f"counting: {self.count:,} files")


class Download(_Live):
    """The progress of a download on a line of stderr that renews itself; nothing if stderr is no terminal."""

    def __init__(self, address: str) -> None:
        self.live = sys.stderr.isatty()
        self.name = clean_line(address)[:60]
        self._last = time.monotonic()  # what is done in a moment needs no line

    def __call__(self, came: int, of: int | None) -> None:
        now = time.monotonic()
        if self.live and now - self._last > 0.2:
            self._last = now
            whole = f" of {of / 2**20:.1f}" if of else ""
            self._renew(f"fetching {came / 2**20:.1f}{whole} MiB  {self.name}")
