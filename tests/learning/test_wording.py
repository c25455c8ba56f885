"""Waits and statuses are said in as few words as will do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.memory.labels import card_heading, interval, status, title_before_answer, wait_text
from learning.memory.scheduler import Scheduler
from learning.memory.state import MemoryState, Phase, Rules
from vault.ids import CardId
from vault.log.events import Rating

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        (timedelta(0), "1 min"),
        (timedelta(seconds=330), "6 min"),
        (timedelta(minutes=59.6), "1 h"),
        (timedelta(hours=23), "23 h"),
        (timedelta(days=1), "1 d"),
        (timedelta(days=59), "59 d"),
        (timedelta(days=76), "2.5 mo"),
        (timedelta(days=500), "1.4 y"),
    ],
)
def test_a_wait_is_said_in_the_unit_that_fits(wait: timedelta, words: str) -> None:
    assert wait_text(wait) == words


@given(st.timedeltas(timedelta(0), timedelta(days=36_500)))
def test_any_wait_has_short_words(wait: timedelta) -> None:
    assert len(wait_text(wait)) <= 7


def test_an_interval_is_what_the_button_promised() -> None:
    scheduler = Scheduler(Rules())
    previews = scheduler.preview(CardId("aaaaaaaaa1"), MemoryState(), NOON)
    assert [interval(previews[r]) for r in Rating] == ["1 min", "6 min", "10 min", "8 d"]
    assert interval(MemoryState()) == ""


def test_what_keeps_a_card_out_is_said_before_its_phase() -> None:
    assert status(MemoryState(), NOON) == "new"
    assert status(MemoryState(Phase.REVIEW, suspended=True, flagged=True), NOON) == "suspended, flagged"
    assert status(MemoryState(retracted=True, suspended=True), NOON) == "retracted"
    assert status(MemoryState(buried_until=NOON + timedelta(hours=1)), NOON) == "buried"
    assert status(MemoryState(Phase.REVIEW, changed=True), NOON) == "review, changed"


def test_a_card_without_a_kind_has_no_sign_behind_its_title() -> None:
    assert card_heading("Spacing", "", "") == "Spacing"
    assert card_heading("Spacing", "definition", "changed") == "Spacing · definition · changed"


def test_a_title_that_is_the_answer_is_not_shown_before_it() -> None:
    assert title_before_answer("Spring tide", "Spring tide.") == ""
    assert title_before_answer("Spring tide", "A tide with a larger range.") == "Spring tide"
