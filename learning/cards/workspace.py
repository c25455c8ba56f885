"""The desk: cards, log and memory states of a vault at one instant, and ratings of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from learning.cards.adopt import adopt_cards
from learning.cards.today import Today, queue_of
from learning.history.due import DueDays
from learning.history.history import History, open_past
from learning.memory.fold import scheduler_for
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, MemoryState, Phase, rules_of, tags_after
from learning.schedule import workload
from learning.schedule.balance import intervals
from learning.schedule.queue import Queue
from learning.store.cards import IndexedCards, Place, cards_of, read_cards
from learning.store.index import with_open_index
from learning.store.placed import Placed
from vault.audit.agent_runs import at_work, held_back
from vault.diagnostic import Diagnostic
from vault.errors import NotFound, Refused, WriteFailed
from vault.files.guard import Scope
from vault.ids import CardId
from vault.index.database import Database, IndexDamaged
from vault.index.stamps import Listing
from vault.layout import FLASHCARDS
from vault.log.clock_check import ledger_ahead, log_ahead
from vault.log.events import LogEvent, Rating, Review, Tag, Undo
from vault.log.ledger import IDS
from vault.log.review_log import LogWriter, live
from vault.model.card import Deck
from vault.text.formatting import clean_line, plural
from vault.vault import Vault

_AHEAD = ("log-ahead", "ledger-ahead")  # findings that each event may make or end
_TRIES = 10  # other commands may render the page just then
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Desk:
    """All that a review needs, as of `now`; `cards` in the order of the decks, each read when it is asked for."""

    vault: Vault
    now: datetime
    tag: str
    cards: IndexedCards
    past: History
    queue: Queue = field(default_factory=Queue)
    diagnostics: tuple[Diagnostic, ...] = ()
    limits: Today = field(default_factory=Today)
    is_queued: bool = True  # whether anybody asks for the queue, which takes longer to find than all else

    @property
    def changes(self) -> tuple[CardEvent, ...]:
        """Return the ledger's changes of cards."""
        return self.past.changes

    @property
    def scheduler(self) -> Scheduler:
        """Return the scheduler with the parameters of the log."""
        return self.past.scheduler

    @property
    def states(self) -> Mapping[CardId, MemoryState]:
        """Return the state of every card that log or ledger name."""
        return self.past.states

    def state(self, card: CardId) -> MemoryState:
        """Return the state of the card; NEW if it has none."""
        return self.states.get(card, MemoryState())

    def card(self, id_: str) -> Placed:
        """Return the card with that id. Raises: NotFound."""
        found = self.cards.get(CardId(id_))
        if found is None:
            raise NotFound(f"no card has the id {clean_line(id_)}", hint="`retain due --json` lists the ids")
        return found

    @property
    def due_days(self) -> DueDays:
        """Return on which of the coming days cards are due, for a rating to choose one."""
        return DueDays(self.cards, self.scheduler, self.now, self.vault.settings.easy_shares)

    def writer(self, via: str) -> LogWriter:
        """Return what appends to this vault's log; `via` names the program ("cli", "tui", "plain")."""
        zone = self.scheduler.calendar.zone
        return LogWriter(self.vault.guard(Scope.LOG), (), zone=zone, via=via, last=self.past.last)

    @property
    def held_back(self) -> str:
        """Return why new cards wait that the settings' number a day has room for, in one sentence; "" if none does."""
        return self.limits.why

    @property
    def today(self) -> dict[str, int]:
        """Return how many cards today takes, steps of learning that come later included, and the minutes they take."""
        new = sum(self.state(item.card).phase is Phase.NEW for item in self.queue.today)
        due = len(self.queue.today) - new + len(self.queue.waiting)
        return {"due": due, "new": new, "minutes": workload.minutes(due, new, self.limits.pace)}

    @property
    def beyond(self) -> dict[str, int]:
        """Return how many cards are due and new beyond what today takes."""
        new = sum(self.state(item.card).phase is Phase.NEW for item in self.queue.today)
        due = len(self.queue.today) - new
        return {"due": len(self.queue.due) - due, "new": len(self.queue.new) - new}

    def place(self, card: CardId) -> Place:
        """Return where a card is, and what a list shows of it. Raises: KeyError."""
        return self.cards.place(card)


def open_desk(
    vault: Vault, now: datetime, *, tag: str = "", listing: Listing | None = None, queued: bool = True
) -> Desk:
    """Return the desk at `now`; with `tag`, its queue holds only cards with that tag or kind, or of that concept.

    Without `queued` the queue stays empty, as after what is done at that desk. `listing` is the folder of the decks,
    where it has just been listed. Cards that a human wrote by hand get their ids on the way. What cannot be read is
    among the diagnostics, and the rest stands. Raises: SchemaTooNew; Refused or Damaged where the log or the ledger
    cannot be read at all.
    """
    return with_open_index(vault, lambda index: _opened(vault, index, now, tag=tag, listing=listing, queued=queued))


def _opened(vault: Vault, index: Database, now: datetime, *, tag: str, listing: Listing | None, queued: bool) -> Desk:
    """Return the desk of an index that is open."""
    found = [*vault.notices, *_waiting(vault)]
    cards = read_cards(vault, index, listing)
    past = open_past(vault, index, _scheduler_of(vault, cards))  # first: a log of a newer retain keeps us from writing
    cards = _with_ids(vault, cards, now, found)
    found += [*_diagnostics(cards), *past.diagnostics, *_ahead(past, now)]
    return _queued(Desk(vault, now, tag, cards, past, diagnostics=tuple(found), is_queued=queued))


def _ahead(past: History, now: datetime) -> list[Diagnostic]:
    """Return diagnostics of what log and ledger date ahead of the clock."""
    if past.head.newest <= now:
        return []
    zone = past.scheduler.calendar.zone
    events = live(past.whole().events)
    return [*log_ahead(events, now, zone), *ledger_ahead(IDS, (c.at for c in past.changes), now, zone)]


def _scheduler_of(vault: Vault, cards: IndexedCards) -> Callable[[Iterable[LogEvent]], Scheduler]:
    """Return the function that makes a scheduler of the events that tune it."""
    if not (by_tag := vault.settings.retention_by_tag):
        return lambda events: scheduler_for(rules_of(vault.settings), events)
    wanted = retention_of(vault, cards)
    return lambda events: scheduler_for(rules_of(vault.settings), events, _with_own(wanted, by_tag, events))


def _with_own(
    wanted: Mapping[CardId, float], by_tag: Mapping[str, float], events: Iterable[LogEvent]
) -> dict[CardId, float]:
    """Return `wanted` with the retentions that the cards' own tags ask for, which `events` add and remove."""

    out, tags = dict(wanted), dict[CardId, tuple[str, ...]]()
    for event in live(events):
        if isinstance(event, Tag):
            tags[event.card] = tags_after(tags.get(event.card, ()), event.add, event.remove)
    for card, mine in tags.items():
        if found := [by_tag[tag.casefold()] for tag in mine if tag.casefold() in by_tag]:
            out[card] = max([*found, wanted[card]] if card in wanted else found)
    return out


def retention_of(vault: Vault, decks: IndexedCards) -> dict[CardId, float]:
    """Return the cards whose tags ask for a retention of their own: of several the highest."""
    wanted: dict[CardId, float] = {}
    by_tag = vault.settings.retention_by_tag
    for _, _, tags, cards in decks.decks():
        found = [by_tag[tag] for each in tags if (tag := each.removeprefix("#").casefold()) in by_tag]
        if found:
            wanted.update(dict.fromkeys((card for card, _ in cards), max(found)))
    return wanted


def _with_ids(vault: Vault, cards: IndexedCards, now: datetime, found: list[Diagnostic]) -> IndexedCards:
    """Return the cards once those that a user wrote by hand have ids. What kept them from it goes to `found`."""
    decks = list(cards.known.values())
    if at_work(vault) or all(card.id is not None for deck in decks for card in deck.cards):
        return cards
    adopted = _adopted(vault, decks, now, found, () if cards.shadowed else cards)
    if cards.shadowed:
        return cards_of(vault, cards.database, adopted)
    known = {deck.path: deck for deck in adopted}
    if any(deck.text != cards.known[deck.path].text for deck in adopted):
        cards = read_cards(vault, cards.database)
    # Of those set right just now, what was found on the way counts.
    cards.known = {**known, **{path: known.get(path, deck) for path, deck in cards.known.items()}}
    return cards


def _diagnostics(cards: IndexedCards) -> list[Diagnostic]:
    """Return what is wrong with the decks; and cards that are in two of them."""
    found = [diagnostic for deck in cards.known.values() for diagnostic in deck.diagnostics]
    first: dict[CardId, Deck] = {}
    for deck in cards.known.values() if cards.shadowed else ():
        for card in deck.cards:
            if card.id is not None and (other := first.setdefault(card.id, deck)) is not deck:
                what = f"card {card.id} is also in {other.path}; that copy is used"
                found.append(Diagnostic(deck.path, card.line, "card-id-repeated", what, "delete one of the two"))
    return found


def _adopted(
    vault: Vault, decks: list[Deck], now: datetime, found: list[Diagnostic], others: Iterable[CardId]
) -> list[Deck]:
    """Return `decks` with ids for cards that a user wrote; `others` are ids of cards elsewhere."""

    try:
        return adopt_cards(vault, decks, now, others)
    except (WriteFailed, Refused) as problem:
        found.append(Diagnostic(problem.where, 0, "card-without-id", problem.what, "some cards have no ids yet"))
        return decks


def _waiting(vault: Vault) -> list[Diagnostic]:
    """Return diagnostics of decks that are hidden until an agent's work is judged."""
    count = len(held_back(vault)) if at_work(vault) else 0
    if not count:
        return []
    what = f"{plural(count, 'deck')} changed since an agent's run began; cards in changed decks are hidden"
    return [Diagnostic(FLASHCARDS, 0, "decks-wait", what, "they come back once the agent's changes are checked")]


def queued(desk: Desk) -> Desk:
    """Return a desk that was opened without its queue, with it."""
    return _queued(replace(desk, is_queued=True))


def _queued(desk: Desk) -> Desk:
    """Return `desk` with the queue of its history, unless it is opened without."""
    if not desk.is_queued:
        return desk
    queue, limits = queue_of(desk.vault, desk.cards, desk.past, desk.tag, desk.now)
    return replace(desk, queue=queue, limits=limits)


# --- what a human command does --------------------------------------------------------------------------------------


def after(desk: Desk) -> Desk:
    """Return `desk` with what has been written to the log since."""
    try:
        past = open_past(desk.vault, desk.past.database, _scheduler_of(desk.vault, desk.cards))
    except IndexDamaged:
        return open_desk(desk.vault, desk.now, tag=desk.tag, queued=desk.is_queued)
    others = (found for found in desk.diagnostics if found.code not in _AHEAD)
    return _queued(replace(desk, past=past, diagnostics=(*others, *_ahead(past, desk.now))))


def rate(
    desk: Desk, id_: str, rating: Rating, *, via: str, dated: datetime | None = None, ms: int = 0
) -> tuple[Desk, Review]:
    """Append a rating to the log, at `dated` if the user says when.

    Raises: NotFound; ClockWentBackwards if `dated` is before the card's last review; WriteFailed.
    """
    placed, writer = desk.card(id_), desk.writer(via)
    stamp, state = writer.stamp(desk.now, dated), desk.state(placed.id)
    if dated is not None:
        desk.scheduler.review(placed.id, state, rating, stamp.when)  # refuses what lies before the last
    chosen = intervals(desk.scheduler, placed.id, state, stamp.when, desk.due_days.load(placed.id), rating)
    event = Review(stamp, placed.id, rating, ms, chosen[rating])
    writer.write(event)
    return after(desk), event


def undo_last(desk: Desk, *, via: str) -> tuple[Desk, tuple[Undo, ...], tuple[LogEvent, ...]]:
    """Void the events that a user's command wrote last: one, or those of one action; return them, too.

    Raises: NotFound, WriteFailed.
    """
    voided = desk.past.undoable_together()
    if not voided:
        raise NotFound("nothing left to undo in the review log")
    writer = desk.writer(via)
    events = tuple(Undo(stamp, event.id) for stamp, event in zip(writer.stamps(desk.now), voided, strict=False))
    writer.write(*events)
    return after(desk), events, voided


def last_event(desk: Desk) -> datetime | None:
    """Return the instant of the last thing that happened to a card and still counts."""
    reviewed = () if desk.past.latest is None else (desk.past.latest,)
    return max((*reviewed, *(change.at for change in desk.changes)), default=None)


def read_desk(vault: Vault) -> Desk:
    """Return the desk of a page that knows no clock: no card gets an id, and its queue is of no day. Raises as
    `read_log`.
    """
    return with_open_index(vault, lambda index: _read(vault, index))


def _read(vault: Vault, index: Database) -> Desk:
    """Return the desk of a page."""
    cards = read_cards(vault, index)
    past = open_past(vault, index, _scheduler_of(vault, cards))
    return Desk(vault, _NO_TIME, "", cards, past, diagnostics=(*_diagnostics(cards), *past.diagnostics))
