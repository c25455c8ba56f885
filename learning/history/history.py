"""What log and ledger say of a vault: the memory states, and what has happened since, as the index has it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from learning.history import reviews
from learning.history.cut import Head
from learning.history.day_sums import DaySums, count_studied_days, read_sums, studied_days
from learning.history.fill import RECENT, SchedulerOf
from learning.history.reviews import CardReviews
from learning.history.rows import changes_of
from learning.history.states import States
from learning.history.update import update_log
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent
from learning.schedule.catch_up import Decisions, decisions_of
from learning.schedule.queue import Done, done_today
from learning.schedule.usual import StudiedDay
from learning.study_day import StudyCalendar
from vault.diagnostic import Diagnostic
from vault.ids import CardId
from vault.index.database import Database
from vault.log.events import ANKI, CardMark, CatchUp, Graded, Import, LogEvent, More, Params, Pause, decode
from vault.log.review_columns import ReviewColumns
from vault.log.review_log import ALIKE, EVER, IMPORTED, Log, at_of, is_same_action, last_undoable, read_log, unix_ms
from vault.vault import Vault

_GRADED = "type IN ('review', 'import')"
_OF_A_FIT = (
    "EXISTS (SELECT 1 FROM event AS fit WHERE fit.type = 'params' AND fit.at = event.at"
    f" AND substr(fit.id, 1, {ALIKE}) = substr(event.id, 1, {ALIKE}))"
)
_VIA_IMPORT = f',"via":"{IMPORTED}"'.encode()  # in no text of a line, where quotation marks are escaped
_IN_ANKI = b'"via":"%s"' % ANKI.encode()  # in the line of what was done there
_NOT_UNDOABLE = tuple(kind.type for kind in (Graded, Import, Params))


@dataclass(frozen=True)
class History:
    """What log and ledger say, as of all that was in them when the index was last brought up to date."""

    vault: Vault
    database: Database
    scheduler: Scheduler
    head: Head
    states: States = field(repr=False, compare=False)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return what is wrong with the log."""
        return tuple(Diagnostic(*each) for each in self.head.diagnostics)

    @cached_property
    def changes(self) -> tuple[CardEvent, ...]:
        """Return the ledger's changes of cards."""
        return changes_of(self.database)

    @property
    def last(self) -> datetime | None:
        """Return the instant of the last event of the log that counts."""
        return self._latest("at", self.head.last)

    @property
    def latest(self) -> datetime | None:
        """Return when the latest of what counts happened, as far as the clocks show."""
        return self._latest("happened", self.head.latest)

    def _latest(self, column: str, before: datetime | None) -> datetime | None:
        """Return the greatest instant of a column among the events that count; `before` is that before the cut."""
        row = self.database.one(f"SELECT max({column}) FROM event WHERE counts AND at >= ?", (self._cut_ms,))
        found = None if row is None or row[0] is None else at_of(row[0])
        return max(filter(None, (found, before)), default=None)

    @property
    def _cut_ms(self) -> int:
        return unix_ms(self.head.cut)

    def with_all_states(self) -> History:
        """Return the same history with all states read, for a caller that asks for most of them."""
        return History(self.vault, self.database, self.scheduler, self.head, self.states.with_all())

    def reviews(self, cards: Collection[CardId] | None = None) -> ReviewColumns:
        """Return the reviews that count of these cards, or of all, in order of time."""
        return reviews.columns(self.database, cards)

    def reviews_of_each(self, cards: Collection[CardId] | None = None) -> Iterator[tuple[CardId, CardReviews]]:
        """Yield the reviews that count of each of these cards, or of all; quicker than `reviews`."""
        return reviews.reviews_of_each(self.database, cards)

    def day_sums(self, beat: Callable[[], None] = lambda: None) -> DaySums:
        """Return the sums over all reviews; `beat` is called time and again where they have to be found first."""
        return read_sums(self.database, self.scheduler, self.changes, beat)

    def studied_days(self, until: int, most: int) -> list[StudiedDay]:
        """Return the last `most` study days before the day `until` that have reviews, the latest first."""
        return studied_days(self.database, self.scheduler, self.changes, until, most)

    def count_studied_days(self, first: int, until: int) -> int:
        """Return how many days from `first` to the day before `until` have reviews; ask for `studied_days` first."""
        return count_studied_days(self.database, first, until)

    @cached_property
    def decisions(self) -> Decisions:
        """Return the pauses, and the plans to catch up."""
        return decisions_of(self._events("type IN (?, ?)", (CatchUp.type, Pause.type)), self.scheduler.calendar)

    def marks(self) -> list[LogEvent]:
        """Return the events that count and are no reviews, in order."""
        return self._events(f"NOT {_GRADED}")

    def whole(self) -> Log:
        """Return every event there is, read from the files, which takes its time."""
        return read_log(self.vault.root)

    def new_allowed(self, day: int) -> int:
        """Return how many new cards the user allowed for a study day, those done on it included; 0 if nothing was."""
        chosen = [e for e in self._events("type = ?", (More.type,)) if isinstance(e, More)]
        return max((event.new for event in chosen if event.day.toordinal() == day), default=0)

    def done(self, calendar: StudyCalendar, now: datetime) -> Done:
        """Return what has been reviewed on the study day of `now`."""
        day = calendar.day(now)
        start, end = calendar.start(day), calendar.start(day + 1)
        if start < self.head.cut:  # the clock was set back, or somebody looks at the past
            return done_today(self.whole().events, calendar, now)
        found = self.database.rows(  # `happened` is that of the row with the least `at`
            f"SELECT subject, min(at), happened, count(*) FROM event WHERE counts AND {_GRADED} AND at >= ?"
            " GROUP BY subject HAVING sum(happened >= ? AND happened < ?)",
            (self._cut_ms, unix_ms(start), unix_ms(end)),
        )
        new = sum(
            unix_ms(start) <= happened < unix_ms(end) and self.states[card].reps == count
            for card, _, happened, count in found
        )
        return Done(new, len(found) - new, frozenset(CardId(row[0]) for row in found))

    def recent_ms(self) -> list[int]:
        """Return how long the last ratings that say it took, in order of time."""
        rows = self.database.rows(
            f"SELECT ms FROM event WHERE counts AND {_GRADED} AND ms AND at >= ? ORDER BY at DESC, id DESC LIMIT ?",
            (self._cut_ms, RECENT),
        )
        return [*self.head.recent_ms, *(ms for (ms,) in reversed(rows))][-RECENT:]

    def undoable(self) -> LogEvent | None:
        """Return the event that `undo` would void."""
        kinds = ", ".join("?" * len(_NOT_UNDOABLE))
        found = self._events(
            f"at >= ? AND type NOT IN ({kinds}) AND NOT {_OF_A_FIT} AND NOT instr(line, ?) AND NOT instr(line, ?)",
            (self._cut_ms, *_NOT_UNDOABLE, _VIA_IMPORT, _IN_ANKI),
            " DESC",
            1,
        )
        if found or self.head.cut == EVER:
            return found[0] if found else None
        return last_undoable(self.whole().events)

    def undoable_together(self) -> tuple[LogEvent, ...]:
        """Return the events that are undone together: those of one action, the latest last."""
        last = self.undoable()
        if not isinstance(last, CardMark):
            return () if last is None else (last,)
        return tuple(event for event in self._events("at = ?", (unix_ms(last.at),)) if is_same_action(event, last))

    def _events(
        self, condition: str, values: Sequence[object] = (), order: str = "", limit: int = -1
    ) -> list[LogEvent]:
        """Return events that count, in order, or with " DESC" the latest first."""
        rows = self.database.rows(
            f"SELECT line FROM event WHERE counts AND {condition} ORDER BY at{order}, id{order} LIMIT ?",
            (*values, limit),
        )
        return [decode(line) for (line,) in rows]


def open_past(vault: Vault, database: Database, scheduler_of: SchedulerOf) -> History:
    """Return the history as the files have it now. Raises: SchemaTooNew; Refused or Damaged where the log cannot be
    read.
    """
    head, scheduler = update_log(vault, database, scheduler_of)
    return History(vault, database, scheduler, head, States(database))
