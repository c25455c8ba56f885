"""The cards of a desk as columns, and the masks that a search's filters make of them.

A card is its number here: its place in the order of the decks. A mask is a byte a card, 1 for those that are meant.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate, pairwise
from operator import eq, ge, gt, le, lt
from typing import Any

from learning.cards.workspace import Desk
from learning.memory.state import MemoryState, Phase
from learning.search.query import Bound, Filter
from learning.search.segment import folded
from learning.stats.material import card_news
from learning.store.cards import Place
from learning.store.state_table import StateColumns, columns_with, micros
from learning.store.topics import topics as read_topics
from vault.ids import CardId
from vault.model.card import Deck

KINDS = ("", "definitional", "mechanistic", "relational", "applied")  # as vault.model.card.CardKind
_ID = 10
_NOWHERE = -1
_DAY_US = 86_400_000_000
_NEVER = -(2**63)  # how the columns of states write that there is no instant
_PHASES = tuple(Phase)
_COMPARED: Mapping[str, Callable[[float, float], bool]] = {"<": lt, ">": gt, "<=": le, ">=": ge, "=": eq, ":": eq}
Mask = bytearray


@dataclass(frozen=True, slots=True)
class CardColumns:
    """The cards of a desk. Deck n has the cards from `first[n]` up to `first[n + 1]`.

    `rows` are the cards' rows in `states`, -1 for one that nobody has met; `decks` are decks that are known as they
    were read, by path; `topics` has the stems of the concepts of each topic.
    """

    desk: Desk
    paths: tuple[str, ...]
    titles: tuple[str, ...]
    first: array[int]
    ids: bytes
    lines: array[int]
    kinds: bytes
    states: StateColumns
    rows: array[int]
    decks: Mapping[str, Deck]
    topics: Mapping[str, tuple[str, ...]]
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.kinds)

    def card(self, number: int) -> CardId:
        """Return the id of card number `number`."""
        return CardId(self.ids[number * _ID : number * _ID + _ID].decode("ascii"))

    def deck_of(self, number: int) -> int:
        """Return the number of the card's deck."""
        return bisect_right(self.first, number) - 1

    def path(self, number: int) -> str:
        """Return the path of the card's deck."""
        return self.paths[self.deck_of(number)]

    def concept(self, number: int) -> str:
        """Return the title of the card's concept."""
        return self.titles[self.deck_of(number)]

    def kind(self, number: int) -> str:
        """Return the kind of the card's question."""
        return KINDS[self.kinds[number]]

    def state(self, number: int) -> MemoryState:
        """Return the state of the card."""
        row = self.rows[number]
        return MemoryState() if row < 0 else self.states.state(row)

    def number(self, card: str) -> int | None:
        """Return the number of the card with that id; None if there is none."""
        numbers = self._cached("numbers", lambda: {id_: n for n, id_ in enumerate(_split(self.ids))})
        found: int | None = numbers.get(card)
        return found

    def topic(self, number: int) -> str:
        """Return the topics of the card's concept, in one line."""
        return self.topic_of(self.path(number))

    def topic_of(self, path: str) -> str:
        """Return the topics of the concept of a deck, in one line."""
        return ", ".join(self._topics_of().get(_stem(path), ()))

    def tags(self, number: int) -> tuple[str, ...]:
        """Return the tags of the card's deck, and its own."""
        found: tuple[str, ...] = (*self._tags()[self.deck_of(number)], *self.state(number).tags)
        return tuple(dict.fromkeys(found))

    # --- masks ------------------------------------------------------------------------------------------------------

    def mask(self, term: Filter | Bound, now: datetime) -> Mask:
        """Return the cards that a filter or a bound selects, ignoring its minus sign."""
        if isinstance(term, Bound):
            return self._bound(term, now)
        match term.name:
            case "kind":
                wanted = KINDS.index("" if term.value == "none" else term.value)
                return Mask(kind == wanted for kind in self.kinds)
            case "id":
                found = self.number(term.value.casefold())
                return self.of(() if found is None else (found,))
            case "tag":
                return self._tagged(folded(term.value).removeprefix("#"))
            case "concept" | "path" | "topic":
                return self._of_decks(term.name, folded(term.value))
        return self._trait(term.value, now)

    def of(self, numbers: Iterable[int]) -> Mask:
        """Return the mask of these cards."""
        mask = Mask(len(self))
        for number in numbers:
            mask[number] = 1
        return mask

    def in_topic(self, word: str) -> Mask:
        """Return the cards of every topic whose title holds `word`, which is folded."""
        return self._of_decks("topic", word)

    def _of_decks(self, name: str, key: str) -> Mask:
        """Return the cards of decks with that name."""
        mask = Mask(len(self))
        words = self._words(name)
        each: set[tuple[str, ...]] = self._cached(f"each of {name}", lambda: set(words))  # thousands may share a few
        meant = {said for said in each if (key in said if name == "tag" else any(key in word for word in said))}
        for said, (start, end) in zip(words, pairwise(self.first), strict=True) if meant else ():
            if said in meant:
                mask[start:end] = b"\1" * (end - start)
        return mask

    def _tagged(self, key: str) -> Mask:
        """Return the cards of decks with that tag, and those that have it themselves."""
        mask = self._of_decks("tag", key)
        for card, tags in self.states.tagged().items():
            if key in map(folded, tags) and (number := self.number(card)) is not None:
                mask[number] = 1
        return mask

    def _words(self, name: str) -> list[tuple[str, ...]]:
        """Return the names of each deck, folded."""
        return self._cached(f"words {name}", lambda: [tuple(map(folded, said)) for said in self._names(name)])  # type: ignore[no-any-return]

    def _names(self, name: str) -> Iterable[Iterable[str]]:
        """Yield the names of each deck."""
        if name == "concept":
            return ((title, _stem(path)) for title, path in zip(self.titles, self.paths, strict=True))
        if name == "path":
            return ((path,) for path in self.paths)
        if name == "topic":
            topics = self._topics_of()
            return (topics.get(_stem(path), ()) for path in self.paths)
        return ([tag.removeprefix("#") for tag in tags] for tags in self._tags())

    def _topics_of(self) -> dict[str, list[str]]:
        """Return the topics of each concept, by its stem."""

        def found() -> dict[str, list[str]]:
            of: dict[str, list[str]] = {}
            for topic, stems in self.topics.items():
                for stem in stems:
                    of.setdefault(stem, []).append(topic)
            return of

        return self._cached("topics", found)  # type: ignore[no-any-return]

    def _tags(self) -> list[tuple[str, ...]]:
        """Return the tags of each deck."""

        def found() -> list[tuple[str, ...]]:
            return [tags for _, _, tags, cards in self.desk.cards.decks() if cards]

        return self._cached("tags", found)  # type: ignore[no-any-return]

    def _trait(self, value: str, now: datetime) -> Mask:
        """Return the cards with a property such as due, new or leech."""
        column = self.states.column
        if value in ("new", "learning", "review", "relearning"):
            wanted = _PHASES.index(Phase(value))
            mask = self._met(phase == wanted for phase in column("phase"))
            if value == "new":
                return Mask(have or row == _NOWHERE for have, row in zip(mask, self.rows, strict=True))
            return mask
        if value == "due":
            return self._met(self._due(now))
        if value == "buried":
            at = micros(now)
            return self._met(until > at for until in column("buried_until"))
        return self._met(map(bool, column(value)))

    def _due(self, now: datetime) -> Iterable[bool]:
        """Return whether each row of the states falls due before the present study day ends, and may be shown."""
        calendar = self.desk.scheduler.calendar
        end, at = micros(calendar.start(calendar.day(now) + 1)), micros(now)
        column = self.states.column
        names = ("due", "suspended", "retracted", "buried_until")
        return (
            _NEVER < due < end and not (suspended or retracted) and until <= at
            for due, suspended, retracted, until in zip(*map(column, names), strict=True)
        )

    def _bound(self, term: Bound, now: datetime) -> Mask:
        compare, limit = _COMPARED[term.op], term.number
        if term.name in ("added", "rated"):
            within = compare if term.op != ":" else le  # `added:7` is the last seven days, as in Anki
            if term.name == "added":
                days = self.added_days(now)
                return self.of(n for n, ago in days.items() if within(ago, limit))
            return self._met(day > 0 and within(today, limit) for day, today in self._days_since(now))
        values = self.values(term.name, now)
        return Mask(value is not None and compare(value, limit) for value in values)

    def _days_since(self, now: datetime) -> Iterable[tuple[int, int]]:
        today = self.desk.scheduler.calendar.day(now)
        return ((day, today - day) for day in self.states.column("last_day"))

    def added_days(self, now: datetime) -> dict[int, int]:
        """How many days ago the ledger or the first review first knew a card, by its number; 0 is today."""

        def found() -> dict[CardId, datetime]:
            births: dict[CardId, datetime] = {}
            for news in card_news(self.desk):
                if news.what == "added":
                    births[news.card] = min(news.at, births.get(news.card, news.at))
            return births

        calendar = self.desk.scheduler.calendar
        births = self._cached("births", found)
        days = zip(births, calendar.days(births.values()), strict=True)
        today = calendar.day(now)
        return {n: today - day for card, day in days if (n := self.number(card)) is not None}

    def values(self, name: str, now: datetime) -> list[float | None]:
        """A number for each card; None where it has none. Names as in search_query.NUMBERS, but added and rated."""
        found = self._by_row(name, now)
        return [None if row < 0 else found[row] for row in self.rows]

    def _by_row(self, name: str, now: datetime) -> list[float | None]:
        column = self.states.column
        if name in ("lapses", "reps"):
            return list(column(name))
        met = column("phase")
        new = _PHASES.index(Phase.NEW)
        if name == "due":
            calendar = self.desk.scheduler.calendar
            start = micros(calendar.start(calendar.day(now)))
            return [None if due == _NEVER else (due - start) // _DAY_US for due in column("due")]
        if name == "recall":
            today, curve = self.desk.scheduler.calendar.day(now), self.desk.scheduler.recall
            rows = zip(met, column("stability"), column("last_day"), strict=True)
            return [None if p == new else 100 * curve(s, max(0, today - day)) for p, s, day in rows]
        wanted = column({"ivl": "interval_days"}.get(name, name))
        return [None if p == new else value for p, value in zip(met, wanted, strict=True)]

    def _met(self, rows: Iterable[bool]) -> Mask:
        """The mask of the cards whose row in the states is meant."""
        meant = bytes(rows)
        return Mask(0 if row < 0 else meant[row] for row in self.rows)

    def _cached(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what `make` returns, computed once for each name."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]


def columns_of(desk: Desk, topics: Mapping[str, tuple[str, ...]] | None = None) -> CardColumns:
    """Return the columns of a desk; `topics` as `learning.store.topics.topics` gives them, read where they are not
    given.
    """
    by_deck: dict[str, list[tuple[str, Place]]] = {}
    for card, place in desk.cards.places().items():
        by_deck.setdefault(place.path, []).append((card, place))
    first = array("I", accumulate(map(len, by_deck.values()), initial=0))
    places = [place for mine in by_deck.values() for _, place in mine]
    ids = "".join(card for mine in by_deck.values() for card, _ in mine).encode("ascii")
    known = {card: state for card, state in desk.states.items() if len(card) == _ID and card.isascii()}
    states = columns_with(StateColumns(), known) or StateColumns()
    return CardColumns(
        desk,
        tuple(by_deck),
        tuple(mine[0][1].title for mine in by_deck.values()),
        first,
        ids,
        array("I", [place.line for place in places]),
        bytes(KINDS.index(place.kind) for place in places),
        states,
        _rows(ids, states),
        desk.cards.known,
        read_topics(desk.vault) if topics is None else topics,
    )


def _rows(ids: bytes, states: StateColumns) -> array[int]:
    """Return the row of the states for each card."""
    row = {card: n for n, card in enumerate(states)}
    return array("i", [row.get(CardId(card), _NOWHERE) for card in _split(ids)])


def _split(ids: bytes) -> list[str]:
    """Return the ids."""
    text = ids.decode("ascii")
    return [text[n : n + _ID] for n in range(0, len(text), _ID)]


def _stem(path: str) -> str:
    """Return the stem of a path."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")
