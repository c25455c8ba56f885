"""What a user does to one card or to many at once: an action is some events of the log, appended in one write.

    action = suspending(desk, cards, via="tui")
    desk = do(desk, action)
    desk = undo(desk, action, via="tui")

The events of one action have one instant and ids that begin alike, by which they are undone together.
Where nothing would change a action holds no event, and doing it writes nothing. A flag always has one: its reason.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from learning.cards.workspace import Desk, after
from learning.memory.state import MemoryState, Phase, tags_after
from vault.errors import UsageError
from vault.ids import CardId
from vault.log.events import Bury, CardMark, Flag, Reschedule, Resume, Stamp, Suspend, Tag, Undo
from vault.text.formatting import clean_line

LONGEST_TAG = 100  # characters
LONGEST_REASON = 2_000
MOST_DAYS = 3_653  # that cards may be spread over, or put off


@dataclass(frozen=True, slots=True)
class Action:
    """An action on cards: `events` to append, `asked` is how many cards were named, `via` the program.

    A card that is as it was to become already, or that has no day to be moved from, is asked for and has no event.
    """

    events: tuple[CardMark, ...]
    asked: int = 0
    via: str = ""

    @property
    def cards(self) -> tuple[CardId, ...]:
        """Return the cards that the events change."""
        return tuple(event.card for event in self.events)


def suspending(desk: Desk, cards: Iterable[str], *, via: str) -> Action:
    """Return the action that keeps the cards out of every queue until they are resumed. Raises: NotFound, as all of
    these do.
    """
    found = _found(desk, cards)
    wanted = [card for card in found if not desk.state(card).suspended]
    return _action([Suspend(stamp, card) for stamp, card in _stamped(desk, wanted, via)], found, via)


def resuming(desk: Desk, cards: Iterable[str], *, via: str) -> Action:
    """Return the action that brings suspended and buried cards back."""
    found = _found(desk, cards)
    wanted = [card for card in found if desk.state(card).suspended or _buried(desk, card)]
    return _action([Resume(stamp, card) for stamp, card in _stamped(desk, wanted, via)], found, via)


def burying(desk: Desk, cards: Iterable[str], *, via: str) -> Action:
    """Return the action that keeps the cards out of the queue until the next study day."""
    found = _found(desk, cards)
    wanted = [card for card in found if not _buried(desk, card)]
    return _action([Bury(stamp, card) for stamp, card in _stamped(desk, wanted, via)], found, via)


def flagging(desk: Desk, cards: Iterable[str], reason: str, *, via: str) -> Action:
    """Return the action that flags the cards, with a reason in words."""
    found, said = _found(desk, cards), clean_line(reason)[:LONGEST_REASON]
    return _action([Flag(stamp, card, said) for stamp, card in _stamped(desk, found, via)], found, via)


def tagging(desk: Desk, cards: Iterable[str], add: Iterable[str], remove: Iterable[str] = (), *, via: str) -> Action:
    """Return the action that gives the cards some tags and removes others. Raises: NotFound; UsageError for an invalid
    tag.
    """
    found, more, gone = _found(desk, cards), *(tuple(map(tag_of, words)) for words in (add, remove))
    if both := {tag.casefold() for tag in more} & {tag.casefold() for tag in gone}:
        raise UsageError("the same tag cannot be both added and removed", where=min(both))
    wanted = [card for card in found if tags_after(desk.state(card).tags, more, gone) != desk.state(card).tags]
    events = [Tag(stamp, card, more, gone) for stamp, card in _stamped(desk, wanted, via)]
    return _action(events, found, via)


def tag_of(text: str) -> str:
    """Return a tag as it is stored: without `#`, in Unicode's composed form, its blanks made hyphens. Raises:
    UsageError.
    """
    tag = "-".join(unicodedata.normalize("NFC", clean_line(text)).removeprefix("#").split())
    if not tag or len(tag) > LONGEST_TAG or "," in tag:
        hint = f"use letters, digits, hyphens and slashes, at most {LONGEST_TAG} characters"
        raise UsageError("not a valid tag", where=clean_line(text)[:LONGEST_TAG], hint=hint)
    return tag


def rescheduling(desk: Desk, cards: Iterable[str], due: date, *, via: str) -> Action:
    """Return the action that makes the cards due on a study day, until they are rated next. New cards stay as they are.

    Raises: NotFound; UsageError for a day further off than ten years.
    """
    return spreading(desk, cards, due, 1, via=via)


def spreading(desk: Desk, cards: Iterable[str], first: date, days: int, *, via: str) -> Action:
    """Return the action that spreads the cards evenly over so many days from `first` on, the longest due first."""
    found, today = _found(desk, cards), desk.scheduler.calendar.day(desk.now)
    if not (1 <= days <= MOST_DAYS and abs(first.toordinal() + days - 1 - today) <= MOST_DAYS):
        raise UsageError("cards can be postponed by at most ten years", where=first.isoformat())
    wanted = sorted((card for card in found if desk.state(card).phase is not Phase.NEW), key=lambda c: _order(desk, c))
    stamps, events = desk.writer(via).stamps(desk.now), []
    for n, card in enumerate(wanted):
        day = date.fromordinal(first.toordinal() + n * days // len(wanted))
        if desk.state(card).due != desk.scheduler.calendar.start(day.toordinal()):
            events.append(Reschedule(next(stamps), card, day))
    return _action(events, found, via)


def do(desk: Desk, action: Action) -> Desk:
    """Append the action to the log, all of it or, where that is refused, none. Raises: WriteFailed, Refused,
    LockHeld.
    """
    if not action.events:
        return desk
    desk.writer(action.via).write(*action.events)
    return after(desk)


def undo(desk: Desk, action: Action, *, via: str) -> Desk:
    """Undo the whole action, whatever was done since. Raises as `do`."""
    if not action.events:
        return desk
    writer = desk.writer(via)
    undone = [Undo(stamp, event.id) for stamp, event in zip(writer.stamps(desk.now), action.events, strict=False)]
    writer.write(*undone)
    return after(desk)


def _found(desk: Desk, cards: Iterable[str]) -> list[CardId]:
    """Return the cards, each once, in their order. Raises: NotFound."""
    wanted = list(dict.fromkeys(cards))
    for card in wanted:
        if card not in desk.cards:
            desk.card(card)  # says that it is not there
    return [CardId(card) for card in wanted]


def _buried(desk: Desk, card: CardId) -> bool:
    """Return whether the card is buried now."""
    until = desk.state(card).buried_until
    return until is not None and desk.now < until


def _stamped(desk: Desk, cards: Sequence[CardId], via: str) -> Iterable[tuple[Stamp, CardId]]:
    """Yield each card with the stamp of its event."""
    return zip(desk.writer(via).stamps(desk.now), cards, strict=False)


def _action(events: Sequence[CardMark], asked: Sequence[CardId], via: str) -> Action:
    """Return the action of these events."""
    return Action(tuple(events), len(asked), via)


def _order(desk: Desk, card: CardId) -> tuple[float, CardId]:
    """Return the sort key by which cards are spread."""
    state: MemoryState = desk.state(card)
    return state.due.timestamp() if state.due else 0.0, card
