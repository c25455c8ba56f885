"""Open orders: the requests of a build without an answer, found by a dry build and cached until something changes.

A build is run that publishes nothing and stops at the first stage with open requests. Since that takes seconds, they
are cached in a file until the vault's files, the prompts or other replies than those to them change.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime

from compiler.build.snapshot import Snapshot, steady
from compiler.model.engine_names import FAMILY
from compiler.model.options import Options
from compiler.orders.files import ORDER, WORK, plain, saved_questions
from compiler.protocol.requests import REQUESTS, Request, request_in
from compiler.readers.formats import VERSIONS
from compiler.replies.asker import Waiting
from compiler.replies.journal import FOLDER, VERSION, Entry, Journal, entry_in
from compiler.replies.prompts import prompt_id
from vault.errors import EditedMeanwhile, Refused
from vault.files.guard import Guard, Scope
from vault.ids import ulid
from vault.locks import lock
from vault.log import ledger
from vault.vault import Vault

STAGED = f"{WORK}/replies"
_VERSION = 3
_LARGEST = 64 << 20  # bytes of the cached requests, or of what an agent staged, that are looked at
_WAIT_S = 300.0  # for another process that is finding out what is open


def is_order(word: str) -> bool:
    """Return whether the word has the form of an order's id."""
    return ORDER.fullmatch(word) is not None


@dataclass(frozen=True, slots=True)
class OrderDesk:
    """Where orders are taken and answered: the vault, or the sandbox, in which only the work folder is writable."""

    vault: Vault
    sandboxed: bool = False

    @property
    def guard(self) -> Guard:
        return self.vault.guard(Scope.AGENT if self.sandboxed else Scope.PUBLISHER)

    @property
    def cache(self) -> str:
        return f"{WORK}/board.json" if self.sandboxed else ".retain/cache/orders.json"

    @property
    def folder(self) -> str:
        """Return the folder to which replies are added."""
        return STAGED if self.sandboxed else FOLDER

    def alone(self) -> AbstractContextManager[object]:
        """Return a lock, so that only one process looks for open requests; in the sandbox there is none."""
        if self.sandboxed:
            return nullcontext()
        return lock(self.vault.root, "orders", purpose="looking for open requests", timeout_s=_WAIT_S)

    def journal(self) -> Journal:
        """Return the vault's journal, in the sandbox with what waits in the work folder."""
        journal, _ = Journal.of(self.vault)
        for entry in self.staged():
            journal.learn(entry)
        return journal

    def staged(self) -> list[Entry]:
        """Return the replies that wait in the work folder of the sandbox."""
        lines = staged_lines(self.vault) if self.sandboxed else ()
        return [entry for _, event in lines if (entry := entry_in(event)) is not None]


def staged_lines(vault: Vault) -> Iterator[tuple[str, ledger.Event]]:
    """Yield (file, line) of what is in the work folder, up to a limit of bytes."""
    left = _LARGEST
    for path in vault.paths(STAGED, ".jsonl"):
        left -= (vault.root / path).lstat().st_size
        if left < 0:
            return
        with suppress(Refused):  # behind a link
            events, _ = ledger.decode(vault.read_bytes(path) or b"", path)
            yield from ((path, event) for event in events)


@dataclass(slots=True)
class Board:
    """The open requests by id, of the first stage of the build that has any. Without any, all is answered.

    `digest` is of all that they depend on, `run` names the file for replies. `answered` are the ids of those answered
    since they were found; `questions` are what a user or an agent asked besides.
    """

    requests: Mapping[str, Request]
    digest: str
    run: str
    answered: set[str] = field(default_factory=set)
    questions: Mapping[str, Request] = field(default_factory=dict)
    replies: int = 0  # in the journal

    @property
    def done(self) -> bool:
        """Return whether nothing is open in any stage."""
        return not self.requests and not self.questions

    @property
    def stage_is_answered(self) -> bool:
        """Return whether the stage's last request was answered since, so that the next stage may be open."""
        return bool(self.requests) and self.answered.issuperset(self.requests)

    def open(self, of: str = "") -> dict[str, Request]:
        """Return the open requests, of one type or all: first questions, then in the order of the build."""
        found = {**self.questions, **self.requests}
        return {i: r for i, r in found.items() if i not in self.answered and of in ("", r.type)}

    def counts(self) -> dict[str, int]:
        """Return how many requests are open, by type."""
        return dict(sorted(Counter(request.type for request in self.open().values()).items()))


def open_board(desk: OrderDesk, at: datetime) -> Board:
    """Return what is open now. Raises what a build raises: WorkerFailed, Refused, Damaged; LockHeld."""
    board = current_board(desk)
    if board is None or board.stage_is_answered:
        with desk.alone():
            board = current_board(desk)  # another process may have found it meanwhile
            if board is None or board.stage_is_answered:
                board = _find(desk, at)
    board.questions = saved_questions(desk.vault)
    return board


def current_board(desk: OrderDesk) -> Board | None:
    """Return the cached board with what was answered since; None if it may be outdated."""
    board = cached_board(desk)
    seen, journal = steady(desk.vault.root, desk.vault.notes), desk.journal()
    if board is None or board.digest != _digest(seen, journal, board.requests):
        return None
    board.answered = {e.request for e in journal.entries if e.request in board.requests}
    board.questions, board.replies = saved_questions(desk.vault), len(journal.entries)
    return board


def cached_board(desk: OrderDesk) -> Board | None:
    """Return the last board that was found, even if outdated; None where there is none, or it is damaged."""
    try:
        data = desk.guard.read(desk.cache)
        found = json.loads(data) if data is not None and len(data) <= _LARGEST else None
        if not isinstance(found, dict) or found["v"] != _VERSION:
            return None
        requests = [request_in(each) for each in found["requests"]]
        return Board({r.id: r for r in requests}, str(found["digest"]), str(found["run"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _find(desk: OrderDesk, at: datetime) -> Board:
    """Run the build up to the first open requests, and cache them."""
    seen = steady(desk.vault.root, desk.vault.notes)
    journal = desk.journal()  # before it: what is answered meanwhile is not part of it
    requests = {request.id: request for request in _open_requests(desk, at)}
    run = ulid(int(at.timestamp() * 1000), secrets.token_bytes(10))
    board = Board(requests, _digest(seen, journal, requests), run, replies=len(journal.entries))
    listed = [plain(request) for request in requests.values()]
    body = {"v": _VERSION, "digest": board.digest, "run": run, "requests": listed}
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    with suppress(EditedMeanwhile):  # in the sandbox there is no lock: another process wrote the same
        desk.guard.update(desk.cache, lambda _: data)
    return board


def _open_requests(desk: OrderDesk, at: datetime) -> tuple[Request, ...]:
    """Return the requests of the first stage of the build that has open ones."""
    from compiler.build.pipeline import build  # both take long to load, and a question that is asked needs neither
    from compiler.build.start import open_build

    options = Options(engine="agent", dry_run=True, keep_read=not desk.sandboxed)
    start = open_build(desk.vault, options, FAMILY, at, lambda _: None, None, desk.staged())
    assert start.asker is not None, "open_build gives a build for agents an asker"
    start.asker.dry = False  # it is to stop at the first stage instead of listing what it can of all
    try:
        build(start)
    except Waiting as waiting:
        return waiting.requests
    return ()


def _digest(seen: Snapshot, journal: Journal, requests: Mapping[str, Request]) -> str:
    """Return a digest of all that the open requests depend on: files, prompts, versions, and other replies."""
    no_input = (f"{FOLDER}/", ledger.QUESTIONS)  # no request depends on what was asked
    files = [f"{path}\0{stamp}" for path, stamp in sorted(seen.stamps.items()) if not path.startswith(no_input)]
    prompts = [prompt_id(name) for name in sorted(REQUESTS)]
    others = [f"{e.at} {e.request} {e.failed}" for e in journal.entries if e.failed or e.request not in requests]
    head = f"{FAMILY} {VERSION} {VERSIONS} {seen.flags}"
    text = "\n".join([head, *prompts, *files, *others])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
