"""The first half of a build: what lies in `raw/` becomes verified claims with ids."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from compiler.build.attachments import Leaves
from compiler.claims.extract import Verified, claims_in, requests_for, statements_in
from compiler.claims.gathered import Gathered
from compiler.concepts.evidence import STRUCTURE, key_of, names_in
from compiler.gates.checks import Stated, Verdicts
from compiler.language.rewording import successors
from compiler.model.requests import ExtractReply, ExtractRequest
from compiler.readers.formats import VERSIONS
from compiler.replies.asker import Asker, ShowsLeaves
from compiler.sources import inventory
from compiler.sources.cache_files import read_cache, save_cache
from compiler.sources.fingerprint import VERSION as FINGERPRINT
from compiler.sources.fingerprint import Fingerprint, fingerprint
from compiler.sources.inventory import RawFile, Tracked
from compiler.workers.pool import Crew, largest_first
from vault.diagnostic import Diagnostic
from vault.errors import TooCostly, WorkerFailed
from vault.files.guard import Guard, Scope
from vault.ids import ClaimId, digest12, mint
from vault.log import ledger
from vault.model.claim import Claim
from vault.model.source import MarkKind, SourceText
from vault.text.sanitize import clean_line
from vault.vault import Vault

_DIGESTS = ".retain/cache/raw.json"
_TOO_COSTLY = "too_costly"  # the key of a reply that says why reading took too much
_MOST_KNOWN = 12  # names of the wiki that go with a segment which names them
_FEWEST = 40  # characters besides code: less, as a bare heading, says nothing
Progress = Callable[[dict[str, Any]], None]


class RawDigests:
    """SHA-256 of raw files, remembered by name and stamp so that an unchanged file isn't read again."""

    def __init__(self, vault: Vault, now_ns: int) -> None:
        self.vault, self.now_ns = vault, now_ns
        self.known = read_cache(vault.guard(Scope.PUBLISHER), _DIGESTS)
        self.seen: dict[str, list[Any]] = {}

    def of(self, file: RawFile) -> str:
        """Raises OSError if the file cannot be read."""
        known = self.known.get(file.path)
        if isinstance(known, list) and len(known) == 4 and known[:3] == list(file.stamp):
            digest = str(known[3])
        else:
            with (self.vault.root / file.path).open("rb") as handle:
                digest = hashlib.file_digest(handle, "sha256").hexdigest()
        if file.stamp[1] + inventory.RACY_NS < self.now_ns:
            self.seen[file.path] = [*file.stamp, digest]
        return digest

    def save(self, guard: Guard) -> None:
        save_cache(guard, _DIGESTS, self.seen)


def cache_path(path: str, sha256: str, engine: str) -> str:
    """Where what a worker made of these bytes under this name is kept."""
    key = f"{sha256} {VERSIONS} {FINGERPRINT} {engine} {path.rsplit('/', 1)[-1]}"
    return f".retain/cache/sources/{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}.json"


def _remembered(source: Tracked, reply: dict[str, Any]) -> TooCostly:
    """Return the failure of a reading that is not tried again until the file or its reader changes."""
    hint = f"split the document; `retain compile {source.path}` tries it once more"
    return TooCostly(clean_line(str(reply[_TOO_COSTLY])), hint=hint)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # the worker will say what is wrong


def _source_in(reply: dict[str, Any]) -> SourceText | None:
    """The source text in a worker's reply; None where there is none, or it makes no sense."""
    try:
        return SourceText.from_json(reply["source"]) if "source" in reply else None
    except (KeyError, TypeError, ValueError):
        return None


def _offered(asker: Asker) -> dict[str, str]:
    """Key -> name, of what earlier replies set off: two who read at once then call one thing alike."""
    found: dict[str, str] = {}
    for entry in asker.journal.entries:
        reply = entry.value() if entry.of == "extract" else None
        for term in reply.terms if isinstance(reply, ExtractReply) else ():
            if term.signal in STRUCTURE and (key := key_of(term.name, "", True)):
                found.setdefault(key, term.name)
    return found


def _prose(request: ExtractRequest) -> int:
    """How many characters of a segment are not code."""
    code = sum(mark.end - mark.start for mark in request.marks if mark.kind == MarkKind.CODE)
    return len(request.text.strip()) - code


@dataclass(slots=True)
class Gathering:
    """Reads what changed, in workers; everything else comes from the cache of earlier builds."""

    vault: Vault
    guard: Guard
    crew: Crew
    engine: str  # "name/version"
    ids: ledger.Ids
    at: str
    progress: Progress
    dry_run: bool = False
    fresh: bool = False
    retried: frozenset[str] = frozenset()  # paths whose remembered failures are forgotten
    changed: frozenset[str] = frozenset()  # ids of the sources that are new or hold other bytes than before
    failures: list[Diagnostic] = field(default_factory=list)
    notices: list[Diagnostic] = field(default_factory=list)
    events: list[ledger.Event] = field(default_factory=list)
    said_before: dict[str, str] = field(default_factory=dict)  # claim id -> its words before this build found others
    asker: Asker | None = None  # there is one where others than the reading process extract
    verdicts: Verdicts | None = None
    _said: dict[str, list[ExtractReply]] = field(default_factory=dict)  # source id -> a reply to each of its segments
    _said_by: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # likewise -> who gave it, and when

    def run(self, sources: Sequence[Tracked]) -> list[Gathered]:
        """Every source with its claims, in the order given."""
        results: dict[int, tuple[dict[str, Any], bool]] = {}
        missing: list[int] = []
        for index, source in enumerate(sources):
            cached = self._cached(source)
            if cached is None:
                missing.append(index)
            elif _TOO_COSTLY in cached:
                self._fail(source, _remembered(source, cached), self.changed)
            else:
                results[index] = (cached, False)
        self._read(sources, missing, results)
        if self.asker is not None:
            self._have_extracted(sources, results, self.asker)
        vanished = self._claims_by_source()
        return [
            self._gathered(sources[i], *results[i], vanished.get(sources[i].id, {}))
            if i in results
            else Gathered(sources[i], None)
            for i in range(len(sources))
        ]

    def _cached(self, source: Tracked) -> dict[str, Any] | None:
        if self.fresh:
            return None
        data = self.guard.read(cache_path(source.path, source.sha256, self.engine))
        try:
            found = json.loads(data) if data is not None else None
        except ValueError:
            return None
        if not isinstance(found, dict) or (_TOO_COSTLY in found and not self.retried.isdisjoint(source.paths)):
            return None
        return found

    def _read(
        self, sources: Sequence[Tracked], missing: list[int], results: dict[int, tuple[dict[str, Any], bool]]
    ) -> None:
        sizes = [_size(self.vault.root / sources[i].path) for i in missing]
        order = [missing[n] for n in largest_first(sizes)]
        messages = [
            {"op": "source", "path": str(self.vault.root / sources[i].path), "sha256": sources[i].sha256}
            | ({"only_read": True} if self.asker is not None else {})
            for i in order
        ]
        for done, (n, reply) in enumerate(self.crew.ask_all(messages), 1):
            source = sources[order[n]]
            self.progress({"event": "source", "done": done, "of": len(messages), "path": source.path})
            if isinstance(reply, TooCostly):
                reply = {_TOO_COSTLY: reply.what}
            elif isinstance(reply, WorkerFailed):
                self._fail(source, reply, self.changed)
                continue
            elif "not_now" in reply:
                what = clean_line(str(reply["not_now"]))
                self._fail(source, WorkerFailed(what, hint="run the command again"), frozenset())
                continue
            if not self.dry_run:
                save_cache(self.guard, cache_path(source.path, source.sha256, self.engine), reply)
            if _TOO_COSTLY in reply:
                self._fail(source, _remembered(source, reply), self.changed)
            else:
                results[order[n]] = (reply, True)

    def _fail(self, source: Tracked, failure: WorkerFailed, given_up: frozenset[str]) -> None:
        """Report that a source was not read. Raises as `_keep_claims` does."""
        self._keep_claims(source, failure, given_up)
        self.failures.append(Diagnostic(source.path, 0, "reader-failed", failure.what, failure.hint))

    def _have_extracted(
        self, sources: Sequence[Tracked], results: dict[int, tuple[dict[str, Any], bool]], asker: Asker
    ) -> None:
        """Every segment of every source answered, and what their claims state checked. Raises what the asker does."""
        names = _offered(asker)
        names |= {key: self.ids.births[i].name for (noun, key), i in self.ids.keys.items() if noun == "concept"}
        keys = frozenset(names)
        leaves = Leaves(self.crew, self.vault.root)
        backend = asker.backend
        if isinstance(backend, ShowsLeaves):
            backend.shown = leaves.shown
        todo: list[tuple[str, ExtractRequest | None]] = []
        for index, (result, _) in sorted(results.items()):
            source = _source_in(result)
            for n, request in enumerate(requests_for(source) if source is not None else ()):
                known = tuple(dict.fromkeys(names[k] for k in names_in(request.text, keys)))[:_MOST_KNOWN]
                whole = request.model_copy(update={"source": sources[index].id, "known": known})
                if source is not None:
                    leaves.learn(whole, source, source.segments[n], sources[index])
                todo.append((sources[index].id, whole if _prose(request) >= _FEWEST else None))
        replies = iter(asker.ask([request for _, request in todo if request is not None], "extract"))
        stated: list[Stated] = []
        for id_, asked in todo:
            reply = next(replies) if asked is not None else None
            if asked is not None and isinstance(reply, ExtractReply):
                stated += statements_in(asked, reply)
            self._said_by.setdefault(id_, []).append(asker.said(asked) if asked is not None else ("", ""))
            self._said.setdefault(id_, []).append(reply if isinstance(reply, ExtractReply) else ExtractReply())
        if self.verdicts is not None:
            self.verdicts.settle_statements(stated, asker)

    def _keep_claims(self, source: Tracked, failure: WorkerFailed, given_up: frozenset[str]) -> None:
        """A document that was read before must not lose its claims to a reader's bad day.

        Raises: WorkerFailed for one that has claims, unless it is among those `given_up`.
        """
        prefix = f"{source.id}:"
        living = any(
            k.startswith(prefix) and self.ids.alive(i) for (noun, k), i in self.ids.keys.items() if noun == "claim"
        )
        if living and source.id not in given_up:
            what = f"it was read before, and now {failure.what}; nothing was written"
            hint = failure.hint if isinstance(failure, TooCostly) else "run the command again"
            raise WorkerFailed(what, where=source.path, hint=hint)

    def _gathered(self, tracked: Tracked, reply: dict[str, Any], fresh: bool, before: dict[str, str]) -> Gathered:
        if "recorded" in reply:
            return Gathered(tracked, None, recorded=str(reply["recorded"]), fresh=fresh)
        if "unreadable" in reply:
            what, hint = (clean_line(str(reply["unreadable"].get(k, ""))) for k in ("what", "hint"))
            self.failures.append(Diagnostic(tracked.path, 0, "unreadable", what, hint))
            return Gathered(tracked, None, fresh=fresh)
        try:
            source = SourceText.from_json(reply["source"])
            if self.asker is not None:
                replies, said = self._said.get(tracked.id, []), self._said_by.get(tracked.id, [])
                extracted = claims_in(source, replies, self.verdicts, said)
            else:
                extracted = claims_in(source, [ExtractReply.model_validate(r) for r in reply["replies"]])
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            self.failures.append(
                Diagnostic(
                    tracked.path, 0, "bad-reply", f"the reader's answer makes no sense: {clean_line(str(error))[:200]}"
                )
            )
            return Gathered(tracked, None, fresh=fresh)
        self.notices += [Diagnostic(tracked.path, p.line, p.code, p.message) for p in source.problems]
        claims = self._identify(tracked, extracted.claims, before)
        starts: dict[str, int] = {c.id: v.start for (c, _), v in zip(claims, extracted.claims, strict=True)}
        made = Fingerprint.from_json(reply.get("fingerprint")) or fingerprint(source)
        return Gathered(tracked, source, claims, extracted, fresh=fresh, starts=starts, fingerprint=made)

    def _claims_by_source(self) -> dict[str, dict[str, str]]:
        """Source id -> {present key: claim id} of the claims that are alive."""
        out: dict[str, dict[str, str]] = {}
        for (noun, key), id_ in self.ids.keys.items():
            if noun == "claim":
                out.setdefault(key.partition(":")[0], {})[key] = id_
        return out

    def _identify(
        self, tracked: Tracked, found: Sequence[Verified], before: dict[str, str]
    ) -> tuple[tuple[Claim, tuple[str, ...]], ...]:
        """Claims with ids: the ledger's where the words are the same or nearly, else newly minted."""
        keys = [f"{tracked.id}:{digest12(v.quote)}" for v in found]
        moved = self._moved(tracked, found, keys, before)
        out = []
        for verified, key in zip(found, keys, strict=True):
            id_ = before.get(key) or moved.get(key)
            if id_ is None:
                id_ = mint("claim", key, self.ids.births)
                self.events.append(self._event("birth", id_, key, verified.quote))
            elif id_ in self.ids.retired:
                self.events.append({"v": 1, "type": "revive", "of": "claim", "id": id_, "at": self.at})
            claim = Claim(
                ClaimId(id_), tracked.id, verified.kind, verified.quote, verified.statement, locator=verified.locator
            )
            out.append((claim, verified.about))
        return tuple(out)

    def _moved(
        self, tracked: Tracked, found: Sequence[Verified], keys: list[str], before: dict[str, str]
    ) -> dict[str, str]:
        """New key -> id of the claim whose words were edited and now stand under that key."""
        gone = {id_ for key, id_ in before.items() if key not in set(keys) and self.ids.alive(id_)}
        new = [(v, k) for v, k in zip(found, keys, strict=True) if k not in before]
        old = {id_: self.ids.quotes[id_] for id_ in sorted(gone) if id_ in self.ids.quotes} if new else {}
        if not old:
            return {}
        quotes = {k: v.quote for v, k in new}
        moved = successors(old, quotes)
        for key, id_ in moved.items():
            self.events.append(self._event("reanchor", id_, key, quotes[key]))
            self.said_before[id_] = old[id_]
        return moved

    def _event(self, type_: str, id_: str, key: str, quote: str) -> ledger.Event:
        """What the ledger must learn of a claim; its words too, so that they are known again when changed."""
        return {"v": 1, "type": type_, "of": "claim", "id": id_, "at": self.at, "key": key, "quote": quote}
