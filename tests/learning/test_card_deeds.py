"""Deeds on many cards: written with one stroke, undone as one, and seen wherever a tag or a day counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.anki.export_package import notes_of
from learning.cards.actions import (
    burying,
    do,
    flagging,
    rescheduling,
    resuming,
    spreading,
    suspending,
    tag_of,
    tagging,
    undo,
)
from learning.cards.workspace import Desk, open_desk, rate, undo_last
from learning.history import cut as log_cut
from learning.memory.fold import fold
from learning.memory.state import Phase, tags_after
from learning.stats.material import material_of, narrowed
from vault.errors import NotFound, UsageError
from vault.ids import CardId
from vault.log import ledger
from vault.log.events import LogEvent, Rating, Reschedule, Tag
from vault.log.review_log import EVER, LOG_PATH, LogWriter, read_log
from vault.vault import Vault, open_vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
A1, A2, B1 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2"), CardId("bbbbbbbbb1")
ALL = (A1, A2, B1)


def reviewed(vault: Vault) -> Desk:
    """All three cards learnt, at noon."""
    now = open_desk(vault, NOON)
    for card in ALL:
        now, _ = rate(now, card, Rating.EASY, via="tui")
    return open_desk(vault, NOON)


def asking_more(vault: Vault) -> Vault:
    """The vault, once it wants cards with the tag `exam` to be remembered better."""
    with (vault.root / "retain.toml").open("a") as file:
        file.write("\n[learning.retention_by_tag]\nexam = 0.97\n")
    return open_vault(str(vault.root), None, vault.root)


def lines(vault: Vault) -> int:
    return (vault.read_bytes(LOG_PATH) or b"").count(b"\n")


def test_what_is_buried_or_retracted_already_is_not_told_to_the_log_again(vault: Vault) -> None:
    desk = do(open_desk(vault, NOON), burying(open_desk(vault, NOON), ALL, via="tui"))
    assert burying(desk, ALL, via="tui").events == ()
    assert len(resuming(desk, ALL, via="tui").events) == 3
    gone = {"v": 1, "type": "retire", "of": "card", "id": A1, "at": "2026-11-20T12:00:00.000Z"}
    (vault.root / ledger.IDS).write_bytes(ledger.encode(gone))
    retracted = open_desk(vault, NOON + timedelta(days=2))
    assert retracted.state(A1).retracted
    assert resuming(retracted, [A1], via="tui").events == ()


def test_a_deed_on_many_cards_is_one_write_and_one_undo(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    strokes: list[int] = []
    write = LogWriter.write

    def counted(self: LogWriter, event: LogEvent, *more: LogEvent) -> None:
        strokes.append(1 + len(more))
        write(self, event, *more)

    monkeypatch.setattr(LogWriter, "write", counted)
    before = open_desk(vault, NOON)
    after = do(before, suspending(before, ALL, via="tui"))
    assert strokes == [3] and lines(vault) == 3
    assert all(after.state(card).suspended for card in ALL)
    back, events, voided = undo_last(open_desk(vault, NOON), via="cli")
    assert strokes == [3, 3] and len(events) == len(voided) == 3
    assert dict(back.states) == dict(open_desk(vault, NOON).states) == {}


def test_a_deed_can_be_taken_back_whatever_was_done_since(vault: Vault) -> None:
    now = open_desk(vault, NOON)
    deed = tagging(now, [A1, B1], ["exam"], via="tui")
    now = do(now, deed)
    now, _ = rate(now, A2, Rating.GOOD, via="tui")
    now = undo(now, deed, via="tui")
    assert now.past.states.tagged() == {} and now.state(A2).reps == 1
    assert dict(now.states) == dict(open_desk(vault, NOON).states)


def test_two_deeds_of_one_moment_are_undone_one_after_the_other(vault: Vault) -> None:
    now = open_desk(vault, NOON)
    now = do(now, suspending(now, [A1, A2], via="tui"))
    now = do(now, suspending(now, [B1], via="tui"))
    now, _, voided = undo_last(now, via="tui")
    assert [event.card for event in voided if hasattr(event, "card")] == [B1]
    assert now.state(A1).suspended and not now.state(B1).suspended


def test_what_would_change_nothing_is_not_written(vault: Vault) -> None:
    now = open_desk(vault, NOON)
    now = do(now, suspending(now, [A1], via="tui"))
    deed = suspending(now, [A1, A2, A2], via="tui")
    assert (deed.cards, deed.asked) == ((A2,), 2)
    now = do(now, deed)
    assert do(now, suspending(now, [A1, A2], via="tui")) is now
    assert lines(vault) == 2


def test_resuming_brings_back_what_was_suspended_or_buried(vault: Vault) -> None:
    now = open_desk(vault, NOON)
    now = do(now, suspending(now, [A1], via="tui"))
    now = do(now, burying(now, [A2], via="tui"))
    deed = resuming(now, ALL, via="tui")
    assert deed.cards == (A1, A2)
    assert not any(do(now, deed).state(card).hidden(NOON) for card in ALL)


def test_a_flag_keeps_its_reason_on_one_line(vault: Vault) -> None:
    now = open_desk(vault, NOON)
    deed = flagging(now, [A1], "not\nworth \x1b[31mknowing", via="tui")
    assert do(now, deed).state(A1).flagged
    (event,) = read_log(vault.root).events
    assert "\x1b" not in event.reason and "\n" not in event.reason  # type: ignore[attr-defined]


def test_a_card_that_is_nowhere_stops_the_whole_deed(vault: Vault) -> None:
    with pytest.raises(NotFound):
        suspending(open_desk(vault, NOON), [A1, "zzzzzzzzz9"], via="tui")
    assert lines(vault) == 0


# --- tags -------------------------------------------------------------------------------------------------------------


def test_a_card_is_found_by_its_own_tag_and_its_neighbours_are_not(vault: Vault) -> None:
    now = open_desk(vault, NOON)
    do(now, tagging(now, [A1], ["Exam"], via="tui"))
    assert [item.card for item in open_desk(vault, NOON, tag="#exam").queue.new] == [A1]
    queue = open_desk(vault, NOON, tag="memory").queue
    assert {item.card for item in queue.new} == {A1, A2}


def test_figures_and_anki_know_a_cards_own_tags(vault: Vault) -> None:
    now = open_desk(vault, NOON)
    now = do(now, tagging(now, [A1, B1], ["exam", "memory"], via="tui"))
    material = material_of(now)
    assert {one.card for one in narrowed(material, tag="exam").cards} == {A1, B1}
    assert next(one.tags for one in material.cards if one.card == A1) == ("memory", "exam")
    tags = {note.card: note.tags for note in notes_of(now)}
    assert "exam" in tags[B1] and "exam" not in tags[A2] and tags[A1].count("memory") == 1


def test_a_tag_of_a_card_asks_for_the_retention_of_that_tag(vault: Vault) -> None:
    vault = asking_more(vault)
    now = reviewed(vault)
    due = now.state(A1).due
    deed = tagging(now, [A1], ["Exam"], via="tui")
    tagged = do(now, deed)
    assert tagged.scheduler.retention(A1) == 0.97 and tagged.scheduler.retention(A2) == vault.settings.retention
    assert tagged.state(A1).due < due  # type: ignore[operator]
    assert dict(tagged.states) == dict(open_desk(vault, NOON).states)
    assert undo(tagged, deed, via="tui").state(A1).due == due


def test_tags_of_years_ago_still_ask_for_their_retention(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_cut, "LEAST", 2)
    monkeypatch.setattr(log_cut, "MOST", 5)
    monkeypatch.setattr("vault.index.stamps.RACY_NS", -(10**15))
    vault = asking_more(vault)
    now = open_desk(vault, NOON)
    do(now, tagging(now, [A1], ["exam"], via="tui"))
    for day in range(12):
        at = NOON + timedelta(days=3 * day)
        now = open_desk(vault, at)
        for card in ALL:
            now, _ = rate(now, card, Rating.GOOD, via="tui")
    again = open_desk(vault, at)
    assert again.past.head.cut > EVER
    assert again.past.states.tagged() == {A1: ("exam",)}
    assert again.scheduler.retention(A1) == 0.97
    assert dict(again.states) == fold(again.past.whole().events, again.scheduler)


@pytest.mark.parametrize("text", ["", "#", "  ", "a,b", "x" * 101])
def test_what_is_no_tag_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a valid tag"):
        tag_of(text)


def test_a_tag_is_kept_as_one_word(vault: Vault) -> None:
    assert tag_of("#exam in  May") == "exam-in-May"
    with pytest.raises(UsageError, match="added and removed"):
        tagging(open_desk(vault, NOON), [], ["a"], ["A"], via="tui")


WORDS = st.lists(st.sampled_from(["a", "A", "b", "ß", "SS", "é"]), max_size=5)


@given(WORDS, WORDS, WORDS)
def test_tags_are_one_each_whatever_their_case(tags: list[str], add: list[str], remove: list[str]) -> None:
    found = tags_after(tags_after([], tags, []), add, remove)
    keys = [tag.casefold() for tag in found]
    assert keys == sorted(set(keys))
    assert set(keys) == {t.casefold() for t in (*tags, *add)} - {t.casefold() for t in remove}
    assert tags_after(found, found, []) == found


# --- days -------------------------------------------------------------------------------------------------------------


def test_a_rescheduled_card_is_due_on_that_day_and_nothing_else_changes(vault: Vault) -> None:
    now = reviewed(vault)
    before = now.state(A1)
    after = do(now, rescheduling(now, [A1], date(2026, 12, 24), via="tui")).state(A1)
    calendar = now.scheduler.calendar
    assert after.due is not None and calendar.day(after.due) == date(2026, 12, 24).toordinal()
    assert after == replace(before, due=after.due)
    assert now.scheduler.retrievability(after, NOON + timedelta(days=9)) == now.scheduler.retrievability(
        before, NOON + timedelta(days=9)
    )


def test_the_next_review_counts_the_days_that_truly_passed(vault: Vault) -> None:
    now = reviewed(vault)
    plain = now.state(A1)
    do(now, rescheduling(now, [A1], date(2026, 11, 25), via="tui"))
    later = NOON + timedelta(days=4)
    rated, event = rate(open_desk(vault, later), A1, Rating.GOOD, via="tui")
    assert rated.state(A1) == now.scheduler.review(A1, plain, Rating.GOOD, event.when)


def test_cards_are_spread_evenly_over_days(vault: Vault) -> None:
    now = reviewed(vault)
    done = do(now, spreading(now, ALL, date(2026, 12, 1), 3, via="tui"))
    calendar = now.scheduler.calendar
    days = sorted(calendar.day(state.due) for card in ALL if (state := done.state(card)).due)
    assert days == [date(2026, 12, n).toordinal() for n in (1, 2, 3)]


def test_a_new_card_has_no_day_and_comes_in_its_turn(vault: Vault) -> None:
    now, _ = rate(open_desk(vault, NOON), A1, Rating.EASY, via="tui")
    deed = rescheduling(now, ALL, date(2026, 12, 24), via="tui")
    assert (deed.cards, deed.asked) == ((A1,), 3)
    assert do(now, deed).state(A2).phase is Phase.NEW


def test_nobody_puts_a_card_off_by_more_than_ten_years(vault: Vault) -> None:
    with pytest.raises(UsageError, match="ten years"):
        rescheduling(reviewed(vault), [A1], date(2040, 1, 1), via="tui")


def test_the_log_says_what_the_contract_says(vault: Vault) -> None:
    now = reviewed(vault)
    now = do(now, tagging(now, [A1], ["exam"], ["old"], via="tui"))
    do(now, rescheduling(now, [A1], date(2026, 12, 24), via="tui"))
    tag, day = read_log(vault.root).events[-2:]
    assert isinstance(tag, Tag) and (tag.add, tag.remove) == (("exam",), ("old",))
    assert isinstance(day, Reschedule) and day.due == date(2026, 12, 24)
    text = (vault.read_bytes(LOG_PATH) or b"").decode().splitlines()
    assert '"type":"tag","card":"aaaaaaaaa1","add":["exam"],"remove":["old"],"at":' in text[-2]
    assert '"type":"reschedule","card":"aaaaaaaaa1","due":"2026-12-24","at":' in text[-1]


def test_a_deed_of_many_hundred_cards_has_ids_in_order(vault: Vault) -> None:
    stamps = open_desk(vault, NOON).writer("tui").stamps(NOON)
    ids = [next(stamps).id for _ in range(500)]
    assert ids == sorted(set(ids)) and len({id_[:18] for id_ in ids}) == 1
