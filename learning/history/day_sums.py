"""Sums over the reviews of all cards by study day, hour and week: what statistics are computed from.

They are found by a replay of the whole log, once; from then on each card that something happens to is replayed, and its
former part subtracted. All sums are of whole numbers, so that they are the same in whatever order they came about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import add, sub

from learning.history import reviews
from learning.memory.predictions import Replay, replay
from learning.memory.scheduler import Scheduler
from learning.memory.state import PHASES, CardEvent, Phase
from learning.schedule.usual import StudiedDay
from learning.study_day import StudyCalendar
from vault.ids import CardId
from vault.index.database import Database
from vault.index.facts import fact, set_fact
from vault.log.review_log import at_of

LONGEST_MS = 60_000  # a card left on screen over tea says nothing of the next one
MATURE_DAYS = 21  # of the interval before; Anki draws the line there, too
KNOWN_DAYS = 21.0  # of stability, from which on a card counts as known; Anki calls a card of 21 days mature
BINS = 20  # of predicted recall, each five percent wide
ONE = 1 << 32  # what predictions and losses are counted in
_SURE = 1e-6  # a chance this near to 0 or 1 is taken as that near: no single surprise may count without end
_REVIEW = PHASES.index(Phase.REVIEW)
_QUARTER_MS = 900_000
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)  # beyond these, some zone's clock would leave the calendar
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)
_DONE = "day sums"
_NAMES = ("days", "hours", "firsts", "tries", "weeks", "met", "recalled", "spent")
_Sums = dict[int, list[int]]


@dataclass(frozen=True, slots=True)
class DaySums:
    """Five sums for each key. `days` by study day: reviews, recalled, of new cards, milliseconds, with a time.

    `hours` by hour of the vault's clock: reviews, recalled. `firsts` by study day, of a card's first review of the day
    in its review phase: of young cards and recalled, of mature ones and recalled. `tries` by study day * BINS + bin, of
    those a day or more after the one before: number, recalled, predicted and loss in parts of ONE. `weeks` by week, as
    `week_of` counts: how many more cards were known at its end than at that of the week before, by reviews after it.

    Three are by study day, of cards as the first review of the day found them: `met` of new cards the ratings, again to
    easy, and the milliseconds; `recalled` of others the ratings, hard to easy, the milliseconds and how many have any;
    `spent` of new cards how many have any, of forgotten ones the milliseconds and how many have any.
    """

    days: _Sums = field(default_factory=dict)
    hours: _Sums = field(default_factory=dict)
    firsts: _Sums = field(default_factory=dict)
    tries: _Sums = field(default_factory=dict)
    weeks: _Sums = field(default_factory=dict)
    met: _Sums = field(default_factory=dict)
    recalled: _Sums = field(default_factory=dict)
    spent: _Sums = field(default_factory=dict)


def week_of(day: int) -> int:
    """Return the number of the week of a study day; weeks begin on Monday."""
    return (day - 1) // 7


def day_sums(seen: Replay, calendar: StudyCalendar) -> DaySums:
    """Return the sums over a replay."""
    sums = DaySums()
    _add_days(sums, seen)
    _add_hours(sums, seen, calendar)
    _add_recall(sums, seen)
    _add_weeks(sums, seen)
    _add_habits(sums, seen)
    return sums


def _at(sums: _Sums, key: int) -> list[int]:
    """Return the sums of a key, which are 0 at first."""
    return sums.get(key) or sums.setdefault(key, [0, 0, 0, 0, 0])


def _add_days(sums: DaySums, seen: Replay) -> None:
    columns = seen.columns
    met = bytearray(len(columns.cards))
    for day, card, rating, ms in zip(seen.day, columns.card, columns.rating, columns.ms, strict=True):
        one = _at(sums.days, day)
        one[0] += 1
        one[1] += rating > 1
        if not met[card]:
            met[card] = 1
            one[2] += 1
        if ms:
            one[3] += min(ms, LONGEST_MS)
            one[4] += 1


def _add_hours(sums: DaySums, seen: Replay, calendar: StudyCalendar) -> None:
    """Add the hours. Zones differ by whole quarters of an hour, so each quarter is looked up once."""
    quarter, one = -1, [0]
    for at, rating in zip(seen.columns.when_ms, seen.columns.rating, strict=True):
        if at // _QUARTER_MS != quarter:
            quarter = at // _QUARTER_MS
            one = _at(sums.hours, min(max(at_of(at), _EARLIEST), _LATEST).astimezone(calendar.zone).hour)
        one[0] += 1
        one[1] += rating > 1


def _add_recall(sums: DaySums, seen: Replay) -> None:
    """Add true retention, and predicted against actual recall."""
    ratings, predicted, elapsed = seen.columns.rating, seen.predicted, seen.elapsed
    for row, first in enumerate(seen.first):
        if not first:
            continue
        recalled, day = ratings[row] > 1, seen.day[row]
        if seen.phase[row] == _REVIEW:
            one = _at(sums.firsts, day)
            place = 2 if seen.interval[row] >= MATURE_DAYS else 0
            one[place] += 1
            one[place + 1] += recalled
        if elapsed[row] > 0:
            chance = predicted[row]
            one = _at(sums.tries, day * BINS + min(int(chance * BINS), BINS - 1))
            one[0] += 1
            one[1] += recalled
            one[2] += round(chance * ONE)
            one[3] -= round(math.log(max(chance if recalled else 1.0 - chance, _SURE)) * ONE)


def _add_weeks(sums: DaySums, seen: Replay) -> None:
    """Add the weeks at whose end a card was known, as a review in a later week found it."""
    weeks: Counter[int] = Counter()
    last = [-1] * len(seen.columns.cards)
    for card, day, phase, stability in zip(seen.columns.card, seen.day, seen.phase, seen.stability, strict=True):
        week = week_of(day)
        if phase == _REVIEW and stability >= KNOWN_DAYS and last[card] < week:
            weeks[last[card]] += 1
            weeks[week] -= 1
        last[card] = week
    sums.weeks.update((week, [count, 0, 0, 0, 0]) for week, count in weeks.items() if count)


def _add_habits(sums: DaySums, seen: Replay) -> None:
    """Add how cards were answered on a day, and the time they took with all their steps."""
    columns = seen.columns
    day_of, took = [-1] * len(columns.cards), [0] * len(columns.cards)
    first = [0] * len(columns.cards)  # the rating that the day began with; 0 for a card that was new

    def close(card: int) -> None:
        """Add the time that a card took on its last day."""
        ms, day = took[card], day_of[card]
        if not ms:
            return
        if first[card] > 1:
            recalled = _at(sums.recalled, day)
            recalled[3] += ms
            recalled[4] += 1
            return
        spent = _at(sums.spent, day)
        if first[card] == 1:
            spent[1] += ms
            spent[2] += 1
        else:
            spent[0] += 1
            _at(sums.met, day)[4] += ms

    for day, card, rating, ms in zip(seen.day, columns.card, columns.rating, columns.ms, strict=True):
        if day > day_of[card]:
            if day_of[card] < 0:
                _at(sums.met, day)[rating - 1] += 1
            else:
                close(card)
                first[card] = rating
                if rating > 1:
                    _at(sums.recalled, day)[rating - 2] += 1
            day_of[card], took[card] = day, 0
        took[card] += min(ms, LONGEST_MS)
    for card in range(len(columns.cards)):
        close(card)


# --- in the index ---------------------------------------------------------------------------------------------------


def read_sums(
    database: Database, scheduler: Scheduler, changes: Iterable[CardEvent], beat: Callable[[], None] = lambda: None
) -> DaySums:
    """Return the sums of all cards; `beat` is as for `replay`, which is needed once."""
    if not fact(database, _DONE):
        return _found(database, scheduler, changes, beat)
    sums = DaySums()
    for name, key, *values in database.rows("SELECT * FROM day_sum"):
        getattr(sums, name)[key] = values
    return sums


def _found(
    database: Database, scheduler: Scheduler, changes: Iterable[CardEvent], beat: Callable[[], None] = lambda: None
) -> DaySums:
    """Return the sums of all cards by a replay of the log, and save them."""
    known = fact(database, "log")
    sums = day_sums(replay(reviews.columns(database), scheduler, changes, beat), scheduler.calendar)
    with database.transaction():
        if fact(database, "log") == known:  # else something was taken in meanwhile
            database.run("DELETE FROM day_sum")
            _save(database, sums, add)
            set_fact(database, _DONE, "1")
    return sums


def studied_days(
    database: Database, scheduler: Scheduler, changes: Iterable[CardEvent], until: int, most: int
) -> list[StudiedDay]:
    """Return the last `most` study days before the day `until` that have reviews, the latest first."""
    if not fact(database, _DONE):
        _found(database, scheduler, changes)
    rows = database.rows(
        "SELECT key, a, d, e FROM day_sum WHERE name = 'days' AND key < ? ORDER BY key DESC LIMIT ?", (until, most)
    )
    first = rows[-1][0] if rows else until
    query = f"SELECT key / {BINS}, sum(a) FROM day_sum WHERE name = 'tries' AND key >= ? AND key < ? GROUP BY 1"
    tries: dict[int, int] = dict(database.rows(query, (first * BINS, until * BINS)))
    return [StudiedDay(day, tries.get(day, 0), count, _minutes(count, ms, timed)) for day, count, ms, timed in rows]


def _minutes(ratings: int, ms: int, timed: int) -> float:
    """Return the minutes that ratings took of which some say their time; 0.0 where none does."""
    return ms / timed * ratings / 60_000 if timed else 0.0


def count_studied_days(database: Database, first: int, until: int) -> int:
    """Return how many days from `first` to the day before `until` have reviews, once `studied_days` has been asked."""
    query = "SELECT count(*) FROM day_sum WHERE name = 'days' AND key >= ? AND key < ?"
    return int((database.one(query, (first, until)) or (0,))[0])


def forget_sums(database: Database) -> None:
    """Delete the sums, so that they are computed again when they are asked for."""
    set_fact(database, _DONE, "")


def sums_of_cards(
    database: Database, cards: Collection[CardId], scheduler: Scheduler, changes: Iterable[CardEvent]
) -> DaySums | None:
    """Return the sums over some cards; None where those of all are not known either."""
    if not fact(database, _DONE):
        return None
    return day_sums(replay(reviews.columns(database, cards), scheduler, changes), scheduler.calendar)


def change_sums(database: Database, before: DaySums | None, after: DaySums | None) -> None:
    """Replace the part of some cards in the sums of all."""
    if before is not None and after is not None:
        _save(database, before, sub)
        _save(database, after, add)


def _save(database: Database, sums: DaySums, how: Callable[[int, int], int]) -> None:
    """Add sums to those in the index, or subtract them."""
    for name in _NAMES:
        rows = [(name, key, *(how(0, value) for value in values)) for key, values in getattr(sums, name).items()]
        database.run_many("INSERT OR IGNORE INTO day_sum VALUES(?, ?, 0, 0, 0, 0, 0)", (row[:2] for row in rows))
        database.run_many(
            "UPDATE day_sum SET a = a + ?, b = b + ?, c = c + ?, d = d + ?, e = e + ? WHERE name = ? AND key = ?",
            ((*row[2:], *row[:2]) for row in rows),
        )
    database.run("DELETE FROM day_sum WHERE a = 0 AND b = 0 AND c = 0 AND d = 0 AND e = 0")
