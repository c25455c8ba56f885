"""The review log in the index: what each line that has come since does to the memory states.

Log and ledger are taken in once, line by line as they grow. Every event since the cut is kept, undone ones included,
with the states before it (`base`): so that an undo, or an event that arrives late, folds anew only the cards that it
concerns. What reaches back before the cut, and whatever else is in doubt (a file that changed otherwise, other
parameters or settings), folds the whole log anew.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from datetime import UTC, datetime
from operator import attrgetter

import msgspec

from learning.memory.fold import card_events, fold, fold_log
from learning.memory.predictions import rows_of
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, MemoryState
from learning.store.day_sums import DaySums, change_sums, forget_sums, sums_of_cards
from learning.store.decks import add_unmet
from learning.store.log_files import FileLines, grown, read_all, save_files, vault_place
from learning.store.reviews import add_reviews, replace_reviews, save_all
from learning.store.states import FIELDS, instant_of, micros, save_states, state_of
from learning.study_day import StudyCalendar
from vault.errors import RetainError
from vault.ids import CardId
from vault.index.database import Database, IndexDamaged
from vault.index.facts import fact, set_fact
from vault.log.events import LogEvent, Params, Review, Tag, Undo, UnknownType, decode, encode, review_line
from vault.log.review_columns import ScannedLog, scan_log
from vault.log.review_log import EVER, at_of, by_time, first_id, live, unix_ms
from vault.vault import Vault

RECENT = 500  # ratings before the cut whose time on screen is kept
_END = datetime.max.replace(tzinfo=UTC)
_LEAST, _MOST = 250, 2_500  # events that are kept since the cut
_LINE = 250  # bytes that are more than a line
_NEVER = unix_ms(EVER)
_FOLD = 4  # of the fold: when the same log gives other states, it grows
_MOST_MS = 1 << 40  # of a time on screen, as the table has it

SchedulerOf = Callable[[Iterable[LogEvent]], Scheduler]


class Head(msgspec.Struct, frozen=True):
    """What is known of log and ledger as a whole; `place` and `scheduler` are what the states depend on besides.

    `last`, `latest` and `recent_ms` are of the time before the cut: the last instant that counts, when the latest
    event happened, and the times on screen of the last ratings. `newest` is the greatest instant of all. `undos` are
    those since the cut that count and void something before it.
    """

    place: str
    scheduler: str
    cut: datetime = EVER
    last: datetime | None = None
    latest: datetime | None = None
    newest: datetime = EVER
    recent_ms: tuple[int, ...] = ()
    undos: tuple[str, ...] = ()
    diagnostics: tuple[tuple[str, int, str, str, str], ...] = ()


class _InDoubt(Exception):
    """Raised where new lines do not just continue what is known: all is folded anew."""


def update_log(vault: Vault, database: Database, scheduler_of: SchedulerOf) -> tuple[Head, Scheduler]:
    """Take the new lines of log and ledger into the index; return what is known then, and the scheduler.

    Raises: SchemaTooNew; Refused or Damaged where a file cannot be read.
    """
    head, files = _head(vault, database), grown(vault, database)
    if head is not None and files is not None and not any(file.more for file in files):
        scheduler = scheduler_of(_tuning_events(vault, database))
        if _digest(vault, scheduler) == head.scheduler:
            save_files(database, files)
            return head, scheduler
    with database.transaction():
        try:
            head, files = _head(vault, database), grown(vault, database)  # another process may have been here
            if head is not None and files is not None:
                return _continued(vault, database, scheduler_of, head, files)
        except (_InDoubt, ValueError, LookupError, TypeError, OverflowError, RecursionError, UnknownType):
            pass
        except IndexDamaged:
            raise
        except RetainError:  # raised again, with its place, by what reads the whole log
            pass
        return _rebuilt(vault, database, scheduler_of)


def _head(vault: Vault, database: Database) -> Head | None:
    """Return what is known; None if nothing is, or that of another vault."""
    text = fact(database, "log")
    head = msgspec.json.decode(text, type=Head) if text else None
    return head if head is not None and head.place == vault_place(vault) else None


def _save_head(database: Database, head: Head) -> None:
    set_fact(database, "log", msgspec.json.encode(head).decode())


# --- taking new lines in --------------------------------------------------------------------------------------------


def _continued(
    vault: Vault, database: Database, scheduler_of: SchedulerOf, head: Head, files: list[FileLines]
) -> tuple[Head, Scheduler]:
    """Take the lines in that have come. Raises: _InDoubt, and what `decode` raises."""
    *logs, ledger = files
    if ledger.more and not ledger.more.endswith(b"\n"):
        raise _InDoubt
    lines = [line.removesuffix(b"\r") for file in logs for line in file.more.split(b"\n")]
    new = _unknown(database, [decode(line) for line in lines if line])
    changed = card_events(ledger.more)
    if not is_after_cut(new, head.cut) or any(change.at < head.cut for change in changed):
        raise _InDoubt
    _save_events(database, new, {event.id for event in new if not isinstance(event, Undo)})
    again = _voids_or_is_void(database, new)
    moved = _recounted(database, head, new) if again else new
    scheduler = scheduler_of(_tuning_events(vault, database))
    if _digest(vault, scheduler) != head.scheduler:
        raise _InDoubt
    cards = {card for event in (*moved, *changed) if (card := getattr(event, "card", None)) is not None}
    before = _sums(database, cards, scheduler)
    _save_changes(database, changed)
    came: list[LogEvent | CardEvent] = [*new, *changed]
    if again or any(event.at <= head.newest for event in came):
        _fold_anew(database, head, cards, scheduler)
    else:
        _keep_base(database, cards)
        save_states(database, fold(new, scheduler, changed, _states(database, cards)).items())
        add_reviews(database, [event for event in new if isinstance(event, Review)])
    change_sums(database, before, _sums(database, cards, scheduler))
    newest = max([head.newest, *(event.at for event in came)])
    head = msgspec.structs.replace(head, newest=newest)
    if (database.one("SELECT count(*) FROM event WHERE at >= ?", (unix_ms(head.cut),)) or (0,))[0] > _MOST:
        head = _with_later_cut(database, head, scheduler)
    _save_head(database, head)
    save_files(database, files)
    return head, scheduler


def _recounted(database: Database, head: Head, new: Sequence[LogEvent]) -> list[LogEvent]:
    """Note which events since the cut count now; return the new ones and those that did not, or did, before.

    Raises: _InDoubt where an undo reaches back before the cut.
    """
    since = _events(database, "at >= ?", (unix_ms(head.cut),))
    if reaching_back(since) != set(head.undos):
        raise _InDoubt
    counting = {event.id for event in live(since)}
    known = {id_ for (id_,) in database.rows("SELECT id FROM event WHERE counts AND at >= ?", (unix_ms(head.cut),))}
    moved = counting ^ known | {event.id for event in new}
    database.run_many("UPDATE event SET counts = ? WHERE id = ?", ((id_ in counting, id_) for id_ in moved))
    return [event for event in since if event.id in moved]


def _unknown(database: Database, events: Sequence[LogEvent]) -> list[LogEvent]:
    """Return those that are not in the index yet, each once. Raises: _InDoubt where another has the same id."""
    found: dict[str, LogEvent] = {}
    for event in events:
        known = database.one("SELECT line FROM event WHERE id = ?", (event.id,))
        if found.setdefault(event.id, event) != event or (known is not None and decode(known[0]) != event):
            raise _InDoubt
        if known is not None:
            del found[event.id]
    return sorted(found.values(), key=by_time)


def _voids_or_is_void(database: Database, new: Sequence[LogEvent]) -> bool:
    """Return whether an undo is among the new events, or is there already for one of them."""
    return any(
        isinstance(event, Undo) or database.one("SELECT 1 FROM event WHERE type = 'undo' AND subject = ?", (event.id,))
        for event in new
    )


def _fold_anew(database: Database, head: Head, cards: Collection[CardId], scheduler: Scheduler) -> None:
    """Fold these cards from their states before the cut."""
    cut = unix_ms(head.cut)
    _keep_base(database, cards)
    known = _states(database, cards, "base")
    for card in cards:
        events = _events(database, "counts AND subject = ? AND at >= ? AND type != 'undo'", (card, cut))
        changes = [change for change in changes_of(database, card) if change.at >= head.cut]
        states = fold(events, scheduler, changes, {card: known[card]} if card in known else None)
        database.run("DELETE FROM state WHERE card = ?", (card,))
        save_states(database, states.items())
        replace_reviews(database, card, cut, [event for event in events if isinstance(event, Review)])
    add_unmet(database)


def _sums(database: Database, cards: Collection[CardId], scheduler: Scheduler) -> DaySums | None:
    """Return the sums over the reviews of these cards, where those of all are known."""
    return sums_of_cards(
        database, cards, scheduler, (change for card in cards for change in changes_of(database, card))
    )


def _keep_base(database: Database, cards: Iterable[CardId]) -> None:
    """Keep the states of these cards as those before the cut, where nothing has happened to them since."""
    rows = [(card,) for card in cards]
    database.run_many("INSERT OR IGNORE INTO base SELECT * FROM state WHERE card = ?", rows)
    database.run_many("INSERT OR IGNORE INTO base(card) VALUES(?)", rows)


def _states(database: Database, cards: Iterable[CardId], table: str = "state") -> dict[CardId, MemoryState]:
    """Return the states of those cards that have one."""
    query = f"SELECT {FIELDS} FROM {table} WHERE known AND card = ?"
    return {card: state_of(row) for card in cards if (row := database.one(query, (card,)))}


def _with_later_cut(database: Database, head: Head, scheduler: Scheduler) -> Head:
    """Move the cut, where there is a later one; return what is known then."""
    since = _events(database, "at >= ?", (unix_ms(head.cut),))
    counting = live(since)
    cut = _cut_of([unix_ms(event.at) for event in counting if isinstance(event, Review)], scheduler.calendar)
    if cut <= head.cut or not _is_clean_cut(since, cut):
        return head
    old = [event for event in counting if event.at < cut]
    changes = changes_of(database)
    base = {CardId(card) for (card,) in database.rows("SELECT card FROM base")}
    gone = [change for change in changes if head.cut <= change.at < cut]
    states = fold(old, scheduler, gone, _states(database, base, "base"))
    every: list[LogEvent | CardEvent] = [*since, *changes]
    left = {getattr(event, "card", None) for event in every if event.at >= cut}
    database.run("DELETE FROM base")
    save_states(database, ((card, states[card]) for card in base & left if card in states), "base")
    _keep_none(database, [card for card in base & left if card not in states])
    database.run(
        "DELETE FROM event WHERE at < ? AND (type IN ('review', 'import', 'undo') OR NOT counts)", (unix_ms(cut),)
    )
    times = [event.ms for event in old if isinstance(event, Review) and event.ms]
    return msgspec.structs.replace(
        head,
        cut=cut,
        last=old[-1].at if old else head.last,
        latest=max([*filter(None, [head.latest]), *(event.when for event in old)], default=None),
        recent_ms=(*head.recent_ms, *times)[-RECENT:],
        undos=tuple(sorted(reaching_back([event for event in since if event.at >= cut]))),
    )


def _keep_none(database: Database, cards: Iterable[CardId]) -> None:
    """Keep of these cards that they had no state before the cut."""
    database.run_many("INSERT INTO base(card) VALUES(?)", ((card,) for card in cards))


# --- taking all of it in --------------------------------------------------------------------------------------------


def _rebuilt(vault: Vault, database: Database, scheduler_of: SchedulerOf) -> tuple[Head, Scheduler]:
    """Fold the whole log."""
    files = read_all(vault)
    changes = card_events(files[-1].more)
    cut = _cut(files[:-1], scheduler_of(()).calendar)
    log = scan_log(((file.shown, file.more) for file in files[:-1]), cut)
    since = log.since
    if since is None:  # no line can continue it
        cut, since = _END, ()
    scheduler = scheduler_of(log.others)
    states = fold_log(log, scheduler, changes)
    every: list[LogEvent | CardEvent] = [*since, *(change for change in changes if change.at >= cut)]
    touched = {card for event in every if (card := getattr(event, "card", None)) is not None}
    before = _log_before(log, cut)
    base = fold_log(_of_cards(before, touched), scheduler, (c for c in changes if c.at < cut and c.card in touched))
    newest = max([at_of(max(log.reviews.at_ms, default=_NEVER)), *(e.at for e in (*every, *log.others, *changes))])
    head = Head(
        vault_place(vault),
        _digest(vault, scheduler),
        cut,
        before.last,
        max([*map(at_of, before.reviews.when_ms), *(event.when for event in before.others)], default=None),
        newest,
        tuple([ms for ms in before.reviews.ms if ms][-RECENT:]),
        tuple(sorted(reaching_back(since))),
        tuple((d.path, d.line, d.code, d.message, d.hint) for d in log.diagnostics),
    )
    with database.transaction():
        for table in ("event", "change", "state", "base"):
            database.run(f"DELETE FROM {table}")
        forget_sums(database)
        counting = {event.id for event in live(since)}
        _save_events(database, (*before.others, *since), counting | {event.id for event in before.others})
        _save_changes(database, changes)
        save_states(database, sorted(states.items()))
        save_states(database, base.items(), "base")
        _keep_none(database, touched - base.keys())
        save_all(database, log.reviews)
        add_unmet(database)
        _save_head(database, head)
        save_files(database, files)
    return head, scheduler


def _log_before(log: ScannedLog, cut: datetime) -> ScannedLog:
    """Return the part of a log before the cut."""
    end = bisect_left(log.reviews.at_ms, unix_ms(cut))
    count = bisect_left(log.others, cut, key=attrgetter("at"))
    reviews = rows_of(log.reviews, range(end))
    last = [*map(at_of, reviews.at_ms[-1:]), *(event.at for event in log.others[count - 1 : count])]
    others, places = log.others[:count], log.places[:count]
    return ScannedLog(reviews, others, places, max(last, default=None))


def _of_cards(log: ScannedLog, cards: Container[CardId]) -> ScannedLog:
    """Return what a log says of some cards."""
    wanted = bytes(card in cards for card in log.reviews.cards)
    rows = [row for row, card in enumerate(log.reviews.card) if wanted[card]]
    placed = [
        (event, bisect_left(rows, place))
        for event, place in zip(log.others, log.places, strict=True)
        if getattr(event, "card", None) in cards
    ]
    others, places = tuple(event for event, _ in placed), tuple(place for _, place in placed)
    return ScannedLog(rows_of(log.reviews, rows), others, places)


def _cut(files: Iterable[FileLines], calendar: StudyCalendar) -> datetime:
    """Return where to cut the log: a day before its last review began, or earlier; EVER where the reviews are few.

    It goes by the ends of the files, where the last reviews are as a rule.
    """
    ends = (file.more[-2 * _LEAST * _LINE :] for file in files)
    lines = (review_line(line) for data in ends for line in data.splitlines(keepends=True))
    return _cut_of(sorted(unix_ms(line.at) for line in lines if line is not None), calendar)


def _cut_of(at_ms: Sequence[int], calendar: StudyCalendar) -> datetime:
    """Return where to cut a log whose last reviews are these."""
    if len(at_ms) < 2 * _LEAST:
        return EVER
    least = calendar.day(at_of(at_ms[-_LEAST]))
    return max(at_of(0), calendar.start(min(least, calendar.day(at_of(at_ms[-1])) - 1)))


def _is_clean_cut(events: Iterable[LogEvent], cut: datetime) -> bool:
    """Return whether instant and id of each event are on one side of the cut, and no undo before it voids an event
    after.
    """
    first = first_id(cut)
    return all(
        (event.at >= cut) == (event.id >= first)
        and not (isinstance(event, Undo) and event.at < cut and event.voids >= first)
        for event in events
    )


def is_after_cut(events: Iterable[LogEvent], cut: datetime) -> bool:
    """Return whether all events are after the cut, by instant and by id: then none of them was folded in before."""
    first = first_id(cut)
    return cut == EVER or all(event.at >= cut and event.id >= first for event in events)


def reaching_back(events: Sequence[LogEvent]) -> frozenset[str]:
    """Return the undos among `events`, which are in order, that count and void none of them."""
    ids = {event.id for event in events}
    voided: set[str] = set()
    out = []
    for event in reversed(events):
        if isinstance(event, Undo) and event.id not in voided:
            voided.add(event.voids)
            if event.voids not in ids:
                out.append(event.id)
    return frozenset(out)


# --- rows -----------------------------------------------------------------------------------------------------------


def _save_events(database: Database, events: Iterable[LogEvent], counting: Container[str]) -> None:
    """Add events; those with an id in `counting` count."""
    database.run_many(
        "INSERT INTO event VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                event.id,
                unix_ms(event.at),
                unix_ms(event.when),
                event.type,
                event.voids if isinstance(event, Undo) else getattr(event, "card", ""),
                event.id in counting,
                min(event.ms, _MOST_MS) if isinstance(event, Review) else 0,
                encode(event),
            )
            for event in events
        ),
    )


def _events(database: Database, condition: str, values: Sequence[object] = ()) -> list[LogEvent]:
    """Return events in order of (at, id)."""
    rows = database.rows(f"SELECT line FROM event WHERE {condition} ORDER BY at, id", values)
    return [decode(line) for (line,) in rows]


def _save_changes(database: Database, changes: Iterable[CardEvent]) -> None:
    """Add changes of cards that the ledger records."""
    database.run_many("INSERT INTO change VALUES(?, ?, ?)", ((c.card, c.type, micros(c.at)) for c in changes))


def changes_of(database: Database, card: CardId | None = None) -> tuple[CardEvent, ...]:
    """Return the ledger's changes of a card, or of all, in the order of its lines."""
    where, values = ("WHERE card = ? ", (card,)) if card is not None else ("", ())
    rows = database.rows(f"SELECT card, type, at FROM change {where}ORDER BY rowid", values)
    return tuple(CardEvent(CardId(card), type_, instant_of(at)) for card, type_, at in rows)


def _tunes(vault: Vault) -> tuple[type[LogEvent], ...]:
    """Return the types of events that the scheduler depends on: tags, too, where some ask for another retention."""
    return (Params, Tag) if vault.settings.retention_by_tag else (Params,)


def _tuning_events(vault: Vault, database: Database) -> list[LogEvent]:
    """Return the events that the scheduler depends on."""
    types = [kind.type for kind in _tunes(vault)]
    return _events(database, f"counts AND type IN ({', '.join('?' * len(types))})", types)


def _digest(vault: Vault, scheduler: Scheduler) -> str:
    """Return a text that changes when the same log would give other states."""
    wanted = zlib.crc32(repr(sorted(scheduler.retention_of.items())).encode())
    return f"{_FOLD} {scheduler.rules!r} {wanted:08x}"
