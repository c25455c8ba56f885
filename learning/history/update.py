"""The review log in the index: what each line that has come since does to the memory states.

Log and ledger are taken in once, line by line as they grow. Every event since the cut is kept, undone ones included,
with the states before it (`base`): so that an undo, or an event that arrives late, folds again only the cards that it
concerns. What reaches back before the cut, and whatever else is in doubt (a file that changed otherwise, other
parameters or settings), folds the whole log again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from learning.history import cut as log_cut
from learning.history.cut import Head, cut_of, digest, is_after_cut, is_clean_cut, reaching_back, read_head, save_head
from learning.history.day_sums import DaySums, change_sums, sums_of_cards
from learning.history.files import FileLines, grown, save_files
from learning.history.fill import RECENT, SchedulerOf, fold_all
from learning.history.reviews import add_reviews, replace_reviews
from learning.history.rows import (
    changes_of,
    keep_base,
    keep_none,
    read_events,
    save_changes,
    save_events,
    states_at,
    tuning_events,
)
from learning.history.states import save_states
from learning.memory.fold import card_events, fold
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent
from learning.store.decks import add_unmet
from vault.errors import RetainError
from vault.ids import CardId
from vault.index.database import Database, IndexDamaged
from vault.log.events import LogEvent, Review, Undo, UnknownType, decode
from vault.log.review_log import by_time, live, unix_ms
from vault.vault import Vault


class _InDoubt(Exception):
    """Raised where new lines do not just continue what is known: all is folded again."""


def update_log(vault: Vault, database: Database, scheduler_of: SchedulerOf) -> tuple[Head, Scheduler]:
    """Take the new lines of log and ledger into the index; return what is known then, and the scheduler.

    Raises: SchemaTooNew; Refused or Damaged where a file cannot be read.
    """
    head, files = read_head(vault, database), grown(vault, database)
    if head is not None and files is not None and not any(file.more for file in files):
        scheduler = scheduler_of(tuning_events(vault, database))
        if digest(vault, scheduler) == head.scheduler:
            save_files(database, files)
            return head, scheduler
    try:
        with database.transaction():
            head, files = read_head(vault, database), grown(vault, database)  # another process may have been here
            if head is not None and files is not None:
                return _continued(vault, database, scheduler_of, head, files)
    except (_InDoubt, ValueError, LookupError, TypeError, OverflowError, RecursionError, UnknownType):
        pass
    except IndexDamaged:
        raise
    except RetainError:  # raised again, with its place, by what reads the whole log
        pass
    return fold_all(vault, database, scheduler_of)


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
    save_events(database, new, {event.id for event in new if not isinstance(event, Undo)})
    again = _voids_or_is_void(database, new)
    moved = _recounted(database, head, new) if again else new
    scheduler = scheduler_of(tuning_events(vault, database))
    if digest(vault, scheduler) != head.scheduler:
        raise _InDoubt
    cards = {card for event in (*moved, *changed) if (card := getattr(event, "card", None)) is not None}
    before = _sums(database, cards, scheduler)
    save_changes(database, changed)
    came: list[LogEvent | CardEvent] = [*new, *changed]
    if again or any(event.at <= head.newest for event in came):
        _fold_anew(database, head, cards, scheduler)
    else:
        keep_base(database, cards)
        save_states(database, fold(new, scheduler, changed, states_at(database, cards)).items())
        add_reviews(database, [event for event in new if isinstance(event, Review)])
    change_sums(database, before, _sums(database, cards, scheduler))
    newest = max([head.newest, *(event.at for event in came)])
    head = msgspec.structs.replace(head, newest=newest)
    if (database.one("SELECT count(*) FROM event WHERE at >= ?", (unix_ms(head.cut),)) or (0,))[0] > log_cut.MOST:
        head = _with_later_cut(database, head, scheduler)
    save_head(database, head)
    save_files(database, files)
    return head, scheduler


def _recounted(database: Database, head: Head, new: Sequence[LogEvent]) -> list[LogEvent]:
    """Note which events since the cut count now; return the new ones and those that did not, or did, before.

    Raises: _InDoubt where an undo reaches back before the cut.
    """
    since = read_events(database, "at >= ?", (unix_ms(head.cut),))
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
    keep_base(database, cards)
    known = states_at(database, cards, "base")
    for card in cards:
        events = read_events(database, "counts AND subject = ? AND at >= ? AND type != 'undo'", (card, cut))
        changes = [change for change in changes_of(database, card) if change.at >= head.cut]
        states = fold(events, scheduler, changes, {card: known[card]} if card in known else None)
        database.run("DELETE FROM state WHERE card = ?", (card,))
        save_states(database, states.items())
        replace_reviews(database, card, cut, [event for event in events if isinstance(event, Review)])
    add_unmet(database)


def _sums(database: Database, cards: Collection[CardId], scheduler: Scheduler) -> DaySums | None:
    """Return the sums over the reviews of these cards, where those of all are known."""
    changes = (change for card in cards for change in changes_of(database, card))
    return sums_of_cards(database, cards, scheduler, changes)


def _with_later_cut(database: Database, head: Head, scheduler: Scheduler) -> Head:
    """Move the cut, where there is a later one; return what is known then."""
    since = read_events(database, "at >= ?", (unix_ms(head.cut),))
    counting = live(since)
    cut = cut_of([unix_ms(event.at) for event in counting if isinstance(event, Review)], scheduler.calendar)
    if cut <= head.cut or not is_clean_cut(since, cut):
        return head
    old = [event for event in counting if event.at < cut]
    changes = changes_of(database)
    base = {CardId(card) for (card,) in database.rows("SELECT card FROM base")}
    gone = [change for change in changes if head.cut <= change.at < cut]
    states = fold(old, scheduler, gone, states_at(database, base, "base"))
    every: list[LogEvent | CardEvent] = [*since, *changes]
    left = {getattr(event, "card", None) for event in every if event.at >= cut}
    database.run("DELETE FROM base")
    save_states(database, ((card, states[card]) for card in base & left if card in states), "base")
    keep_none(database, [card for card in base & left if card not in states])
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
