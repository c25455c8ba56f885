"""A review session of an open vault: writes each event to the log before the session goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from learning.cards import workspace as desks
from learning.cards.changes import ChangedCards
from learning.cards.current_text import CurrentCards
from learning.cards.edit import Edited, restore, words_of
from learning.cards.workspace import Desk
from learning.memory.state import MemoryState
from learning.pages.render import render_pages
from learning.review import session as sessions
from learning.review.plan import Plan, planned_desk
from learning.review.session import Stopwatch
from learning.review.summary import Tally, done, tally_of, with_outlook
from learning.store.freshness import look, remember
from learning.store.placed import Placed
from vault.audit.agent_runs import at_work
from vault.errors import EditedMeanwhile, RetainError
from vault.files.durable import AppendedLines
from vault.ids import CardId
from vault.index import stamps
from vault.log import ledger
from vault.log.events import CardMark, Graded, LogEvent, Rating, Review
from vault.log.review_log import LOG_PATH
from vault.vault import Vault

__all__ = ["Clock", "LogPosition", "StudySession", "Tally"]

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class LogPosition:
    """How far log and ledger have come: bytes of the log and its inode, the stamp of the ledger."""

    log: int
    inode: int
    ledger: stamps.Stamp


_UNKNOWN = LogPosition(-2, 0, stamps.NONE)


def _log_position(vault: Vault) -> LogPosition:
    """Return how far log and ledger have come."""
    size, _, inode = stamps.stamp(vault.root, LOG_PATH)
    return LogPosition(size, inode, stamps.stamp(vault.root, ledger.IDS))


class StudySession:
    """A review session of an open vault. Events are in the log before `session` moves on; else it stays as it is."""

    counts = True  # its ratings are kept, and schedule the cards

    def __init__(
        self,
        desk: Desk,
        clock: Clock,
        via: str = "tui",
        *,
        before: LogPosition | None = None,
        plan: Plan | None = None,
    ) -> None:
        self.desk, self.plan = desk, plan or Plan()
        self._clock, self._via = clock, via
        self._writer = desk.writer(via)
        self._changes: ChangedCards | None = None
        self._dealt: tuple[Placed, bool] | None = None  # what `table` gave last, and whether its fact had changed
        self._stood = _log_position(desk.vault) if before is None else before
        self._caught_up = False
        self._dealer = CurrentCards(desk)
        self._watch = Stopwatch()  # how long the card on the table has been looked at
        self._written = False
        self._unsynced: tuple[AppendedLines, sessions.Session] | None = None  # the last rating, the session before it
        self.session = sessions.begin(desk.queue, desk.states, desk.scheduler, clock(), desk.due_days)

    @classmethod
    def at(
        cls,
        vault: Vault,
        clock: Clock,
        tag: str | None,
        via: str = "tui",
        *,
        plan: Plan | None = None,
    ) -> StudySession:
        """Return a session over today's queue, or over that of `plan`; `via` names the program.

        Raises: as `open_desk` does; NotFound for a topic that is not there.
        """
        before = _log_position(vault)
        plan = plan or Plan(tag=tag or "")
        desk = planned_desk(desks.open_desk(vault, clock(), tag=plan.tag), plan)
        return cls(desk, clock, via, before=before, plan=plan)

    @property
    def problems(self) -> list[RetainError]:
        """Return the errors of files that could not be shown; the caller removes those that it has reported."""
        return self._dealer.problems

    # --- as a face sees it ------------------------------------------------------------------------------------------

    @property
    def revealed(self) -> bool:
        """Return whether the answer is shown."""
        return self.session.revealed

    @property
    def can_undo(self) -> bool:
        """Return whether there is something to undo."""
        return self.session.past is not None

    @property
    def done(self) -> int:
        """Return how many ratings were given."""
        return self.session.done

    @property
    def left(self) -> int:
        """Return how many cards are to come, the current one included."""
        return self.session.counts().all

    def state(self, card: CardId) -> MemoryState:
        """Return the state of the card now."""
        return self.session.state(card)

    # --- what is on the table ---------------------------------------------------------------------------------------

    def table(self) -> Placed | None:
        """Return the card to show, as its file and the log have it now; cards that are gone or hidden are skipped."""
        self._catch_up()
        self.session = sessions.advance(self.session, self._clock())
        while (id_ := self.session.current) is not None:
            found = self._dealer.card(id_)
            if found is not None:
                self._dealt = found, self.session.state(id_).changed
                self._watch = Stopwatch().stir(self._clock())
                return found
            self.session = sessions.drop(self.session, self._clock())
        self._dealt = None
        return None

    @property
    def changes(self) -> ChangedCards:
        """Return what cards said before whose facts or words have changed."""
        if self._changes is None:
            self._changes = ChangedCards(self.desk.vault, self.desk.changes)
        return self._changes

    def _catch_up(self) -> None:
        """Take in what others wrote since: a compile that changed a fact, a rating or a mark made elsewhere.

        Not while an answer is on the table: what the human sees is what they rate.
        """
        stands = _log_position(self.desk.vault)
        if stands == self._stood or self.session.revealed:
            return
        try:
            desk = desks.open_desk(self.desk.vault, self._clock(), tag=self.plan.tag)
            events = [event for _, event in done(self.session)]
            met = {event.card for event in events if isinstance(event, Review | CardMark)}
            desk = planned_desk(desk, self.plan, met, {event.card for event in events if isinstance(event, Review)})
        except RetainError:
            return  # what is in the way of reading will be in that of the next rating, which says so
        self.desk = self._dealer.desk = desk
        self._stood, self._caught_up, self._changes = stands, True, None
        self._writer = desk.writer(self._via)
        self.session = sessions.caught_up(
            self.session, desk.queue, desk.states, desk.scheduler, self._clock(), desk.due_days
        )

    def previews(self) -> dict[Rating, MemoryState]:
        """Return what each of the four ratings would make of the current card."""
        return self.session.previews(self._clock())

    # --- what the human does ----------------------------------------------------------------------------------------

    def reveal(self) -> bool:
        """Show the answer.

        False if the card has become another since its question was shown: then `table` gives what is to be shown.
        Raises: as `confirm` does.
        """
        self.confirm()
        if not self._is_as_shown():
            return False
        self.session = sessions.reveal(self.session)
        return True

    def upcoming(self) -> list[Placed]:
        """Return the cards of which one comes next, their decks read, as far as that is known already."""
        return self._dealer.read_ahead(self.session.next_up())

    def _is_as_shown(self) -> bool:
        """Return whether `table` would return the same card as last time, its fact unchanged."""
        if _log_position(self.desk.vault) == self._stood:
            return True
        dealt, watch = self._dealt, self._watch
        self.table()
        if dealt is None or self._dealt is None or _shown_parts(*dealt) != _shown_parts(*self._dealt):
            return False
        self._watch = watch
        return True

    def rate(self, rating: Rating, *, sync: bool = True) -> None:
        """Rate the current card. Raises: WriteFailed, Refused or LockHeld; then it is still the current card.

        EditedMeanwhile if what the card says changed while its answer was read: it has to be shown again.
        Without `sync` it is written, but on disk only after `confirm`, which all that is done next begins with.
        """
        self.confirm()
        now = self._clock()
        if self.session.revealed and stamps.stamp(self.desk.vault.root, ledger.IDS) != self._stood.ledger:
            self._require_unchanged()
        spent_ms = self._watch.spent(now) // timedelta(milliseconds=1)
        self._done(*sessions.rate(self.session, rating, self._writer.stamp(now), spent_ms), sync=sync)

    def confirm(self) -> None:
        """Have the last rating on disk. Raises: WriteFailed; then its card is the current one again."""
        if self._unsynced is None:
            return
        (appended, before), self._unsynced = self._unsynced, None
        try:
            appended.sync()
        except RetainError:
            self.session, self._stood = before, _UNKNOWN
            raise

    def _require_unchanged(self) -> None:
        """Raise Refused if the current card changed since it was shown."""
        read = self.session
        self.session = replace(read, revealed=False)
        if not self._is_as_shown():
            what = "this card changed while you were reading it; the rating was not saved"
            raise EditedMeanwhile(what, hint="the card is shown again with its current text")
        self.session = sessions.reveal(self.session)

    def bury(self) -> None:
        """Bury the current card. Raises as `rate` does."""
        self._done(*sessions.bury(self.session, self._writer.stamp(self._clock())))

    def suspend(self) -> None:
        """Suspend the current card. Raises as `rate` does."""
        self._done(*sessions.suspend(self.session, self._writer.stamp(self._clock())))

    def flag(self, reason: str = "") -> None:
        """Flag the current card. Raises as `rate` does."""
        self._done(*sessions.flag(self.session, self._writer.stamp(self._clock()), reason))

    def note_grade(self, suggested: Rating | None, given: Rating, engine: str, met: int, missed: int) -> None:
        """Log the rating that was suggested for a typed answer beside the one given last.

        Raises: as `rate` does; the rating stands.
        """
        rated = sessions.last_done(self.session)
        if isinstance(rated, Review):
            stamp = self._writer.stamp(self._clock())
            event = Graded(stamp, rated.card, rated.id, suggested, given, engine, met, missed)
            self._done(self.session, event)

    def undo(self) -> LogEvent | Edited:
        """Undo what was done last in this session; return it.

        Raises: NotFound if nothing is left; EditedMeanwhile if the card of an edit says something else by now; and as
        `rate` does.
        """
        self.confirm()
        last = sessions.last_done(self.session)
        after, event = sessions.undo(self.session, self._writer.stamp(self._clock()))
        if event is not None:
            self._done(after, event)
        elif not isinstance(last, LogEvent):
            restore(self.desk.vault, last, self._clock())
            self.session = after
        if self._caught_up:  # the session that it leads back to knows nothing of what others wrote
            self._stood = _UNKNOWN
        return last

    def edited(self) -> Placed | None:
        """Return the current card as the user has just edited it; the edit can be undone.

        None if it is gone, or says what it said.
        """
        before = self._dealt[0] if self._dealt is not None else None
        now = self.reworded()
        if now is None or before is None:
            return None

        edit = Edited(now.id, now.deck.path, words_of(before.card), words_of(now.card))
        self.session = sessions.edited(self.session, edit)
        return now

    def reworded(self) -> Placed | None:
        """Return the current card with words that were edited elsewhere, which this session cannot undo.

        None if it is gone, or says what it said.
        """
        if self._dealt is None:
            return None
        before, changed = self._dealt
        now = self._dealer.card(before.id)
        if now is None or _shown_parts(now, changed) == _shown_parts(before, changed):
            return None
        self._dealt = now, changed
        return now

    # --- how long the card is looked at -----------------------------------------------------------------------------

    def stir(self) -> None:
        """Note that the user is there: time counts from now on, for a while."""
        self._watch = self._watch.stir(self._clock())

    def pause(self) -> None:
        """Note that the user is away: time does not count until `stir`."""
        self._watch = self._watch.stop(self._clock())

    @property
    def watch(self) -> Stopwatch:
        """Return how long the current card has been shown."""
        return self._watch

    def _done(self, after: sessions.Session, event: LogEvent, *, sync: bool = True) -> None:
        """Write the event, then go on to the session after it."""
        self.confirm()
        appended = self._writer.begin(event)
        self._written = True
        if sync:
            appended.sync()
        else:
            self._unsynced = appended, self.session
        self.session = after
        stood, inode = self._stood, appended.inode & stamps.INODE
        begun = stood.log < 0 and appended.start == 0
        if begun or (appended.start, inode) == (stood.log, stood.inode):  # else somebody wrote beside us
            self._stood = LogPosition(appended.end, inode, stood.ledger)

    # --- how it ends ------------------------------------------------------------------------------------------------

    @property
    def is_unrendered(self) -> bool:
        """Return whether something was written that the pages do not show yet."""
        return self._written

    def finish(self) -> None:
        """Render the pages if anything was written since the last time. Raises: WriteFailed, Refused."""
        self.confirm()
        if self._written:
            self._written = False
            vault = self.desk.vault
            alone, seen = not at_work(vault), look(vault.root)
            render_pages(vault, self._clock())
            if alone and not at_work(vault):  # else what nobody has judged was left out of them
                remember(vault, seen)

    def tally(self) -> Tally:
        """Return the summary of this session, and what is to come."""
        return with_outlook(self.done_so_far(), self.desk, self._clock())

    def done_so_far(self) -> Tally:
        """Return the summary of this session without what is to come, which is quick in any vault."""
        return tally_of(self.session, self.desk)


def _shown_parts(placed: Placed, changed: bool) -> tuple[object, ...]:
    """Return all that a screen shows of a card."""
    return placed.id, placed.card.question, placed.card.answer, changed
