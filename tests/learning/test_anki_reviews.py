"""Reviews from Anki become events: the same ones each time, and only those that are answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from learning.anki.reviews import AnkiReview, dated, imports, known_origins
from vault.ids import CardId
from vault.log.events import Rating, decode, encode
from vault.log.review_log import unix_ms

VAULT_ID = "01KB0000000000000000000000"
CARD = CardId("aaaaaaaaa1")
BERLIN = ZoneInfo("Europe/Berlin")
AT = datetime(2026, 11, 21, 12, 0, 0, 123_000, tzinfo=UTC)
ONE = AnkiReview(CARD, unix_ms(AT), 3, 5400)

any_row = st.builds(
    AnkiReview,
    st.sampled_from([CARD, CardId("bbbbbbbbb1")]),
    st.integers(-(10**15), 10**18) | st.integers(1_700_000_000_000, 1_700_000_000_050),
    st.integers(-1, 6),
    st.integers(-5, 10**12),
    st.integers(-1, 7),
    st.integers(0, 3000),
)


def test_an_answer_in_anki_is_an_import_that_says_where_it_came_from() -> None:
    (event,) = imports([ONE], (), VAULT_ID, BERLIN)
    assert (event.card, event.rating, event.ms, event.at) == (CARD, Rating.GOOD, 5400, AT)
    assert (event.origin, event.stamp.via, event.stamp.tz) == (f"anki:{ONE.id}", "anki", "+01:00")
    assert event.stamp.clock is None
    assert decode(encode(event)) == event


def test_what_is_no_answer_is_left_out() -> None:
    rows = [
        replace(ONE, ease=0),
        replace(ONE, ease=5),
        replace(ONE, kind=4),
        replace(ONE, kind=5),
        replace(ONE, kind=3, factor=0),
    ]
    assert imports(rows, (), VAULT_ID, UTC) == []
    assert dated(rows, AT) == ([], [])
    assert len(imports([replace(ONE, kind=3, factor=500)], (), VAULT_ID, UTC)) == 1


def test_reviews_from_the_future_and_from_before_1970_are_named_and_wait() -> None:
    rows = [replace(ONE, id=id_) for id_ in (-5, 0, ONE.id, ONE.id + 1, 10**18)]
    kept, found = dated(rows, AT)
    assert kept == [ONE]
    assert [d.code for d in found] == ["anki-review-date"] * 4
    assert dated(rows, AT + timedelta(seconds=1))[0] == [ONE, replace(ONE, id=ONE.id + 1)]


@given(st.lists(any_row, max_size=12), st.randoms())
def test_order_and_repetition_change_nothing_and_a_second_time_finds_nothing_new(
    rows: list[AnkiReview], random: object
) -> None:
    kept, _ = dated(rows, datetime(2030, 1, 1, tzinfo=UTC))
    one_each = list({row.id: row for row in kept}.values())
    events = imports(one_each, (), VAULT_ID, BERLIN)
    mixed = [*one_each, *one_each]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert imports(mixed, (), VAULT_ID, BERLIN) == events
    assert imports(mixed, known_origins(events), VAULT_ID, BERLIN) == []
    assert len({event.id for event in events}) == len(events) == len(one_each)
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert all(decode(encode(event)) == event for event in events)


def test_two_vaults_give_one_review_two_names() -> None:
    (ours,), (theirs,) = (imports([ONE], (), id_, UTC) for id_ in (VAULT_ID, VAULT_ID[:-1] + "1"))
    assert ours.id != theirs.id and ours.id[:10] == theirs.id[:10]
