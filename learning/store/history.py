"""What log and ledger say of a vault: states as of a cut, and the events since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from learning.memory.fold import fold
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, MemoryState
from learning.schedule.queue import Done, done_today
from learning.store.past_reviews import whole_log
from learning.store.state_table import StateColumns
from learning.study_day import StudyCalendar
from vault.diagnostic import Diagnostic
from vault.ids import CardId, ulid
from vault.log.events import CardMark, LogEvent, Params, Rating, Review, Stamp, Tag, Undo
from vault.log.review_columns import ScannedLog
from vault.log.review_log import Log, by_time, is_same_action, last_undoable, live, read_log, unix_ms
from vault.vault import Vault

RECENT = 500  # ratings before the cut whose time on screen is kept
EVER = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Before:
    """What is known of the time before `cut`. `params` are the live events that tune the scheduler.

    `last` is the last live instant; `latest` is when the latest of all happened, which is
    another where a clock was wrong.
    `recent_ms` are the times on screen of the last ratings that have one, in order of time.
    """

    cut: datetime = EVER
    states: Mapping[CardId, MemoryState] = field(default_factory=StateColumns)
    last: datetime | None = None
    recent_ms: tuple[int, ...] = ()
    params: tuple[LogEvent, ...] = ()
    latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class History:
    """What log and ledger say, as of all that is in them.

    `events` are those since the cut, undos and what they void included, in order of (at, id); `recent` the states that
    they made. `undos` are the live ones among them that void something before the cut.
    """

    vault: Vault
    scheduler: Scheduler
    before: Before = field(default_factory=Before)
    events: tuple[LogEvent, ...] = ()
    changes: tuple[CardEvent, ...] = ()
    recent: Mapping[CardId, MemoryState] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    files: tuple[str, ...] = ()
    undos: frozenset[str] = frozenset()
    _read: list[Log] = field(default_factory=list, init=False, repr=False, compare=False)
    _scans: list[ScannedLog] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def last(self) -> datetime | None:
        """Return the instant of the last event of the log that counts."""
        return max((event.at for event in live(self.events)), default=self.before.last)

    @property
    def latest(self) -> datetime | None:
        """Return when the latest of what counts happened, as far as the clocks show."""
        return latest_of(self.before, live(self.events))

    @property
    def states(self) -> States:
        """Return the state of every card."""
        return States(self.before.states, self.recent)

    def tagged(self) -> dict[CardId, tuple[str, ...]]:
        """Return the tags that cards have of their own, by card."""
        states = self.before.states
        if isinstance(states, StateColumns):
            old = states.tagged()
        else:
            old = {card: state.tags for card, state in states.items() if state.tags}
        united = old | {card: state.tags for card, state in self.recent.items()}
        return {card: tags for card, tags in united.items() if tags}

    def unpacked(self) -> History:
        """Return the same history with all states made, for a caller that asks for most of them."""
        states = self.before.states
        if not isinstance(states, StateColumns):
            return self
        return replace(self, before=replace(self.before, states=states.each()))

    def scanned(self) -> ScannedLog:
        """Return all that counts as columns, as the files have it."""

        if not self._scans:
            self._scans.append(whole_log(self.vault))
        return self._scans[0]

    def whole(self) -> Log:
        """Return every event there is, read from the files, which takes its time."""
        if self._read:
            return self._read[0]
        read = read_log(self.vault.root)
        known = {event.id for event in read.events}
        new = [event for event in self.events if event.id not in known]
        if new:
            read = replace(read, events=tuple(sorted((*read.events, *new), key=by_time)))
        self._read.append(read)
        return read

    def done(self, calendar: StudyCalendar, now: datetime) -> Done:
        """Return what has been reviewed on the study day of `now`."""
        start = calendar.start(calendar.day(now))
        if start < self.before.cut:  # the clock was set back, or somebody looks at the past
            return done_today(self.whole().events, calendar, now)
        since = done_today(self.events, calendar, now)
        known = sum(self._was_reviewed(card) for card in since.first)
        return replace(since, new=since.new - known, reviews=since.reviews + known)

    def _was_reviewed(self, card: CardId) -> bool:
        """Return whether the card was reviewed before the cut."""
        state = self.before.states.get(card)
        return state is not None and state.reps > 0

    def for_minutes(self) -> list[LogEvent]:
        """Return live events, in order of time, that are enough to estimate how long a rating takes."""
        since = live(self.events)
        missing = max(0, RECENT - len(times(since)))
        stamp = Stamp("", EVER)
        old = [Review(stamp, CardId(""), Rating.GOOD, ms) for ms in self.before.recent_ms[-missing:] if missing]
        return [*old, *since]

    def undoable(self) -> LogEvent | None:
        """Return the event that `undo` would void."""
        found = last_undoable(self.events)
        if found is not None or self.before.cut == EVER:
            return found
        return self.scanned().undoable

    def _tunes(self, event: LogEvent) -> bool:
        """Return whether the event may change the scheduler."""
        if not self.vault.settings.retention_by_tag:
            return isinstance(event, Params)
        voided = event.voids if isinstance(event, Undo) else ""
        return isinstance(event, Params | Tag) or any(e.id == voided for e in self.events if isinstance(e, Tag))

    def undoable_together(self) -> tuple[LogEvent, ...]:
        """Return the events that are undone together: those of one action, the latest last."""
        last = self.undoable()
        if not isinstance(last, CardMark):
            return () if last is None else (last,)
        known = self.events if last.at >= self.before.cut else self.scanned().others
        return tuple(event for event in live(known) if is_same_action(event, last))

    def with_events(self, *events: LogEvent) -> History | None:
        """Return the history once these are in the log; None if they reach before the cut, and all has to be folded
        anew.
        """
        if not is_after_cut(events, self.before.cut):
            return None
        united = tuple(sorted({e.id: e for e in (*self.events, *events)}.values(), key=by_time))
        if reaching_back(united) != self.undos or any(map(self._tunes, events)):
            return None
        return replace(self, events=united, recent=recent_states(self.before, united, self.changes, self.scheduler))


@dataclass(frozen=True, slots=True)
class States(Mapping[CardId, MemoryState]):
    """The state of every card that log or ledger name: `recent` goes before `old`."""

    old: Mapping[CardId, MemoryState]
    recent: Mapping[CardId, MemoryState]

    def __getitem__(self, card: CardId) -> MemoryState:
        found = self.recent.get(card)
        return self.old[card] if found is None else found

    def __iter__(self) -> Any:
        yield from self.old
        yield from (card for card in self.recent if card not in self.old)

    def __len__(self) -> int:
        return len(self.old) + sum(card not in self.old for card in self.recent)


# --- what happened since the cut --------------------------------------------------------------------------------------


def renewed(
    kept: StateColumns | None,
    before: Before,
    events: Sequence[LogEvent],
    changes: Iterable[CardEvent],
    new: Sequence[LogEvent | CardEvent],
    scheduler: Scheduler,
) -> Mapping[CardId, MemoryState]:
    """Return what `recent_states` gives, from its result before `new` came: only cards that these name are folded."""
    if kept is None or any(isinstance(event, Undo | Params) for event in new):
        return recent_states(before, events, changes, scheduler)
    cards = {card for event in new if (card := getattr(event, "card", None)) is not None}
    if not cards:
        return kept.each()
    theirs = [event for event in events if isinstance(event, Undo) or getattr(event, "card", None) in cards]
    again = recent_states(before, theirs, [change for change in changes if change.card in cards], scheduler)
    return {**{card: state for card, state in kept.each().items() if card not in cards}, **again}


def is_after_cut(events: Iterable[LogEvent], cut: datetime) -> bool:
    """Return whether all events are after the cut, by instant and by id: then none of them was folded in before."""
    if cut == EVER:
        return True
    first = first_id(cut)
    return all(event.at >= cut and event.id >= first for event in events)


def first_id(cut: datetime) -> str:
    """Return the least id that an event at the instant `cut` can have."""
    return ulid(max(0, unix_ms(cut)), bytes(10))


def reaching_back(events: Sequence[LogEvent]) -> frozenset[str]:
    """Return the undos among `events` that count and void none of them."""
    ids = {event.id for event in events}
    voided: set[str] = set()
    out = []
    for event in reversed(events):
        if isinstance(event, Undo) and event.id not in voided:
            voided.add(event.voids)
            if event.voids not in ids:
                out.append(event.id)
    return frozenset(out)


def recent_states(
    before: Before, events: Sequence[LogEvent], changes: Iterable[CardEvent], scheduler: Scheduler
) -> dict[CardId, MemoryState]:
    """Return the states that the events since the cut have made."""
    since = [change for change in changes if change.at >= before.cut]
    cards = {card for event in (*events, *since) if (card := getattr(event, "card", None)) is not None}
    known = {card: state for card in cards if (state := before.states.get(card)) is not None}
    return fold(events, scheduler, since, known)


def times(events: Iterable[LogEvent]) -> list[int]:
    """Return how long each rating among `events` took, in milliseconds, where it says so."""
    return [event.ms for event in events if isinstance(event, Review) and event.ms]


def latest_of(before: Before, events: Iterable[LogEvent]) -> datetime | None:
    """Return when the latest of what counts happened; None if nothing did."""
    known = () if before.latest is None else (before.latest,)
    return max((*known, *(event.when for event in events)), default=None)
