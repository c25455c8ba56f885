"""Reviews done in Anki as events of the log: the same events, however often they are imported."""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from operator import gt

from vault.diagnostic import Diagnostic
from vault.ids import CardId
from vault.log.events import ANKI, CardMark, Flag, Import, LogEvent, Rating, Resume, Review, Suspend, Undo
from vault.log.review_log import at_of, mint_stamp, unix_ms

VIA = ANKI
_ORIGIN = re.compile(rf"{VIA}:(0|-?[1-9][0-9]{{0,17}})")
FILTERED, MANUAL = 3, 4  # Anki's kinds of review: 0 learn, 1 review, 2 relearn; 4 and above are no answer at all
_LAST_MS = unix_ms(datetime(9999, 12, 30, tzinfo=UTC))
SHIFT_MS = 1000  # that an export moves a review whose millisecond is taken
_LONGEST_MS = 24 * 3600 * 1000  # nobody looks at a card for longer


@dataclass(frozen=True, slots=True)
class AnkiReview:
    """One row of Anki's review log, of a card of ours. `id` is the instant of the answer in Unix milliseconds, `ease`
    the button, `ms` the time on screen; `kind` and `factor` are Anki's own."""

    card: CardId
    id: int
    ease: int
    ms: int = 0
    kind: int = 1
    factor: int = 2500

    @property
    def counts(self) -> bool:
        """Return whether the user answered: no manual rescheduling, no cramming that leaves the schedule alone."""
        return 1 <= self.ease <= 4 and self.kind >= 0 and is_answer(self.kind, self.factor)

    @property
    def is_forget(self) -> bool:
        """Return whether the card was made new again, by hand."""
        return self.kind == MANUAL and self.ease == 0 and self.factor == 0

    @property
    def is_due_date(self) -> bool:
        """Return whether the user set a due date."""
        return self.kind == MANUAL and self.ease == 0 and self.factor > 0

    @property
    def origin(self) -> str:
        """Return the text that identifies the review in the log."""
        return f"{VIA}:{self.id}"


def is_answer(kind: int, factor: int) -> bool:
    """Return whether a row of that kind is an answer: no manual rescheduling, no cramming without effect on the
    schedule.
    """
    return kind < MANUAL and (kind != FILTERED or factor != 0)


def known_origins(events: Iterable[LogEvent]) -> set[str]:
    """Return the origins of all imported reviews, undone ones included."""
    return {event.origin for event in events if isinstance(event, Import) and event.origin}


@dataclass(slots=True)
class KnownHistory:
    """What an import needs of the log, in little memory however many reviews were imported before.

    `origins` are the numbers in Anki of all reviews that came home, sorted, also where they were undone since; `own`
    are the other reviews of each card: Unix millisecond, rating and time on screen. `marks` is the last word of Anki's
    on each card as (Unix second, suspended), `flags` the last flag that came from there, `mark_ids` the events of what
    Anki says of cards, `unflagged` those that were voided as Anki said so, and `reviewed` the second of each card's
    last review.
    """

    origins: array[int] = field(default_factory=lambda: array("q"))
    own: dict[CardId, set[tuple[int, int, int]]] = field(default_factory=dict)
    marks: dict[CardId, tuple[int, bool]] = field(default_factory=dict)
    flags: dict[CardId, Flag] = field(default_factory=dict)
    mark_ids: set[str] = field(default_factory=set)
    unflagged: set[str] = field(default_factory=set)
    reviewed: dict[CardId, int] = field(default_factory=dict)

    def is_known(self, number: int) -> bool:
        """Return whether the review of that number in Anki was imported before."""
        at = bisect_left(self.origins, number)
        return at < len(self.origins) and self.origins[at] == number

    def is_own(self, review: AnkiReview) -> bool:
        """Return whether the review was made here: an export gives it the millisecond of the rating, or one soon after
        where other reviews have that.
        """
        # Without a time on screen, two reviews of a card in one second could not be told apart.
        most = SHIFT_MS if review.ms else 1
        return any(
            0 <= review.id - at < most and (rating, ms) == (review.ease, review.ms)
            for at, rating, ms in self.own.get(review.card, ())
        )


def known_history(events: Iterable[LogEvent]) -> KnownHistory:
    """Return what `events` hold, in any order, each any number of times; they are read once."""
    found, origins = KnownHistory(), array("q")
    for event in events:
        if isinstance(event, Review):
            ms = unix_ms(event.at)
            found.reviewed[event.card] = max(ms // 1000, found.reviewed.get(event.card, -1))
            number = _number_of(event.origin) if isinstance(event, Import) else None
            if number is not None:
                origins.append(number)
            if number != ms:
                found.own.setdefault(event.card, set()).add((ms, event.rating, event.ms))
        elif isinstance(event, CardMark | Undo) and event.stamp.via == VIA:
            _add_mark(found, event)
    found.origins = array("q", sorted(origins)) if any(map(gt, origins, origins[1:])) else origins
    return found


def _add_mark(found: KnownHistory, event: CardMark | Undo) -> None:
    """Add what Anki said of a card besides reviews."""
    found.mark_ids.add(event.id)
    match event:
        case Undo():
            found.unflagged.add(event.voids)
        case Suspend() | Resume():
            word = (unix_ms(event.at) // 1000, isinstance(event, Suspend))
            found.marks[event.card] = max(word, found.marks.get(event.card, word))
        case Flag():
            last = found.flags.get(event.card)
            if last is None or (last.at, last.id) < (event.at, event.id):
                found.flags[event.card] = event


def _number_of(origin: str) -> int | None:
    """Return Anki's number of a review by the origin that an import wrote; None for other origins."""
    found = _ORIGIN.fullmatch(origin)
    return int(found[1]) if found else None


def dated(rows: Iterable[AnkiReview], now: datetime) -> tuple[list[AnkiReview], list[Diagnostic]]:
    """Return the answers among `rows` that are between 1970 and `now`, and diagnostics of the others.

    One from the future is left for a later time: taken now, it would push every review until then behind it.
    """
    latest = unix_ms(now)
    kept: list[AnkiReview] = []
    found: list[Diagnostic] = []
    for row in rows:
        if not row.counts:
            continue
        if 0 < row.id <= latest:
            kept.append(row)
        else:
            found.append(_invalid_date(row))
    return kept, found


def _invalid_date(row: AnkiReview) -> Diagnostic:
    """Return the diagnostic of a review with an invalid date."""
    if row.id > 0:
        when = f"{at_of(row.id):%Y-%m-%d %H:%M} UTC" if row.id <= _LAST_MS else "an invalid date"
        what, hint = (
            f"is dated {when}, in the future",
            "set the clock on the device where you did the review; it will be imported once its date has passed",
        )
    else:
        what, hint = "is dated before 1970", "nothing was imported from it"
    return Diagnostic("Anki", 0, "anki-review-date", f"review {row.id} of card {row.card} {what}", hint)


def imports(rows: Iterable[AnkiReview], known: Collection[str], vault_id: str, zone: tzinfo) -> list[Import]:
    """Return the events of the answers whose origins are not `known` yet, each once, in order of (at, id).

    A pure function: two machines that take in the same review write the same line, and the union has it once. Rows
    that are no answer or have no date that a log can hold are left out; `dated` names them.
    """
    new = {row.id: row for row in rows if row.counts and 0 < row.id <= _LAST_MS and row.origin not in known}
    return [_event(new[id_], vault_id, zone) for id_ in sorted(new)]


def _event(row: AnkiReview, vault_id: str, zone: tzinfo) -> Import:
    """Return the event of a review, the same in every import."""
    at = at_of(row.id)
    entropy = hashlib.sha256(f"{vault_id}\0{row.origin}".encode()).digest()[:10]
    stamp = mint_stamp(at, last=None, zone=zone, via=VIA, entropy=entropy)
    return Import(stamp, row.card, Rating(row.ease), min(max(0, row.ms), _LONGEST_MS), origin=row.origin)
