"""What comes home from a running Anki: reviews, each once, and what was decided there about cards and tags."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from learning.anki.export_package import AnkiNote
from learning.anki.import_package import ManualRows
from learning.anki.marks import bury_events, counted, due_events, flag_events, forget_events, tag_event
from learning.anki.note_log import NoteRecord
from learning.anki.reviews import AnkiReview, KnownHistory, dated, imports, known_history
from learning.anki.suspension import AnkiState, import_suspension
from learning.anki.tags import changed_tags
from learning.anki_connect.client import AnkiConnect
from learning.anki_connect.days import Days
from learning.anki_connect.remote import Found, buried_cards, flagged_cards, reviews, suspensions
from learning.cards.workspace import Desk
from vault.diagnostic import Diagnostic
from vault.files.guard import Scope
from vault.ids import CardId
from vault.log.events import Import, LogEvent
from vault.log.review_log import append, unix_ms


@dataclass(frozen=True, slots=True)
class Home:
    """The reviews that are new, how many of the others had come before, and what is invalid about the rest. `there` are
    all rows of answers in Anki by its number of the card; `marks` counts what was decided there.
    """

    new: tuple[Import, ...] = ()
    known: int = 0
    invalid: tuple[Diagnostic, ...] = ()
    there: Mapping[int, Sequence[AnkiReview]] = field(default_factory=dict)
    marks: Mapping[str, int] = field(default_factory=dict)


def bring_home(
    desk: Desk,
    anki: AnkiConnect,
    found: Sequence[Found],
    active: Sequence[Found],
    known: Mapping[CardId, NoteRecord],
    notes: Mapping[CardId, AnkiNote],
    *,
    dry_run: bool,
) -> Home:
    """Log the reviews of all notes that were `found`, and what was decided about those that are `active`.

    Raises: AnkiNotReached, AnkiRefused; WriteFailed, Refused or LockHeld if the log cannot be written.
    """
    vault, history = desk.vault, known_history(desk.past.whole().events)
    rows = sorted(reviews(anki, found), key=lambda each: each[1].id)
    kept, invalid = dated([row for _, row in rows], desk.now)
    fresh = [row for row in kept if not (history.is_known(row.id) or history.is_own(row))]
    new = imports(fresh, (), vault.settings.vault_id, desk.scheduler.calendar.zone)
    if new and not dry_run:
        append(vault.guard(Scope.LOG), *new)
    history = known_history((*desk.past.whole().events, *new))
    states = _states(anki, active)
    marks = import_suspension(vault, history, known, states, desk.now, dry_run=dry_run)
    events = [
        *_manual(desk, anki, history, rows, {number for one in active for number in one.ours}),
        *flag_events(vault.settings.vault_id, history, states, desk.now, lambda card: desk.state(card).flagged),
        *bury_events(vault.settings.vault_id, history, states, desk.now, desk.scheduler.calendar),
        *_tags(desk, active, known, notes),
    ]
    if events and not dry_run:
        append(vault.guard(Scope.LOG), *events)
    there: dict[int, list[AnkiReview]] = {}
    for number, row in rows:
        if row.counts:
            there.setdefault(number, []).append(row)
    return Home(tuple(new), len(kept) - len(fresh), tuple(invalid), there, marks | counted(events))


def _states(anki: AnkiConnect, active: Sequence[Found]) -> list[AnkiState]:
    """Return how the cards are in Anki, without those that were deleted meanwhile."""
    ours = [pair for one in active for pair in one.ours.items()]
    if not ours:
        return []
    flags, buried = flagged_cards(anki), buried_cards(anki)
    return [
        AnkiState(card, s.number, s.mod, s.is_suspended, flag=flags.get(s.number, 0), is_buried=s.number in buried)
        for (_, card), s in zip(ours, suspensions(anki, [number for number, _ in ours]), strict=True)
        if s is not None
    ]


def _manual(
    desk: Desk,
    anki: AnkiConnect,
    history: KnownHistory,
    rows: Sequence[tuple[int, AnkiReview]],
    active: Collection[int],
) -> list[LogEvent]:
    """Return the events of cards that were forgotten in Anki, and of due dates set there."""
    manual = ManualRows()
    for number, row in rows:
        if number in active and 0 < row.id <= unix_ms(desk.now):
            manual.add(number, row)
    id_ = desk.vault.settings.vault_id
    some_day = date.fromordinal(1)  # whichever: an event is known by its card and instant
    dates = {number: (card, ms) for number, (card, ms) in manual.dates.items()}
    new = {e.at for e in due_events(id_, history, [(card, ms, some_day) for card, ms in dates.values()])}
    wanted = {number: pair for number, pair in dates.items() if any(unix_ms(at) == pair[1] for at in new)}
    due = Days(anki, desk.scheduler.day(desk.now)).due(list(wanted)) if wanted else {}
    dated_rows = [(card, ms, due.get(number)) for number, (card, ms) in wanted.items()]
    return [*forget_events(id_, history, manual.forgotten), *due_events(id_, history, dated_rows)]


def _tags(
    desk: Desk, active: Sequence[Found], known: Mapping[CardId, NoteRecord], notes: Mapping[CardId, AnkiNote]
) -> list[LogEvent]:
    """Return the events of tags that notes got or lost in Anki, for each of their cards."""
    events: list[LogEvent] = []
    for one in active:
        note, old = notes.get(one.card), known.get(one.card, NoteRecord())
        if note is None:
            continue
        add, remove = changed_tags(one.tags, note.tags, old.tags, old.synced_tags)
        if add or remove:
            id_, second = desk.vault.settings.vault_id, unix_ms(desk.now) // 1000
            events += [tag_event(id_, card, second, add, remove) for _, card in note.cards]
    return events
