"""Jobs: one `retain` command at a time as a process, followed by its JSON events, and cancelled."""

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
from vault.errors import Refused

ENDING = "retain: stopping the running job"
_LONGEST_LINE = 1 << 16  # bytes; a longer one is no event
_MOST_OUTPUT = 1 << 26  # bytes of JSON that are kept
_PATIENCE_S = 10.0  # after asking a process to end, before it is made to
_LEAVING_S = 3.0  # the same where the app is left, and someone waits for the shell
_LAST_WORDS_S = 2.0  # after the end of a process, for what it said: one that it left behind may keep the line open
_FRAME = timedelta(milliseconds=100)  # no screen gets progress more often: a slow line shall keep up


class WorkMoved(Message):
    """The job made progress or ended; its state is `Jobs.state`."""


class Jobs:
    """The running job of this app. Only its reading thread changes `state`; screens are notified."""

    def __init__(self) -> None:
        self._clock: Callable[[], datetime]
        self.state: WorkState | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._watching: list[MessagePump] = []
        self._notified_at: datetime | None = None
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        return self.state is not None and self.state.running

    def watch(self, screen: MessagePump) -> None:
        """Notify `screen` of progress from now on."""
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
        """Start `retain --vault ROOT WORDS` as a process in its own session; without `root`, `retain WORDS`.

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
            raise Refused(f"the job could not be started: {error}") from error
        self._process, self.state = process, job_state.begun(words, self._clock())
        self._reader = threading.Thread(target=self._listen, args=(process,), daemon=True)
        self._reader.start()

    def forget(self) -> None:
        """Drop the state of the last job, once its result has been seen."""
        if not self.running:
            self.state = None
            self._notify()

    # --- ending -----------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Ask the job to stop, as Ctrl-C would; kill it after a while. What it has saved stays."""
        process = self._process
        with self._lock:
            if self.state is None or not self.state.running or self.state.stopping or process is None:
                return
            self.state = replace(self.state, stopping=True)
        _signal(process, signal.SIGINT)
        threading.Thread(target=_end, args=(process,), daemon=True).start()
        self._notify()

    def end(self) -> None:
        """Stop the job and wait for it, with a message on stderr: the app has left the terminal."""
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
        self._notify()

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
        last = self._notified_at
        same = self.state.stage is not None and self.state.stage.name == named
        if not same or last is None or now - last >= _FRAME:
            self._notified_at = now
            self._notify()

    def _notify(self) -> None:
        for screen in list(self._watching):
            with suppress(RuntimeError):  # its loop is gone, and it with it
                screen.post_message(WorkMoved())


def busy() -> Refused:
    """Return the error that another job is running."""
    return Refused("another job is running", hint="wait until it has finished, or cancel it")


def spoken(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command with its JSON progress options, placed before a `--`."""
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
    """Wait for a process to end; after a while terminate, then kill its process group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
