"""Open orders: the questions of a build without an answer, found by a dry build and cached until its inputs change.

To find them, a build is run that publishes nothing and stops at the first questions without an answer. Since that
takes seconds, the questions are cached in a file until sources, ledgers or prompts change; of the journal only what
was added since is read.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from compiler.build.pipeline import build
from compiler.build.snapshot import Snapshot, steady
from compiler.build.start import BuildInput, open_build
from compiler.model.engine_names import FAMILY
from compiler.model.options import Options
from compiler.model.requests import REQUESTS, Request
from compiler.orders.checks import check_writers
from compiler.orders.questions import order_id, saved_questions
from compiler.readers.formats import VERSIONS
from compiler.replies.asker import Waiting
from compiler.replies.journal import FOLDER, Entry, entry_in
from compiler.replies.prompts import prompt_id
from vault.cache.cache import overwrite
from vault.errors import EditedMeanwhile
from vault.files.guard import Guard, Scope
from vault.ids import ulid
from vault.locks import lock
from vault.log import ledger
from vault.vault import Vault

WORK = ".retain/work"
STAGED = f"{WORK}/replies"
_VERSION = 2
_ORDER = re.compile(rf"(?:{'|'.join(REQUESTS)})-[0-9a-f]{{12}}")
_LARGEST = 64 << 20  # bytes of the file of open questions, or of what an agent staged, that are looked at
_WAIT_S = 300.0  # for another process that is finding out what is open


def is_order(word: str) -> bool:
    """Return whether the word has the form of an order's id."""
    return _ORDER.fullmatch(word) is not None


@dataclass(frozen=True, slots=True)
class OrderDesk:
    """Where orders are taken and answered: the vault, or the sandbox, in which only the work folder is writable."""

    vault: Vault
    sandboxed: bool = False

    @property
    def scope(self) -> Scope:
        return Scope.AGENT if self.sandboxed else Scope.PUBLISHER

    @property
    def guard(self) -> Guard:
        return self.vault.guard(self.scope)

    @property
    def cache(self) -> str:
        return f"{WORK}/orders.json" if self.sandboxed else ".retain/cache/orders.json"

    @property
    def journal(self) -> str:
        """Return the folder to which replies are added."""
        return STAGED if self.sandboxed else FOLDER

    def alone(self) -> AbstractContextManager[object]:
        """Return a lock, so that only one process looks for open questions; in the sandbox there is none."""
        if self.sandboxed:
            return nullcontext()
        return lock(self.vault.root, "orders", purpose="looking for open questions", timeout_s=_WAIT_S)


@dataclass(slots=True)
class Board:
    """The open questions by id, of the first stage of the build that has any. Empty: all is answered.

    `sizes` are the bytes of each file of replies when the build was run, `run` names the file for new ones; `answered`
    are the ids of questions answered since, `known_replies` counts the replies before, `latest` is the instant of the
    last one.
    """

    requests: dict[str, dict[str, Any]]
    mark: str
    sizes: dict[str, int]
    run: str
    latest: str = ""
    known_replies: int = 0
    answered: set[str] = field(default_factory=set)
    asked: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # questions that a user or an agent asks besides, by id
    writers: dict[str, str] = field(default_factory=dict)  # id of a check -> the agent whose words it is about

    @property
    def done(self) -> bool:
        """Return whether nothing is open in any stage."""
        return not self.requests and not self.asked

    def get(self, id_: str) -> Request | None:
        """Return the question of that id, if it is open."""
        everything = self.asked | self.requests
        found = everything.get(id_) if id_ not in self.answered else None
        if found is None:
            return None
        try:
            return _request(found)
        except (ValueError, KeyError):
            return None

    def open(self, of: str = "", source: str = "") -> list[str]:
        """Return the ids of open questions in the order of the build; of one type, or on one source or concept."""
        everything = self.asked | self.requests
        found = ((i, r) for i, r in everything.items() if i not in self.answered and of in ("", r.get("type")))
        return [i for i, r in found if not source or _is_about(r, source)]

    def counts(self) -> dict[str, int]:
        """Return how many questions are open, by type."""
        return dict(sorted(Counter(id_.partition("-")[0] for id_ in self.open()).items()))

    @property
    def stage_open(self) -> bool:
        """Return whether the build waits for an answer."""
        return any(id_ not in self.answered for id_ in self.requests)

    def as_json(self) -> dict[str, Any]:
        head = {"v": _VERSION, "mark": self.mark, "sizes": self.sizes, "run": self.run, "latest": self.latest}
        return head | {"kept": self.known_replies, "writers": self.writers, "requests": list(self.requests.values())}


def _is_about(request: Mapping[str, Any], wanted: str) -> bool:
    """Return whether a request is about this source or concept."""
    names = (request.get(key) for key in ("source", "concept", "title"))
    return any(isinstance(name, str) and name.casefold() == wanted.casefold() for name in names)


def open_board(desk: OrderDesk, at: datetime) -> Board:
    """Return what is open now. Raises what a build raises: WorkerFailed, Refused, Damaged; LockHeld."""
    found = _cached_board(desk, steady(desk.vault.root))
    if found is None or _stage_is_answered(found):
        with desk.alone():
            found = _cached_board(desk, steady(desk.vault.root))  # another process may have found them meanwhile
            if found is None or _stage_is_answered(found):
                found = _find_open_questions(desk, at)
    found.asked = saved_questions(desk.vault)
    return found


def refreshed_board(desk: OrderDesk, known: Board) -> Board:
    """Return `known` without what was answered since; unchanged if other questions may be open by now."""
    found = _cached_board(desk, steady(desk.vault.root))
    if found is None:
        return known
    found.asked = saved_questions(desk.vault)
    return found


def _stage_is_answered(found: Board) -> bool:
    """Return whether the stage's last question was answered since, so that the next stage may be open."""
    return bool(found.requests) and not found.stage_open


def open_requests(desk: OrderDesk, at: datetime, staged: Sequence[Entry]) -> tuple[tuple[Request, ...], BuildInput]:
    """Return the questions of the first stage that has open ones, and what the build read.

    `staged` replies count as if they were in the journal.

    Raises what a build raises.
    """
    options = Options(engine="agent", dry_run=True, keep_read=not desk.sandboxed)
    start = open_build(desk.vault, options, FAMILY, at, lambda _: None, None, staged)
    assert start.asker is not None, "this family has a journal"
    start.asker.dry = False  # reused old replies would change the questions of the next stage
    try:
        build(start)
    except Waiting as waiting:
        return waiting.requests, start
    return (), start


def _find_open_questions(desk: OrderDesk, at: datetime) -> Board:
    """Run the build up to the first open questions, and cache them."""
    staged, sizes = staged_entries(desk) if desk.sandboxed else ([], {})
    requests, start = open_requests(desk, at, staged)
    plain = {order_id(r): r.model_dump(mode="json", exclude={"marks"}, exclude_defaults=True) for r in requests}
    typed = {i: {"type": i.partition("-")[0], **r} for i, r in plain.items()}
    sizes |= {path: start.before.size(path) for path in start.before.stamps if _is_replies(path)}
    run = ulid(int(at.timestamp() * 1000), secrets.token_bytes(10))
    known = start.asker.journal.entries if start.asker is not None else []
    latest = max((entry.at for entry in known), default="")
    out = Board(typed, _inputs_digest(start.before), sizes, run, latest, len(known))
    out.writers = check_writers(requests, known)
    data = json.dumps(out.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
    with suppress(EditedMeanwhile):  # in the sandbox there is no lock: another process wrote the same
        overwrite(desk.guard, desk.cache, data)
    return out


def _cached_board(desk: OrderDesk, seen: Snapshot) -> Board | None:
    """Return the cached questions without those answered since; None if they may be outdated."""
    try:
        data = desk.guard.read(desk.cache)
        found = json.loads(data) if data is not None and len(data) <= _LARGEST else None
        if not isinstance(found, dict) or found["v"] != _VERSION or found["mark"] != _inputs_digest(seen):
            return None
        requests = {order_id(_request(r)): r for r in found["requests"]}
        sizes = {str(path): int(size) for path, size in found["sizes"].items()}
        out = Board(requests, found["mark"], sizes, str(found["run"]), str(found["latest"]))
        out.known_replies = int(found["kept"])
        out.writers = {str(id_): str(name) for id_, name in found["writers"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    files = {path for path in seen.stamps if _is_replies(path)}
    files |= set(_staged_files(desk.vault)) if desk.sandboxed else set()
    if any(path not in files for path in out.sizes):
        return None
    for path in files:
        said = _answered_since(desk, path, out.sizes.get(path, 0))
        if said is None:
            return None
        out.answered |= said
    return out


def _request(found: Mapping[str, Any]) -> Request:
    """Return a request from its JSON. Raises: ValueError or KeyError if it is invalid."""
    return REQUESTS[str(found["type"])].model_validate(found)


def _answered_since(desk: OrderDesk, path: str, size: int) -> set[str] | None:
    """Return the ids of questions that a file of replies answers after its first `size` bytes; None if it is
    shorter."""
    try:
        if (desk.vault.root / path).lstat().st_size == size:
            return set()
    except OSError:
        return None
    data = desk.vault.read_bytes(path)
    if data is None or len(data) < size:
        return None
    events, _ = ledger.decode(data[size:], path)
    entries = [entry for event in events if (entry := entry_in(event)) is not None]
    return {f"{entry.of}-{entry.rests[:12]}" for entry in entries}


def _is_replies(path: str) -> bool:
    return path.startswith(f"{FOLDER}/") and path.endswith(".jsonl")


def _inputs_digest(seen: Snapshot) -> str:
    """Return a digest of all that the questions depend on but replies: sources, ledgers, settings, prompts,
    versions."""
    files = [p for p in seen.stamps if p.startswith(("raw/", "ledger/")) or p == "retain.toml"]
    stamps = [f"{path}\0{seen.stamps[path]}" for path in sorted(files) if not _is_replies(path)]
    prompts = [prompt_id(name) for name in sorted(REQUESTS)]
    text = "\n".join([FAMILY, str(VERSIONS), *prompts, *stamps])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


# --- what waits to be taken into the journal ------------------------------------------------------------------------


def _staged_files(vault: Vault) -> list[str]:
    """Return the files of staged replies, up to a limit of bytes."""
    out, left = [], _LARGEST
    for path in vault.paths(STAGED, ".jsonl"):
        left -= (vault.root / path).lstat().st_size
        if left < 0:
            break
        out.append(path)
    return out


def staged_lines(vault: Vault) -> Iterator[tuple[str, ledger.Event]]:
    """Yield (file, line) of what is in the work folder, whoever wrote it."""
    for path in _staged_files(vault):
        events, _ = ledger.decode(vault.read_bytes(path) or b"", path)
        yield from ((path, event) for event in events)


def staged_entries(desk: OrderDesk) -> tuple[list[Entry], dict[str, int]]:
    """Return the replies in the work folder, and how many bytes of each file were read."""
    entries: list[Entry] = []
    sizes: dict[str, int] = {}
    for path in _staged_files(desk.vault):
        data = desk.vault.read_bytes(path) or b""
        sizes[path] = len(data)
        entries += (e for event in ledger.decode(data, path)[0] if (e := entry_in(event)) is not None)
    return sorted(entries, key=lambda e: e.at), sizes
