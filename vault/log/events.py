"""The events of the review log and their text form: one JSON line each, with a checksum at its end.

{"v":1,"id":"01KB…","type":"review","card":"k7q2m9xd3f","rating":3,"at":"2026-11-21T09:30:00.123Z","tz":"+01:00",
 "ms":5400,"via":"tui","crc":"0f3a9c1e"}                                                     (one line in the file)
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable
from datetime import UTC, date, datetime
from enum import IntEnum
from typing import Any, ClassVar, Literal

import msgspec

from vault.errors import SchemaTooNew
from vault.ids import CardId
from vault.log.ledger import instant

VERSION = 1
ANKI = "anki"  # the `via` of what was done in Anki: no action of a user of this program
TAIL = len(',"crc":"01234567"}')


class Rating(IntEnum):
    """The four ratings of an answer, as in Anki."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4


class Stamp(msgspec.Struct, frozen=True, gc=False):
    """Id and time of an event: `at` is aware UTC in whole milliseconds; `clock` is the true clock where it differs from
    `at`.

    A `clock` after `at`: the human said later when it was. One before: `at` had to come after what was there already.
    """

    id: str
    at: datetime
    tz: str = "+00:00"  # the zone's offset at `at`, for the reader's eye; study days use the vault's zone
    via: str = ""
    clock: datetime | None = None

    @property
    def when(self) -> datetime:
        """Return the instant that memory counts: the true clock's, where `at` had to be later to keep the order."""
        return self.at if self.clock is None or self.clock > self.at else self.clock


class LogEvent(msgspec.Struct, frozen=True, gc=False):
    """One line of the log. Each kind has a `type` in the file and fields of its own."""

    type: ClassVar[str] = ""
    stamp: Stamp

    @property
    def id(self) -> str:
        """Return the event's id, a ULID."""
        return self.stamp.id

    @property
    def at(self) -> datetime:
        """Return the instant that gives its place in the order of events."""
        return self.stamp.at

    @property
    def when(self) -> datetime:
        """Return when it happened, as far as the clocks show."""
        return self.stamp.when


class Review(LogEvent, frozen=True, gc=False):
    """A card was rated; `ms` is how long it was on screen, 0 if unknown.

    `interval_days` is the interval that the rating was shown with: 0 for a step, and where the line says none, as in
    lines of earlier versions.
    """

    type: ClassVar[str] = "review"
    card: CardId
    rating: Rating
    ms: int = 0
    interval_days: int = 0


class Import(Review, frozen=True, gc=False):
    """A review made elsewhere; `origin` names it there ("anki:1711684180217"). It counts as a review."""

    type: ClassVar[str] = "import"
    origin: str = ""


class Undo(LogEvent, frozen=True, gc=False):
    """Voids the event with the id `voids`, wherever that line is, and nothing else."""

    type: ClassVar[str] = "undo"
    voids: str


class CardMark(LogEvent, frozen=True, gc=False):
    """What a user does to a card besides rating it."""

    card: CardId


class Suspend(CardMark, frozen=True, gc=False):
    """The card stays out of every queue until it is resumed."""

    type: ClassVar[str] = "suspend"


class Resume(CardMark, frozen=True, gc=False):
    """A suspended or buried card comes back."""

    type: ClassVar[str] = "resume"


class Bury(CardMark, frozen=True, gc=False):
    """The card stays out of the queue until the next study day."""

    type: ClassVar[str] = "bury"


class Flag(CardMark, frozen=True, gc=False):
    """The user finds something wrong with the card."""

    type: ClassVar[str] = "flag"
    reason: str = ""


class Tag(CardMark, frozen=True, gc=False):
    """The card gets some tags of its own and loses others; those of its deck stay."""

    type: ClassVar[str] = "tag"
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class Reschedule(CardMark, frozen=True, gc=False):
    """The card is due on the study day `due`, until it is rated next; its memory state stays."""

    type: ClassVar[str] = "reschedule"
    due: date


class Memory(CardMark, frozen=True, gc=False):
    """What another program knew of the card when it was last reviewed there, on the study day `reviewed`.

    It replaces the state of a card that was not reviewed here after that day; the card is due on the day `due`.
    `origin` names the card and its schedule there, so that an import again brings it no second time.
    """

    type: ClassVar[str] = "memory"
    stability: float
    difficulty: float
    reviewed: date
    due: date
    reps: int = 1
    lapses: int = 0
    origin: str = ""


class Forget(CardMark, frozen=True, gc=False):
    """The card is new again: what was rated before no longer affects its memory state."""

    type: ClassVar[str] = "forget"


class CatchUp(LogEvent, frozen=True, gc=False):
    """From its study day on at most `per_day` reviews a day, until the backlog is cleared, probably on `until`.

    EVERYTHING: all that is due, on that day alone. 0 ends the plan.
    """

    type: ClassVar[str] = "catch_up"
    per_day: int
    until: date


class Pause(LogEvent, frozen=True, gc=False):
    """Nothing is due from its study day to the one before `until`; then at most `per_day` reviews a day.

    A later one replaces what is left of an earlier one, so that one with its own day as `until` ends a pause.
    """

    type: ClassVar[str] = "pause"
    until: date
    per_day: int = 0


EVERYTHING = 9_999  # reviews a day, which is as many as a day may have
MOST_PER_DAY = EVERYTHING - 1  # that a plan may ask for


class Graded(LogEvent, frozen=True, gc=False):
    """The rating suggested for a typed answer, and the one given: memory counts the rating alone.

    `review` is the id of that rating; `suggested` None where nothing was. `met` and `missed` count points; the words
    themselves are in no log.
    """

    type: ClassVar[str] = "grade"
    card: CardId
    review: str
    suggested: Rating | None
    given: Rating
    engine: str
    met: int = 0
    missed: int = 0


class More(LogEvent, frozen=True, gc=False):
    """On the study day `day`, up to `new` new cards may be shown, whatever the settings say."""

    type: ClassVar[str] = "more"
    day: date
    new: int


class Params(LogEvent, frozen=True, gc=False):
    """The scheduler's parameters from here on; `retention` None leaves the vault's own."""

    type: ClassVar[str] = "params"
    parameters: tuple[float, ...]
    retention: float | None = None
    reason: str = ""


def _fields(event: LogEvent) -> dict[str, Any]:
    """Return the fields before `at` in the line, in the file's order."""
    match event:
        case Tag():
            return {"card": event.card, "add": list(event.add), "remove": list(event.remove)}
        case Reschedule():
            return {"card": event.card, "due": event.due.isoformat()}
        case Memory():
            days = {"reviewed": event.reviewed.isoformat(), "due": event.due.isoformat()}
            return {"card": event.card, "stability": event.stability, "difficulty": event.difficulty, **days}
        case CardMark():
            return {"card": event.card}
        case Undo():
            return {"voids": event.voids}
        case Graded():
            return {"card": event.card, "review": event.review}
        case More():
            return {"day": event.day.isoformat(), "new": event.new}
        case Params():
            retention = {} if event.retention is None else {"retention": event.retention}
            return {"parameters": list(event.parameters), **retention}
        case CatchUp() | Pause():
            return {"per_day": event.per_day, "until": event.until.isoformat()}
    raise TypeError(f"{type(event).__name__} events cannot be written to the log")


def _more(event: LogEvent) -> dict[str, Any]:
    """Return the fields between `tz` and `via`."""
    match event:
        case Flag() | Params():
            return {"reason": event.reason} if event.reason else {}
        case Memory():
            return {"reps": event.reps, "lapses": event.lapses, "origin": event.origin}
        case Graded():
            suggested = None if event.suggested is None else int(event.suggested)
            points = {"engine": event.engine, "points": [event.met, event.missed]}
            return {"suggested": suggested, "given": int(event.given), **points}
    return {}


_PARSE = msgspec.json.Decoder().decode
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(event: LogEvent) -> bytes:
    """Return the event's line without its newline."""
    stamp = event.stamp
    if isinstance(event, Review):
        return _encoded_review(event, stamp)
    record = {"v": VERSION, "id": stamp.id, "type": event.type, **_fields(event), "at": instant(stamp.at)}
    record |= {"tz": stamp.tz, **_more(event), "via": stamp.via}
    if stamp.clock is not None:
        record["clock"] = instant(stamp.clock)
    body = _JSON.encode(record).encode()[:-1]
    return body + checksum(body)


def _encoded_review(review: Review, stamp: Stamp) -> bytes:
    """Return the line of a review, which nearly every line is, faster than `encode` does of others."""
    text = _JSON.encode
    more = f',"interval_days":{review.interval_days:d}' if review.interval_days else ""
    if isinstance(review, Import):
        more += f',"origin":{text(review.origin)}'
    line = (
        f'{{"v":{VERSION},"id":{text(stamp.id)},"type":"{review.type}","card":{text(review.card)}'
        f',"rating":{review.rating:d},"at":"{instant(stamp.at)}","tz":{text(stamp.tz)},"ms":{review.ms:d}{more},"via":{text(stamp.via)}'
    )
    if stamp.clock is not None:
        line += f',"clock":"{instant(stamp.clock)}"'
    body = line.encode()
    return body + checksum(body)


def checksum(body: bytes) -> bytes:
    """Return the end of a line whose bytes before it are `body`: the comma, `crc` and the closing brace."""
    return b',"crc":"%08x"}' % zlib.crc32(body)


def _text(record: dict[str, Any], key: str, default: str | None = None) -> str:
    """Return the text under a key. Raises: ValueError."""
    value = record.get(key, default)
    if type(value) is not str:
        raise ValueError(f"{key} is not text")
    if not value.isascii():
        value.encode()  # refuses half a character
    return value


_shared: Callable[[Any], Any] = sys.intern  # a log repeats few texts many times: each is held once


def _instant(value: object) -> datetime:
    """Return an instant in whole milliseconds, aware UTC. Raises: ValueError."""
    if type(value) is not str:
        raise ValueError("a timestamp is not text")
    at = datetime.fromisoformat(value)
    if at.tzinfo is not UTC:
        if at.tzinfo is None:
            raise ValueError("a timestamp has no time zone")
        at = at.astimezone(UTC)
    return at.replace(microsecond=at.microsecond // 1000 * 1000) if at.microsecond % 1000 else at


def _number(value: object) -> float:
    """Return a parameter. Raises: ValueError."""
    if type(value) not in (int, float) or not abs(value) < 1e9:  # type: ignore[arg-type]
        raise ValueError("a parameter is not a number")
    return float(value)  # type: ignore[arg-type]


def _day(value: object) -> date:
    """Return the date that `date.isoformat` wrote; other forms of ISO raise ValueError."""
    if type(value) is not str or (day := date.fromisoformat(value)).isoformat() != value:
        raise ValueError("a date is not valid")
    return day


def _words(record: dict[str, Any], key: str) -> tuple[str, ...]:
    """Return a list of non-empty texts. Raises: ValueError."""
    found = record.get(key, [])
    if type(found) is not list or not all(type(word) is str and word.strip() for word in found):
        raise ValueError(f"`{key}` must be a list of words")
    for word in found:
        word.encode()
    return tuple(found)


RATINGS = {int(r): r for r in Rating}


def _review(record: dict[str, Any], stamp: Stamp) -> tuple[Stamp, CardId, Rating, int, int]:
    """Return the fields of a review. Raises: ValueError."""
    rating, ms, interval_days = record["rating"], record.get("ms", 0), record.get("interval_days", 0)
    if type(rating) is not int or rating not in RATINGS:
        raise ValueError("`rating` must be 1, 2, 3 or 4")
    if type(ms) is not int or ms < 0:
        raise ValueError("`ms` must be a whole number of milliseconds")
    if type(interval_days) is not int or interval_days < 0:
        raise ValueError("`interval_days` must be a number of days")
    return stamp, _shared(_text(record, "card")), RATINGS[rating], ms, interval_days


def _memory(record: dict[str, Any], stamp: Stamp) -> Memory:
    """Return the memory in a line. Raises: ValueError."""
    stability, difficulty = _number(record["stability"]), _number(record["difficulty"])
    if not (stability > 0 and 1 <= difficulty <= 10):
        raise ValueError("stability or difficulty is out of range")
    counts = record.get("reps", 1), record.get("lapses", 0)
    if any(type(count) is not int or not 0 <= count < 1_000_000 for count in counts):
        raise ValueError("reps or lapses is not a number of reviews")
    reviewed, due = _day(record["reviewed"]), _day(record["due"])
    if due < reviewed:
        raise ValueError("the card is due before its review")
    card = CardId(_text(record, "card"))
    return Memory(stamp, card, stability, difficulty, reviewed, due, *counts, _text(record, "origin", ""))


def _graded(record: dict[str, Any], stamp: Stamp) -> Graded:
    """Return the suggestion in a line. Raises: ValueError."""
    suggested, given, points = record["suggested"], record["given"], record["points"]
    for rating in (given, *([] if suggested is None else [suggested])):
        if type(rating) is not int or rating not in RATINGS:
            raise ValueError("the suggested or the given rating is not 1, 2, 3 or 4")
    if type(points) is not list or len(points) != 2 or any(type(n) is not int or n < 0 for n in points):
        raise ValueError("`points` must be two whole numbers")
    asked = None if suggested is None else RATINGS[suggested]
    names = CardId(_text(record, "card")), _text(record, "review")
    return Graded(stamp, *names, asked, RATINGS[given], _text(record, "engine"), *points)


def _more_new(record: dict[str, Any], stamp: Stamp) -> More:
    """Return the decision in a line. Raises: ValueError."""
    new = record["new"]
    if type(new) is not int or not 0 <= new < 1_000_000:
        raise ValueError("`new` must be a number of cards")
    return More(stamp, _day(record["day"]), new)


def _params(record: dict[str, Any], stamp: Stamp) -> Params:
    """Return the parameters in a line. Raises: ValueError."""
    parameters, retention = record["parameters"], record.get("retention")
    if type(parameters) is not list:
        raise ValueError("`parameters` must be a list")
    wanted = None if retention is None else _number(retention)
    return Params(stamp, tuple(map(_number, parameters)), wanted, _text(record, "reason", ""))


def _per_day(record: dict[str, Any]) -> int:
    """Return the reviews a day in a line. Raises: ValueError."""
    per_day = record["per_day"]
    if type(per_day) is not int or not 0 <= per_day <= EVERYTHING:
        raise ValueError("`per_day` must be a number of reviews a day")
    return per_day


_READERS: dict[str, Callable[[dict[str, Any], Stamp], LogEvent]] = {
    "review": lambda r, s: Review(*_review(r, s)),
    "import": lambda r, s: Import(*_review(r, s), _text(r, "origin", "")),
    "undo": lambda r, s: Undo(s, _text(r, "voids")),
    "suspend": lambda r, s: Suspend(s, CardId(_text(r, "card"))),
    "resume": lambda r, s: Resume(s, CardId(_text(r, "card"))),
    "bury": lambda r, s: Bury(s, CardId(_text(r, "card"))),
    "flag": lambda r, s: Flag(s, CardId(_text(r, "card")), _text(r, "reason", "")),
    "grade": _graded,
    "tag": lambda r, s: Tag(s, CardId(_text(r, "card")), _words(r, "add"), _words(r, "remove")),
    "reschedule": lambda r, s: Reschedule(s, CardId(_text(r, "card")), _day(r["due"])),
    "memory": _memory,
    "forget": lambda r, s: Forget(s, CardId(_text(r, "card"))),
    "more": _more_new,
    "params": _params,
    "catch_up": lambda r, s: CatchUp(s, _per_day(r), _day(r["until"])),
    "pause": lambda r, s: Pause(s, _day(r["until"]), _per_day(r)),
}


class UnknownType(Exception):
    """Raised for a line of a type this version does not know: it stays in the file and is ignored."""


def decode(line: bytes) -> LogEvent:
    """Return the event of one line (without its line end).

    Raises: ValueError if the line is not what was written; SchemaTooNew; UnknownType.
    """
    if line[-TAIL:] != checksum(line[:-TAIL]):
        raise ValueError("the checksum does not match the line")
    try:
        record = _PARSE(line)
        version = record["v"]
        if type(version) is not int or version < 1:
            raise ValueError("`v` must be a format version number")
        if version > VERSION:
            raise SchemaTooNew(
                f"this review is in format {version}; this version of retain reads formats up to {VERSION}",
                hint="update retain",
            )
        reader = _READERS.get(kind := _text(record, "type"))
        if reader is None:
            raise UnknownType(kind)
        at, clock = _instant(record["at"]), record.get("clock")
        stamp = Stamp(
            _text(record, "id"),
            at,
            _shared(_text(record, "tz", "+00:00")),
            _shared(_text(record, "via", "")),
            None if clock is None else _instant(clock),
        )
        return reader(record, stamp)
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
        raise ValueError(f"{type(problem).__name__}: {problem}") from problem


class _ReviewLine(msgspec.Struct, gc=False):
    """The line of a review, as nearly every line of a log is, without a `clock`."""

    v: Literal[1]
    id: str
    type: Literal["review", "import"]
    card: CardId
    rating: Rating
    at: datetime
    tz: str = "+00:00"
    ms: int = 0
    interval_days: int = 0
    origin: str = ""
    via: str = ""
    clock: None = None


_PARSE_REVIEW = msgspec.json.Decoder(_ReviewLine).decode


def review_in(line: bytes) -> Review | None:
    """Return what `decode` gives of a line, which has its newline, much faster; None where `decode` must read it."""
    if line[-TAIL - 1 :] != b',"crc":"%08x"}\n' % zlib.crc32(line[: -TAIL - 1]):
        return None
    try:
        read = _PARSE_REVIEW(line)
    except (ValueError, RecursionError):
        return None
    at = read.at
    if read.ms < 0 or read.interval_days < 0 or at.tzinfo is not UTC or at.microsecond % 1000:
        return None
    stamp = Stamp(read.id, at, _shared(read.tz), _shared(read.via))
    if read.type == Import.type:
        return Import(stamp, _shared(read.card), read.rating, read.ms, read.interval_days, read.origin)
    return Review(stamp, _shared(read.card), read.rating, read.ms, read.interval_days)
