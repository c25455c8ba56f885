"""docs/log.md is enough to write a reader from: docs/read_log.py, which shares no line with the product, is one."""

from __future__ import annotations

import json
import random
import runpy
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault.files.guard import Guard, Scope
from vault.ids import CardId
from vault.log import events
from vault.log.events import LogEvent, Rating, Stamp, encode
from vault.log.ledger import instant
from vault.log.review_log import LogWriter, live, read_log

DOCS = Path(__file__).parents[2] / "docs"
READER = DOCS / "read_log.py"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
A, B = CardId("k7q2m9xd3f"), CardId("p3s8v1ya0t")


@pytest.fixture(scope="module")
def reader() -> dict[str, Any]:
    return runpy.run_path(str(READER))


def of_every_type(writer: LogWriter) -> list[LogEvent]:
    """Write one event of each type, an undo, an undo of an undo, and one after the clock was set back."""
    written: list[LogEvent] = []

    def write(kind: type[LogEvent], *values: object, minutes: int = 0) -> LogEvent:
        event = kind(writer.stamp(NOON + timedelta(minutes=minutes or len(written))), *values)
        writer.write(event)
        written.append(event)
        return event

    rated = write(events.Review, A, Rating.GOOD, 5_400, 4)
    write(events.Graded, A, rated.id, None, Rating.GOOD, "exact", 1, 2)
    write(events.Import, B, Rating.AGAIN, 0, 0, 'anki:17 "}{"v":1')
    for kind in (events.Suspend, events.Resume, events.Bury):
        write(kind, A)
    write(events.Flag, A, "zu lang \u2028 „so“")
    write(events.Tag, A, ("exam",), ("old",))
    write(events.Reschedule, A, date(2026, 12, 24))
    write(events.Forget, A)
    write(events.Memory, A, 3.5, 5.25, date(2026, 11, 1), date(2026, 12, 1))
    write(events.More, date(2026, 11, 21), 10)
    write(events.Params, (0.1, 2.5), 0.85, "fitted")
    write(events.CatchUp, 40, date(2026, 12, 1))
    write(events.Pause, date(2026, 12, 1))
    wrong = write(events.Review, B, Rating.EASY, 900)
    write(events.Undo, wrong.id)
    kept = write(events.Review, A, Rating.HARD)
    write(events.Undo, write(events.Undo, kept.id).id)
    write(events.Review, B, Rating.GOOD, minutes=-300)
    return written


def memory_counts(event: dict[str, Any]) -> str:
    return min(str(event["at"]), str(event.get("clock", event["at"])))


def reviews_of(found: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [
        (e["id"], e["card"], e["rating"], e["ms"], e.get("interval_days", 0), e.get("origin", ""), memory_counts(e))
        for e in found
        if e["type"] in ("review", "import")
    ]


def reviews_in(root: Path) -> list[tuple[object, ...]]:
    found = [event for event in live(read_log(root).events) if isinstance(event, events.Review)]
    return [
        (e.id, e.card, int(e.rating), e.ms, e.interval_days, getattr(e, "origin", ""), instant(e.when)) for e in found
    ]


def test_the_reader_finds_what_the_product_finds_with_the_standard_library_alone(tmp_path: Path) -> None:
    (tmp_path / "learning").mkdir()
    writer = LogWriter(Guard(tmp_path, Scope.LOG), (), zone=UTC, via="cli")
    written = of_every_type(writer)
    assert {event.type for event in written} == set(events._READERS)  # each type that there is
    log = tmp_path / "learning/reviews.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    (tmp_path / "learning/reviews (phone's conflicted copy).jsonl").write_bytes(b"".join(reversed(lines[:9])))
    (tmp_path / "learning/reviews-2025.jsonl").write_bytes(b"\xef\xbb\xbf" + lines[3] + b"\r\n<<<<<<< HEAD\n")
    log.write_bytes(b"".join(lines[5:12]) + lines[12].rstrip() + b"".join(lines[13:]) + lines[0][:40])
    ran = subprocess.run(
        [sys.executable, "-I", "-S", READER, tmp_path], capture_output=True, text=True, encoding="utf-8", check=True
    )
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [event["id"] for event in found] == [event.id for event in live(read_log(tmp_path).events)]
    assert [event["type"] for event in found] == [event.type for event in live(written)]
    assert reviews_of(found) == reviews_in(tmp_path) and len(reviews_of(found)) == 4
    damaged = [(each.path, each.line) for each in read_log(tmp_path).diagnostics]
    assert [line.removeprefix(f"{tmp_path}/").split(": ")[0] for line in ran.stderr.splitlines()] == [
        f"{path}:{number}" for path, number in damaged
    ]


def test_the_reader_is_as_short_as_its_page_says() -> None:
    assert len(READER.read_text(encoding="utf-8").splitlines()) <= 60
    assert "in 60 lines" in (DOCS / "log.md").read_text(encoding="utf-8").replace("\n", " ")


stamps = st.builds(
    Stamp,
    st.integers(0, 12).map(lambda n: f"{n:026}"),
    st.integers(0, 12).map(lambda n: NOON + timedelta(minutes=n)),
    clock=st.none() | st.just(NOON - timedelta(days=1)),
)
logs = st.lists(
    st.one_of(
        st.builds(events.Review, stamps, st.sampled_from([A, B]), st.sampled_from(Rating), st.integers(0, 9)),
        st.builds(events.Import, stamps, st.just(A), st.sampled_from(Rating), origin=st.text(max_size=5)),
        st.builds(events.Undo, stamps, st.integers(0, 12).map(lambda n: f"{n:026}")),
        st.builds(events.Flag, stamps, st.just(B), st.sampled_from(["", '{"v":1', '"}'])),
    ),
    max_size=10,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(logs, st.randoms(use_true_random=False))
def test_both_read_the_same_from_any_damage(
    reader: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, written: list[LogEvent], chance: random.Random
) -> None:
    root = tmp_path_factory.mktemp("log")
    (root / "learning").mkdir()
    lines = [encode(event) for event in written]
    for name in ("reviews.jsonl", "reviews-2025.jsonl"):
        data = b"".join(line + chance.choice([b"\n", b"\n", b"\r\n", b""]) for line in lines if chance.random() < 0.8)
        for _ in range(chance.randrange(3) if data else 0):
            at = chance.randrange(len(data))
            data = data[:at] + chance.choice([b"", b"\n", b"\0", b"}", b'"']) + data[at + chance.randrange(3) :]
        (root / "learning" / name).write_bytes(data)
    found, _ = reader["read"](root)
    counting = reader["counting"](found)
    assert [event["id"] for event in counting] == [event.id for event in live(read_log(root).events)]
    assert reviews_of(counting) == reviews_in(root)
