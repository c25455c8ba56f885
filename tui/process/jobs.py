"""Long work in a process of its own: one at a time, heard as it goes, ended when asked; the screens only look on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from textual.message import Message
from textual.message_pump import MessagePump

from tui.state import job_state
from tui.state.job_state import WorkState
from tui.strings.work import ENDING
from vault.errors import Refused

_LONGEST_LINE = 1 << 16  # bytes; a longer one is no event
_MOST_OUTPUT = 1 << 26  # bytes of JSON that are kept
_PATIENCE_S = 10.0  # after asking a process to end, before it is made to
_LEAVING_S = 3.0  # the same where the app is left, and someone waits for the shell
_LAST_WORDS_S = 2.0  # after the end of a process, for what it said: one that it left behind may keep the line open
_FRAME = timedelta(milliseconds=100)  # no screen is told more often how far it is: a slow line shall keep up


class WorkMoved(Message):
    """The work has come further, or is over; what it is now stands in `Jobs.state`."""


class Jobs:
    """What is at work for this app. The reading thread alone changes `state`, which is a value; screens are told."""

    def __init__(self) -> None:
        self._clock: Callable[[], datetime]
        self.state: WorkState | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._watching: list[MessagePump] = []
        self._told_at: datetime | None = None
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        return self.state is not None and self.state.running

    def watch(self, screen: MessagePump) -> None:
        """Tells `screen` from now on."""
        if screen not in self._watching:
            self._watching.append(screen)

    def unwatch(self, screen: MessagePump) -> None:
        if screen in self._watching:
            self._watching.remove(screen)

    def start(
        self,
        program: tuple[str, ...],
        root: Path | None,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        clock: Callable[[], datetime],
    ) -> None:
        """Starts `retain --vault ROOT WORDS` in a session of its own; without `root`, just `retain WORDS`.

        Raises: Refused while other work is going on, or where no process can be started.
        """
        if self.running:
            raise busy()
        self._clock = clock
        where = ("--vault", str(root)) if root is not None else ()
        command = [*program, *where, *spoken(words)]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            process = subprocess.Popen(command, env=dict(environment), start_new_session=True, **pipes)  # type: ignore[call-overload]
        except (OSError, ValueError) as error:
            raise Refused(f"the work could not be started: {error}") from error
        self._process, self.state = process, job_state.begun(words, self._clock())
        self._reader = threading.Thread(target=self._listen, args=(process,), daemon=True)
        self._reader.start()

    def forget(self) -> None:
        """The last result has been seen."""
        if not self.running:
            self.state = None
            self._tell()

    # --- ending -----------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Asks the work to end as Ctrl-C would; what it has saved stays. After a while it is made to end."""
        process = self._process
        with self._lock:
            if self.state is None or not self.state.running or self.state.stopping or process is None:
                return
            self.state = replace(self.state, stopping=True)
        _signal(process, signal.SIGINT)
        threading.Thread(target=_end, args=(process,), daemon=True).start()
        self._tell()

    def end(self) -> None:
        """Ends the work and waits for it, and says so: the app has left the terminal."""
        self._watching.clear()
        process, reader = self._process, self._reader
        if process is not None and reader is not None and process.poll() is None:
            with suppress(OSError, AttributeError):  # nobody may listen any more
                sys.stderr.write(f"{ENDING}\n")
                sys.stderr.flush()
            _signal(process, signal.SIGINT)
            _end(process, _LEAVING_S)
            reader.join(2 * _LAST_WORDS_S + 1)

    # --- hearing ----------------------------------------------------------------------------------------------------

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        output = bytearray()
        ends = [threading.Thread(target=_take, args=(process, output), daemon=True)]
        ends.append(threading.Thread(target=self._hear_all, args=(process,), daemon=True))
        for each in ends:
            each.start()
        code = process.wait()
        for each in ends:
            each.join(_LAST_WORDS_S)
        with self._lock:
            assert self.state is not None
            self.state = job_state.ended(self.state, code, bytes(output), self._clock())
        self._tell()

    def _hear_all(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in iter(lambda: lines.readline(_LONGEST_LINE), b""):
                self._hear(process, line)

    def _hear(self, process: subprocess.Popen[bytes], line: bytes) -> None:
        event = job_state.event_in(line)
        if event is None:
            return
        with self._lock:
            if process is not self._process or self.state is None or not self.state.running:
                return  # one that was left behind speaks of work that is over
            before, now = self.state, self._clock()
            self.state = job_state.after(before, event, now)
        named = before.stage.name if before.stage else ""
        last = self._told_at
        same = self.state.stage is not None and self.state.stage.name == named
        if not same or last is None or now - last >= _FRAME:
            self._told_at = now
            self._tell()

    def _tell(self) -> None:
        for screen in list(self._watching):
            with suppress(RuntimeError):  # its loop is gone, and it with it
                screen.post_message(WorkMoved())


def busy() -> Refused:
    """Why no work can be begun while there is other."""
    return Refused("other work is going on", hint="wait until it is done, or cancel it")


def spoken(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a command with the options that make it speak to a program, ahead of a `--`."""
    at = words.index("--") if "--" in words else len(words)
    as_json = () if words[:1] == ("init",) else ("--json",)
    return (*words[:at], "--progress", "jsonl", *as_json, *words[at:])


def _take(process: subprocess.Popen[bytes], output: bytearray) -> None:
    assert process.stdout is not None
    with process.stdout as stream:
        while block := os.read(stream.fileno(), 1 << 16):  # what there is, as the rest may never come
            if len(output) < _MOST_OUTPUT:
                output += block


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        process.send_signal(number)


def _end(process: subprocess.Popen[bytes], patience_s: float = _PATIENCE_S) -> None:
    """Waits for a process that was asked to end; then its whole group is told to, and at last made to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
