"""A compile: the shell that walks the plan, asks the workers, passes every answer through the gates, and writes.

The publisher: it loads neither a parser nor an engine, and all it writes goes through the guard.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from compiler import plan
from compiler.engines import VERSIONS
from compiler.report import Report
from vault import ledger
from vault.errors import EditedMeanwhile, UsageError
from vault.guard import Guard, Scope
from vault.store import CONCEPTS, FLASHCARDS, GAPS, PROPOSALS, SUMMARIES, Vault

Progress = Callable[[dict[str, Any]], None]
_REPLIES = ".retain/cache/replies.json"


@dataclass(frozen=True, slots=True)
class Options:
    """`only` are vault paths of sources to look at (all if empty); `dry_run` writes nothing; `fresh` uses no cache."""

    engine: str = "extractive"
    only: tuple[str, ...] = ()
    dry_run: bool = False
    fresh: bool = False
    command: str = "compile"


def compile_vault(vault: Vault, options: Options, at: datetime, progress: Progress) -> Report:
    """Bring the wiki, the cards and the agenda up to date with `raw/`.

    A build is a pure function of `raw/`, the ledgers, and what humans edited. When nothing changed since the last
    one, nothing is read or written. Raises: UsageError, LockHeld, and what the guard raises.
    """
    engine = VERSIONS.get(options.engine)
    if engine is None:
        raise UsageError(f"no engine is named {options.engine!r}", hint=f"there is: {', '.join(VERSIONS)}")
    if not options.fresh and plan.unchanged(vault.root, engine):
        return _last_report(vault)
    if options.dry_run:
        return _Build(vault, options, engine, at, progress).run()
    from vault.locks import lock

    with lock(vault.root, "publish", purpose=options.command):
        return _Build(vault, options, engine, at, progress).run()


def _last_report(vault: Vault) -> Report:
    return Report.from_json(json.loads((vault.root / plan.CACHE).read_text(encoding="utf-8"))["report"])


class _Build:
    def __init__(self, vault: Vault, options: Options, engine: str, at: datetime, progress: Progress) -> None:
        self.vault, self.options, self.engine, self.progress = vault, options, engine, progress
        self.moment = at
        self.at = ledger.instant(at)
        self.guard: Guard = vault.guard(Scope.PUBLISHER)
        self.report = Report()
        self.events: list[ledger.Event] = []  # for ids.jsonl
        self.decisions: list[ledger.Event] = []
        self.old: dict[str, bytes | None] = {}

    def run(self) -> Report:
        # Here, not at the top: a compile with nothing to do must not pay for pydantic and the rest.
        from compiler.crew import Crew
        from compiler.gather import Gathering, RawDigests
        from compiler.layout import Layout

        if not self.options.dry_run:
            self.guard.sweep()
        id_events, found = self.vault.ledger_events(ledger.IDS)
        self.report.notices += found
        id_events = ledger.ordered(id_events)
        ids = ledger.fold(id_events)
        digests = RawDigests(self.vault, int(self.moment.timestamp() * 1e9))
        sources, events = plan.track(self._raw_files(digests, ids), ids, self.at)
        self._learn(ids, events)
        with Crew(self.options.engine) as crew:
            gathering = Gathering(
                self.vault,
                self.guard,
                crew,
                self.engine,
                ids,
                self.at,
                self.progress,
                self.options.dry_run,
                self.options.fresh,
            )
            gathered = gathering.run(sources)
            self._learn(ids, gathering.events)
            self.report.failures += gathering.failures
            self.report.notices += gathering.notices
            self._retire_claims(ids, gathered)
            resolution = self._resolve(gathered, ids)
            self._learn(ids, resolution.events)
            layout = Layout(
                gathered, resolution, ids, id_events, self.at, self.vault.settings.zone, self.engine,
                self._authority(gathered), self.report, self._read_old,
            )  # fmt: skip
            replies = _Replies(self.guard, crew, self.engine, self.progress, self.options.fresh)
            layout.compose_articles(replies.ask)
            news = layout.write_decks(replies.ask)
        self._learn(ids, layout.events)
        layout.events = []
        layout.write_agenda(news, self._decided())
        self._learn(ids, layout.events)
        layout.write_articles()
        layout.write_summaries()
        self._count(gathered, layout)
        self._publish(layout, id_events)
        if not self.options.dry_run:
            digests.save(self.guard)
            replies.save()
            self._remember()
        return self.report

    def _learn(self, ids: ledger.Ids, events: Sequence[ledger.Event]) -> None:
        self.events += events
        for event in ledger.ordered(events):
            ids.apply(event)

    def _raw_files(self, digests: Any, ids: ledger.Ids) -> dict[str, str]:
        """Vault path -> SHA-256 of every file below raw/; with `only`, others keep the bytes they last had."""
        from vault.diagnostic import Diagnostic

        files: dict[str, str] = {}
        seen = plan.scan(self.vault.root, "raw", self.report.notices)
        unknown = set(self.options.only) - {f.path for f in seen}
        if unknown:
            raise UsageError("no such file in raw/", where=sorted(unknown)[0], hint="`retain add FILE` puts one there")
        for n, file in enumerate(seen, 1):
            try:
                file.path.encode()
            except UnicodeEncodeError:
                shown = file.path.encode("utf-8", "replace").decode()
                self.report.failures.append(
                    Diagnostic(shown, 0, "file-name", "the name is not UTF-8", "rename the file")
                )
                continue
            try:
                digest = digests.of(file)
            except OSError as error:
                self.report.failures.append(Diagnostic(file.path, 0, "unreadable", f"cannot be read: {error.strerror}"))
                continue
            if self.options.only and file.path not in self.options.only:
                id_ = ids.keys.get(("source", file.path))
                last = ids.changed.get(id_, {}).get("digest") if id_ else None
                if last is None:
                    continue
                digest = str(last)
            files[file.path] = digest
            if n % 500 == 0:
                self.progress({"event": "scan", "done": n, "of": len(seen)})
        return files

    def _retire_claims(self, ids: ledger.Ids, gathered: Sequence[Any]) -> None:
        """Claims of the ledger that no source bears out any more."""
        present = {c.id for g in gathered for c, _ in g.claims}
        gone = [i for i, b in ids.births.items() if b.noun == "claim" and ids.alive(i) and i not in present]
        events: list[ledger.Event] = [
            {"v": 1, "type": "retire", "of": "claim", "id": i, "at": self.at, "reason": "its words are gone"}
            for i in gone
        ]
        self._learn(ids, events)

    def _resolve(self, gathered: Sequence[Any], ids: ledger.Ids) -> Any:
        from compiler.resolve import SourceClaims, resolve

        sources = [
            SourceClaims(g.tracked.id, g.source.title, g.source.language, g.claims, g.extracted.terms)
            for g in gathered
            if g.source is not None and g.extracted is not None
        ]
        return resolve(sources, ids, self.at)

    def _authority(self, gathered: Sequence[Any]) -> dict[Any, int]:
        """Source id -> the last authority that the human gave to its path."""
        events, found = self.vault.ledger_events(ledger.DECISIONS)
        self.report.notices += found
        given = {str(e.get("path")): e.get("authority") for e in ledger.ordered(events) if e.get("type") == "authority"}
        return {
            g.tracked.id: a
            for g in gathered
            for p in g.tracked.paths
            if isinstance(a := given.get(p), int) and 0 <= a <= 3
        }

    def _decided(self) -> dict[Any, Any]:
        """The human's decisions on gaps, ticks made since the last build among them."""
        from compiler.gaps import decisions_in
        from vault.agenda import ticks

        events, _ = self.vault.ledger_events(ledger.DECISIONS)
        decided = decisions_in(ledger.ordered(events))
        for gap in ticks(self._read_old(GAPS) or ""):
            if gap not in decided or decided[gap].value == "planned":
                self.decisions.append(
                    {"v": 1, "type": "gap", "gap": gap, "decision": "resolve", "at": self.at, "via": "tick"}
                )
        return decisions_in([*ledger.ordered(events), *self.decisions])

    def _read_old(self, path: str) -> str | None:
        data = self._bytes(path)
        return data.decode("utf-8", "replace") if data is not None else None

    def _bytes(self, path: str) -> bytes | None:
        if path not in self.old:
            self.old[path] = self.guard.read(path)
        return self.old[path]

    def _count(self, gathered: Sequence[Any], layout: Any) -> None:
        sources = self.report.sources
        for g in gathered:
            if g.recorded:
                sources["recorded"] += 1
            elif g.source is not None:
                sources["read" if g.fresh else "unchanged"] += 1
        sources["failed"] = len(self.report.failures)
        born = sum(e["type"] in ("birth", "revive") and e["of"] == "claim" for e in self.events)
        self.report.claims["added"] = born
        self.report.claims["kept"] = len(layout.claims) - born
        self.report.claims["retracted"] = sum(e["type"] == "retire" and e["of"] == "claim" for e in self.events)
        refused = [r for g in gathered if g.extracted for r in g.extracted.rejections]
        self.report.claims["rejected"] = len(refused)
        self.report.rejections += refused

    def _publish(self, layout: Any, id_events: Sequence[ledger.Event]) -> None:
        """Ledgers first, then files: a run killed between the two is completed by the next one."""
        from compiler import indexes

        writes, removals = self._differences(layout, id_events)
        builds, found = self.vault.ledger_events(ledger.BUILDS)
        self.report.notices += found
        builds = ledger.ordered(builds)
        news: list[ledger.Event] = []
        if writes or removals or self.events or self.decisions:
            words = indexes.summary_words(self.report.counts())
            record = {
                "v": 1,
                "type": "build",
                "id": self.at,
                "at": self.at,
                "command": self.options.command,
                "engine": self.engine,
            }
            news.append(record | {"words": words})
        layout.write_indexes([*builds, *news])
        for path in (indexes.INDEX, indexes.CONCEPTS, indexes.GRAPH, indexes.LOG):
            if self._bytes(path) != layout.files[path].encode():
                writes[path] = layout.files[path].encode()
        self.report.written = sorted([*writes, *removals])
        if self.options.dry_run:
            return
        for path, events in ((ledger.IDS, self.events), (ledger.DECISIONS, self.decisions), (ledger.BUILDS, news)):
            if events:
                self.guard.append(path, b"".join(ledger.encode(e) for e in events))
        self._write(writes, removals)

    def _differences(self, layout: Any, id_events: Sequence[ledger.Event]) -> tuple[dict[str, bytes], list[str]]:
        """(path -> new bytes, paths to remove), human edits kept out of both and proposed to instead."""
        from compiler.decks import merge_deck
        from vault.ids import CardId
        from vault.note import human_edited

        writes: dict[str, bytes] = {}
        known = frozenset(CardId(str(e["id"])) for e in [*id_events, *self.events] if e.get("of") == "card")
        articles = self.report.articles
        for path, text in layout.files.items():
            old = self._read_old(path)
            mine = path.startswith((f"{CONCEPTS}/", f"{SUMMARIES}/"))
            if path.startswith(f"{CONCEPTS}/"):
                articles["created" if old is None else "unchanged" if old == text else "updated"] += 1
            if old == text:
                continue
            if mine and old is not None and human_edited(old):
                self._propose(path, text, old, writes)
            else:
                writes[path] = text.encode()
        removals = self._stale(layout)
        on_disk = set(self.vault.paths(FLASHCARDS, ".md"))
        for path in sorted(on_disk | set(layout.decks)):
            old = self._read_old(path)
            merged, held_back = merge_deck(old, path, layout.decks.get(path), known)
            if merged is None and old is not None:
                removals.append(path)
            elif merged is not None and merged != old:
                writes[path] = merged.encode()
            if held_back:
                self._propose_deck(path, layout.decks[path], writes)
        return writes, removals

    def _propose(self, path: str, text: str, old: str, writes: dict[str, bytes]) -> None:
        """Lay the machine's version of a note that a human edited beside it, unless it has nothing new to say."""
        from vault.note import read_properties

        proposal = f"{PROPOSALS}/{path}"
        same = read_properties(text).text("generated") == read_properties(old).text("generated")
        if not same and self._read_old(proposal) != text:
            writes[proposal] = text.encode()

    def _propose_deck(self, path: str, fresh: Any, writes: dict[str, bytes]) -> None:
        from compiler.decks import render_deck

        proposal, text = f"{PROPOSALS}/{path}", render_deck(fresh)
        if self._read_old(proposal) != text:
            writes[proposal] = text.encode()

    def _stale(self, layout: Any) -> list[str]:
        """Articles and summaries of the machine's that nothing supports any more; a human's edit stays."""
        from vault.note import human_edited

        stale = []
        for folder in (CONCEPTS, SUMMARIES):
            for path in self.vault.paths(folder, ".md"):
                if path not in layout.files and not human_edited(self._read_old(path) or ""):
                    stale.append(path)
                    self.report.articles["removed"] += folder == CONCEPTS
        return stale

    def _write(self, writes: dict[str, bytes], removals: Sequence[str]) -> None:
        from vault.diagnostic import Diagnostic
        from vault.folder import sha256_hex

        for done, (path, data) in enumerate(sorted(writes.items()), 1):
            old = self._bytes(path)
            self.progress({"event": "write", "done": done, "of": len(writes), "path": path})
            try:
                self.guard.write(path, data, expect=sha256_hex(old) if old is not None else None)
            except EditedMeanwhile as error:
                self.report.notices.append(
                    Diagnostic(path, 0, "edited-meanwhile", error.what, "run `retain compile` again")
                )
        for path in removals:
            old = self._bytes(path)
            assert old is not None
            self.guard.remove(path, expect=sha256_hex(old))

    def _remember(self) -> None:
        """Take down how everything was left, so that the next compile can see at a glance that nothing changed."""
        import time

        from compiler.gather import save_cache

        if self.options.only:
            return
        digest, _ = plan.fingerprint(self.vault.root, self.engine)
        save_cache(
            self.guard, plan.CACHE, {"fingerprint": digest, "taken_ns": time.time_ns(), "report": self.report.as_json()}
        )


class _Replies:
    """The engine's replies to composed requests, kept by digest so that an unchanged request is never put twice."""

    def __init__(self, guard: Guard, crew: Any, engine: str, progress: Progress, fresh: bool) -> None:
        self.guard, self.crew, self.engine, self.progress = guard, crew, engine, progress
        self.known: dict[str, Any] = {}
        self.used: dict[str, Any] = {}
        if not fresh:
            try:
                self.known = json.loads(guard.read(_REPLIES) or b"{}")
            except ValueError:
                self.known = {}

    def ask(self, requests: Sequence[Any], stage: str) -> list[Any]:
        """The reply to each request, in order; None where the engine failed."""
        from pydantic import ValidationError

        from compiler.engines.port import REPLY_TO, digest
        from vault.errors import WorkerFailed

        keys = [digest(self.engine, r) for r in requests]
        todo = [n for n, key in enumerate(keys) if key not in self.known]
        messages = [{"op": "ask", "request": requests[n].model_dump(mode="json")} for n in todo]
        for done, (n, reply) in enumerate(self.crew.ask_all(messages), 1):
            self.progress({"event": stage, "done": done, "of": len(messages)})
            if not isinstance(reply, WorkerFailed) and "reply" in reply:
                self.known[keys[todo[n]]] = reply["reply"]
        out: list[Any] = []
        for key in keys:
            try:
                out.append(REPLY_TO[stage].model_validate(self.known[key]) if key in self.known else None)
                self.used[key] = self.known.get(key)
            except ValidationError:
                out.append(None)
        return out

    def save(self) -> None:
        from compiler.gather import save_cache

        save_cache(self.guard, _REPLIES, {k: v for k, v in self.used.items() if v is not None})


def raw_path(vault: Vault, given: str, cwd: Path) -> str:
    """The vault path of a source that a human named by any path, or by its path in the vault. Raises UsageError."""
    for base in (cwd, vault.root):
        path = (base / given).absolute()
        try:
            relative = path.resolve().relative_to(vault.root)
        except ValueError:
            continue
        if relative.parts[:1] == ("raw",) and path.is_file():
            return relative.as_posix()
    raise UsageError("not a file of raw/", where=given, hint="`retain add FILE` puts one there")
