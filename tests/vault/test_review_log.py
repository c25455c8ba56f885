"""The log keeps every review once, whatever happens to the order, number, ends and bits of its lines."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zlib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import Refused, SchemaTooNew
from vault.files.guard import Guard, Scope
from vault.ids import ALPHABET, CardId
from vault.log.events import (
    Bury,
    CatchUp,
    Flag,
    Import,
    LogEvent,
    Memory,
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
    checksum,
    decode,
    encode,
)
from vault.log.review_log import LOG_PATH, LogWriter, append, last_undoable, live, mint_stamp, parse_log, read_log

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CARD = CardId("k7q2m9xd3f")

instants = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(
    lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000, tzinfo=UTC)
)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ids = st.text(ALPHABET.upper(), min_size=26, max_size=26)
stamps = st.builds(Stamp, ids, instants, st.just("+01:00"), words, st.none() | instants)
cards = st.text(ALPHABET, min_size=10, max_size=10).map(CardId)
ratings = st.sampled_from(Rating)
durations = st.integers(0, 10**7)
floats = st.floats(-100, 100)
tag_lists = st.lists(words.filter(str.strip), max_size=3).map(tuple)
events: st.SearchStrategy[LogEvent] = st.one_of(
    st.builds(Review, stamps, cards, ratings, durations, st.integers(0, 40_000)),
    st.builds(Import, stamps, cards, ratings, durations, st.integers(0, 40_000), origin=words),
    st.builds(More, stamps, st.dates(), st.integers(0, 9_999)),
    st.builds(Undo, stamps, ids),
    st.builds(Suspend, stamps, cards),
    st.builds(Resume, stamps, cards),
    st.builds(Bury, stamps, cards),
    st.builds(Flag, stamps, cards, words),
    st.builds(Tag, stamps, cards, tag_lists, tag_lists),
    st.builds(Reschedule, stamps, cards, st.dates()),
    st.builds(
        lambda stamp, card, numbers, day, wait, counts, origin: Memory(
            stamp, card, numbers[0], numbers[1], day, day + timedelta(days=wait), counts[0], counts[1], origin
        ),
        stamps,
        cards,
        st.tuples(st.floats(0.001, 36_500), st.floats(1, 10)),
        st.dates(date(1970, 1, 1), date(2999, 1, 1)),
        st.integers(0, 36_500),
        st.tuples(st.integers(0, 999), st.integers(0, 99)),
        words,
    ),
    st.builds(CatchUp, stamps, st.integers(0, 9_999), st.dates()),
    st.builds(Pause, stamps, st.dates(), st.integers(0, 9_999)),
    st.builds(Params, stamps, st.lists(floats, max_size=21).map(tuple), st.none() | floats, words),
)


def review(number: int, rating: Rating = Rating.GOOD, card: CardId = CARD) -> Review:
    return Review(Stamp(f"{number:026}", NOON + timedelta(minutes=number), "+01:00", "tui"), card, rating, 5400)


def lines(*written: LogEvent) -> bytes:
    return b"".join(encode(event) + b"\n" for event in written)


def sealed(record: object) -> bytes:
    """A line with a fitting checksum whatever it says."""
    body = json.dumps(record, separators=(",", ":")).encode()[:-1]
    return body + checksum(body)


def test_a_review_is_written_as_the_contract_shows_it() -> None:
    at = datetime(2026, 11, 21, 9, 30, 0, 123000, tzinfo=UTC)
    line = encode(Review(Stamp("01KB0000000000000000000000", at, "+01:00", "tui"), CARD, Rating.GOOD, 5400))
    body = (
        b'{"v":1,"id":"01KB0000000000000000000000","type":"review","card":"k7q2m9xd3f","rating":3,'
        b'"at":"2026-11-21T09:30:00.123Z","tz":"+01:00","ms":5400,"via":"tui"'
    )
    assert line == body + b',"crc":"' + f"{zlib.crc32(body):08x}".encode() + b'"}'


@given(st.builds(Review, stamps, words.map(CardId), ratings, durations))
def test_the_line_of_a_review_is_what_json_makes_of_its_record(review: Review) -> None:
    line = encode(review)
    assert json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":")).encode() == line
    elsewhere = encode(Import(review.stamp, review.card, review.rating, review.ms)).replace(b',"origin":""', b"")
    assert elsewhere.replace(b'"type":"import"', b'"type":"review"', 1)[:-10] == line[:-10]
    assert decode(line) == review


@given(events)
def test_what_was_written_is_read_back(event: LogEvent) -> None:
    line = encode(event)
    assert b"\n" not in line
    assert decode(line) == event


@given(st.lists(events, max_size=12, unique_by=lambda e: e.id), st.randoms(use_true_random=False))
def test_order_repetition_and_line_ends_never_matter(written: list[LogEvent], chance: random.Random) -> None:
    plain = parse_log([(LOG_PATH, lines(*written))])
    shuffled = [encode(e) + chance.choice([b"\n", b"\r\n"]) for e in written for _ in range(chance.randint(1, 3))]
    chance.shuffle(shuffled)
    cut = chance.randint(0, len(shuffled))
    copies = [
        ("learning/reviews.sync-conflict-20261121-093000-ABCDEFG.jsonl", b"".join(shuffled[:cut])),
        (LOG_PATH, b"\xef\xbb\xbf" + b"".join(shuffled[cut:])),
    ]
    assert parse_log(copies).events == plain.events
    assert parse_log(copies[::-1]).events == plain.events
    assert not plain.diagnostics


def test_conflict_copies_and_closed_years_are_read_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "learning").mkdir()
    names = [
        "reviews.jsonl",
        "reviews-2025.jsonl",
        "reviews.sync-conflict-20261121-093000-ABCDEFG.jsonl",
        "reviews (Bob's conflicted copy).jsonl",
    ]
    for number, name in enumerate(names):
        (tmp_path / "learning" / name).write_bytes(lines(review(number), review(99)))
    (tmp_path / "learning" / "other.jsonl").write_bytes(lines(review(7)))
    log = read_log(tmp_path)
    assert log.events == (review(0), review(1), review(2), review(3), review(99))
    assert set(log.files) == {f"learning/{name}" for name in names}


def test_a_vault_without_a_log_has_an_empty_one(tmp_path: Path) -> None:
    assert read_log(tmp_path).events == ()


def test_a_log_that_is_a_link_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "learning").mkdir()
    (tmp_path / "elsewhere").write_bytes(lines(review(1)))
    (tmp_path / LOG_PATH).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match=r"learning/reviews\.jsonl"):
        read_log(tmp_path)


def test_a_tail_torn_at_any_byte_loses_that_record_only() -> None:
    whole = lines(*(review(n) for n in range(6)))
    starts = [0, *(i + 1 for i, byte in enumerate(whole) if byte == 0x0A)]
    for cut in range(starts[3], len(whole) + 1):
        log = parse_log([(LOG_PATH, whole[:cut])])
        finished = sum(1 for start in starts[1:] if start - 1 <= cut)
        assert log.events == tuple(review(n) for n in range(finished)), cut
        torn = cut not in starts and whole[cut : cut + 1] != b"\n"
        assert [d.code for d in log.diagnostics] == (["log-torn-line"] if torn else []), cut
        if torn:
            assert (log.diagnostics[0].path, log.diagnostics[0].line) == (LOG_PATH, finished + 1)


def test_every_flipped_bit_is_named_or_harmless_and_costs_one_record_at_most() -> None:
    written = tuple(review(n, Rating(n % 4 + 1)) for n in range(8))
    whole = lines(*written)
    chance = random.Random(20261121)
    for _ in range(500):
        at, bit = chance.randrange(len(whole)), chance.randrange(8)
        flipped = bytearray(whole)
        flipped[at] ^= 1 << bit
        log = parse_log([(LOG_PATH, bytes(flipped))])
        assert set(log.events) <= set(written), (at, bit)
        assert len(log.events) >= len(written) - 1, (at, bit)
        assert log.diagnostics or log.events == written, (at, bit)


def test_records_whose_line_end_was_lost_or_zeroed_still_count() -> None:
    first, second = encode(review(1)), encode(review(2))
    for spoilt in (
        first + second,
        b"\0" * 40 + first + b"\x0b" + second + b"\0\0",
        first[:50] + second + b"\n" + first,
    ):
        log = parse_log([(LOG_PATH, spoilt + b"\n")])
        assert review(2) in log.events
        assert log.diagnostics
        assert log.diagnostics[0].line == 1


def test_no_event_can_hide_in_the_words_of_another() -> None:
    inner = encode(review(1)).decode()
    outer = encode(Flag(Stamp("0" * 26, NOON), CARD, f"look: {inner}"))
    assert len(parse_log([(LOG_PATH, outer[:-3] + b"\n")]).events) == 0


def test_an_unknown_type_is_named_once_and_ignored() -> None:
    record = sealed({"v": 1, "id": "x" * 26, "type": "dream", "at": "2026-11-21T09:30:00.123Z"}) + b"\n"
    log = parse_log([(LOG_PATH, record + lines(review(1)) + record), ("learning/reviews-2025.jsonl", record)])
    assert log.events == (review(1),)
    assert [d.code for d in log.diagnostics] == ["log-unknown-type"]
    assert "dream" in log.diagnostics[0].message


def test_a_newer_format_stops_with_file_and_line() -> None:
    newer = sealed({"v": 2, "id": "x", "type": "review"})
    with pytest.raises(SchemaTooNew, match=r"learning/reviews\.jsonl:2"):
        parse_log([(LOG_PATH, lines(review(1)) + newer + b"\n")])


GOOD = {"v": 1, "id": "i", "type": "review", "card": "c", "rating": 3, "at": "2026-11-21T09:30:00.123Z", "ms": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"rating": 0},
        {"rating": 5},
        {"rating": True},
        {"rating": 3.0},
        {"rating": "3"},
        {"rating": None},
        {"at": "yesterday"},
        {"at": "2026-11-21T09:30:00"},
        {"at": "0001-01-01T00:00:00+14:00"},
        {"at": 5},
        {"ms": -1},
        {"ms": 1.5},
        {"card": 7},
        {"card": "\ud800"},
        {"id": None},
        {"v": 0},
        {"v": "1"},
        {"v": True},
        {"type": 3},
        {"clock": "noon"},
        {"type": "undo"},
        {"type": "params", "parameters": ["a"]},
        {"type": "params", "parameters": [float("nan")]},
        {"type": "params", "parameters": 3},
    ],
)
def test_a_sealed_line_that_makes_no_sense_is_named_and_skipped(change: dict[str, object]) -> None:
    assert decode(sealed(GOOD))
    log = parse_log([(LOG_PATH, sealed(GOOD | change) + b"\n" + lines(review(1)))])
    assert log.events == (review(1),)
    assert [(d.code, d.line) for d in log.diagnostics] == [("log-bad-line", 1)]


@pytest.mark.parametrize(
    "line",
    [
        b"<<<<<<< HEAD",
        b"\xff\xfe\x00",
        b"{}",
        b"[" * 100_000,
        b'{"v":1' + checksum(b'{"v":1'),
        b"[1" + checksum(b"[1"),
        b'{"v":' + b"9" * 5000 + checksum(b'{"v":' + b"9" * 5000),
        b'{"v":1,"a":' + b"[" * 9999 + checksum(b'{"v":1,"a":' + b"[" * 9999),
        encode(review(3)).replace(b'"rating":3', b'"rating":4'),
        encode(review(3))[:-10] + encode(review(3))[-10:].upper(),
        b"\0" * 512,
    ],
)
def test_any_other_bytes_are_named_and_skipped(line: bytes) -> None:
    log = parse_log([(LOG_PATH, lines(review(1)) + line + b"\n" + lines(review(2)))])
    assert log.events == (review(1), review(2))
    assert [(d.code, d.line) for d in log.diagnostics] == [("log-bad-line", 2)]


def test_two_events_under_one_id_are_named_and_the_same_one_counts_always() -> None:
    one, other = lines(review(1, Rating.GOOD)), lines(review(1, Rating.AGAIN))
    there = parse_log([(LOG_PATH, one + other)])
    back = parse_log([(LOG_PATH, other + one)])
    assert there.events == back.events
    assert len(there.events) == 1
    assert [d.code for d in there.diagnostics] == ["log-same-id"]


def test_an_undo_voids_exactly_the_event_it_names() -> None:
    written: list[LogEvent] = [review(1), review(2), review(3), Undo(Stamp("u1", NOON), review(2).id)]
    assert live(written) == [review(1), review(3)]


def test_an_undo_can_be_undone_and_two_that_name_each_other_make_no_circle() -> None:
    undo = Undo(Stamp("u1", NOON), review(1).id)
    redo = Undo(Stamp("u2", NOON + timedelta(seconds=1)), "u1")
    assert live([review(1), undo, redo]) == [review(1)]
    circle = Undo(Stamp("u1", NOON), "u2")
    assert live([review(1), circle, redo]) == live([redo, circle, review(1)]) == [review(1)]


@given(st.lists(events, max_size=8, unique_by=lambda e: e.id), st.data())
def test_an_undo_takes_away_one_event_and_no_other(written: list[LogEvent], data: st.DataObject) -> None:
    counting = live(written)
    if not counting:
        return
    target = data.draw(st.sampled_from(counting))
    undo = Undo(Stamp("~", datetime(9999, 12, 31, tzinfo=UTC)), target.id)
    assert live([undo, *written]) == [e for e in counting if e.id != target.id]


def test_the_latest_human_event_is_what_undo_would_void() -> None:
    imported = Import(Stamp("9" * 26, NOON + timedelta(days=1)), CARD, Rating.GOOD)
    assert last_undoable([review(2), review(1), imported]) == review(2)
    assert last_undoable([review(1), Undo(Stamp("u", NOON), review(1).id)]) is None


def stamp_at(now: datetime, last: datetime | None = None, dated: datetime | None = None, zone: str = "UTC") -> Stamp:
    return mint_stamp(now, last=last, zone=ZoneInfo(zone), via="cli", entropy=bytes(10), dated=dated)


def test_an_instant_never_goes_back_and_the_true_clock_is_kept() -> None:
    stamp = stamp_at(NOON, last=NOON + timedelta(days=3))
    assert stamp.at == NOON + timedelta(days=3, milliseconds=1)
    assert stamp.clock == NOON
    assert decode(encode(Review(stamp, CARD, Rating.GOOD))) == Review(stamp, CARD, Rating.GOOD)
    assert stamp_at(NOON, last=NOON - timedelta(days=3)) == stamp_at(NOON)
    assert stamp_at(NOON).clock is None


def test_an_instant_that_the_human_gives_is_taken_as_it_is() -> None:
    stamp = stamp_at(NOON, last=NOON, dated=NOON - timedelta(days=9))
    assert (stamp.at, stamp.clock) == (NOON - timedelta(days=9), NOON)


def test_ids_sort_as_their_instants_do() -> None:
    stamps_in_order = [stamp_at(NOON + timedelta(milliseconds=n)) for n in range(50)]
    assert sorted(s.id for s in stamps_in_order) == [s.id for s in stamps_in_order]


@pytest.mark.parametrize(
    ("zone", "tz"),
    [("UTC", "+00:00"), ("Asia/Kolkata", "+05:30"), ("America/St_Johns", "-03:30"), ("Europe/Berlin", "+01:00")],
)
def test_the_offset_of_the_zone_is_written_beside_the_instant(zone: str, tz: str) -> None:
    assert stamp_at(NOON, zone=zone).tz == tz


def test_an_appended_event_is_on_disk_and_a_torn_line_before_it_is_ended_first(tmp_path: Path) -> None:
    guard = Guard(tmp_path, Scope.LOG)
    (tmp_path / "learning").mkdir()
    append(guard, review(1), review(2))
    with (tmp_path / LOG_PATH).open("ab") as file:
        file.write(encode(review(3))[:40])
    append(guard, review(4))
    log = read_log(tmp_path)
    assert log.events == (review(1), review(2), review(4))
    assert [(d.code, d.line) for d in log.diagnostics] == [("log-bad-line", 3)]


@pytest.mark.real_data
def test_a_real_history_survives_its_text_form(shared_data: Path) -> None:
    import csv

    with (shared_data / "revlogs" / "py-fsrs-japanese-12580.csv").open(newline="") as file:
        written = [
            Review(
                Stamp(f"{n:026}", datetime.fromisoformat(r["review_time"]), "+00:00", "import"),
                CardId(r["card_id"]),
                Rating(int(r["review_rating"])),
                int(r["review_duration"]),
            )
            for n, r in enumerate(csv.DictReader(file))
        ]
    whole = [e for e in written if e.at.microsecond % 1000 == 0]
    assert len(whole) == 12_580
    assert set(parse_log([(LOG_PATH, lines(*whole))]).events) == set(whole)


def test_a_rating_of_a_new_year_goes_into_the_same_file_and_an_older_file_of_a_year_is_left(tmp_path: Path) -> None:
    (tmp_path / "learning").mkdir()
    (tmp_path / "learning/reviews-2025.jsonl").write_bytes(lines(review(1)))
    writer = LogWriter(Guard(tmp_path, Scope.LOG), (), zone=ZoneInfo("Europe/Berlin"), via="cli")
    for at in (datetime(2026, 12, 31, 12, tzinfo=UTC), datetime(2027, 1, 1, 12, tzinfo=UTC)):
        writer.write(Review(writer.stamp(at), CARD, Rating.GOOD))
    assert sorted(path.name for path in (tmp_path / "learning").iterdir()) == ["reviews-2025.jsonl", "reviews.jsonl"]
    assert (tmp_path / LOG_PATH).read_bytes().count(b"\n") == 2
    assert len(read_log(tmp_path).events) == 3


RATER = """
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo
from vault.files.guard import Guard, Scope
from vault.ids import CardId
from vault.log.events import Rating, Review
from vault.log.review_log import LogWriter
root, start = Path(sys.argv[1]), int(sys.argv[2])
writer = LogWriter(Guard(root, Scope.LOG), (), zone=ZoneInfo("Europe/Berlin"), via="cli")
for n in range(100):
    at = datetime(2026, 12, 30, tzinfo=UTC) + timedelta(hours=n, milliseconds=start)
    writer.write(Review(writer.stamp(at), CardId(f"card{start:06}"), Rating.GOOD, n))
"""


def test_two_processes_that_rate_at_once_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "learning").mkdir()
    raters = [subprocess.Popen([sys.executable, "-c", RATER, str(tmp_path), str(n)]) for n in (1, 2)]
    assert [rater.wait() for rater in raters] == [0, 0]
    log = read_log(tmp_path)
    assert sorted((e.card, e.ms) for e in log.events if isinstance(e, Review)) == [
        (f"card{n:06}", ms) for n in (1, 2) for ms in range(100)
    ]
    assert log.diagnostics == ()
