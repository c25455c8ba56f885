"""A compile's requests answered by models: sent to a separate process, returned as replies with their price.

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
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from compiler.engines.claude.costs import Paid, refuse_unpriced
from compiler.protocol.forms import is_usable, parse, render
from compiler.protocol.mend import best, mend_request
from compiler.protocol.requests import REQUESTS, ROLE_OF, Request
from compiler.replies.asker import Answered, Failed
from compiler.replies.prompts import prompt, prompt_id
from vault.config.engine import EngineSettings
from vault.errors import WorkerFailed
from vault.ids import digest12
from vault.log.ledger import Event
from vault.text.formatting import clean_line

VERSION = "claude/2"
SILENCE = 4_000.0  # seconds without a line after which the process counts as dead: longer than any `patience`
PROGRAM = ("-m", "compiler.workers.model_process")
_INHERITED = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_SENT = ("base_url", "concurrency", "patience", "prices", "size", "part_bytes")  # of the settings
_BATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")  # it becomes part of an address
_NOTHING = "(nothing)"  # stands for an empty answer, which no server takes as a turn
_UNUSABLE = {"what": "the model's answer is not in the requested format", "hint": "try a larger model"}
ROLES = ("read", "write", "check")


@dataclass(frozen=True, slots=True)
class Spending:
    """`budget` is the most USD that a compile may cost, None for no bound; `batch` gives requests as a batch."""

    budget: float | None = None
    batch: bool = False


@dataclass(slots=True)
class _Conversation:
    """One request, the turns of the user and the model, what the model said, and what all of it took.

    `size` are the bytes sent and received.
    """

    request: Request
    turns: list[str]
    texts: list[str] = field(default_factory=list)
    paid: Paid = field(default_factory=Paid)
    size: tuple[int, int] = (0, 0)

    def hear(self, text: str, system: str) -> None:
        """Add what the model said to the turns, which followed the system prompt."""
        sent = sum(_bytes(turn) for turn in (system, *self.turns))
        self.texts.append(text)
        self.turns.append(text.rstrip() or _NOTHING)
        self.size = self.size[0] + sent, self.size[1] + _bytes(text)

    def correction(self) -> str:
        """Return the message that asks to correct the first answer; "" for a right one and where it was sent."""
        return mend_request(self.request, self.texts[0]) if len(self.turns) == 2 else ""

    def answered(self, engine: str) -> Answered | None:
        """Return the answer with what of it is good, corrected if that was asked for; None if nothing of it is."""
        if not self.texts:
            return None
        reply, faults = parse(self.request, self.texts[0]) if len(self.texts) == 1 else best(self.request, *self.texts)
        if not is_usable(self.request, reply):
            return None
        refused = tuple(str(fault) for fault in faults)
        return Answered(reply, engine, self.paid.tokens, self.paid.usd, refused, self.size)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class ModelBackend:
    """Answers a compile's requests by models; a context manager that ends the process it started."""

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
        self._process: SpeakerProcess | None = None
        self._open_batches: dict[str, list[str]] = {}  # of earlier runs, not fetched: names of their requests
        self._record: Callable[[Event], None] = lambda _: None
        self._systems: dict[str, str] = {}  # system prompts by type, read once for all requests
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

    # --- requests and answers -----------------------------------------------------------------------------------------

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        """Yield (index, answer) as they come. An answer with faults may be corrected once, in the same conversation."""
        process = self._started()
        asked = [_Conversation(request, [render(request)]) for request in requests]
        longest_first = sorted(range(len(asked)), key=lambda n: -len(asked[n].turns[0]))
        tasks = [self._task(n, asked[n]) for n in longest_first]
        names = {task["name"] for task in tasks}
        open_batches = {id_: there for id_, there in self._open_batches.items() if names.intersection(there)}
        process.say({"tasks": tasks, "batch": self.spending.batch, "open_batches": open_batches})
        rounds = 1
        for line in process.lines():
            self.lost = float(line.get("lost", self.lost))
            if "over" in line:
                rounds -= 1
                if not rounds:
                    return
                continue
            if "n" not in line:
                self._handle_event(line)
                continue
            n = int(line["n"])
            one, paid = asked[n], Paid.of(line)
            self.paid += paid
            one.paid += paid
            if "again" in line:  # it was paid for, and is asked once more
                continue
            if "text" in line:
                one.hear(str(line["text"]), self._systems[one.request.type])
            if correction := one.correction():
                one.turns.append(correction)
                process.say({"tasks": [self._task(n, one)], "batch": False, "open_batches": {}})
                rounds += 1
                continue
            yield n, self._answer(one, line)

    def _answer(self, one: _Conversation, line: Mapping[str, Any]) -> Answered | Failed:
        """Return the answer that a conversation ends with. `line` is its last: what came before a fault counts."""
        answered = one.answered(f"{VERSION} {clean_line(self._model(one.request))}")
        if answered is not None:
            return answered
        fault = line.get("fault", _UNUSABLE)
        what, hint = (clean_line(str(fault.get(key, "")))[:300] for key in ("what", "hint"))
        final = bool(fault.get("final"))
        what = f"{self.place}: {what}" if self.place else what
        return Failed(what, hint, final, one.paid.tokens, one.paid.usd)

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

    def _task(self, n: int, one: _Conversation) -> dict[str, Any]:
        type_ = one.request.type
        name = f"{one.request.id}-{digest12(prompt_id(type_))}"
        return {"n": n, "name": name, "type": type_, "model": self._model(one.request), "turns": one.turns}

    def _model(self, request: Request) -> str:
        return self.models[ROLE_OF[request.type]]

    def _started(self) -> SpeakerProcess:
        if self._process is None:
            key = self._key()
            if self.place:  # reported before anything is sent
                words = f"requests are sent to {clean_line(self.place)}"
                self._progress({"event": "wait", "done": 0, "of": 1, "words": words})
            settings = {key: value for key, value in asdict(self.settings).items() if key in _SENT}
            self._systems = {type_: prompt(type_).text for type_ in REQUESTS}
            self._process = start_speaker(
                {"settings": settings, "key": key, "systems": self._systems, "cap": self.spending.budget}
            )
        return self._process


# --- the process ---


class SpeakerProcess:
    """The child process that sends questions to models. It ends when its input does."""

    def __init__(self, begin: Mapping[str, Any]) -> None:
        # -I: neither environment nor working directory may name code to load; "/" is outside every vault. The key goes
        # over the pipe, as other processes can read a process's arguments and environment.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", *PROGRAM],
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
        hint = "run the command again: answers so far are stored; requests in progress may be billed"
        return WorkerFailed("the model process ended unexpectedly", hint=hint)

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
