"""The whole log taken into the index at once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable
from datetime import UTC, datetime
from operator import attrgetter

from learning.history.cut import Head, cut_of, digest, is_clean_cut, reaching_back, save_head
from learning.history.day_sums import forget_sums
from learning.history.files import read_all, save_files, vault_place
from learning.history.reviews import save_all
from learning.history.rows import keep_none, save_changes, save_events
from learning.history.states import save_states
from learning.memory.fold import card_events, fold_log
from learning.memory.predictions import rows_of
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent
from learning.store.decks import add_unmet
from vault.ids import CardId
from vault.index.database import Database
from vault.log.events import LogEvent
from vault.log.review_columns import ScannedLog, columns_in
from vault.log.review_log import EVER, at_of, live, parse_log, unix_ms
from vault.vault import Vault

RECENT = 500  # ratings before the cut whose time on screen is kept
_END = datetime.max.replace(tzinfo=UTC)
_NEVER = unix_ms(EVER)

SchedulerOf = Callable[[Iterable[LogEvent]], Scheduler]


def fold_all(vault: Vault, database: Database, scheduler_of: SchedulerOf) -> tuple[Head, Scheduler]:
    """Fold the whole log."""
    files = read_all(vault)
    changes = card_events(files[-1].more)
    events = (read := parse_log((file.shown, file.more) for file in files[:-1])).events
    log = columns_in(read)
    scheduler = scheduler_of(log.others)
    cut = cut_of(log.reviews.at_ms, scheduler.calendar)
    if not is_clean_cut(events, cut):
        cut = _END  # no line can continue it
    since = events[bisect_left(events, cut, key=attrgetter("stamp.at")) :]
    states = fold_log(log, scheduler, changes)
    every: list[LogEvent | CardEvent] = [*since, *(change for change in changes if change.at >= cut)]
    touched = {card for event in every if (card := getattr(event, "card", None)) is not None}
    before = _log_before(log, cut)
    base = fold_log(_of_cards(before, touched), scheduler, (c for c in changes if c.at < cut and c.card in touched))
    newest = max([at_of(max(log.reviews.at_ms, default=_NEVER)), *(e.at for e in (*every, *log.others, *changes))])
    head = Head(
        vault_place(vault),
        digest(vault, scheduler),
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
        save_events(database, (*before.others, *since), counting | {event.id for event in before.others})
        save_changes(database, changes)
        save_states(database, sorted(states.items()))
        save_states(database, base.items(), "base")
        keep_none(database, touched - base.keys())
        save_all(database, log.reviews)
        add_unmet(database)
        save_head(database, head)
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
