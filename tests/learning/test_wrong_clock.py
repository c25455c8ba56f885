"""Ratings that were made while a clock was wrong: what comes after them is reckoned as if it had been right."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.cards.undo_ahead import undo_ahead
from learning.cards.workspace import open_desk, rate, undo_last
from learning.history.day_sums import day_sums
from learning.memory.fold import fold
from learning.memory.predictions import replay
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, Rules
from learning.memory.trials import elapsed_days
from learning.stats.activity import activity
from learning.study_day import StudyCalendar
from vault.errors import NotFound
from vault.ids import CardId, ulid
from vault.log.events import Bury, LogEvent, Rating, Review, Stamp, encode
from vault.log.review_columns import columns_of, scan_log
from vault.log.review_log import mint_stamp, parse_log, unix_ms
from vault.vault import Vault

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
AHEAD = datetime(2030, 11, 22, 12, tzinfo=UTC)
A, B = "aaaaaaaaa1", "bbbbbbbbb1"
CARDS = (CardId("k000000001"), CardId("k000000002"))
SCHEDULER = Scheduler(Rules(StudyCalendar(UTC)))
MS = timedelta(milliseconds=1)


def review(number: int, at: datetime, clock: datetime | None = None, card: CardId = CARDS[0]) -> Review:
    return Review(
        Stamp(ulid(unix_ms(at), number.to_bytes(10, "big")), at, clock=clock), card, Rating.GOOD, 1000 + number
    )


def test_a_rating_after_one_from_years_ahead_counts_the_days_that_truly_passed() -> None:
    """Another card was rated while the clock was four years ahead; this one is rated eight days after its last time."""
    right = [review(1, NOON), review(3, NOON + timedelta(days=3)), review(4, NOON + timedelta(days=11))]
    spoilt = [
        right[0],
        review(2, AHEAD, card=CARDS[1]),
        *(review(4 + n, AHEAD + n * MS, clock=e.at) for n, e in enumerate(right[1:], 1)),
    ]
    good, found = fold(right, SCHEDULER)[CARDS[0]], fold(spoilt, SCHEDULER)[CARDS[0]]
    assert found == good
    columns = columns_of(spoilt)
    assert list(elapsed_days(columns, SCHEDULER.calendar)) == [-1, -1, 3, 8]
    seen = replay(columns, SCHEDULER)
    assert list(seen.elapsed) == [0, 0, 3, 8]
    days = activity(day_sums(seen, SCHEDULER.calendar), SCHEDULER.calendar.day(NOON)).days
    assert [each.day.year for each in days] == [2026, 2026, 2026, 2030]


def test_a_card_that_was_itself_rated_in_the_future_goes_on_from_the_next_rating() -> None:
    spoilt = [review(1, AHEAD), review(2, AHEAD + MS, clock=NOON), review(3, AHEAD + 2 * MS, NOON + timedelta(days=9))]
    found = fold(spoilt, SCHEDULER)[CARDS[0]]
    assert found.last_review == NOON + timedelta(days=9)
    assert found.due is not None and found.due < NOON + timedelta(days=400)
    assert found == fold([review(1, NOON), *spoilt[1:]], SCHEDULER)[CARDS[0]]  # no time passed, nor went back
    assert SCHEDULER.retrievability(fold(spoilt[:1], SCHEDULER)[CARDS[0]], NOON) == 1.0


def lines(events: Iterable[LogEvent]) -> bytes:
    return b"".join(encode(event) + b"\n" for event in events)


INSTANTS = st.integers(-3000, 3000).map(lambda hours: NOON + timedelta(hours=hours))


@given(
    st.lists(st.tuples(INSTANTS, st.none() | INSTANTS, st.sampled_from(CARDS), st.booleans()), max_size=12),
    st.lists(st.tuples(INSTANTS, st.sampled_from(CARDS)), max_size=2),
)
def test_whatever_the_clocks_said_both_folds_and_both_readers_agree(
    drawn: list[tuple[datetime, datetime | None, CardId, bool]], changed: list[tuple[datetime, CardId]]
) -> None:
    events: list[LogEvent] = []
    for number, (at, clock, card, is_bury) in enumerate(drawn):
        event = review(number, at, None if clock == at else clock, card)
        events.append(Bury(event.stamp, card) if is_bury else event)
    changes = [CardEvent(card, "changed", at) for at, card in changed]
    files = [("learning/reviews.jsonl", lines(events))]
    scanned = scan_log(files)
    read = parse_log(files).events
    assert scanned.reviews == columns_of(read)
    reviews = sorted((e for e in read if isinstance(e, Review)), key=lambda e: (e.at, e.id))
    assert list(scanned.reviews.when_ms) == [unix_ms(e.when) for e in reviews]
    assert fold(read, SCHEDULER, changes) == fold(events, SCHEDULER, changes)


def test_a_date_given_by_hand_is_kept_where_the_log_is_ahead_of_the_clock() -> None:
    at = NOON - timedelta(days=2)
    made = mint_stamp(NOON, last=AHEAD, zone=UTC, via="cli", entropy=bytes(10), dated=at)
    assert (made.at, made.clock, made.when) == (AHEAD + MS, at, at)
    plain = mint_stamp(NOON, last=NOON - timedelta(days=1), zone=UTC, via="cli", entropy=bytes(10), dated=at)
    assert (plain.at, plain.clock, plain.when) == (at, NOON, at)
    meant = mint_stamp(NOON, last=None, zone=UTC, via="cli", entropy=bytes(10), dated=AHEAD)
    assert (meant.at, meant.clock, meant.when) == (AHEAD, None, AHEAD)


def test_the_desk_schedules_from_the_true_day_once_the_clock_is_right_again(vault: Vault) -> None:
    clean, _ = rate(open_desk(vault, NOON), A, Rating.EASY, via="cli")
    rate(open_desk(vault, AHEAD), B, Rating.EASY, via="cli")
    desk, event = rate(open_desk(vault, NOON + timedelta(days=8)), A, Rating.GOOD, via="cli")
    state = desk.state(CardId(A))
    assert event.at == AHEAD + MS
    assert event.when == state.last_review == NOON + timedelta(days=8)
    before = clean.state(CardId(A))
    expected = SCHEDULER.review(CardId(A), before, Rating.GOOD, NOON + timedelta(days=8))
    assert state.stability == expected.stability
    assert open_desk(vault, desk.now).state(CardId(A)) == state
    done = desk.past.done(desk.scheduler.calendar, desk.now)
    assert (done.new, done.reviews) == (0, 1)


def test_undoing_what_was_rated_in_the_future_gives_the_card_back(vault: Vault) -> None:
    rate(open_desk(vault, AHEAD), B, Rating.EASY, via="cli")
    desk = open_desk(vault, NOON)
    assert B not in [item.card for item in (*desk.queue.due, *desk.queue.new)]
    desk, _, _ = undo_last(desk, via="cli")
    assert B in [item.card for item in desk.queue.new]
    assert desk.state(CardId(B)).reps == 0


def test_a_rating_from_the_future_is_said_at_every_opening_until_it_is_undone(vault: Vault) -> None:
    rate(open_desk(vault, AHEAD), B, Rating.EASY, via="cli")
    for now in (NOON, NOON + timedelta(days=1)):
        (found,) = [each for each in open_desk(vault, now).diagnostics if each.code == "log-ahead"]
        assert found.path == "learning/reviews.jsonl"
        assert found.message.startswith(f"the review of card {B} is dated 2030-11-22T13:00+01:00, 1,46")
        assert "run `retain undo --ahead` to undo all of them" in found.hint
    desk, kept = rate(open_desk(vault, NOON), A, Rating.GOOD, via="cli")
    desk, _ = rate(open_desk(vault, AHEAD), B, Rating.GOOD, via="cli")
    desk, _, voided = undo_ahead(open_desk(vault, NOON), via="cli")
    assert [getattr(event, "card", "") for event in voided] == [B, B]
    assert desk.state(CardId(B)).reps == 0
    assert desk.state(CardId(A)).last_review == kept.when == NOON
    with pytest.raises(NotFound):
        undo_ahead(desk, via="cli")
    assert not open_desk(vault, NOON).diagnostics
    assert not open_desk(vault, NOON - timedelta(minutes=59)).diagnostics


def test_a_ledger_from_the_future_is_said_by_the_desk(vault: Vault) -> None:
    line = f'{{"v":1,"type":"change","of":"card","id":"{A}","at":"2030-01-01T09:00:00.000Z","how":"fact"}}\n'
    (vault.root / "ledger").mkdir(exist_ok=True)
    (vault.root / "ledger/ids.jsonl").write_text(line)
    (found,) = open_desk(vault, NOON).diagnostics
    assert (found.path, found.code) == ("ledger/ids.jsonl", "ledger-ahead")
    assert "2030-01-01T10:00+01:00" in found.message
    assert not open_desk(vault, AHEAD).diagnostics
