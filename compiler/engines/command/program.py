"""Run a program once, with a text on its standard input, and return what it prints.

It gets no shell, no terminal, an empty working folder and the variables that it is given; its process group is killed
at the end, at the time limit, when it prints too much, or when nobody wants the answer any more.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from vault.files.exports import working_folder

MOST_OUTPUT = 4 << 20  # bytes of an answer; a program that prints more is killed
_MOST_ERRORS = 4_096  # bytes, the last ones
_MOST_WORDS = 64 << 20  # bytes on standard error; a program that prints more is killed
_POLL_S = 0.1
_GRACE_S = 1.0  # for output after the program ended, while processes that it started still hold the pipe
_CHUNK = 1 << 16
_COPIED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR")
Stopped = Callable[[], bool]  # whether nobody wants the answer any more


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program printed and its exit code; `fault` says why it was killed, "" if it ended by itself."""

    output: bytes
    errors: bytes
    code: int
    fault: str = ""


def environment_of(environment: Mapping[str, str], named: Sequence[str]) -> dict[str, str]:
    """Return the variables that a program gets: where programs and home are, the locale, and those `named`."""
    names = [*_COPIED, *(name for name in environment if name.startswith("LC_")), *named]
    kept = {name: environment[name] for name in names if name in environment}
    return {"TERM": "dumb", "NO_COLOR": "1", **kept}


def run(
    arguments: Sequence[str],
    text: str,
    environment: Mapping[str, str],
    *,
    time_limit: float,
    stopped: Stopped = lambda: False,
) -> Ran:
    """Run a program on a text. `time_limit` is in seconds. Raises: OSError where it cannot be started."""
    until = time.monotonic() + time_limit
    with working_folder() as folder:
        process = _started(arguments, folder, environment)
        try:
            return _Watch(process, text.encode("utf-8", "replace"), until, stopped).result()
        finally:
            _kill(process)


def _started(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=folder,
        env=dict(environment),
        start_new_session=True,  # no terminal to ask on, and one group to kill
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and what it started, as far as that is still in its group."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


@dataclass(slots=True)
class _Watch:
    """Feeds one process and collects what it prints."""

    process: subprocess.Popen[bytes]
    left: bytes  # of the text, to be written
    until: float  # on the monotonic clock
    stopped: Stopped
    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    words: int = 0  # bytes on standard error
    fault: str = ""

    def result(self) -> Ran:
        """Return what the process did; it is to be killed afterwards, as it may still run."""
        streams = (self.process.stdin, self.process.stdout, self.process.stderr)
        with selectors.DefaultSelector() as selector:
            for stream in streams:
                assert stream is not None
                os.set_blocking(stream.fileno(), False)
                writes = stream is self.process.stdin
                selector.register(stream, selectors.EVENT_WRITE if writes else selectors.EVENT_READ)
            self._pump(selector)
        self._await_end()
        return Ran(bytes(self.output), bytes(self.errors), self.process.poll() or 0, self.fault)

    def _pump(self, selector: selectors.BaseSelector) -> None:
        """Write and read until the pipes are closed, the process has ended, or a limit is reached."""
        ended = 0.0
        while selector.get_map() and not self._is_over():
            for key, _ in selector.select(_POLL_S):
                stream: IO[bytes] = key.fileobj  # type: ignore[assignment]
                if not (self._write(stream) if stream is self.process.stdin else self._read(stream)):
                    selector.unregister(stream)
                    stream.close()
            if self.process.poll() is not None:
                ended = ended or time.monotonic()
                if time.monotonic() - ended > _GRACE_S:
                    return

    def _is_over(self) -> bool:
        """Return whether the process is to be killed; `fault` says why."""
        if self.stopped():
            self.fault = "it was stopped"
        elif time.monotonic() >= self.until:
            self.fault = "it took too long"
        elif len(self.output) > MOST_OUTPUT:
            self.fault = f"it printed more than {MOST_OUTPUT >> 20} MiB"
        elif self.words > _MOST_WORDS:
            self.fault = f"it printed more than {_MOST_WORDS >> 20} MiB to stderr"
        return bool(self.fault)

    def _write(self, stream: IO[bytes]) -> bool:
        """Write a part of the text; return whether some is left and wanted."""
        try:
            self.left = self.left[os.write(stream.fileno(), self.left[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:  # it reads no further, which it may
            return False
        return bool(self.left)

    def _read(self, stream: IO[bytes]) -> bool:
        """Read a part of what is printed; return whether more can come."""
        try:
            data = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        if stream is self.process.stdout:
            self.output += data
        else:
            self.words += len(data)
            self.errors = (self.errors + data)[-_MOST_ERRORS:]
        return bool(data)

    def _await_end(self) -> None:
        """Wait for the end of a process that has closed its pipes."""
        while not self._is_over() and self.process.poll() is None:
            time.sleep(_POLL_S / 10)
