"""A compile's questions answered by models: sent to a separate process, returned as replies with their price.

The process that publishes loads no client and opens no socket; the other one gets text, never a file.
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
from typing import IO, Any

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
from vault.text.formatting import clean_line

VERSION = "claude/1"
SILENCE = 4_000.0  # seconds without a line after which the process counts as dead: longer than any `patience`
PROGRAM = ("-m", "compiler.workers.model_process")
_INHERITED = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_SENT = ("base_url", "concurrency", "patience", "prices")  # of the settings
_BATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")  # it becomes part of an address
ROLES = ("extract", "write", "check")
ReadBlocks = Callable[[Request], tuple[list[dict[str, Any]], int]]


@dataclass(frozen=True, slots=True)
class Spending:
    """`budget` is the most USD that a compile may cost, None for no bound; `batch` gives questions as a batch."""

    budget: float | None = None
    batch: bool = False


class ModelBackend:
    """Answers a compile's questions by models; a context manager that ends the process it started."""

    def __init__(
        self,
        settings: EngineSettings,
        key: Callable[[], str],
        spending: Spending | None = None,
        progress: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> None:
        """`key` returns the API key, and is called when it is needed.

        Raises: ModelUnavailable where no model is named; UsageError for a budget where a model has no price.
        """
        self.settings, self._key, self._progress = settings, key, progress
        self.spending = spending or Spending()
        self.models = {role: settings.compiling(role) for role in ROLES}
        self.paid = Paid()
        self.lost = 0.0  # USD that calls which broke off may have cost on top of `paid`
        self.shown: ReadBlocks = lambda _: ([], 0)  # the document pages that a request is about, and their tokens
        self._process: SpeakerProcess | None = None
        self._open_batches: dict[str, list[str]] = {}  # of earlier runs, not fetched: names of their questions
        self._record: Callable[[Event], None] = lambda _: None
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
        if self._process is not None:
            self._process.close()
            self._process = None

    def opened(self, notes: Sequence[Event], record: Callable[[Event], None]) -> None:
        """Take the batch events of earlier runs, and the function that records those of this one."""
        self._record = record
        ended = {str(event.get("id")) for event in notes if event.get("type") == "batch-end"}
        for event in notes:
            id_, names = str(event.get("id")), event.get("names")
            same_server = event.get("base_url") == self.settings.base_url
            if event.get("type") != "batch" or not same_server or not isinstance(names, list):
                continue
            if _BATCH_ID.fullmatch(id_) and id_ not in ended:
                self._open_batches[id_] = [str(name) for name in names]

    # --- questions and answers ----------------------------------------------------------------------------------------

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        """Yield (index, answer) as they come. A check without a verdict in its bundle is asked once more, by itself."""
        omitted: list[int] = []
        open_ = set(range(len(requests)))
        stopped = False
        for n, answer in self._round(requests, list(prompts_to_messages.questions(requests)), omitted):
            open_.discard(n)
            stopped |= isinstance(answer, Failed) and answer.final
            yield n, answer
        if omitted and not stopped:
            again = [
                prompts_to_messages.bundle([(n, r)]) for n in omitted if isinstance(r := requests[n], CheckRequest)
            ]
            for n, answer in self._round(requests, again, [], again=True):
                open_.discard(n)
                yield n, answer
            for n in omitted:
                if n in open_:
                    yield n, Failed("the model gave no verdict")

    def _round(
        self,
        requests: Sequence[Request],
        asked: Sequence[prompts_to_messages.Question],
        omitted: list[int],
        *,
        again: bool = False,
    ) -> Iterator[tuple[int, Answered | Failed]]:
        process = self._started()
        tasks = [self._task(n, question, requests) for n, question in enumerate(asked)]
        names = {task["name"] for task in tasks}
        open_batches = {id_: there for id_, there in self._open_batches.items() if names.intersection(there)}
        process.say({"tasks": tasks, "batch": self.spending.batch and not again, "open_batches": open_batches})
        paid: dict[int, Paid] = {}
        for line in process.lines():
            self.lost = float(line.get("lost", self.lost))
            if "over" in line:
                return
            if "n" not in line:
                self._handle_event(line)
                continue
            n = int(line["n"])
            now = Paid.of(line)
            self.paid += now
            paid[n] = paid.get(n, Paid()) + now
            if "again" not in line:
                yield from self._answers_in(line, asked[n], paid[n], omitted)

    def _answers_in(
        self, line: Mapping[str, Any], question: prompts_to_messages.Question, paid: Paid, omitted: list[int]
    ) -> Iterator[tuple[int, Answered | Failed]]:
        """Yield the answers to the requests of one question, its price shared among them."""
        shares = paid.shared(len(question.requests))
        replies: Mapping[int, Reply] = {}
        fault = line.get("fault")
        if fault is None:
            try:
                replies = prompts_to_messages.replies(
                    question, prompts_to_messages.SHAPES[question.type].model_validate(line["value"])
                )
            except (ValidationError, KeyError) as error:
                fault = {"what": f"invalid answer: {clean_line(str(error))[:200]}"}
        engine = f"{VERSION} {clean_line(self._model(question))}"
        for n, share in zip(question.requests, shares, strict=True):
            if n in replies:
                yield n, Answered(replies[n], engine, share.tokens, share.usd)
            elif fault is not None:
                what, hint = (clean_line(str(fault.get(key, "")))[:300] for key in ("what", "hint"))
                yield n, Failed(self._with_place(what), hint, bool(fault.get("final")), share.tokens, share.usd)
            else:
                omitted.append(n)

    def _with_place(self, what: str) -> str:
        return f"{self.place}: {what}" if self.place else what

    def _handle_event(self, line: Mapping[str, Any]) -> None:
        if "batch" in line:
            event = {"v": 1, "type": "batch", "base_url": self.settings.base_url}
            self._record({**event, "id": str(line["batch"]["id"]), "names": list(line["batch"]["names"])})
        elif "batch_end" in line:
            self._open_batches.pop(str(line["batch_end"]), None)
            self._record({"v": 1, "type": "batch-end", "id": str(line["batch_end"])})
        elif "note" in line:
            self._progress({"event": "wait", "done": 0, "of": 1, "words": clean_line(str(line["note"]))})
        elif line.get("event") == "batch":
            self._progress({"event": "batch", "done": int(line["done"]), "of": int(line["of"])})

    def _task(self, n: int, question: prompts_to_messages.Question, requests: Sequence[Request]) -> dict[str, Any]:
        asked = [requests[i] for i in question.requests]
        keys = [digest(rests(request), prompt_id(request.type)) for request in asked]
        name = keys[0][:40] if len(keys) == 1 else digest(" ".join(keys), "")[:40]
        task: dict[str, Any] = {"n": n, "name": name, "type": question.type, "text": question.text}
        blocks, tokens = self.shown(asked[0]) if self.settings.pages and len(asked) == 1 else ([], 0)
        if blocks:
            task |= {"blocks": blocks, "block_tokens": tokens}
        return task | {"model": self._model(question)}

    def _model(self, question: prompts_to_messages.Question) -> str:
        return self.models[question.role]

    def _started(self) -> SpeakerProcess:
        if self._process is None:
            key = self._key()
            if self.place:  # reported before anything is sent
                words = f"questions are sent to {clean_line(self.place)}"
                self._progress({"event": "wait", "done": 0, "of": 1, "words": words})
            settings = {key: value for key, value in asdict(self.settings).items() if key in _SENT}
            systems = {type_: prompts_to_messages.system(type_) for type_ in prompts_to_messages.SHAPES}
            self._process = start_speaker(
                {"settings": settings, "key": key, "systems": systems, "cap": self.spending.budget}
            )
        return self._process


# --- the process ---


class SpeakerProcess:
    """The child process that sends questions to models. It ends when its input does."""

    def __init__(self, begin: Mapping[str, Any]) -> None:
        # -I: neither environment nor working directory may name code to load; "/" is outside every vault. The key goes
        # over the pipe, as other processes can read a process's arguments and environment.
        self._process = subprocess.Popen(
            [sys.executable, "-I", *PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),  # noqa: PTH100 (a name, not a file)
            env={name: os.environ[name] for name in _INHERITED if name in os.environ},
            close_fds=True,
            text=True,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        self._received: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()
        self.say(begin)

    def _read(self, out: IO[str]) -> None:
        with suppress(OSError, ValueError):
            for line in out:
                self._received.put(line)
        self._received.put("")

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a line. Raises: WorkerFailed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._dead() from error

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines that it sends, without end. Raises: WorkerFailed where it died or is silent too long."""
        while True:
            try:
                line = self._received.get(timeout=SILENCE)
                message = json.loads(line) if line.endswith("\n") else None
            except (queue.Empty, ValueError):
                message = None
            if not isinstance(message, dict):
                raise self._dead()
            yield message

    def _dead(self) -> WorkerFailed:
        self.close()
        hint = "run it again: answers so far are stored; calls that were under way may be billed"
        return WorkerFailed("the model process died", hint=hint)

    def close(self) -> None:
        """Kill it."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError, ValueError):  # ValueError: another thread reads it
                    stream.close()


start_speaker: Callable[[Mapping[str, Any]], SpeakerProcess] = SpeakerProcess  # with settings, key, prompts, budget
