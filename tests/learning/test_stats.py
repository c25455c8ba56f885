"""Figures, each counted once more by naive code: from a made history, and from a real one of 12,580 reviews."""

import csv
import math
import random
from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.history.day_sums import BINS, MATURE_DAYS, DaySums, day_sums
from learning.memory.fold import fold
from learning.memory.predictions import replay
from learning.memory.scheduler import Scheduler
from learning.memory.state import MemoryState, Phase, Rules
from learning.schedule.workload import Pace, minutes, ms_per_rating
from learning.stats.activity import activity, growth
from learning.stats.mastery import Studied
from learning.stats.retention import Retention, Tries, calibration, true_retention
from learning.stats.stats import CardNews, Material, Phases, stats_of
from vault.ids import CardId
from vault.log.events import LogEvent, Rating, Review, Stamp
from vault.log.review_columns import ReviewColumns, columns_of

HISTORY = "revlogs/py-fsrs-japanese-12580.csv"
SCHEDULER = Scheduler(Rules())
NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
TODAY = SCHEDULER.calendar.day(NOW)


def review(number: int, card: str, rating: int, at: datetime, ms: int = 0) -> Review:
    return Review(Stamp(f"{number:026}", at), CardId(card), Rating(rating), ms)


def made_history(seed: int, count: int = 400) -> list[Review]:
    """Reviews of 12 cards over 200 days, whatever the scheduler would have wanted."""
    chance = random.Random(seed)
    instants = sorted(NOW - timedelta(minutes=chance.randrange(200 * 24 * 60)) for _ in range(count))
    return [
        review(n, f"c{chance.randrange(12)}", chance.choice((1, 2, 3, 3, 3, 4)), at, chance.choice((0, 4_000, 90_000)))
        for n, at in enumerate(instants)
    ]


def sums_of(events: Iterable[LogEvent]) -> DaySums:
    return day_sums(replay(columns_of(events), SCHEDULER), SCHEDULER.calendar)


def naive(events: list[Review]) -> list[tuple[Review, MemoryState, bool]]:
    """Each review, what was remembered before it, and whether it is its card's first of that day."""
    out = []
    for n, event in enumerate(events):
        mine = [e for e in events[:n] if e.card == event.card]
        state = fold(mine, SCHEDULER).get(event.card, MemoryState())
        days = {SCHEDULER.calendar.day(e.at) for e in mine}
        out.append((event, state, SCHEDULER.calendar.day(event.at) not in days))
    return out


@given(st.integers(0, 10_000))
def test_true_retention_is_what_counting_review_by_review_gives(seed: int) -> None:
    events = made_history(seed, 60)
    found = true_retention(sums_of(events), TODAY)
    for row in found:
        young, mature = [0, 0], [0, 0]
        for event, state, first in naive(events):
            day = SCHEDULER.calendar.day(event.at)
            if not first or state.phase is not Phase.REVIEW or (row.days and day <= TODAY - row.days):
                continue
            which = mature if state.interval_days >= MATURE_DAYS else young
            which[0] += 1
            which[1] += event.rating is not Rating.AGAIN
        assert row == Retention(row.days, Tries(*young), Tries(*mature))
    assert [row.days for row in found] == [1, 7, 30, 90, 0]


def test_calibration_is_what_summing_review_by_review_gives() -> None:
    events = made_history(3)
    found = calibration(sums_of(events))
    tries = []
    for event, state, first in naive(events):
        if first and state.phase is not Phase.NEW:
            tries.append((SCHEDULER.retrievability(state, event.at), event.rating > 1))
    assert found.reviews == len(tries) > 200
    loss = -sum(math.log(chance if recalled else 1 - chance) for chance, recalled in tries) / len(tries)
    assert found.log_loss == pytest.approx(loss)
    square = 0.0
    for b in found.bins:
        mine = [t for t in tries if b.low <= t[0] < b.low + 1 / BINS]
        assert b.reviews == len(mine)
        assert b.recalled == pytest.approx(sum(r for _, r in mine) / len(mine))
        square += len(mine) * (sum(c for c, _ in mine) / len(mine) - sum(r for _, r in mine) / len(mine)) ** 2
    assert found.rmse == pytest.approx(math.sqrt(square / len(tries)))


def test_calibration_of_nothing_says_nothing() -> None:
    found = calibration(sums_of([]))
    assert (found.reviews, found.log_loss, found.rmse, found.bins) == (0, None, None, ())


@given(st.integers(0, 10_000))
def test_days_hours_and_streaks_are_what_counting_gives(seed: int) -> None:
    events = made_history(seed, 80)
    done = activity(sums_of(events), TODAY)
    days = [SCHEDULER.calendar.day(e.at) for e in events]
    assert [d.day.toordinal() for d in done.days] == sorted(set(days))
    for day in done.days:
        mine = [e for e, d in zip(events, days, strict=True) if d == day.day.toordinal()]
        assert (day.reviews, day.recalled) == (len(mine), sum(e.rating > 1 for e in mine))
        assert day.ms == sum(min(e.ms, 60_000) for e in mine)
        assert day.new == sum(all(e.card != f.card for f in events[: events.index(e)]) for e in mine)
    assert {h.hour: h.reviews for h in done.hours} == {
        h: sum(e.at.hour == h for e in events) for h in range(24) if any(e.at.hour == h for e in events)
    }
    streak = 0
    last = TODAY if TODAY in days else TODAY - 1
    while last - streak in days:
        streak += 1
    assert done.streak == streak
    weeks = growth(done)
    assert weeks[-1].total == len({e.card for e in events}) == sum(w.met for w in weeks)
    assert all(w.week.weekday() == 0 for w in weeks)


def test_a_streak_lives_on_until_the_day_after_is_over() -> None:
    at = [NOW - timedelta(days=n) for n in (9, 8, 7, 6, 2, 1)]
    done = activity(sums_of(review(n, "c", 3, a) for n, a in enumerate(at)), TODAY)
    assert (done.streak, done.longest_streak) == (2, 4)


def material(events: list[Review], *, cards: int = 4, **more: object) -> Material:
    named = [
        Studied(CardId(f"c{n}"), f"k{n // 2}", f"K{n // 2}", ("definitional", "applied")[n % 2]) for n in range(cards)
    ]
    fields = {"topics": {"All": ("k0", "k1")}, "leech_threshold": 8} | more
    states = fold(events, SCHEDULER)
    dues = [(card, state.due) for card, state in states.items() if state.due is not None]

    def reviews(cards: Collection[CardId] | None) -> ReviewColumns:
        return columns_of(event for event in events if cards is None or event.card in cards)

    fields |= {"due": lambda end: [(card, due) for card, due in dues if due < end]}
    return Material(named, reviews, states, **fields)  # type: ignore[arg-type]


def test_an_empty_vault_has_figures_that_say_nothing_rather_than_zero_percent() -> None:
    found = stats_of(Material((), lambda _: ReviewColumns(), {}, {}), SCHEDULER, NOW)
    assert found.phases == Phases()
    assert all(row.all.rate is None for row in found.retention)
    assert (found.calibration.predicted, found.activity.ms_per_answer) == (None, None)
    assert (found.concepts, found.topics, found.leeches, found.growth) == ((), (), (), ())
    assert sum(coming.reviews for coming in found.forecast) == 0


def test_cards_are_counted_once_by_where_they_stand() -> None:
    state = MemoryState(Phase.REVIEW, 30.0, 5.0, None, NOW, NOW, TODAY, 30)
    from dataclasses import replace

    states = [
        state,
        replace(state, interval_days=5),
        replace(state, phase=Phase.RELEARNING),
        replace(state, suspended=True, leech=True),
        replace(state, retracted=True, leech=True),
        MemoryState(flagged=True),
        replace(state, phase=Phase.LEARNING, changed=True),
    ]
    cards = [Studied(CardId(f"c{n}"), "k", "K") for n in range(8)]
    found = stats_of(
        Material(cards, lambda _: ReviewColumns(), {CardId(f"c{n}"): s for n, s in enumerate(states)}, {}),
        SCHEDULER,
        NOW,
    ).phases
    assert found == Phases(2, 1, 1, 1, 1, 1, 1, flagged=1, changed=1, leeches=1)
    assert found.total == 6


def test_the_forecast_holds_each_planned_review_on_its_day_and_what_is_overdue_today() -> None:
    events = made_history(5)
    given_ = material(events, cards=12)
    found = stats_of(given_, SCHEDULER, NOW).forecast
    assert [c.day for c in found] == [date.fromordinal(TODAY + n) for n in range(30)]
    for n, coming in enumerate(found):
        planned = [SCHEDULER.calendar.day(due) - TODAY for _, due in given_.due(NOW + timedelta(days=9999))]
        assert coming.reviews == sum(p == n or (n == 0 and p < 0) for p in planned)


def test_the_week_tells_what_became_known_and_what_was_forgotten() -> None:
    start = NOW - timedelta(days=60)
    events = [review(n, "c0", 4, start + timedelta(days=d)) for n, d in enumerate((0, 20, 57))]
    events += [review(10 + n, "c1", 4, start + timedelta(days=d)) for n, d in enumerate((0, 20, 58))]
    events += [
        review(20 + n, "c2", r, start + timedelta(days=d)) for n, (d, r) in enumerate(((0, 4), (56, 1), (58, 1)))
    ]
    events.sort(key=lambda e: e.at)
    news = [
        CardNews(CardId("c3"), "added", NOW - timedelta(days=2)),
        CardNews(CardId("c2"), "changed", NOW - timedelta(days=1)),
        CardNews(CardId("c1"), "reworded", NOW - timedelta(days=30)),
    ]
    given_ = material(events, news=news)
    found = stats_of(given_, SCHEDULER, NOW).week
    assert (found.reviews, found.added, found.changed, found.reworded, found.met) == (4, 1, 1, 0, 0)
    assert [(f.card, f.forgotten, f.tries) for f in found.forgotten] == [("c2", 2, 2)]
    before = fold([e for e in events if e.at < NOW - timedelta(days=7)], SCHEDULER)
    assert all(before[CardId(c)].stability >= 21 for c in ("c0", "c1"))
    assert found.mastered == ()  # it was known before
    new = [
        review(n, c, 4, NOW - timedelta(days=d))
        for n, (c, d) in enumerate((("c0", 40), ("c1", 40), ("c0", 1), ("c1", 1)))
    ]
    fast = stats_of(material(new, cards=2), SCHEDULER, NOW).week
    assert fast.mastered == ("K0",)


def test_a_leech_is_shown_with_how_often_it_was_forgotten_and_new_only_in_its_week() -> None:
    lapses = [review(0, "c0", 4, NOW - timedelta(days=300))]
    for n in range(8):
        at = NOW - timedelta(days=280 - 40 * n)
        lapses += [review(2 * n + 1, "c0", 1, at), review(2 * n + 2, "c0", 3, at + timedelta(minutes=20))]
    assert fold(lapses, SCHEDULER)[CardId("c0")].leech
    found = stats_of(material(lapses, cards=2), SCHEDULER, lapses[-1].at + timedelta(days=1))
    assert [(f.card, f.forgotten, f.tries) for f in found.leeches] == [("c0", 8, 8)]
    assert (found.phases.leeches, found.week.new_leeches) == (1, 1)
    later = stats_of(material(lapses, cards=2), SCHEDULER, lapses[-1].at + timedelta(days=30))
    assert (later.phases.leeches, later.week.new_leeches) == (1, 0)


def test_the_minutes_of_a_day_come_of_the_latest_ratings() -> None:
    assert ms_per_rating([]) == 10_000
    assert ms_per_rating([4_000, 3_600_000]) == 32_000
    assert minutes(6, 0, Pace(new_s=25, review_s=10)) == 1
    assert minutes(6, 4, Pace(new_s=25, review_s=10)) == 3


@pytest.mark.real_data
def test_a_real_history_has_the_retention_and_log_loss_that_others_found_in_it(shared_data: Path) -> None:
    with (shared_data / HISTORY).open() as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["review_time"])
    events = [
        review(n, row["card_id"], int(row["review_rating"]), datetime.fromisoformat(row["review_time"]))
        for n, row in enumerate(rows)
    ]
    columns = columns_of(events)
    seen = replay(columns, SCHEDULER)
    split = datetime(2024, 9, 25, 16, 39, 39, 570_000, tzinfo=UTC)
    last = [row for row in seen.tried() if events[row].at >= split]
    recalled = [columns.rating[row] > 1 for row in last]
    assert (len(last), round(sum(recalled) / len(last), 5)) == (1461, 0.81862)
    loss = -sum(
        math.log(seen.predicted[r] if ok else 1 - seen.predicted[r]) for r, ok in zip(last, recalled, strict=True)
    )
    assert round(loss / len(last), 5) == pytest.approx(0.45168, abs=2e-5)
    found = true_retention(day_sums(seen, SCHEDULER.calendar), max(seen.day))
    assert found[-1].all.reviews > 6_000
    assert 0.75 < (found[-1].all.rate or 0) < 0.82
    assert (found[-1].mature.rate or 0) > (found[-1].young.rate or 1)
