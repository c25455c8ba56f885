"""A model as a backend: questions go to a process of its own, and their answers come back as replies with their price.

The process that publishes loads no client and opens no socket; what the other one gets is words, never a file.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import IO, Any, Protocol

from pydantic import ValidationError

from compiler.engines.claude import prompts_to_messages
from compiler.engines.claude.costs import Paid, refuse_unpriced
from compiler.model.requests import CheckRequest, Reply, Request, rests
from compiler.replies.asker import Answered, Failed
from compiler.replies.journal import digest
from compiler.replies.prompts import prompt_id
from vault.config.engine import EngineSettings
from vault.errors import WorkerFailed
from vault.log.ledger import Event
from vault.text.sanitize import clean_line

VERSION = "claude/1"
SILENCE = 4_000.0  # seconds without a line after which the other process is taken for dead: more than any patience
PROGRAM = ("-m", "compiler.workers.model_process")
_PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_SENT = ("base_url", "concurrency", "patience", "prices")  # of the settings
_BATCH = re.compile(r"[A-Za-z0-9_-]{1,100}")  # the id of one: it becomes part of an address
ROLES = ("extract", "write", "check")
Shown = Callable[[Request], tuple[list[dict[str, Any]], int]]


@dataclass(frozen=True, slots=True)
class Spending:
    """`budget` is the most USD that a compile may cost, None for no bound; `batch` gives questions as a batch."""

    budget: float | None = None
    batch: bool = False


class ModelBackend:
    """Answers a compile's questions by models; a context manager, as it holds a process while it is asked."""

    def __init__(
        self,
        settings: EngineSettings,
        key: Callable[[], str],
        spending: Spending | None = None,
        progress: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        """`key` gives the key when it is needed. Raises: ModelUnavailable where no model is named; UsageError
        for a budget where a model has no price.
        """
        self.settings, self._key, self._progress = settings, key, progress
        self.spending = spending or Spending()
        self.models = {role: settings.compiling(role) for role in ROLES}
        self.paid = Paid()
        self.lost = 0.0  # USD that calls which broke off may have cost on top of what is told
        self.shown: Shown = lambda _: ([], 0)
        self._speaker: Speaker | None = None
        self._given: dict[str, list[str]] = {}  # batches of earlier runs that were not fetched
        self._lost: list[tuple[str, list[str]]] = []  # batches whose giving broke off: since when, and their questions
        self._known: list[str] = []  # ids of all batches
        self._note: Callable[[Event], None] = lambda _: None
        if self.spending.budget is not None:
            refuse_unpriced(settings, self.models.values())

    @property
    def name(self) -> str:
        models = list(dict.fromkeys(self.models.values()))
        return f"{VERSION} {clean_line(', '.join(models))}"

    @property
    def place(self) -> str:
        return self.settings.place

    def __enter__(self) -> ModelBackend:
        return self

    def __exit__(self, *_: object) -> None:
        if self._speaker is not None:
            self._speaker.close()
            self._speaker = None

    def opened(self, notes: Sequence[Event], note: Callable[[Event], None]) -> None:
        """What earlier runs took down of their batches, and the hand that takes down ours."""
        self._note = note
        ended = {str(event.get("id")) for event in notes if event.get("type") == "batch-end"}
        for event in notes:
            id_, names, since = str(event.get("id")), event.get("names"), str(event.get("since"))
            if event.get("base_url") != self.settings.base_url or not isinstance(names, list):
                continue
            if event.get("type") == "batch-lost" and _is_instant(since):
                self._lost.append((since, [str(name) for name in names]))
            if event.get("type") == "batch" and _BATCH.fullmatch(id_):
                self._known.append(id_)
                if id_ not in ended:
                    self._given[id_] = [str(name) for name in names]

    # --- questions and answers ----------------------------------------------------------------------------------------

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        """Each answer as it comes. A check that its bundle passed over is asked once more, by itself."""
        over: list[int] = []
        open_ = set(range(len(requests)))
        stopped = False
        for n, answer in self._round(requests, list(prompts_to_messages.questions(requests)), over):
            open_.discard(n)
            stopped |= isinstance(answer, Failed) and answer.final
            yield n, answer
        if over and not stopped:
            again = [prompts_to_messages.bundle([(n, r)]) for n in over if isinstance(r := requests[n], CheckRequest)]
            for n, answer in self._round(requests, again, [], again=True):
                open_.discard(n)
                yield n, answer
            for n in over:
                if n in open_:
                    yield n, Failed("the model gave no verdict")

    def _round(
        self,
        requests: Sequence[Request],
        asked: Sequence[prompts_to_messages.Question],
        over: list[int],
        *,
        again: bool = False,
    ) -> Iterator[tuple[int, Answered | Failed]]:
        speaker = self._opened()
        puts = [self._put(n, question, requests) for n, question in enumerate(asked)]
        names = {put["name"] for put in puts}
        given = {id_: there for id_, there in self._given.items() if names.intersection(there)}
        lost = [(since, there) for since, there in self._lost if names.intersection(there)]
        asked_for = {"puts": puts, "batch": self.spending.batch and not again}
        speaker.say({**asked_for, "given": given, "lost": lost, "known": self._known})
        paid: dict[int, Paid] = {}
        for line in speaker.lines():
            self.lost = float(line.get("lost", self.lost))
            if "over" in line:
                return
            if "n" not in line:
                self._hear(line)
                continue
            n = int(line["n"])
            now = Paid.of(line)
            self.paid += now
            paid[n] = paid.get(n, Paid()) + now
            if "again" not in line:
                yield from self._answers_in(line, asked[n], paid[n], over)

    def _answers_in(
        self, line: Mapping[str, Any], question: prompts_to_messages.Question, paid: Paid, over: list[int]
    ) -> Iterator[tuple[int, Answered | Failed]]:
        """The answers to the requests of one question, its price shared among them."""
        shares = paid.shared(len(question.requests))
        said: Mapping[int, Reply] = {}
        fault = line.get("fault")
        if fault is None:
            try:
                said = prompts_to_messages.replies(
                    question, prompts_to_messages.SHAPES[question.of].model_validate(line["value"])
                )
            except (ValidationError, KeyError) as error:
                fault = {"what": f"the answer makes no sense: {clean_line(str(error))[:200]}"}
        engine = f"{VERSION} {clean_line(self._model(question))}"
        for n, share in zip(question.requests, shares, strict=True):
            if n in said:
                yield n, Answered(said[n], engine, share.tokens, share.usd)
            elif fault is not None:
                what, hint = (clean_line(str(fault.get(key, "")))[:300] for key in ("what", "hint"))
                yield n, Failed(self._told(what), hint, bool(fault.get("final")), share.tokens, share.usd)
            else:
                over.append(n)

    def _told(self, what: str) -> str:
        return f"{self.place}: {what}" if self.place else what

    def _hear(self, line: Mapping[str, Any]) -> None:
        if "batch" in line:
            event = {"v": 1, "type": "batch", "base_url": self.settings.base_url}
            self._note({**event, "id": str(line["batch"]["id"]), "names": list(line["batch"]["names"])})
        elif "batch_lost" in line:
            event = {"v": 1, "type": "batch-lost", "base_url": self.settings.base_url}
            self._note({**event, "since": str(line["batch_lost"]["since"]), "names": list(line["batch_lost"]["names"])})
        elif "batch_end" in line:
            self._given.pop(str(line["batch_end"]), None)
            self._note({"v": 1, "type": "batch-end", "id": str(line["batch_end"])})
        elif "note" in line:
            self._progress({"event": "wait", "done": 0, "of": 1, "words": clean_line(str(line["note"]))})
        elif line.get("event") == "batch":
            self._progress({"event": "batch", "done": int(line["done"]), "of": int(line["of"])})

    def _put(self, n: int, question: prompts_to_messages.Question, requests: Sequence[Request]) -> dict[str, Any]:
        asked = [requests[i] for i in question.requests]
        keys = [digest(rests(request), prompt_id(request.type)) for request in asked]
        name = keys[0][:40] if len(keys) == 1 else digest(" ".join(keys), "")[:40]
        put: dict[str, Any] = {"n": n, "name": name, "of": question.of, "words": question.words}
        blocks, tokens = self.shown(asked[0]) if self.settings.pages and len(asked) == 1 else ([], 0)
        if blocks:
            put |= {"blocks": blocks, "shown": tokens}
        return put | {"model": self._model(question)}

    def _model(self, question: prompts_to_messages.Question) -> str:
        return self.models[question.role]

    def _opened(self) -> Speaker:
        if self._speaker is None:
            key = self._key()
            if self.place:  # before a word goes there
                words = f"the questions go to {clean_line(self.place)}"
                self._progress({"event": "wait", "done": 0, "of": 1, "words": words})
            settings = {key: value for key, value in asdict(self.settings).items() if key in _SENT}
            systems = {of: prompts_to_messages.system(of) for of in prompts_to_messages.SHAPES}
            self._speaker = start_speaker(
                {"settings": settings, "key": key, "systems": systems, "cap": self.spending.budget}
            )
        return self._speaker


def _is_instant(text: str) -> bool:
    """Return whether a text is an instant."""
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


# --- the other process ------------------------------------------------------------------------------------------------


class Speaker(Protocol):
    """What answers rounds of questions as `compiler.workers.model_process` does."""

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a round of questions. Raises WorkerFailed."""
        ...

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield what it sends, without end. Raises WorkerFailed where it died."""
        ...

    def close(self) -> None:
        """End it; it is not asked again."""
        ...


class SpeakerProcess:
    """The child that speaks to models. It ends when its input does."""

    def __init__(self, begin: Mapping[str, Any]) -> None:
        # -I: neither the environment nor the working directory may name code; "/" is outside every vault. The key
        # goes over the pipe: arguments and environment of a process can be seen by others.
        self._process = subprocess.Popen(
            [sys.executable, "-I", *PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),  # noqa: PTH100 (a name, not a file)
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            close_fds=True,
            text=True,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        self._came: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()
        self.say(begin)

    def _read(self, out: IO[str]) -> None:
        with suppress(OSError, ValueError):
            for line in out:
                self._came.put(line)
        self._came.put("")

    def say(self, message: Mapping[str, Any]) -> None:
        """Raises: WorkerFailed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._dead() from error

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it says, for as long as it is read. Raises: WorkerFailed where it died or says nothing any more."""
        while True:
            try:
                line = self._came.get(timeout=SILENCE)
                said = json.loads(line) if line.endswith("\n") else None
            except (queue.Empty, ValueError):
                said = None
            if not isinstance(said, dict):
                raise self._dead()
            yield said

    def _dead(self) -> WorkerFailed:
        self.close()
        hint = "run it again: what was answered is kept, and calls that were under way may be billed"
        return WorkerFailed("the process that speaks to the model died", hint=hint)

    def close(self) -> None:
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError, ValueError):  # ValueError: another thread reads it
                    stream.close()


start_speaker: Callable[[Mapping[str, Any]], Speaker] = SpeakerProcess  # called with settings, key, prompts and budget
