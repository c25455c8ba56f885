"""What was suggested for a typed answer, in the log: kept beside the rating, and without a say in memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from learning.memory.fold import fold
from learning.memory.scheduler import Scheduler
from learning.memory.state import Rules
from vault.ids import CardId
from vault.log.events import Graded, LogEvent, Rating, Review, Stamp, Undo, checksum, decode, encode
from vault.log.review_log import last_undoable, live

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CARD = CardId("aaaaaaaaa1")


def stamp(number: int) -> Stamp:
    return Stamp(f"{number:026}", NOON + timedelta(days=number), via="tui")


REVIEW = Review(stamp(1), CARD, Rating.HARD, 900)
GRADE = Graded(stamp(2), CARD, REVIEW.id, Rating.GOOD, Rating.HARD, "claude/1", 2, 1)


def test_a_grade_is_written_as_one_line_and_read_back() -> None:
    line = encode(GRADE)
    assert b'"type":"grade","card":"aaaaaaaaa1","review":"00000000000000000000000001"' in line
    assert b'"suggested":3,"given":2,"engine":"claude/1","points":[2,1]' in line
    assert decode(line) == GRADE
    unsure = Graded(stamp(3), CARD, "", None, Rating.AGAIN, "comparison/1")
    assert decode(encode(unsure)) == unsure


def test_memory_is_the_same_with_and_without_grades() -> None:
    scheduler = Scheduler(Rules())
    events: list[LogEvent] = [REVIEW, GRADE, Review(stamp(9), CARD, Rating.GOOD, 900)]
    assert fold(events, scheduler) == fold([e for e in events if e is not GRADE], scheduler)


def test_undo_takes_back_the_rating_and_not_what_was_noted_beside_it() -> None:
    assert last_undoable([REVIEW, GRADE]) == REVIEW
    undone = Undo(stamp(3), REVIEW.id)
    assert live([REVIEW, GRADE, undone]) == [GRADE]
    assert last_undoable([REVIEW, GRADE, undone]) is None


@pytest.mark.parametrize("wrong", ['"given":5', '"given":true', '"points":[1]', '"points":[-1,0]', '"suggested":0'])
def test_a_grade_that_makes_no_sense_is_no_event(wrong: str) -> None:
    good = {"given": '"given":2', "points": '"points":[2,1]', "suggested": '"suggested":3'}
    body = encode(GRADE)[: -len(checksum(b""))].decode().replace(good[wrong[1:].split('"')[0]], wrong).encode()
    with pytest.raises(ValueError):
        decode(body + checksum(body))
