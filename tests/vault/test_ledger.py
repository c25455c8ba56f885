import random

from hypothesis import given
from hypothesis import strategies as st

from vault.log.ledger import Event, after, decode, encode, fold, parse_instant

DAY = "2026-11-21T09:00:00.000Z"
EVENTS: list[Event] = [
    {"type": "birth", "of": "concept", "id": "aaaaaaaaaa", "at": DAY, "key": "kv cache", "slug": "kv-cache"},
    {"type": "birth", "of": "concept", "id": "bbbbbbbbbb", "at": DAY, "key": "key value cache", "slug": "k"},
    {"type": "birth", "of": "claim", "id": "cccccccccc", "at": DAY, "key": "s:1"},
    {"type": "reanchor", "of": "claim", "id": "cccccccccc", "at": "2026-11-22T09:00:00.000Z", "key": "s:2"},
    {"type": "change", "of": "concept", "id": "aaaaaaaaaa", "at": "2026-11-22T09:00:00.000Z", "digest": "d"},
    {"type": "merge", "of": "concept", "id": "bbbbbbbbbb", "at": "2026-11-23T09:00:00.000Z", "into": "aaaaaaaaaa"},
    {"type": "retire", "of": "claim", "id": "cccccccccc", "at": "2026-11-24T09:00:00.000Z"},
    {"type": "revive", "of": "claim", "id": "cccccccccc", "at": "2026-11-25T09:00:00.000Z"},
]  # fmt: skip


@given(st.randoms(use_true_random=False), st.integers(0, 5))
def test_the_fold_ignores_order_and_repetition(rng: random.Random, repeats: int) -> None:
    lines = [encode(e) for e in EVENTS] + [encode(e) for e in EVENTS[:repeats]]
    rng.shuffle(lines)
    events, found = decode(b"".join(lines), "ledger/ids.jsonl")
    ids = fold(events)
    assert found == [] and ids == fold(EVENTS)
    assert ids.keys["claim", "s:2"] == "cccccccccc" and ("claim", "s:1") not in ids.keys
    assert ids.alive("cccccccccc") and not ids.alive("bbbbbbbbbb") and ids.merged["bbbbbbbbbb"] == "aaaaaaaaaa"
    assert ids.changed_at("aaaaaaaaaa") == "2026-11-22T09:00:00.000Z" and ids.slugs("concept") == {"kv-cache", "k"}


def test_a_bad_line_is_named_and_costs_itself_only() -> None:
    data = encode(EVENTS[0]) + b'<<<<<<< HEAD\n{"type":"birth"\n[1]\n' + encode(EVENTS[2])
    events, found = decode(data, "ledger/ids.jsonl")
    assert events == [EVENTS[0], EVENTS[2]]
    assert [(d.path, d.line) for d in found] == [("ledger/ids.jsonl", n) for n in (2, 3, 4)]


def test_events_of_a_later_version_are_ignored() -> None:
    strange: list[Event] = [
        {"type": "transmute", "of": "claim", "id": "cccccccccc", "at": "2027"},
        {"type": "birth", "of": "planet"},
    ]
    assert fold(EVENTS + strange) == fold(EVENTS)


def test_an_instant_needs_a_zone() -> None:
    assert parse_instant("2026-11-21T10:30:00.123+01:00").isoformat() == "2026-11-21T09:30:00.123000+00:00"
    try:
        parse_instant("2026-11-21T10:30:00")
    except ValueError as error:
        assert "time zone" in str(error)
    else:
        raise AssertionError("a naive instant passed")


def test_two_clones_that_gave_one_slug_to_two_things_end_with_two() -> None:
    births: list[Event] = [
        {
            "type": "birth",
            "of": "source",
            "id": f"{n}{n}aaaaaaaa",
            "at": DAY,
            "key": f"raw/{n}/notes.md",
            "slug": "notes",
        }
        for n in (1, 2)
    ]
    for events in (births, births[::-1]):
        slugs = {i: b.slug for i, b in fold(events).births.items()}
        assert slugs == {"11aaaaaaaa": "notes", "22aaaaaaaa": "notes-22aa"}


def test_a_slug_from_elsewhere_cannot_be_a_path() -> None:
    event: Event = {
        "type": "birth",
        "of": "concept",
        "id": "aaaaaaaaaa",
        "at": DAY,
        "key": "x",
        "slug": "../../insights/x",
    }
    assert fold([event]).births["aaaaaaaaaa"].slug == "insights-x"


def test_a_clock_that_is_behind_does_not_go_before_what_is_written() -> None:
    late = parse_instant("2026-11-20T09:00:00Z")
    assert after(EVENTS, late) == "2026-11-25T09:00:00.001Z"
    assert after(EVENTS, parse_instant("2026-12-01T09:00:00Z")) == "2026-12-01T09:00:00.000Z"
    assert after([{"at": "9999"}, {"at": 7}], late) == "2026-11-20T09:00:00.000Z"
