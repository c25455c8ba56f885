"""What a build starts from: settings, ledgers, the files as they are, the journal; and the events that it adds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from compiler.agents.record import alive_events
from compiler.build.snapshot import Snapshot, steady
from compiler.concepts.decisions import rulings_of
from compiler.concepts.rulings import Rulings
from compiler.index.steps import Steps, decoded, digest_of, encoded
from compiler.model.engine_names import FAMILY
from compiler.model.options import Options
from compiler.readers.formats import VERSIONS
from compiler.replies.asker import Asker, Backend, KeepsNotes
from compiler.replies.journal import Entry, Journal, JournalWriter
from vault.diagnostic import Diagnostic
from vault.files.guard import Guard, Scope
from vault.ids import ulid
from vault.log import ledger
from vault.log.clock_check import instants_of, ledger_ahead
from vault.log.ledger import Event, Ids
from vault.model.frontmatter import human_edited
from vault.text.diff import sides
from vault.vault import Vault

Progress = Callable[[dict[str, Any]], None]


class VaultFiles:
    """The vault's files as this build first read them."""

    def __init__(self, guard: Guard, before: Snapshot, steps: Steps) -> None:
        self._guard, self._before, self._steps = guard, before, steps
        self._read: dict[str, bytes | None] = {}

    def fact(self, step: str, path: str, make: Callable[[str], Any]) -> Any:
        """Return what `make` finds in the text of a file, as JSON: found again only where the file has changed.

        The text is that of `machine_text_of`, "" where there is no file.
        """
        stamp = self._before.stamps.get(path)
        key = digest_of(path, stamp) if stamp is not None else b""
        found = self._steps.get(step, key) if key else None
        if found is not None:
            return decoded(found)
        value = make(self.machine_text_of(path) or "")
        if key and self._before.settled:
            self._steps.put(step, key, encoded(value))
        return value

    def bytes_of(self, path: str) -> bytes | None:
        """Return the bytes of a file; None if there is none."""
        if path not in self._read:
            self._read[path] = self._guard.read(path)
        return self._read[path]

    def text_of(self, path: str) -> str | None:
        """Return the text of a file; None if there is none. What is not UTF-8 is replaced."""
        data = self.bytes_of(path)
        return data.decode("utf-8", "replace") if data is not None else None

    def machine_text_of(self, path: str) -> str | None:
        """Return the text of a note; of two sides of a git conflict, the one that the machine wrote."""
        text = self.text_of(path)
        both = sides(text) if text is not None else None
        return next((side for side in both if not human_edited(side)), text) if both else text


@dataclass(frozen=True, slots=True)
class BuildInput:
    """What a build starts from. Events are in order; `live_events` lack what users rejected of an agent's cards.

    `engine` is the engine's name and version. `asker` is None where the embedded engine extracts and writes. `before`
    is how the files were before anything was read; `steps` is open until the build ends.
    """

    vault: Vault
    guard: Guard
    options: Options
    engine: str
    at: str
    today: date
    progress: Progress
    before: Snapshot
    files: VaultFiles
    id_events: list[Event]
    live_events: list[Event]
    decided: list[Event]
    builds: list[Event]
    rulings: Rulings
    notices: list[Diagnostic]
    asker: Asker | None
    steps: Steps


def open_build(
    vault: Vault,
    options: Options,
    engine: str,
    at: datetime,
    progress: Progress,
    backend: Backend | None = None,
    staged: Iterable[Entry] = (),
    *,
    keeps: bool = True,
    steps: Steps | None = None,
) -> BuildInput:
    """Return what a build starts from. `backend` answers what the journal does not.

    `staged` are replies that are not in the journal yet; without `keeps`, the index stays as it is. `steps` are those
    of an index that is open already. Raises: what reading the ledgers raises.
    """
    before = steady(vault.root, vault.notes)  # first: what changes from here on was perhaps not read
    guard = vault.guard(Scope.PUBLISHER)
    notices: list[Diagnostic] = []

    def events_of(path: str) -> list[Event]:
        """Return the events of a ledger in order."""
        events, problems = vault.ledger_events(path)
        notices.extend(problems)
        return ledger.ordered(events)

    id_events = events_of(ledger.IDS)
    decided = ledger.ordered([*events_of(ledger.DECISIONS), *options.decisions])
    builds = events_of(ledger.BUILDS)
    # Never before what the ledgers know: a clock that is behind must not put a build into the past of another.
    instant = ledger.after([*id_events, *decided, *builds], at)
    for path, events in ((ledger.IDS, id_events), (ledger.DECISIONS, decided), (ledger.BUILDS, builds)):
        notices += ledger_ahead(path, instants_of(events), at, vault.settings.zone)
    asker = None
    if engine == FAMILY:
        journal, problems = Journal.of(vault)
        notices += problems
        for entry in staged:
            journal.learn(entry)
        asker = _asker(journal, guard, options, instant, progress, backend)
    if steps is None:
        keeps = keeps and (not options.dry_run or options.keep_read)
        steps = Steps.of(vault, VERSIONS, fresh=options.fresh, keeps=keeps)
    return BuildInput(
        vault=vault,
        guard=guard,
        options=options,
        engine=engine,
        at=instant,
        today=at.astimezone(vault.settings.zone).date(),
        progress=progress,
        before=before,
        files=VaultFiles(guard, before, steps),
        id_events=id_events,
        live_events=alive_events(id_events, decided),
        decided=decided,
        builds=builds,
        rulings=rulings_of(decided),
        notices=notices,
        asker=asker,
        steps=steps,
    )


def _asker(
    journal: Journal, guard: Guard, options: Options, at: str, progress: Progress, backend: Backend | None
) -> Asker:
    """Return what asks the backend, and the journal first. A dry run asks nobody and writes nothing."""
    run = ulid(int(ledger.parse_instant(at).timestamp() * 1000), os.urandom(10))
    writer = None if options.dry_run else JournalWriter(guard, run)
    if writer is not None and isinstance(backend, KeepsNotes):
        note = writer.note
        backend.opened(journal.notes, lambda event: note({**event, "at": at}))
    asker = Asker(journal, writer, backend, at, progress, dry=options.dry_run, renew=options.renew)
    asker.retries = options.engine != "journal"
    if options.engine == "agent":
        asker.hint = "get them as work orders with `retain agent next`"
    return asker


class Record:
    """The ledger events of one build. This is the only place where they are applied to the ids."""

    def __init__(self, id_events: Iterable[Event]) -> None:
        self.ids: Ids = ledger.fold(id_events)
        self.events: list[Event] = []  # for ids.jsonl
        self.decisions: list[Event] = []  # for decisions.jsonl

    def add(self, events: Sequence[Event]) -> None:
        """Add events that a step returned to those for `ids.jsonl`."""
        self.events += events
        for event in ledger.ordered(events):
            self.ids.apply(event)

    def add_facts(self, facts: Iterable[tuple[str, str, str | int]], at: str) -> None:
        """Add facts (source, key, value) to the change event of each source: only one per build would count."""
        for source, key, value in facts:
            change = next((e for e in self.events if e["type"] == "change" and e["id"] == source), None)
            if change is not None:
                change[key] = value
            else:
                self.add([self.ids.changed[source] | {"at": at, key: value}])
