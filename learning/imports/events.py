"""What an import writes to the review log: reviews, memory, tags, suspension and flags, each once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from learning.cards.actions import tag_of
from learning.cards.workspace import Desk
from learning.foreign.cards import ForeignCard, PastReview, Schedule
from learning.imports.blocks import variants_of
from learning.memory.state import tags_after
from vault.errors import UsageError
from vault.ids import CardId
from vault.log.events import Flag, Import, LogEvent, Memory, Review, Stamp, Suspend, Tag
from vault.log.review_log import IMPORTED, at_of, mint_stamp, stream_log, unix_ms

_LONGEST_MS = 24 * 3600 * 1000  # nobody looks at a card for longer
_OWN = "jsonl"  # the format that names reviews by the ids of our own log


@dataclass(slots=True)
class LogCounts:
    """How many events there are of each kind."""

    schedules: int = 0
    known_schedules: int = 0
    reviews: int = 0
    known_reviews: int = 0
    undated: int = 0
    tags: int = 0
    suspended: int = 0


@dataclass(slots=True)
class LogEvents:
    """Makes the events of an import of cards of one format."""

    desk: Desk
    format: str
    counts: LogCounts = field(default_factory=LogCounts)

    def all(self, cards: Iterable[ForeignCard], ids: Mapping[tuple[str, str], CardId]) -> list[LogEvent]:
        """Return the events for these cards; `ids` maps (key of the block, variant) to the card here."""
        found = [
            (card, variant, ids[card.key, variant])
            for card in cards
            for variant in variants_of(card)
            if (card.key, variant) in ids
        ]
        stamps = self.desk.writer(IMPORTED).stamps(self.desk.now)
        events: list[LogEvent] = [*self._reviews(found)]
        origins, marked = self._marks()
        for card, variant, id_ in found:
            events += self._of_card(card, variant, id_, stamps, origins, marked)
        return events

    def _marks(self) -> tuple[set[str], set[CardId]]:
        """Return the origins of memories that were brought before, and the cards that an import marked."""
        events = self.desk.past.marks()
        origins = {event.origin for event in events if isinstance(event, Memory)}
        return origins, {e.card for e in events if isinstance(e, Tag | Suspend | Flag) and e.stamp.via == IMPORTED}

    def _of_card(
        self,
        card: ForeignCard,
        variant: str,
        id_: CardId,
        stamps: Iterator[Stamp],
        origins: set[str],
        marked: set[CardId],
    ) -> Iterator[LogEvent]:
        """Yield the events of one card but for its reviews."""
        state, learnt = self.desk.state(id_), card.learnt.get(variant)
        own = learnt.tags if learnt is not None else ()
        tags = tuple(dict.fromkeys(filter(None, map(_tag, (*card.tags, *own)))))
        if id_ not in marked and tags_after(state.tags, tags, ()) != state.tags:
            self.counts.tags += 1
            yield Tag(next(stamps), id_, tags)
        if learnt is None:
            return
        if learnt.schedule is not None:
            yield from self._memory(card, variant, id_, learnt.schedule, stamps, origins)
        if id_ not in marked and learnt.suspended and not state.suspended:
            self.counts.suspended += 1
            yield Suspend(next(stamps), id_)
        if id_ not in marked and learnt.flagged and not state.flagged:
            yield Flag(next(stamps), id_, "flagged before the import")

    def _memory(
        self,
        card: ForeignCard,
        variant: str,
        id_: CardId,
        schedule: Schedule,
        stamps: Iterator[Stamp],
        origins: set[str],
    ) -> Iterator[LogEvent]:
        """Yield the memory of a card, unless it was brought before."""
        said = f"{card.key}\0{variant}\0{schedule}"
        origin = f"{self.format}:{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:20]}"
        if origin in origins:
            self.counts.known_schedules += 1
            return
        self.counts.schedules += 1
        today = self.desk.scheduler.calendar.day(self.desk.now)
        reviewed = min(schedule.reviewed, schedule.reviewed.fromordinal(today))
        numbers = schedule.stability, schedule.difficulty, reviewed, max(schedule.due, reviewed)
        yield Memory(next(stamps), id_, *numbers, schedule.reps, schedule.lapses, origin)

    def _reviews(self, found: Iterable[tuple[ForeignCard, str, CardId]]) -> list[Import]:
        """Return the reviews that the log lacks, in order of time."""
        wanted = [
            (id_, review)
            for card, variant, id_ in found
            if variant in card.learnt
            for review in card.learnt[variant].reviews
        ]
        if not wanted:
            return []
        known = self._known()
        fresh: dict[str, Import] = {}
        latest = self.desk.now + timedelta(minutes=1)
        for id_, review in wanted:
            origin = f"{self.format}:{review.name}"
            if origin in known or (self.format == _OWN and review.name in known):
                self.counts.known_reviews += 1
            elif not unix_ms(review.at) > 0 or review.at > latest:
                self.counts.undated += 1
            else:
                fresh[origin] = self._import(id_, review, origin)
        self.counts.reviews = len(fresh)
        return sorted(fresh.values(), key=lambda event: (event.at, event.id))

    def _known(self) -> set[str]:
        """Return the ids of all reviews in the log, and the origins of those that were imported."""
        known: set[str] = set()
        for event in stream_log(self.desk.vault.root):
            if isinstance(event, Review):
                known.add(event.id)
            if isinstance(event, Import):
                known.add(event.origin)
        return known

    def _import(self, id_: CardId, review: PastReview, origin: str) -> Import:
        """Return the event of a review, the same on every machine."""
        at, settings = at_of(unix_ms(review.at)), self.desk.vault.settings
        entropy = hashlib.sha256(f"{settings.vault_id}\0{origin}".encode("utf-8", "replace")).digest()[:10]
        stamp = mint_stamp(at, last=None, zone=settings.zone, via=IMPORTED, entropy=entropy)
        ms = min(max(0, review.ms), _LONGEST_MS)
        return Import(stamp, id_, review.rating, ms, min(review.interval_days, 36_500), origin=origin)


def _tag(text: str) -> str:
    """Return a tag as it is stored; "" for a text that cannot be one."""
    try:
        return tag_of(text.replace(",", " "))
    except UsageError:
        return ""
