"""The answers of a program of the user's to the requests of a compile."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from compiler.engines.claude.prices import guessed
from compiler.engines.command import program
from compiler.engines.command.answer_text import said
from compiler.engines.command.program import Ran, Stopped
from compiler.protocol.faults import Fault
from compiler.protocol.forms import is_usable, parse, render
from compiler.protocol.mend import best, mend_request
from compiler.protocol.requests import ROLE_OF, Request
from compiler.replies.asker import Answered, Failed
from compiler.replies.prompts import prompt
from vault.config.command import CommandSettings
from vault.text.formatting import clean_line, short_line
from vault.text.redaction import protect, redact

VERSION = "command/1"
_MOST_USELESS = 8  # answers without the form, before any with it: then the others would be no better
_MOST_PROSE = 4_000  # characters of such an answer that are shown to the program again
_MODEL = ("-m", "--model", "run")  # after these comes the name of a model: `llm -m NAME`, `ollama run NAME`
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")  # in the name of a variable


@dataclass(eq=False)
class NoAnswer(Exception):
    """A run of the program without an answer; with `final`, no other run will have one."""

    what: str
    hint: str = ""
    final: bool = False


@dataclass(slots=True)
class _Bill:
    """What one request took, sent and received: tokens, estimated from the lengths of the texts, and bytes."""

    tokens: tuple[int, int] = (0, 0)
    size: tuple[int, int] = (0, 0)

    def add(self, sent: str, received: str) -> None:
        self.tokens = self.tokens[0] + guessed(sent), self.tokens[1] + guessed(received)
        self.size = self.size[0] + len(sent.encode("utf-8", "replace")), self.size[1] + len(received.encode())


class CommandBackend:
    """Answers requests by running a program for each; a context manager that kills what still runs."""

    def __init__(self, settings: CommandSettings) -> None:
        self.settings = settings
        self.tokens = (0, 0)  # sent and received, estimated from the lengths of the texts
        self._environment = program.environment_of(os.environ, settings.variables)
        for name in filter(_SECRET.search, settings.variables):
            protect(self._environment.get(name, ""))
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._usable = self._useless = self._broken = 0  # answers in the form, others, and runs without any

    @property
    def name(self) -> str:
        return _engine(self.settings.arguments)

    def __enter__(self) -> CommandBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        """Yield (index, answer) as they come, several programs at once; after a final failure, no more."""
        over = threading.Event()
        enough = min(self.settings.concurrency, len(requests))

        def is_over() -> bool:
            return over.is_set() or self._closed.is_set()

        pool = ThreadPoolExecutor(self.settings.concurrency, "command")
        try:
            running = {pool.submit(self._answer, request, enough, is_over): n for n, request in enumerate(requests)}
            for done in as_completed(running):
                answer = done.result()
                yield running[done], answer
                if isinstance(answer, Failed) and answer.final:
                    return
        finally:
            over.set()
            pool.shutdown(cancel_futures=True)

    def _answer(self, request: Request, enough: int, stopped: Stopped) -> Answered | Failed:
        """Return the answer to a request, mended once. After `enough` runs without any answer, the failure is final."""
        arguments = self.settings.of_role(ROLE_OF[request.type])
        asked = f"{prompt(request.type).text}\n\n{render(request)}"
        try:
            text = self._said(arguments, asked, stopped)
        except NoAnswer as fault:
            return self._failed(fault, asked, enough)
        reply, found = parse(request, text)
        faults: Sequence[Fault] = found
        bill = _Bill()
        bill.add(asked, text)
        if message := mend_request(request, text):
            shown = text if is_usable(request, reply) else text[:_MOST_PROSE]
            again = f"{asked}\n\n=== YOUR ANSWER\n{shown}\n\n=== WHAT IS LEFT TO DO\n{message}"
            try:
                correction = self._said(arguments, again, stopped)
            except NoAnswer:
                correction = ""
            bill.add(again, correction)
            if correction:
                reply, faults = best(request, text, correction)
        self._count(bill.tokens)
        if not is_usable(request, reply):
            return self._useless_answer(arguments, text, bill.tokens)
        with self._lock:
            self._usable += 1
        refused = tuple(map(str, faults))
        return Answered(reply, _engine(arguments), bill.tokens, None, refused, bill.size)

    def _said(self, arguments: Sequence[str], text: str, stopped: Stopped) -> str:
        """Return what a program says to a text. Raises: NoAnswer."""
        name = _program(arguments)
        if stopped():
            raise NoAnswer(f"{name} was not run")
        try:
            limit = self.settings.patience
            ran = program.run(arguments, text, self._environment, time_limit=limit, stopped=stopped)
        except (OSError, ValueError) as error:
            raise _not_started(name, error) from error
        answer = said(ran.output)
        what = ran.fault or _end(ran) or ("it reports an error" if answer.error else "")
        if not what and not answer.text:
            what = "it printed nothing"
        if what:
            words = _last_words(ran) or answer.error or (answer.text if ran.code else "")
            by_hand = f"try it by hand: echo Hello | {short_line(shlex.join(arguments), 200)}"
            raise NoAnswer(f"{name}: {what}", f"it says: {short_line(redact(words), 300)}" if words else by_hand)
        return redact(answer.text)

    def _failed(self, fault: NoAnswer, asked: str, enough: int) -> Failed:
        """Return the failure of a run, final where none before it had an answer."""
        tokens = 0 if fault.final else guessed(asked), 0
        self._count(tokens)
        with self._lock:
            self._broken += 1
            final = fault.final or (self._broken >= enough and not self._usable and not self._useless)
        return Failed(fault.what, fault.hint, final, tokens, None)

    def _useless_answer(self, arguments: Sequence[str], text: str, tokens: tuple[int, int]) -> Failed:
        """Return the failure of an answer without the form, final where many had none and none had it."""
        with self._lock:
            self._useless += 1
            final = not self._usable and self._useless >= _MOST_USELESS
        what = f"{_program(arguments)}: its output is not in the requested format"
        hint = f'the output starts: {short_line(text, 120)}; try a larger model, or `size = "small"`'
        return Failed(what, hint, final, tokens, None)

    def _count(self, tokens: tuple[int, int]) -> None:
        with self._lock:
            self.tokens = self.tokens[0] + tokens[0], self.tokens[1] + tokens[1]


def _engine(arguments: Sequence[str]) -> str:
    """Return the engine's name as journals have it: its version, the program and, where it names one, its model."""
    words = [_program(arguments)]
    for before, word in itertools.pairwise(arguments):
        flag, _, value = word.partition("=")
        if before in _MODEL and not word.startswith("-"):
            words.append(word)
            break
        if flag == "--model" and value:
            words.append(value)
            break
    return clean_line(f"{VERSION} {' '.join(words)}")[:120]


def _program(arguments: Sequence[str]) -> str:
    return clean_line(Path(arguments[0]).name)


def _end(ran: Ran) -> str:
    """Return how a program ended that did not end well; "" if it did."""
    if ran.code == 0:
        return ""
    return f"it exited with code {ran.code}" if ran.code > 0 else f"it was killed by signal {-ran.code}"


def _last_words(ran: Ran) -> str:
    """Return the last lines of what a program printed as messages, as one line."""
    lines = ran.errors.decode("utf-8", "replace").strip().splitlines()
    return clean_line(" ".join(lines[-4:]))[-300:]


def _not_started(name: str, error: Exception) -> NoAnswer:
    """Return the failure of a program that cannot be started."""
    if isinstance(error, FileNotFoundError):
        return NoAnswer(
            f"the program {name} was not found", "install it, or choose another with `retain engine`", final=True
        )
    reason = clean_line(os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)).lower()
    return NoAnswer(f"{name} cannot be started: {reason}", "it is set by `command` in your config.toml", final=True)
