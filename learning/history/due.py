"""The cards that a queue is made of: those that may be due, and those that were never reviewed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from learning.history.history import History
from learning.history.states import COUNT, FIELDS, instant_of, micros
from learning.memory.scheduler import Scheduler
from learning.schedule.balance import MOST_BALANCED, Load
from learning.schedule.queue import Item
from learning.store.cards import IndexedCards, path_of
from learning.store.decks import ORDER
from learning.store.placed import Placed, article_of, concept_of, front_pauses
from learning.store.topics import topic_named, topics
from vault.errors import Damaged, Refused
from vault.ids import CardId
from vault.index import stamps
from vault.index.database import IndexUnwritable, Row
from vault.vault import Vault

TOPIC = "topic:"  # begins the name of a topic, where a tag may be
_ARTICLE = "pause.size, pause.changed_ns, pause.inode, pause.says"  # the article's stamp, and whether it pauses
_NEAR = f"""
SELECT card.id, card.siblings, deck.name, card.line, deck.title, card.kind, deck.paused,
  {_ARTICLE}, known, {FIELDS}
FROM state JOIN card ON card.id = state.card JOIN deck ON deck.number = card.deck
  LEFT JOIN pause ON pause.deck = deck.name
WHERE state.due IS NULL OR state.due < ? ORDER BY {ORDER}
"""
_STATE = -COUNT  # where the columns of the state begin
_ASKED = "NOT suspended AND NOT retracted"
# The states of cards that are asked: not those of concepts that an article or a deck keeps out. The articles have to be
# read before (`_read_articles`).
_PLANNED = f"""
state JOIN card ON card.id = state.card
WHERE {_ASKED} AND card.deck NOT IN (
  SELECT number FROM deck WHERE paused
  UNION ALL SELECT number FROM pause JOIN deck ON deck.name = pause.deck WHERE says
)
"""
_DECKS = f"SELECT name, {_ARTICLE} FROM deck LEFT JOIN pause ON pause.deck = deck.name"
_DECKS_UNTIL = f"""{_DECKS}
WHERE number IN (SELECT card.deck FROM state JOIN card ON card.id = state.card WHERE state.due < ? AND {_ASKED})
"""
_AT = "max(state.due, coalesce(buried_until, 0))"  # when a card may be shown: a buried one later than it falls due
_MOST_SIBLINGS = 100  # a deck of more cards is a list and no concept: its cards are not kept apart


def items(vault: Vault, cards: IndexedCards, past: History, tag: str, until: datetime) -> list[Item]:
    """Return the cards that are new or fall due before `until`, in the order of the decks.

    With `tag` only those of that tag, kind or concept, or, where it is `topic:NAME`, of the topic's concepts. Raises:
    NotFound for a topic that is not there.
    """
    names = _selecting_names(vault, tag.removeprefix("#"))
    own = _with_own_tag(past, names)
    articles = _Articles(vault, cards)
    found: list[Item] = []
    deck, skipped, selected = None, True, True
    for row in cards.database.rows(_NEAR, (micros(until),)):
        card, siblings, name, _, _, kind, paused, *article, known = row[:_STATE]
        cards.add(card, row[2:6])
        past.states.add(card, known, row[_STATE:])
        if name != deck:
            deck = name
            skipped = articles.pauses(name, article) or bool(paused)
            selected = not names or (not skipped and _has_name(cards.get(card), names))
        if not skipped and (selected or kind in names or card in own):
            found.append(Item(card, siblings or concept_of(path_of(name)), kind))
    articles.save()
    return found


def due_instants(cards: IndexedCards, end: datetime) -> list[tuple[CardId, datetime]]:
    """Return the cards that are asked and fall due before `end`, with when they do; a buried one, when it is back."""
    _read_articles(cards, end)
    query = f"SELECT state.card, {_AT} AS at FROM {_PLANNED} AND state.due < ? AND at < ?"  # the first is indexed
    return [(CardId(card), instant_of(at)) for card, at in cards.database.rows(query, (micros(end), micros(end)))]


def due_between(cards: IndexedCards, start: datetime, end: datetime) -> list[datetime]:
    """Return when cards that are asked fall due, from `start` to `end`; a buried one, when it is back."""
    _read_articles(cards, end)
    query = f"SELECT {_AT} AS at FROM {_PLANNED} AND state.due < ? AND at >= ? AND at < ?"
    return [instant_of(at) for (at,) in cards.database.rows(query, (micros(end), micros(start), micros(end)))]


def count_due(cards: IndexedCards, end: datetime) -> int:
    """Return how many of the cards reviewed before fall due before `end` and may be shown by then."""
    _read_articles(cards, end)
    row = cards.database.one(
        f"SELECT count(*) FROM {_PLANNED} AND state.due < ? AND {_AT} < ?", (micros(end), micros(end))
    )
    return int(row[0]) if row else 0


class DueDays:
    """On which study days after today cards are due, as the index had it when it was asked first."""

    def __init__(self, cards: IndexedCards, scheduler: Scheduler, now: datetime, shares: tuple[float, ...]) -> None:
        self._cards, self._scheduler, self._shares = cards, scheduler, shares
        self._today = scheduler.calendar.day(now)
        self._counts: dict[int, int] | None = None
        self._loads: dict[CardId, Load] = {}  # it is asked for what the buttons show, and again for the rating

    def load(self, card: CardId) -> Load:
        """Return how many cards are due by day, and on which days siblings of the card are."""
        if self._counts is None:
            self._counts = self._by_day()
        found = self._loads.get(card)
        if found is None:
            found = self._loads[card] = Load(self._counts, frozenset(self._days_of_siblings(card)), self._shares)
        return found

    def _days_of_siblings(self, card: CardId) -> Iterator[int]:
        """Yield the days on which siblings of the card are due."""
        database = self._cards.database
        mine = database.one("SELECT deck, siblings FROM card WHERE id = ?", (card,))
        if mine is None:
            return
        by_note = mine[1] is not None
        same = "card.siblings = ?" if by_note else "card.deck = ? AND card.siblings IS NULL"
        found = database.rows(
            f"SELECT state.due FROM card JOIN state ON state.card = card.id WHERE {same} AND card.id != ?"
            f" AND state.due >= ? AND {_ASKED} LIMIT {_MOST_SIBLINGS + 1}",
            (mine[1] if by_note else mine[0], card, self._tomorrow),
        )
        if len(found) <= _MOST_SIBLINGS:
            yield from (self._day(due) for (due,) in found)

    def group(self, card: CardId) -> str:
        """Return the name that a card shares with its siblings; its own id where it is in no deck."""
        try:
            return self._cards.group(card)
        except KeyError:
            return card

    @property
    def _tomorrow(self) -> int:
        return micros(self._scheduler.calendar.start(self._today + 1))

    def _day(self, due: int) -> int:
        return self._scheduler.day(instant_of(due))

    def _by_day(self) -> dict[int, int]:
        """Return the cards that are due on each of the next days, including those that are in no deck any more."""
        end = micros(self._scheduler.calendar.start(self._today + MOST_BALANCED + 1))
        found: dict[int, int] = {}
        for due, count in self._cards.database.rows(
            f"SELECT due, count(*) FROM state WHERE due >= ? AND due < ? AND {_ASKED} GROUP BY due",
            (self._tomorrow, end),
        ):
            day = self._day(due)
            found[day] = found.get(day, 0) + count
        return found


def next_due(cards: IndexedCards) -> datetime | None:
    """Return when the first card may be shown that is asked, also if it may already; None if nothing is planned."""
    _read_articles(cards)
    row = cards.database.one(f"SELECT min({_AT}) FROM {_PLANNED}")
    return None if row is None or row[0] is None else instant_of(row[0])


def paused_decks(cards: IndexedCards) -> list[bytes]:
    """Return the names of the decks whose articles keep their concepts out of the queue."""
    _read_articles(cards)
    query = "SELECT name FROM deck JOIN pause ON pause.deck = deck.name WHERE pause.says ORDER BY name"
    return [name for (name,) in cards.database.rows(query)]


def _read_articles(cards: IndexedCards, end: datetime | None = None) -> None:
    """Take into the index what changed articles say: those of all decks, or of those with cards that fall due before
    `end`. Nothing changes where the index cannot be written now.
    """
    articles = _Articles(cards.vault, cards)
    rows = cards.database.rows(_DECKS) if end is None else cards.database.rows(_DECKS_UNTIL, (micros(end),))
    for name, *known in rows:
        articles.pauses(name, known)
    with suppress(IndexUnwritable):
        articles.save()


def _with_own_tag(past: History, names: frozenset[str]) -> frozenset[CardId]:
    """Return the cards that are selected by a tag of their own."""
    if not names or TOPIC in names:
        return frozenset()
    tagged = past.states.tagged()
    return frozenset(card for card, tags in tagged.items() if not names.isdisjoint(map(str.casefold, tags)))


def _selecting_names(vault: Vault, tag: str) -> frozenset[str]:
    """Return the names, case folded, that select a card: a tag, or the concepts of a topic; empty where all are
    selected.
    """
    if not tag.casefold().startswith(TOPIC):
        return frozenset({tag.casefold()} - {""})
    return frozenset(stem.casefold() for stem in topic_named(tag[len(TOPIC) :], topics(vault))[1]) | {TOPIC}


def _has_name(placed: Placed | None, names: frozenset[str]) -> bool:
    """Return whether one of `names` selects the card's deck."""
    return placed is not None and not names.isdisjoint(_names_among(placed, names))


def _names_among(placed: Placed, names: frozenset[str]) -> set[str]:
    """Return the names of a card's deck: of a topic's concepts the concept alone, as a tag may have the same name."""
    return {placed.concept.casefold()} if TOPIC in names else names_of(placed)


def names_of(placed: Placed) -> set[str]:
    """Return the names of a card's deck: its tags, its concept and its title, case folded."""
    tags = placed.deck.properties.texts("tags")
    return {placed.concept.casefold(), placed.title.casefold(), *(t.removeprefix("#").casefold() for t in tags)}


class _Articles:
    """Reads whether `learning: false` in their articles keeps concepts out of the queue."""

    def __init__(self, vault: Vault, cards: IndexedCards) -> None:
        self._vault, self._database = vault, cards.database
        self._read: list[Row] = []

    def pauses(self, deck: bytes, known: Sequence[int | None]) -> bool:
        """Return whether the article of a deck keeps the concept out of the queue.

        `known` are the article's stamp when it was read last, and what it said; None where it has not been read.
        """
        path = article_of(concept_of(path_of(deck)))
        stamp = stamps.stamp(self._vault.root, path)
        if tuple(known[:3]) == stamp != stamps.NONE or (stamp == stamps.NONE and known[0] is None):
            return bool(known[3])
        says = stamp != stamps.NONE and self._says(path)
        row = (*stamps.cacheable_stamp(stamp), int(says))
        if row != tuple(known):
            self._read.append((deck, *row))
        return says

    def save(self) -> None:
        """Remember what was read."""
        if self._read:
            self._database.run_many("INSERT OR REPLACE INTO pause VALUES(?, ?, ?, ?, ?)", self._read)

    def _says(self, path: str) -> bool:
        """Return whether the article at `path` says `learning: false`."""
        try:
            article = self._vault.read_bytes(path)
        except (Refused, Damaged):  # an article that cannot be read says nothing
            return False
        return article is not None and front_pauses(article)
