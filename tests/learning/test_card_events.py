"""What the ledger says of cards: as memory takes it, and as the learner is told what a card said before."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from learning.cards.changes import FACT, REWORDED, ChangedCards, history
from learning.memory.fold import card_events
from learning.memory.labels import change_note
from learning.memory.state import CardEvent, MemoryState, Phase
from vault.ids import CardId
from vault.log import ledger
from vault.log.card_history import lines_with
from vault.vault import Vault

A1, A2 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2")
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def on_day(day: int) -> str:
    return ledger.instant(NOON + timedelta(days=day))


def event(type_: str, day: int, id_: str = A1, of: str = "card", **more: object) -> ledger.Event:
    return {"v": 1, "type": type_, "of": of, "id": id_, "at": on_day(day), **more}


BORN = event("birth", 0, q="When did it end?", a="In 1648.")
FIXED = event("change", 1, q="When did it end?", a="In  1648.", how="cosmetic", was={"q": "x", "a": "x"})
REWORD = event("change", 2, q="When was the end?", a="In 1648.", how="reworded", was={"q": "x", "a": "x"})
WRONG = event("change", 3, q="When was the end?", a="In 1659.", how="fact", was={"q": "x", "a": "In 1648."})
LEDGER = [
    BORN,
    event("birth", 0, A2, q='Is "retire" "how" a word?', a='{"type":"retire","of":"card","how":"fact"}'),
    event("retire", 1, "ccccccccc1", "claim", reason="its words are gone"),
    event("change", 1, "ddddddddd1", "concept", digest="0" * 12),
    event("change", 1, A2, q="Before anyone asked how?", a="So it was."),
    FIXED,
    REWORD,
    WRONG,
    event("retire", 4, reason="its evidence is gone"),
    event("revive", 5),
]


def encoded(events: list[ledger.Event]) -> bytes:
    return b"".join(ledger.encode(each) for each in events)


def test_only_what_memory_or_the_learner_minds_is_an_event() -> None:
    assert [(e.card, e.type, e.at) for e in card_events(encoded(LEDGER))] == [
        (A1, "reworded", NOON + timedelta(days=2)),
        (A1, "changed", NOON + timedelta(days=3)),
        (A1, "retracted", NOON + timedelta(days=4)),
        (A1, "revived", NOON + timedelta(days=5)),
    ]


@given(st.permutations(LEDGER), st.integers(0, len(LEDGER)))
def test_the_order_of_lines_and_their_repetition_say_nothing(events: list[ledger.Event], repeated: int) -> None:
    data = encoded([*events, *events[:repeated]])
    assert set(card_events(data)) == set(card_events(encoded(LEDGER)))
    assert history(data, A1) == history(encoded(LEDGER), A1)


@given(st.lists(st.sampled_from([*LEDGER, None]), max_size=20), st.binary(max_size=40))
def test_whatever_lies_between_the_lines_what_can_be_read_is_what_a_full_reading_finds(
    events: list[ledger.Event | None], torn: bytes
) -> None:
    data = b"".join(torn.replace(b"\n", b"") + b"\n" if e is None else ledger.encode(e) for e in events) + torn
    full, _ = ledger.decode(data, ledger.IDS)
    minded = {"retire": "retracted", "revive": "revived", "fact": "changed", "reworded": "reworded"}
    expected = {
        (e["id"], type_, e["at"])
        for e in full
        if e.get("of") == "card"
        and (type_ := minded.get(str(e.get("how")) if e["type"] == "change" else e["type"])) is not None
    }
    assert {(e.card, e.type, ledger.instant(e.at)) for e in card_events(data)} == expected


@given(st.lists(st.text("ab\n", max_size=6)), st.sampled_from([b"a", b"ab", b"bb"]))
def test_the_lines_that_hold_a_mark_are_found_with_their_place(texts: list[str], mark: bytes) -> None:
    data = "\n".join(texts).encode()
    assert [line for _, line in lines_with(data, mark)] == [line for line in data.split(b"\n") if mark in line]
    assert all(data[at : at + len(line)] == line for at, line in lines_with(data, mark))


def test_the_history_of_a_card_is_its_words_in_order_and_how_each_came() -> None:
    versions = history(encoded(LEDGER), A1)
    assert [(v.question, v.answer, v.how) for v in versions] == [
        ("When did it end?", "In 1648.", ""),
        ("When did it end?", "In  1648.", "cosmetic"),
        ("When was the end?", "In 1648.", "reworded"),
        ("When was the end?", "In 1659.", "fact"),
    ]
    assert [v.how for v in history(encoded(LEDGER), A2)] == ["", ""]  # from before the ledger said how
    assert history(b'{"v":1,"type":"change","of":"card","id":"aaaaaaaaa1","at":"x"}\n', A1) == ()


def seen_on(day: int) -> MemoryState:
    return MemoryState(Phase.REVIEW, 5.0, 5.0, last_review=NOON + timedelta(days=day), changed=False)


def test_a_learner_is_told_what_changed_since_the_last_review(tmp_path: Path, vault: Vault) -> None:
    data = encoded(LEDGER)
    (vault.root / ledger.IDS).write_bytes(data)
    cards = ChangedCards(vault, card_events(data))
    first = cards.of(A1, seen_on(0))
    assert first is not None
    assert (first.how, first.before, first.after) == (
        FACT, "When did it end?\nIn 1648.", "When was the end?\nIn 1659."
    )  # fmt: skip
    later = cards.of(A1, MemoryState(last_review=NOON + timedelta(days=2, hours=1)))
    assert later is not None and (later.before, later.after) == ("In 1648.", "In 1659.")
    assert cards.of(A1, seen_on(3)) is None and cards.of(A1, MemoryState()) is None
    assert cards.of(A2, seen_on(0)) is None
    early = [e for e in LEDGER if e is not WRONG]
    (vault.root / ledger.IDS).write_bytes(encoded(early))
    quiet = ChangedCards(vault, card_events(encoded(early))).of(A1, seen_on(0))
    assert quiet is not None and quiet.how == REWORDED
    assert change_note(seen_on(0), quiet.how) == "reworded; the facts are the same"


def test_a_card_that_changed_and_changed_back_has_nothing_to_tell(vault: Vault) -> None:
    back = event("change", 4, q=BORN["q"], a=BORN["a"], how="fact", was={"q": WRONG["q"], "a": WRONG["a"]})
    data = encoded([BORN, WRONG, back])
    (vault.root / ledger.IDS).write_bytes(data)
    assert ChangedCards(vault, card_events(data)).of(A1, seen_on(0)) is None


def test_a_ledger_that_lost_the_birth_still_says_what_the_card_was(vault: Vault) -> None:
    data = encoded([WRONG])
    (vault.root / ledger.IDS).write_bytes(data)
    found = ChangedCards(vault, card_events(data)).of(A1, seen_on(0))
    assert found is not None and "In 1648." in found.before and "In 1659." in found.after
    (vault.root / ledger.IDS).unlink()
    assert ChangedCards(vault, [CardEvent(A1, "changed", NOON)]).of(A1, seen_on(-1)) is None


def test_words_of_the_ledger_that_are_no_words_are_passed_over() -> None:
    odd = [
        event("change", 1, q=1, a="a", how="fact"),
        event("change", 2, q="q", a=None, how=["fact"]),
        event("change", 3, q="q", a="a", how={"x": 1}, was="w"),
        event("change", 4, q="q", a="b", how="later", was={"q": 1}),
    ]
    assert [(v.answer, v.how) for v in history(encoded(odd), A1)] == [("a", ""), ("b", "later")]
    assert [e.type for e in card_events(encoded(odd))] == ["changed"]
    assert json.loads(ledger.encode(odd[0]))["how"] == "fact"
