"""The second step of a build: each source as a document. What is new is read in workers, the rest is cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from compiler.build.start import BuildInput
from compiler.index.steps import READING, Steps, decoded, digest_of, encoded
from compiler.model.requests import ExtractReply
from compiler.sources.fingerprint import VERSION as FINGERPRINT
from compiler.sources.fingerprint import Fingerprint, fingerprint
from compiler.sources.inventory import Tracked
from compiler.workers.pool import BYTES_A_START, WorkerPool, largest_first
from vault.diagnostic import Diagnostic
from vault.errors import TooCostly, WorkerFailed
from vault.log.ledger import Ids
from vault.model.source import SourceText
from vault.text.formatting import clean_line

_TOO_COSTLY = "too_costly"  # the key of a reply that says why reading took too much


@dataclass(frozen=True, slots=True)
class Document:
    """A source as it was read. `text` is None for a file that is only `recorded`, or could not be read (`failure`).

    `replies` returns the embedded engine's, one a segment, where it extracts the claims, and `key` stands for all that
    they follow from; `fresh` says that the document is new, or holds other bytes than before.
    """

    tracked: Tracked
    text: SourceText | None = None
    replies: Callable[[], tuple[ExtractReply, ...]] = tuple
    key: bytes = b""
    fingerprint: Fingerprint | None = None  # there is one where there is a text
    recorded: str = ""  # the kind of a file that is kept and not read
    fresh: bool = False
    failure: Diagnostic | None = None


REPLIES = "replies"  # the step whose results are what the embedded engine makes of sources


def reading_key(path: str, sha256: str, engine: str) -> bytes:
    """Return the digest under which a worker's reply on these bytes under this name is stored."""
    return digest_of(sha256, str(FINGERPRINT), engine, path.rpartition("/")[2])


def read(
    start: BuildInput, crew: WorkerPool, sources: Sequence[Tracked], changed: frozenset[str], ids: Ids
) -> tuple[list[Document], list[Diagnostic]]:
    """Return every source as a document in the order given, and which of them could not be read this time.

    `changed` are the ids of sources that are new or hold other bytes than before. Raises: WorkerFailed for an unchanged
    one that has claims and cannot be read now: they must not be lost for that.
    """
    reading = _Reading(start, crew, changed, ids)
    replies = reading.replies(sources)
    documents = [
        _document(source, replies[n], source.id in changed, start.steps, reading.key(source))
        if n in replies
        else Document(source)
        for n, source in enumerate(sources)
    ]
    return documents, reading.failures


def _document(tracked: Tracked, reply: dict[str, Any], fresh: bool, steps: Steps, key: bytes) -> Document:
    """Return the document in a worker's reply."""
    if "recorded" in reply:
        return Document(tracked, recorded=str(reply["recorded"]), fresh=fresh)
    if "unreadable" in reply:
        what, hint = (clean_line(str(reply["unreadable"].get(k, ""))) for k in ("what", "hint"))
        return Document(tracked, fresh=fresh, failure=Diagnostic(tracked.path, 0, "unreadable", what, hint))
    try:
        text = SourceText.from_json(reply["source"])
    except (KeyError, TypeError, ValueError) as error:
        return Document(tracked, fresh=fresh, failure=bad_reply(tracked, error))
    made = Fingerprint.from_json(reply.get("fingerprint")) or fingerprint(text)
    return Document(tracked, text, partial(_replies, steps, key), key, made, fresh=fresh)


def _replies(steps: Steps, key: bytes) -> tuple[ExtractReply, ...]:
    """Return the replies of the embedded engine to a source. Raises: ValueError for what has another shape."""
    return tuple(map(ExtractReply.from_json, decoded(steps.get_large(REPLIES, key)) or ()))


def bad_reply(tracked: Tracked, error: Exception) -> Diagnostic:
    """Return the report on a reply of a worker that has the wrong shape."""
    what = f"the file reader returned an invalid result: {clean_line(str(error))[:200]}"
    return Diagnostic(tracked.path, 0, "bad-reply", what)


class _Reading:
    """Collects the workers' replies, from the cache where it has them."""

    def __init__(self, start: BuildInput, crew: WorkerPool, changed: frozenset[str], ids: Ids) -> None:
        self.start, self.crew, self.changed, self.ids = start, crew, changed, ids
        self.retried = frozenset(start.options.only)  # paths whose cached failures do not count
        self.failures: list[Diagnostic] = []

    def replies(self, sources: Sequence[Tracked]) -> dict[int, dict[str, Any]]:
        """Return by index the reply on each source, without those that could not be read."""
        replies: dict[int, dict[str, Any]] = {}
        missing: list[int] = []
        for index, source in enumerate(sources):
            cached = self._cached(source)
            if cached is None:
                missing.append(index)
            elif _TOO_COSTLY in cached:
                self._fail(source, _cached_failure(source, cached), self.changed)
            else:
                replies[index] = cached
        sizes = [_size(self.start.vault.root / sources[i].path) for i in missing]
        order = [missing[n] for n in largest_first(sizes)]
        messages = [self._message(sources[i]) for i in order]
        for done, (n, reply) in enumerate(self.crew.ask_all(messages, starts=sum(sizes) / BYTES_A_START), 1):
            source = sources[order[n]]
            self.start.progress({"event": "source", "done": done, "of": len(order), "path": source.path})
            if (found := self._checked(source, reply)) is not None:
                replies[order[n]] = found
        return replies

    def _cached(self, source: Tracked) -> dict[str, Any] | None:
        """Return the cached reply on a source; None if there is none that counts."""
        key = self.key(source)
        found = decoded(self.start.steps.get_large(READING, key))
        self.start.steps.use(REPLIES, key)
        if not isinstance(found, dict) or (_TOO_COSTLY in found and not self.retried.isdisjoint(source.paths)):
            return None
        return found

    def key(self, source: Tracked) -> bytes:
        return reading_key(source.path, source.sha256, self.start.engine)

    def _message(self, source: Tracked) -> dict[str, Any]:
        """Return the message that asks a worker to read a source."""
        message = {"op": "source", "path": str(self.start.vault.root / source.path), "sha256": source.sha256}
        return message | ({"only_read": True} if self.start.asker is not None else {})

    def _checked(self, source: Tracked, reply: dict[str, Any] | WorkerFailed) -> dict[str, Any] | None:
        """Return a reply, which is cached now; None for one that says why the source was not read."""
        if isinstance(reply, TooCostly):
            reply = {_TOO_COSTLY: reply.what}
        elif isinstance(reply, WorkerFailed):
            self._fail(source, reply, self.changed)
            return None
        elif "not_now" in reply:
            what = clean_line(str(reply["not_now"]))
            self._fail(source, WorkerFailed(what, hint="run the command again"), frozenset())
            return None
        steps, key = self.start.steps, self.key(source)
        steps.put_large(REPLIES, key, encoded(reply.pop("replies", [])))
        steps.put_large(READING, key, encoded(reply))
        if _TOO_COSTLY in reply:
            self._fail(source, _cached_failure(source, reply), self.changed)
            return None
        return reply

    def _fail(self, source: Tracked, failure: WorkerFailed, given_up: frozenset[str]) -> None:
        """Report that a source was not read. Raises: WorkerFailed if it has claims and is not among `given_up`."""
        if source.id not in given_up and self._has_claims(source):
            what = f"it could be read before, but now {failure.what}; nothing was written"
            hint = failure.hint if isinstance(failure, TooCostly) else "run the command again"
            raise WorkerFailed(what, where=source.path, hint=hint)
        self.failures.append(Diagnostic(source.path, 0, "reader-failed", failure.what, failure.hint))

    def _has_claims(self, source: Tracked) -> bool:
        """Return whether the ledger has claims of a source."""
        prefix = f"{source.id}:"
        return any(
            k.startswith(prefix) and self.ids.alive(i) for (noun, k), i in self.ids.keys.items() if noun == "claim"
        )


def _cached_failure(source: Tracked, reply: dict[str, Any]) -> TooCostly:
    """Return the failure of a reading that is not tried again until the file or its reader changes."""
    hint = f"split the document; to try again, run `retain compile {source.path}`"
    return TooCostly(clean_line(str(reply[_TOO_COSTLY])), hint=hint)


def _size(path: Path) -> int:
    """Return the bytes of a file; 0 if it cannot be looked at, of which the worker will report."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
