"""Import of an Anki package: reviews into the log, foreign notes into cards.

The same package twice changes nothing the second time, and packages may come in any order: an event has an id of its
own origin (`learning.anki.reviews`), a card one of its Anki note. First the cards are on disk, then their births, then
their reviews; whatever was cut off, the next import completes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from difflib import SequenceMatcher
from functools import partial
from itertools import islice
from typing import Any

from learning.anki.export_package import VAULT_TAG, AnkiNote, guid_of, notes_of, vault_tag
from learning.anki.import_notes import import_foreign_cards
from learning.anki.marks import (
    BURIED,
    bury_events,
    counted,
    due_date,
    due_events,
    flag_events,
    forget_events,
    tag_event,
)
from learning.anki.media import Media
from learning.anki.note_log import NoteRecord, read_notes, record
from learning.anki.note_shapes import by_any_card, cards_of_notes
from learning.anki.note_types import MOST_COMPARED, SIBLINGS
from learning.anki.package_reader import Package, PackageCard
from learning.anki.presets import Preset, adopt, chosen, judged
from learning.anki.read_package import AnkiRow
from learning.anki.reviews import AnkiReview, KnownHistory, dated, imports, known_history
from learning.anki.suspension import SUSPENDED, AnkiState, import_suspension
from learning.anki.tags import changed_tags
from learning.cards.workspace import Desk, open_desk, read_desk
from vault.audit.agent_runs import refuse_beside_agents
from vault.errors import Unreadable, UsageError
from vault.files.guard import Scope
from vault.ids import CardId
from vault.locks import lock
from vault.log import ledger
from vault.log.events import LogEvent
from vault.log.review_log import append, stream_log, unix_ms
from vault.text.formatting import clean_line
from vault.vault import Vault

BATCH = 20_000  # events between two waits for the disk
_LAST_DAY = 10_000_000  # greater numbers of a due date are Unix seconds
_ODD = 20  # reviews without a date of ours, that are named
_NAMED = 12  # of a package's decks, where none has the name that was asked for
_PATIENCE_S = 5.0  # for a compile that ends, or an agent's start
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Reported:
    """Something that the user should know: `path` is a vault path, or "" for what is in the package alone."""

    id: str
    reason: str
    path: str = ""
    line: int = 0


@dataclass(slots=True)
class ImportReport:
    """What an import did, or (`dry_run`) would do. `is_partial` if the package has cards that cannot be imported."""

    dry_run: bool = False
    is_partial: bool = False
    notes: dict[str, int] = field(default_factory=lambda: {"ours": 0, "strange": 0})
    cards: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("created", "updated", "kept", "skipped"), 0))
    reviews: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("added", "known", "left_out"), 0))
    left_out: dict[str, int] = field(default_factory=dict)  # why reviews were, and how many
    marks: dict[str, int] = field(default_factory=lambda: {"suspended": 0, "resumed": 0} | counted(()))
    media: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("added", "kept", "left_out"), 0))
    note_types: dict[str, dict[str, Any]] = field(default_factory=dict)
    presets: list[Preset] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    reported: list[Reported] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return asdict(self)

    def add_report(self, id_: str, reason: str, path: str = "", line: int = 0) -> None:
        """Add what became of a card."""
        self.reported.append(Reported(id_, reason, path, line))


def import_package(
    vault: Vault,
    package: Package,
    now: datetime,
    *,
    deck: str = "",
    history: bool = True,
    restore: bool = False,
    preset: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import `package`. `deck` names the one deck (with those below it) to import; without `history` no reviews are
    imported. `preset` names the one whose FSRS parameters and retention are adopted.

    A dry run writes nothing, and mints no ids of cards made by hand. Raises: UsageError where no deck or preset has
    that name; LockHeld while another import or a compile runs; Refused while the work of an agent is not settled, as
    what came in would count as the agent's; Refused or WriteFailed, after which the rest can be imported again;
    Unreadable and WorkerFailed of the package, before any card is written or among the reviews, and so can they.
    """
    decks = _chosen(package, deck)
    report = ImportReport(dry_run)
    options = _Options(decks, history, restore, preset, progress)
    if dry_run:
        return _imported(replace(read_desk(vault), now=now), package, report, options)
    with ExitStack() as held:
        held.enter_context(lock(vault.root, "import", purpose="importing", now=now))
        held.enter_context(lock(vault.root, "publish", purpose="importing", now=now, timeout_s=_PATIENCE_S))
        refuse_beside_agents(vault)
        return _imported(open_desk(vault, now), package, report, options)


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of an import; `decks` None is all of them."""

    decks: list[int] | None
    history: bool
    restore: bool
    preset: str | None
    progress: Progress | None


def _imported(desk: Desk, package: Package, report: ImportReport, options: _Options) -> ImportReport:
    """Import the package; return the report."""

    vault, now = desk.vault, desk.now
    adopted = _presets(desk, package, report, options)
    records = read_notes(vault)
    notes = sort_notes(desk, package, records, report)
    report.notes["ours"] = len(notes.own)
    if not report.dry_run:
        record(vault, notes.guids)
    several = by_any_card(cards_of_notes(desk))
    history = known_history(stream_log(vault.root))
    cards = _Cards(notes.own, several, _Edits(desk, records, report, several), partial(_due_of, package, vault))
    made = package.made_cards(options.decks, list(notes.own), sorted(notes.left_out))
    known = import_foreign_cards(desk, package, cards.of_others(made), history, report, restore=options.restore)
    report.notes["strange"] = cards.strange_notes
    states = cards.own_states + [state._replace(card=known[state.id]) for state in cards.states if state.id in known]
    _report_undated(sum(state.id in known for state in cards.undated), report)
    tags = [event for event in cards.edits.tags if event.id not in history.mark_ids]
    _log(vault, tags, report)
    if not report.dry_run:
        record(vault, cards.edits.newer)
    if options.history:
        report.marks |= import_suspension(vault, history, records, states, now, dry_run=report.dry_run)
        known |= {state.id: state.card for state in cards.own_states}
        manual = _import_reviews(vault, history, package, known, now, report, options.progress)
        _import_marks(desk, history, states, manual, report)
    if adopted is not None:
        adopt(adopted, desk, dry_run=report.dry_run)
    return report


def _presets(desk: Desk, package: Package, report: ImportReport, options: _Options) -> Preset | None:
    """Report the presets; return the one to adopt. Where none can be read, only the import that adopts one fails."""
    try:
        report.presets = judged(package.presets(options.decks), desk)
    except Unreadable as error:
        what = "its presets (deck options) cannot be read"
        if options.preset is not None:
            raise Unreadable(what, where=error.where, hint="import without --preset; nothing was imported") from error
        report.add_report("", f"{what}, so none is offered")
    return None if options.preset is None else chosen(report.presets, options.preset)


@dataclass(slots=True)
class _Cards:
    """Separates the cards of the vault's own notes from others while they are read once, and records their state in
    Anki.
    """

    own: Mapping[int, CardId]
    several: Mapping[CardId, Mapping[int, CardId]]  # the cards of own notes that have more than one, by their numbers
    edits: _Edits
    due_of: Callable[[PackageCard], date | None]
    own_states: list[AnkiState] = field(default_factory=list)
    states: list[AnkiState] = field(default_factory=list)  # of others, by Anki's numbers alone
    undated: list[AnkiState] = field(default_factory=list)  # those of `states` that have a date but no review
    strange_notes: int = 0

    def of_others(self, cards: Iterable[PackageCard]) -> Iterator[PackageCard]:
        """Yield the cards of foreign notes."""
        last = None
        for card in cards:
            own = self.own.get(card.note, CardId(""))
            alone = {0: own}
            numbered = alone if card.is_single else self.several.get(own, alone)
            ours = numbered.get(card.ord, CardId(""))
            state = AnkiState(
                ours,
                card.id,
                card.mod,
                card.queue == SUSPENDED,
                card.answered,
                card.flag,
                card.queue in BURIED,
                self.due_of(card),
            )
            if own:
                if ours:
                    self.own_states.append(state)
                if card.fields is not None:
                    self.edits.add_report(own, card.note_mod, card.fields)
                    self.edits.add_tags(own, card.note_mod, card.tags)
                continue
            self.strange_notes += card.note != last
            last = card.note
            if card.is_made:
                self.states.append(state)
                if card.type > 0 and card.answered < 0:
                    self.undated.append(state)
            yield card


def _due_of(package: Package, vault: Vault, card: PackageCard) -> date | None:
    """Return the study day on which a card is due in Anki; None if it is new, or due within a day."""
    if card.type <= 0 or card.due > _LAST_DAY:
        return None
    return due_date(package.created, package.minutes_west, vault.settings.zone, card.due)


def _import_marks(
    desk: Desk, history: KnownHistory, states: Sequence[AnkiState], manual: ManualRows, report: ImportReport
) -> None:
    """Log what Anki says of cards besides reviews and suspension."""
    id_, now = desk.vault.settings.vault_id, desk.now
    due = {state.id: state.due for state in states}
    dates = [(card, ms, due.get(number)) for number, (card, ms) in manual.dates.items()]
    events = [
        *forget_events(id_, history, manual.forgotten),
        *due_events(id_, history, dates),
        *flag_events(id_, history, states, now, lambda card: desk.state(card).flagged),
        *bury_events(id_, history, states, now, desk.scheduler.calendar),
    ]
    _log(desk.vault, events, report)


def _log(vault: Vault, events: Sequence[LogEvent], report: ImportReport) -> None:
    """Append the events to the log, unless it is a dry run, and count them."""
    for name, count in counted(events).items():
        report.marks[name] += count
    if events and not report.dry_run:
        append(vault.guard(Scope.LOG), *events)


def _report_undated(count: int, report: ImportReport) -> None:
    """Report reviews without a valid date."""
    if count:
        what = "1 card has" if count == 1 else f"{count} cards have"
        report.add_report("", f"{what} a due date in Anki but no reviews in the package: imported as new")


def _chosen(package: Package, deck: str) -> list[int] | None:
    """Return the numbers of the deck and of those below it; None without a deck, for all. Raises: UsageError."""
    if not deck:
        return None
    wanted, names = deck.casefold(), package.decks()
    chosen = [i for i, name in names.items() if f"{name.casefold()}::".startswith(f"{wanted}::")]
    if not chosen:
        raise UsageError(
            f"the package has no deck named {clean_line(deck)[:100]!r}",
            where=clean_line(str(package.path)),
            hint=f"decks in it: {_nearest(deck, names.values())}",
        )
    return chosen


def _nearest(wanted: str, decks: Iterable[str]) -> str:
    """Return the names of decks, those most like `wanted` first."""

    def unlike(name: str) -> tuple[float, str]:
        return -SequenceMatcher(None, wanted.casefold(), name.casefold()).ratio(), name

    names = sorted({clean_line(name)[:100] for name in decks}, key=unlike)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (", ".join(names[:_NAMED]) or "none") + more


@dataclass(slots=True)
class Notes:
    """The notes of a package that say they are a vault's. `own` maps Anki's number to our card; `left_out` say they are
    of this vault, and nothing else says so; `guids` are events on GUIDs of notes that a sync created."""

    own: dict[int, CardId] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)
    guids: list[ledger.Event] = field(default_factory=list)


def sort_notes(desk: Desk, package: Package, records: Mapping[CardId, NoteRecord], report: ImportReport) -> Notes:
    """Return every note that this vault exported, whatever was edited in it since, and the notes of other vaults.

    Its GUID says so, or the record of a sync that created it: tag and CardId alone could be anybody's. Notes of
    another vault are a stranger's, and are named.
    """

    vault_id = desk.vault.settings.vault_id
    tag = vault_tag(vault_id)
    events, _ = desk.vault.ledger_events(ledger.IDS)
    births = {CardId(str(e["id"])) for e in events if e["type"] == "birth" and e.get("of") == "card" and "id" in e}
    every = births | desk.cards.keys()
    by_guid = {guid: card for card, one in records.items() if card in every for guid in one.created.values() if guid}
    by_guid |= {guid_of(vault_id, card): card for card in every}
    notes, others = Notes(), 0
    for note in package.identities(VAULT_TAG):
        said = CardId(note.card)
        lacks_guid = said in records and records[said].created.get(note.id) == ""
        is_ours = said in every and (note.guid == guid_of(vault_id, said) or lacks_guid)
        own = said if is_ours else by_guid.get(note.guid)  # the field may be edited away: the GUID alone still tells
        if own is not None:
            notes.own[note.id] = own
            if is_ours and lacks_guid and note.guid.isprintable():
                facts = {"number": note.id, "guid": note.guid}
                notes.guids.append(ledger.note_event(vault_id, "create", said, unix_ms(desk.now) // 1000, **facts))
            continue
        others += any(each != tag for each in note.tags)
        if tag in note.tags and said:
            notes.left_out.add(note.id)
    _report_other_vaults(others, len(notes.left_out), report)
    return notes


def _report_other_vaults(others: int, undated: int, report: ImportReport) -> None:
    """Report the notes of other vaults."""
    if others:
        notes = "1 note comes" if others == 1 else f"{others} notes come"
        report.add_report("", f"{notes} from another vault via Anki; imported like notes by someone else")
    if undated:
        who = "1 note is marked as coming" if undated == 1 else f"{undated} notes are marked as coming"
        what = f"{who} from this vault, but no sync of this vault created the GUID; skipped, along with the reviews"
        report.add_report("", f"{what}; to import reviews from your own Anki, run `retain sync anki`")


@dataclass(slots=True)
class _Edits:
    """Reports the notes that read otherwise in Anki than the last export wrote them: edits are never imported
    unseen. `several` as in `_Cards`.
    """

    desk: Desk
    records: Mapping[CardId, NoteRecord]
    report: ImportReport
    several: Mapping[CardId, Mapping[int, CardId]]
    tags: list[LogEvent] = field(default_factory=list)  # that cards got or lost in Anki
    newer: list[ledger.Event] = field(
        default_factory=list
    )  # of notes that were changed in Anki since they were given out
    _seen: set[CardId] = field(default_factory=set)
    _newer: set[CardId] = field(default_factory=set)
    _notes: dict[CardId, AnkiNote] | None = None

    @property
    def _ours(self) -> dict[CardId, AnkiNote]:
        """Return the notes as an export would write them now."""
        if self._notes is None:
            self._notes = {note.card: note for note in notes_of(self.desk, Media(self.desk.vault))}
        return self._notes

    def add_report(self, card: CardId, mod: int, fields: tuple[str, ...]) -> None:
        """Report a card if it was edited; `fields` are the first of its note."""
        if card in self._seen:
            return
        compared = MOST_COMPARED if card in self._ours and self._ours[card].type is SIBLINGS else 2
        self._seen.add(card)
        if card not in self._ours:
            self.report.add_report(card, "this card is no longer in any deck of the vault; its reviews were imported")
        elif fields[:compared] != self._ours[card].fields[:compared] and _edited(mod, self.records.get(card)):
            place = self.desk.place(self._ours[card].cards[0][1])
            what = "edited in Anki; not imported: edit the card in the vault, or overwrite Anki's version with --newer"
            self.report.add_report(card, what, place.path, place.line)

    def add_tags(self, card: CardId, mod: int, tags: Sequence[str]) -> None:
        """Add the events of tags that a note got or lost in Anki, for each of its cards, and that it changed there."""
        note, known = self._ours.get(card), self.records.get(card, NoteRecord())
        if note is None:
            return
        add, remove = changed_tags(tags, note.tags, known.tags, known.synced_tags)
        second, id_ = min(max(mod, 0), unix_ms(self.desk.now) // 1000), self.desk.vault.settings.vault_id
        if add or remove:
            self.tags += [tag_event(id_, each, second, add, remove) for _, each in note.cards]
        if second > max(known.modified, known.imported) and card not in self._newer:
            self._newer.add(card)
            self.newer.append(ledger.note_event(id_, "import", card, second))


def _edited(mod: int, known: NoteRecord | None) -> bool:
    """Return whether a note that reads otherwise was edited in Anki: if no export is known, that is assumed."""
    return known is None or mod > known.modified


def _import_reviews(
    vault: Vault,
    history: KnownHistory,
    package: Package,
    known: Mapping[int, CardId],
    now: datetime,
    report: ImportReport,
    progress: Progress | None,
) -> ManualRows:
    """Log every answer of a known card that the log lacks, each once; the others are counted by reason. Return what was
    done by hand instead of an answer.

    They come and go to the log a batch at a time, oldest first, so that no more than a batch is ever in memory.
    """
    counts = _Counts()
    guard = vault.guard(Scope.LOG)
    fresh = counts.fresh(package.rows(), history, known, now)
    while some := list(islice(fresh, BATCH)):
        counts.added += len(some)
        if not report.dry_run:
            append(guard, *imports(some, (), vault.settings.vault_id, vault.settings.zone))
            if progress is not None:
                progress(counts.seen, package.reviews)
    report.reviews = {"added": counts.added, "known": counts.known, "left_out": sum(counts.why.values())}
    report.left_out = dict(sorted(counts.why.items()))
    report.reported += [Reported("", message) for message in counts.undated]
    return counts.manual


@dataclass(slots=True)
class ManualRows:
    """The rows of Anki's log that are no answers but decisions: cards `forgotten`, each with a Unix millisecond, and by
    Anki's number the card and the millisecond of each due `date` after which no answer came.
    """

    forgotten: list[tuple[CardId, int]] = field(default_factory=list)
    dates: dict[int, tuple[CardId, int]] = field(default_factory=dict)

    def add(self, number: int, row: AnkiReview) -> None:
        """Add the next row of the log, an answer or not, of the card with that number in Anki."""
        if row.is_due_date:
            self.dates[number] = row.card, row.id
        elif row.is_forget:
            self.forgotten.append((row.card, row.id))
        if row.counts or row.is_forget:
            self.dates.pop(number, None)


@dataclass(slots=True)
class _Counts:
    """Counts of the reviews in a package, and `why` others were left out."""

    seen: int = 0
    added: int = 0
    known: int = 0
    why: Counter[str] = field(default_factory=Counter)
    manual: ManualRows = field(default_factory=ManualRows)
    undated: list[str] = field(default_factory=list)  # what is said of the first that have no date of ours

    def fresh(
        self, rows: Iterable[AnkiRow], history: KnownHistory, known: Mapping[int, CardId], now: datetime
    ) -> Iterator[AnkiReview]:
        """Yield the reviews that the log lacks, by their number and by card and instant."""
        last = None
        for row in rows:
            self.seen += 1
            if row.card not in known:
                if history.is_known(row.id):
                    self.known += 1  # its card was deleted here since; the review is not
                else:
                    self.why["its card was not imported"] += 1
                continue
            review = AnkiReview(known[row.card], row.id, row.ease, row.ms, row.kind, row.factor)
            if 0 < row.id <= unix_ms(now):
                self.manual.add(row.card, review)
            if not review.counts:
                if not (review.is_forget or review.is_due_date):
                    self.why["not a graded review: crammed, or rescheduled by Anki"] += 1
                continue
            kept, undated = dated([review], now)
            if undated:
                self.why["dated before 1970 or in the future"] += 1
                self.undated += [each.message for each in undated if len(self.undated) < _ODD]
            elif row.id == last or history.is_known(row.id) or history.is_own(review):
                self.known += 1
            else:
                last = row.id
                yield from kept
