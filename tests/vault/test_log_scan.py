"""The log as columns holds what parsing it line by line gives, whatever is in its files."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.batteries import examples
from vault.errors import SchemaTooNew
from vault.ids import CardId
from vault.log.events import (
    Bury,
    CatchUp,
    Flag,
    Graded,
    Import,
    LogEvent,
    More,
    Params,
    Pause,
    Rating,
    Reschedule,
    Resume,
    Review,
    Stamp,
    Suspend,
    Tag,
    Undo,
    UnknownType,
    checksum,
    decode,
    encode,
    review_in,
)
from vault.log.review_columns import ScannedLog, columns_of, scan_log
from vault.log.review_log import live, parse_log

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
PATHS = ("learning/reviews-2025.jsonl", "learning/reviews.jsonl", "learning/reviews.sync-conflict.jsonl")


def id_of(number: int) -> str:
    return f"{number:026}"


# Few ids, instants and cards, so that they meet.
numbers = st.integers(0, 12)
instants = st.integers(0, 9).map(lambda n: NOON + timedelta(milliseconds=n)) | st.datetimes(
    datetime(1, 1, 5), datetime(9999, 12, 27)
).map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000, tzinfo=UTC))
words = st.sampled_from(["tui", "cli", "é", 'a "quoted" word', "tab\there", "\x7f", ""])
stamps = st.builds(Stamp, numbers.map(id_of), instants, st.just("+01:00"), words, st.none() | instants)
cards = st.sampled_from(["aaaaaaaaa1", "aaaaaaaaa2", "Ä", ""]).map(CardId)
durations = st.sampled_from([0, 5400, 2**32, 10**12])
ratings = st.sampled_from(Rating)
events: st.SearchStrategy[LogEvent] = st.one_of(
    st.builds(Review, stamps, cards, ratings, durations),
    st.builds(Review, stamps, cards, ratings, durations, st.integers(0, 40_000)),
    st.builds(Import, stamps, cards, ratings, durations, st.integers(0, 40_000), origin=words),
    st.builds(More, stamps, st.dates(), st.integers(0, 9_999)),
    st.builds(Undo, stamps, numbers.map(id_of)),
    st.builds(lambda kind, s, c: kind(s, c), st.sampled_from([Suspend, Resume, Bury, Flag]), stamps, cards),
    st.builds(Tag, stamps, cards, st.just(("é", "x")), st.just(("y",))),
    st.builds(Reschedule, stamps, cards, st.dates()),
    st.builds(CatchUp, stamps, st.integers(0, 9_999), st.dates()),
    st.builds(Pause, stamps, st.dates(), st.integers(0, 9_999)),
    st.builds(Graded, stamps, cards, numbers.map(id_of), st.none() | ratings, ratings, words, numbers, numbers),
    st.builds(Params, stamps, st.just((0.5, -0.0)), st.none() | st.just(0.9), words),
)


def sealed(body: str) -> bytes:
    return body.encode() + checksum(body.encode())


STRANGE = [
    sealed(
        '{"v":1,"id":"r","type":"review","card":"aaaaaaaaa1","rating":1,"at":"2026-11-21T12:00:00.000Z","tz":"","ms":1,'
        '"via":"","clock":"2026-02-30T12:00:00.000Z"'
    ),
    b"",
    b"\r",
    b"not json",
    b"\x00\x00\x00",
    b"\xff\xfe",
    sealed('{"v":1,"id":"z","type":"praise","at":"2026-11-21T12:00:00.000Z"'),
    sealed(
        '{"v":1,"id":"y","type":"review","card":"c","rating":3,"at":"2026-13-41T12:00:00.000Z","tz":"","ms":1,"via":""'
    ),
    sealed(
        '{"v":1,"id":"x","type":"review","card":"c","rating":3,"at":"0000-01-01T12:00:00.000Z","tz":"","ms":1,"via":""'
    ),
    sealed(
        '{"v":1,"id":"w","type":"review","card":"c","rating":3,"at":"2026-11-21T24:00:00.000Z","tz":"","ms":1,"via":""'
    ),
    sealed('{"v":1,"id":"v","type":"review","card":"c","rating":3,"at":"2026-11-21T12:00:00.123456+01:00","ms":1'),
    sealed(
        '{"v":1,"id":"u","type":"review","card":"c","rating":9,"at":"2026-11-21T12:00:00.000Z","tz":"","ms":1,"via":""'
    ),
    sealed(
        '{"v":1,"id":"t","type":"import","card":"c","rating":1,"at":"2026-11-21T12:00:00.000Z","tz":"","ms":1,"via":""'
    ),
    sealed(
        '{"v":1,"id":"s","type":"review","card":"c","rating":1,"at":"2026-11-21T12:00:00.000Z","tz":"","ms":1,"via":""'
        ',"clock":"2026-02-30T12:00:00.000Z"'
    ),
]


def torn(line: bytes, chance: random.Random) -> bytes:
    return line[: chance.randrange(len(line) + 1)]


def flipped(line: bytes, chance: random.Random) -> bytes:
    if not line:
        return line
    place = chance.randrange(len(line))
    return line[:place] + bytes([line[place] ^ 1 << chance.randrange(8)]) + line[place + 1 :]


def glued(line: bytes, chance: random.Random) -> bytes:
    return line + line if chance.random() < 0.5 else b"\x00\x00" + line


def ended_by_windows(line: bytes, chance: random.Random) -> bytes:
    return line + b"\r"


def untouched(line: bytes, chance: random.Random) -> bytes:
    return line


HARMS: list[Callable[[bytes, random.Random], bytes]] = [torn, flipped, glued, ended_by_windows, *[untouched] * 6]


def _mixed(chance: random.Random) -> list[LogEvent]:
    """Events whose ids, instants and cards meet, most of them reviews in the form that is read by the block."""
    made: list[LogEvent] = []
    for _ in range(chance.randrange(12)):
        at = NOON + timedelta(milliseconds=chance.randrange(4))
        clock = at - timedelta(days=chance.randrange(9)) if chance.random() < 0.3 else None
        stamp = Stamp(id_of(chance.randrange(40)), at, "+01:00", "tui", clock)
        card = CardId(chance.choice(["aaaaaaaaa1", "aaaaaaaaa2"]))
        kind = chance.choice([Review, Review, Review, Import, Suspend, Undo])
        if kind is Undo:
            made.append(Undo(stamp, id_of(chance.randrange(40))))
        elif kind is Suspend:
            made.append(Suspend(stamp, card))
        else:
            made.append(kind(stamp, card, Rating(chance.randint(1, 4)), chance.randrange(9)))
    return made


@st.composite
def files(draw: st.DrawFn) -> list[tuple[str, bytes]]:
    """Up to three files of events whole and harmed, strange lines among them, in any order and any number of times."""
    chance = random.Random(draw(st.integers(0, 2**32)))  # evenly, where hypothesis prefers first and last
    made = []
    for path in PATHS[: draw(st.integers(1, 3))]:
        lines = [
            encode(event) for event in draw(st.lists(events, max_size=12).map(lambda found: [*found, *_mixed(chance)]))
        ]
        lines += draw(st.lists(st.sampled_from(STRANGE), max_size=2))
        lines += [chance.choice(lines) for _ in range(chance.randrange(3)) if lines]
        chance.shuffle(lines)
        data = b"\n".join(chance.choice(HARMS)(line, chance) for line in lines)
        data = chance.choice([b"", b"", b"\xef\xbb\xbf"]) + data + chance.choice([b"\n", b"\n", b""])
        made.append((path, data))
    chance.shuffle(made)
    return made


def expected(found: Iterable[tuple[str, bytes]]) -> ScannedLog:
    """The same, counted from the events one by one."""
    log = parse_log(found)
    counting = live(log.events)
    others = [e for e in counting if not isinstance(e, Review)]
    places = [sum(isinstance(e, Review) for e in counting[: counting.index(other)]) for other in others]
    last = max((e.at for e in counting), default=None)
    return ScannedLog(columns_of(log.events), tuple(others), tuple(places), last, log.diagnostics, log.files)


@settings(max_examples=examples(100))
@given(files())
def test_scanning_a_log_gives_what_parsing_it_gives(found: list[tuple[str, bytes]]) -> None:
    assert scan_log(found) == expected(found)


texts = st.sampled_from(['"x"', '"\\u00e9"', '"\\ud800"', '"é"', "3", "null", "[]", '""'])
fields = {
    "v": st.sampled_from(["1", "1.0", "true", '"1"', "0"]),
    "id": texts,
    "type": st.sampled_from(['"review"', '"import"', '"\\u0072eview"', '"flag"', "null"]),
    "card": texts,
    "rating": st.sampled_from(["1", "4", "0", "5", "3.0", '"3"', "true", "null"]),
    "at": st.sampled_from(
        [
            *("2026-11-21T12:00:00.000Z", "2026-11-21T12:00:00Z", "2026-11-21T12:00:00.123456+01:00", "2026-11-21"),
            *("2026-11-21T12:00:00.123456Z", "2026-11-21T12:00:00", "2026-11-21T24:00:00.000Z", "20261121T120000Z"),
            *("2026-W47-6T12:00:00.000Z", "0001-01-01T00:00:00.000+01:00", "2026-11-21T12:00:00.000-00:00", ""),
        ]
    ).map(lambda text: f'"{text}"')
    | st.sampled_from(["1732190400", "null"]),
    "tz": texts,
    "ms": st.sampled_from(["0", "5400", "-1", "-0", "1e3", "1.5", "null", "true", "1" + "0" * 30]),
    "origin": texts,
    "via": texts,
    "clock": st.sampled_from(["null", '"2026-11-20T12:00:00.000Z"', '"x"', "3"]),
    "more": st.sampled_from(['{"a":[1]}', "null", '"x"']),
}
USUAL = {"v": "1", "id": '"0"', "type": '"review"', "card": '"c"', "rating": "3", "at": '"2026-11-21T12:00:00.000Z"'}


@given(st.fixed_dictionaries({}, optional=fields), st.sets(st.sampled_from(sorted(USUAL)), max_size=1), st.data())
def test_a_line_that_is_read_quickly_holds_what_decoding_it_gives(
    given_: dict[str, str], left_out: set[str], data: st.DataObject
) -> None:
    chance = data.draw(st.randoms(use_true_random=False))
    record = USUAL | {"via": '"tui"', "ms": "5400"} | dict(chance.sample(sorted(given_.items()), min(2, len(given_))))
    pairs = [f'"{key}":{value}' for key, value in record.items() if key not in left_out]
    pairs += [chance.choice(pairs)] * chance.randrange(2)  # the last of two counts
    line = sealed("{" + ",".join(pairs))
    try:
        expected: LogEvent | None = decode(line)
    except (ValueError, UnknownType):
        expected = None
    read = review_in(line + b"\n")
    assert read is None or read == expected
    assert review_in(line) is None  # its end may be missing
    if expected is not None and not given_:
        assert read is not None


@given(st.lists(st.builds(Review, stamps, cards, ratings, durations), unique_by=lambda e: e.id), st.data())
def test_an_undo_of_an_undo_gives_the_review_back(reviews: list[LogEvent], data: st.DataObject) -> None:
    chance = data.draw(st.randoms(use_true_random=False))
    undone = [Undo(Stamp(id_of(100 + n), NOON + timedelta(days=9)), e.id) for n, e in enumerate(reviews)]
    again = [Undo(Stamp(id_of(200 + n), NOON + timedelta(days=10)), u.id) for n, u in enumerate(undone)]
    lines = [encode(e) for e in (*reviews, *undone, *again) if chance.random() < 0.8]
    chance.shuffle(lines)
    found = [(PATHS[0], b"".join(line + b"\n" for line in lines)), (PATHS[1], b"\n".join(lines))]
    assert scan_log(found) == expected(found)


def test_two_different_events_of_one_id_are_named_and_the_same_one_counts() -> None:
    one, two = (Review(Stamp(id_of(1), NOON), CardId("aaaaaaaaa1"), rating) for rating in (Rating.GOOD, Rating.AGAIN))
    for pair in ((one, two), (two, one)):
        found = [(PATHS[n], encode(event) + b"\n") for n, event in enumerate(pair)]
        scanned = scan_log(found)
        assert scanned == expected(found)
        assert [d.code for d in scanned.diagnostics] == ["log-same-id"]
        assert list(scanned.reviews.rating) == [1]


def test_a_newer_format_is_refused_by_its_line() -> None:
    line = sealed('{"v":2,"id":"z","type":"review"')
    good = encode(Review(Stamp(id_of(1), NOON), CardId("aaaaaaaaa1"), Rating.GOOD))
    with pytest.raises(SchemaTooNew) as caught:
        scan_log([(PATHS[1], good + b"\n" + line + b"\n")])
    assert caught.value.where == f"{PATHS[1]}:2"


def test_nothing_is_an_empty_log() -> None:
    assert scan_log([]) == ScannedLog()
    assert scan_log([(PATHS[1], b"")]) == ScannedLog(files=(PATHS[1],))
