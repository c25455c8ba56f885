"""Reviews that Anki lacks, sent to its log, each once; the cards' schedules there follow.

AnkiConnect only adds rows to the log. So the due date and its like are set as the vault has them, and the memory state
is taken away: Anki computes it from its log when the card is answered next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from learning.anki.export_schedule import card_row, review_rows
from learning.anki.import_package import Reported
from learning.anki.reviews import SHIFT_MS, AnkiReview
from learning.anki_connect.client import AnkiConnect, AnkiRefused
from learning.anki_connect.days import Days
from learning.anki_connect.remote import Found, parts
from learning.cards.workspace import Desk
from vault.ids import CardId

_FEW = 200  # rows in one request
_KEYS = ("type", "queue", "due", "ivl", "factor", "reps", "lapses", "left", "last_review_time", "memory_state")
_REVIEW_TODAY = (2, 2, 0, 1, 2500, 1, 0, 0)  # type to steps left of a card by which Anki's days are found
_TRIES = 40  # milliseconds later, where another review has the very millisecond
Row = tuple[int, ...]


def missing_reviews(
    desk: Desk, found: Sequence[Found], there: Mapping[int, Sequence[AnkiReview]]
) -> dict[int, list[Row]]:
    """Return by Anki's number of a card the rows of the reviews that Anki lacks, in its own form."""
    ours = {number: card for one in found for number, card in one.ours.items()}
    numbers: dict[CardId, int] = {}
    for number, card in ours.items():
        numbers.setdefault(card, number)  # of two notes that show one card, the older
    lacking: dict[int, list[Row]] = {}
    for number, rows in review_rows(desk, numbers):
        known = {(row.ease, row.ms, row.id) for row in there.get(number, ())}
        new = [row for row in rows if row[2] > 0 and not _is_there(row, known)]
        if new:
            lacking[number] = new
    return lacking


def _is_there(row: Row, known: Iterable[tuple[int, int, int]]) -> bool:
    """Return whether Anki has the review, at its millisecond or one soon after."""
    at, rating, ms = row[0], row[2], row[6]
    return any(ease == rating and time == ms and 0 <= id_ - at < SHIFT_MS for ease, time, id_ in known)


def send_reviews(desk: Desk, anki: AnkiConnect, found: Sequence[Found], lacking: Mapping[int, list[Row]]) -> Sent:
    """Add the rows to Anki's log, and set the schedule of their cards. Raises: AnkiNotReached, AnkiRefused."""
    ours = {number: card for one in found for number, card in one.ours.items()}
    sent = Sent()
    rows = sorted(row for rows in lacking.values() for row in rows)
    for some in parts(rows, _FEW):
        try:
            anki.call("insertReviews", reviews=[_in_order(row) for row in some])
            sent.reviews += len(some)
        except AnkiRefused as refused:
            if "unsupported action" in refused.what:
                raise
            for row in some:
                _send_one(anki, row, ours[row[1]], sent)
    _schedule(desk, anki, {number: ours[number] for number in lacking}, sent)
    return sent


class Sent:
    """How many reviews were sent, and what Anki refused."""

    def __init__(self) -> None:
        self.reviews = 0
        self.failed: list[Reported] = []


def _in_order(row: Row) -> list[int]:
    """Return a row as `insertReviews` takes it: id, card, -1 for "not synced", button, intervals, ease, time, kind."""
    return [row[0], row[1], -1, *row[2:]]


def _send_one(anki: AnkiConnect, row: Row, card: CardId, sent: Sent) -> None:
    """Add one row, a few milliseconds later where others have its own."""
    for later in range(_TRIES):
        try:
            anki.call("insertReviews", reviews=[_in_order((row[0] + later, *row[1:]))])
        except AnkiRefused as refused:
            problem = refused.what
            continue
        sent.reviews += 1
        return
    sent.failed.append(Reported(card, problem))


def _schedule(desk: Desk, anki: AnkiConnect, cards: Mapping[int, CardId], sent: Sent) -> None:
    """Set due date, interval and the like of the cards, as the vault has them."""
    if not cards:
        return
    days, today = Days(anki, desk.scheduler.day(desk.now)), desk.scheduler.day(desk.now)
    number = days.number_of_today()
    if number is None:  # no card there is due by a day yet: one of these is, for as long as it takes
        first = next(iter(cards))
        anki.call("setSpecificValueOfCard", **_values(first, (*_REVIEW_TODAY, None, None)))
        number = days.number_of_today()
    if number is None:
        sent.failed.append(
            Reported("", "Anki did not report the current day, so the due dates in Anki were left unchanged")
        )
        return
    asked = [("setSpecificValueOfCard", _values(n, card_row(desk, c, today - number))) for n, c in cards.items()]
    for some in parts(asked, _FEW):
        for (_, values), answer in zip(some, anki.each(some), strict=True):
            if isinstance(answer, AnkiRefused) or answer != [True]:
                said = answer.what if isinstance(answer, AnkiRefused) else "Anki did not set the due date"
                sent.failed.append(Reported(cards[values["card"]], said))


def _values(number: int, values: Sequence[Any]) -> dict[str, Any]:
    """Return the parameters that set the values of a card."""
    return {"card": number, "keys": list(_KEYS), "newValues": list(values), "warning_check": True}
