"""One sitting at an open vault: the hand between the pure session and the disk. No screen is known here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from learning import desk as desks
from learning import session as sessions
from learning.desk import Desk, Placed
from learning.memory import MemoryState
from learning.page_stamp import look, remember
from learning.placed import front_pauses
from vault import ledger, stamps
from vault.agent_run import at_work, held_back, judged_decks
from vault.card import Deck, parse_deck
from vault.errors import EditedMeanwhile, RetainError
from vault.ids import CardId
from vault.log_event import LogEvent, Rating, Review, encode
from vault.review_log import LOG_PATH
from vault.store import Vault

if TYPE_CHECKING:
    from learning.changed_card import ChangedCards

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Tally:
    """What a sitting came to. `seconds` were spent looking at cards; `tomorrow` cards wait on the next study day.

    `ripe` concepts are ready for a thought of the human's own.
    """

    ratings: Counter[Rating]
    seconds: float
    tomorrow: int
    next_at: datetime | None
    ripe: int = 0

    @property
    def rated(self) -> int:
        return self.ratings.total()


@dataclass(frozen=True, slots=True)
class Stands:
    """How far log and ledger had come: bytes of the log and its inode, the stamp of the ledger."""

    log: int
    inode: int
    ledger: stamps.Stamp


_UNKNOWN = Stands(-2, 0, stamps.NONE)


def _stands(vault: Vault) -> Stands:
    size, _, inode = stamps.stamp(vault.root, LOG_PATH)
    return Stands(size, inode, stamps.stamp(vault.root, ledger.IDS))


class Sitting:
    """What happens to cards is on disk before `session` moves on; if the disk refuses, `session` stays as it was."""

    def __init__(self, desk: Desk, clock: Clock, via: str = "tui", *, before: Stands | None = None) -> None:
        self.desk = desk
        self.problems: list[RetainError] = []  # of files that could not be shown
        self._clock, self._via = clock, via
        self._writer = desk.writer(via)
        self._changes: ChangedCards | None = None
        self._dealt: tuple[Placed, bool] | None = None  # what `table` gave last, and whether its fact had changed
        self._stood = _stands(desk.vault) if before is None else before
        self._caught_up = False
        self._placed: dict[CardId, Placed] = {}  # cards found elsewhere, or with other words, than the desk has them
        self._read: dict[str, tuple[stamps.Stamp, str]] = {}  # decks as they stood when they were read last
        self._shown_at = clock()
        self._written = False
        self.session = sessions.begin(desk.queue, desk.states, desk.scheduler, self._shown_at)

    @classmethod
    def at(cls, vault: Vault, clock: Clock, tag: str | None, via: str = "tui") -> Sitting:
        """A sitting over today's queue; `via` says on which face. Raises as `open_desk` does."""
        before = _stands(vault)
        return cls(desks.open_desk(vault, clock(), tag=tag or ""), clock, via, before=before)

    # --- what is on the table ---------------------------------------------------------------------------------------

    def table(self) -> Placed | None:
        """The card to show, as its file and the log have it now; what is gone or hidden meanwhile is passed over."""
        self._catch_up()
        self.session = sessions.advance(self.session, self._clock())
        while (id_ := self.session.current) is not None:
            found = self._reread(id_)
            if found is not None:
                self._dealt = found, self.session.state(id_).changed
                self._shown_at = self._clock()
                return found
            self.session = sessions.drop(self.session, self._clock())
        self._dealt = None
        return None

    @property
    def changes(self) -> ChangedCards:
        """What was said before of the cards whose facts or words have changed."""
        if self._changes is None:
            from learning.changed_card import ChangedCards

            self._changes = ChangedCards(self.desk.vault, self.desk.changes)
        return self._changes

    def _catch_up(self) -> None:
        """Takes in what others wrote since: a compile that changed a fact, a rating or a mark made elsewhere.

        Not while an answer is on the table: what the human sees is what they rate.
        """
        stands = _stands(self.desk.vault)
        if stands == self._stood or self.session.revealed:
            return
        try:
            desk = desks.open_desk(self.desk.vault, self._clock(), tag=self.desk.tag)
        except RetainError:
            return  # what is in the way of reading will be in that of the next rating, which says so
        self.desk, self._stood, self._caught_up, self._changes = desk, stands, True, None
        self._writer = desk.writer(self._via)
        self.session = sessions.caught_up(self.session, desk.queue, desk.states, desk.scheduler, self._clock())

    def previews(self) -> dict[Rating, MemoryState]:
        """What each of the four ratings would make of the card on the table."""
        return self.session.previews(self._clock())

    def _reread(self, id_: CardId) -> Placed | None:
        known = self._placed.get(id_) or self.desk.cards.get(id_)
        vault = self.desk.vault
        try:
            text = self._text(known.deck.path) if known else None
            if known is not None and text == known.deck.text:
                return known
            held = held_back(vault)  # what an agent changed is shown when it was judged
            there = known is not None and text is not None and known.deck.path not in held
            decks = [parse_deck(text, known.deck.path)] if there and known and text is not None else []
            found = next(_with(id_, decks), None) or next(_with(id_, judged_decks(vault)), None)
        except RetainError as problem:
            self.problems.append(problem)
            return None
        if found is not None and front_pauses(found.deck.text.encode()):
            return None
        if found is not None:
            self._placed[id_] = found
        return found

    def _text(self, path: str) -> str | None:
        """What the deck at `path` says now: read again unless its stamp shows that nothing has changed since."""
        root = self.desk.vault.root
        found = stamps.stamp(root, path)
        kept = self._read.get(path)
        if kept is not None and kept[0] == found != stamps.NONE:
            return kept[1]
        text = self.desk.vault.read_text(path)
        if text is not None:
            self._read[path] = stamps.settled(found), text
        return text

    def _look_ahead(self) -> None:
        """Does what can be done before the rating is known: no rating waits for the deck of the next card."""
        self.session.foresee(self._clock())
        for id_ in self.session.next_up():
            with suppress(RetainError):  # told when the card's turn comes, should it last until then
                known = self._placed.get(id_) or self.desk.cards.get(id_)
                if known is not None:
                    self._text(known.deck.path)

    # --- what the human does ----------------------------------------------------------------------------------------

    def reveal(self) -> bool:
        """The answer is shown; while it is read, there is time to look ahead.

        False if the card has become another since its question was shown: then `table` gives what is to be shown.
        """
        if not self._is_as_dealt():
            return False
        self.session = sessions.reveal(self.session)
        self._look_ahead()
        return True

    def _is_as_dealt(self) -> bool:
        """Whether `table` would give the very card that it gave last, its fact unchanged since."""
        if _stands(self.desk.vault) == self._stood:
            return True
        dealt, shown_at = self._dealt, self._shown_at
        self.table()
        if dealt is None or self._dealt is None or _told(*dealt) != _told(*self._dealt):
            return False
        self._shown_at = shown_at
        return True

    def rate(self, rating: Rating) -> None:
        """Raises: WriteFailed, Refused or LockHeld from the disk; then the card is still on the table.

        EditedMeanwhile if what the card says changed while its answer was read: it is to be shown anew.
        """
        now = self._clock()
        if self.session.revealed and _stands(self.desk.vault).ledger != self._stood.ledger:
            self._rate_only_what_was_read()
        spent_ms = max(0, (now - self._shown_at) // timedelta(milliseconds=1))
        self._done(*sessions.rate(self.session, rating, self._writer.stamp(now), spent_ms))

    def _rate_only_what_was_read(self) -> None:
        read = self.session
        self.session = replace(read, revealed=False)
        if not self._is_as_dealt():
            what = "this card changed while you read it, and nothing was rated"
            raise EditedMeanwhile(what, hint="it is shown again as it is now")
        self.session = sessions.reveal(self.session)

    def bury(self) -> None:
        """Raises as `rate` does."""
        self._done(*sessions.bury(self.session, self._writer.stamp(self._clock())))

    def suspend(self) -> None:
        """Raises as `rate` does."""
        self._done(*sessions.suspend(self.session, self._writer.stamp(self._clock())))

    def flag(self, reason: str = "") -> None:
        """Raises as `rate` does."""
        self._done(*sessions.flag(self.session, self._writer.stamp(self._clock()), reason))

    def undo(self) -> None:
        """Takes back the last thing done in this sitting. Raises: NotFound if nothing is left; and as `rate` does."""
        self._done(*sessions.undo(self.session, self._writer.stamp(self._clock())))
        if self._caught_up:  # the session that it leads back to knows nothing of what others wrote
            self._stood = _UNKNOWN

    def _done(self, after: sessions.Session, event: LogEvent) -> None:
        self._writer.write(event)
        self._written = True
        self.session = after
        stands, stood, line = _stands(self.desk.vault), self._stood, len(encode(event)) + 1
        begun = stood.log < 0 and stands == replace(stood, log=line, inode=stands.inode)
        if begun or stands == replace(stood, log=stood.log + line):  # else somebody wrote beside us
            self._stood = stands

    # --- how it ends ------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Renders the pages if anything was written since the last time. Raises: WriteFailed, Refused."""
        if self._written:
            from learning.pages import render_pages  # here: the first card must not wait for what comes at the end

            self._written = False
            vault = self.desk.vault
            alone, seen = not at_work(vault), look(vault.root)
            render_pages(vault, self._clock())
            if alone and not at_work(vault):  # else what nobody has judged was left out of them
                with suppress(EditedMeanwhile):  # the stamp only saves a later look
                    remember(vault, seen)

    def tally(self) -> Tally:
        ratings: Counter[Rating] = Counter()
        spent_ms = 0
        for event in self._events():
            if isinstance(event, Review):
                ratings[event.rating] += 1
                spent_ms += event.ms
        return Tally(ratings, spent_ms / 1000, self._tomorrow(), self.session.next_at, self._ripe())

    def _ripe(self) -> int:
        """The concepts that wait for a note of the human's, this sitting's ratings counted; 0 where nobody can say."""
        from learning.promotion import promotion

        past = self.desk.past.with_events(*self._events())
        try:
            return promotion(replace(self.desk, past=past) if past else desks.read_desk(self.desk.vault)).concepts
        except RetainError:
            return 0

    def _events(self) -> Iterator[LogEvent]:
        past = self.session.past
        while past is not None:
            before, event = past
            yield event
            past = before.past

    def _tomorrow(self) -> int:
        calendar = self.desk.scheduler.calendar
        end = calendar.start(calendar.day(self._clock()) + 2)
        return due_before(end, (self.session.state(id_) for id_ in self.desk.cards))


def due_before(end: datetime, states: Iterable[MemoryState]) -> int:
    """How many of the cards seen before fall due before `end` and may be shown by then."""
    return sum(state.due is not None and state.due < end and not state.hidden(end) for state in states)


def _told(placed: Placed, changed: bool) -> tuple[object, ...]:
    """All that a face tells of a card; where it stands in its file is none of it."""
    return placed.id, placed.card.question, placed.card.answer, changed


def _with(id_: CardId, decks: Iterable[Deck]) -> Iterator[Placed]:
    """Where the card stands in `decks`."""
    for deck in decks:
        for card in deck.cards:
            if card.id == id_:
                yield Placed(id_, card, deck, deck.path.rsplit("/", 1)[-1].removesuffix(".md"))
