"""Searches for cards and articles: a query as the conditions of two SQL queries over the index."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from learning.history.states import micros
from learning.memory.state import PHASES, Phase
from learning.search.query import Bound, Filter, Query, Term, Word
from learning.search.records import Records
from learning.stats.material import card_news
from learning.store.cards import path_of
from learning.store.full_text import holding
from vault.ids import CardId
from vault.text.formatting import folded

SORTS = ("deck", "due", "concept", "question", "kind", "topic", "ivl", "difficulty", "lapses", "recall")
SCOPES = ("cards", "articles", "both")
_DAY_US = 86_400_000_000
_FROM = (
    "FROM card JOIN deck ON deck.number = card.deck JOIN state ON state.card = card.id"
    " LEFT JOIN text ON text.card = card.number"
)
_NEW = PHASES.index(Phase.NEW)
_OPPOSITE = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", ":": "="}
_KINDS = "none definitional mechanistic relational applied"  # in their order
Condition = tuple[str, list[object]]
_NOTHING: Condition = ("0", [])


class Superseded(Exception):
    """Raised when the result of a search is not wanted any more."""


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the results; `by` is one of SORTS."""

    by: str = "deck"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Cards and articles by their numbers, in order."""

    cards: array[int] = field(default_factory=lambda: array("q"))
    articles: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.cards) + len(self.articles)


def find(
    query: Query,
    records: Records,
    now: datetime,
    *,
    scope: str = "cards",
    order: Order | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Found:
    """Return the results of a query. Raises: Superseded as soon as `is_wanted` is False."""
    database = records.desk.cards.database
    cards = articles = array("q")
    if not is_wanted():
        raise Superseded
    if scope != "articles":
        conditions = _Conditions(records, now)
        where, values = _joined([conditions.of(term) for term in query.terms], query.terms)
        cards = _ordered(records, where, values, order or Order(), now)
    if not is_wanted():
        raise Superseded
    if scope != "cards" and not query.of_cards:
        where, values = _joined(list(map(_of_article, query.terms)), query.terms)
        rows = database.rows(f"SELECT number, title FROM page WHERE {where} ORDER BY path", values)
        rows.sort(key=lambda row: str(row[1]).casefold())
        articles = array("q", [number for number, _ in rows])
    return Found(cards, articles)


def _joined(conditions: Iterable[Condition], terms: Iterable[Term]) -> Condition:
    """Return the condition that all of these hold, but for terms with a minus sign."""
    parts, values = ["1"], list[object]()
    for (condition, more), term in zip(conditions, terms, strict=True):
        parts.append(f"NOT ifnull({condition}, 0)" if term.negated else condition)
        values += more
    return " AND ".join(parts), values


def _of_article(term: Term) -> Condition:
    """Return the condition of a term on articles; terms of cards alone hold of none."""
    if isinstance(term, Word):
        condition, values = holding("page_hit", "number", "words", folded(term.text))
        return condition, list(values)
    if isinstance(term, Filter) and term.name == "path":
        return "instr(folded_path, ?)", [folded(term.value)]
    return _NOTHING


class _Conditions:
    """The conditions of terms on cards, ignoring their minus signs."""

    def __init__(self, records: Records, now: datetime) -> None:
        self._records, self._desk, self._now = records, records.desk, now
        self._calendar = self._desk.scheduler.calendar
        self._today = self._calendar.day(now)

    def of(self, term: Term) -> Condition:
        """Return the condition of a term."""
        if isinstance(term, Word):
            key = folded(term.text)
            condition, values = holding("card_hit", "card.number", "words", key)
            topics, more = self._in_topics(key)
            return f"({condition} OR {topics})", [*values, *more]
        if isinstance(term, Bound):
            return self._bound(term)
        key = folded(term.value)
        match term.name:
            case "kind":
                return "card.kind = ?", ["" if term.value == "none" else term.value]
            case "id":
                return "card.id = ?", [term.value.casefold()]
            case "tag":
                return self._tagged(key.removeprefix("#"))
            case "concept":
                return "instr(deck.names, ?)", [key]
            case "path":
                return "instr(deck.place, ?)", [key]
            case "topic":
                return self._in_topics(key)
        return self._trait(term.value)

    def _in_topics(self, key: str) -> Condition:
        """Return the condition that a card's concept is in a topic whose title holds `key`."""
        stems = {stem for topic, stems in self._records.topics.items() if key in folded(topic) for stem in stems}
        if not stems:
            return _NOTHING
        return "CAST(deck.name AS TEXT) IN (SELECT value FROM json_each(?))", [
            json.dumps([f"{stem}.md" for stem in stems])
        ]

    def _tagged(self, key: str) -> Condition:
        """Return the condition that a card or its deck has a tag."""
        decks = [cards for _, _, tags, cards in self._desk.cards.decks() if key in {folded(_bare(tag)) for tag in tags}]
        own = [card for card, tags in self._desk.past.states.tagged().items() if key in map(folded, tags)]
        return _among([*(card for cards in decks for card, _ in cards), *own])

    def _trait(self, value: str) -> Condition:
        """Return the condition that a card has a property such as due, new or leech."""
        now = micros(self._now)
        if value in ("new", "learning", "review", "relearning"):
            return "phase = ?", [PHASES.index(Phase(value))]
        if value == "due":
            end = micros(self._calendar.start(self._today + 1))
            shown = "NOT suspended AND NOT retracted AND (buried_until IS NULL OR buried_until <= ?)"
            return f"(due < ? AND {shown})", [end, now]
        if value == "buried":
            return "ifnull(buried_until > ?, 0)", [now]
        return value, []  # the name of a column

    def _bound(self, term: Bound) -> Condition:
        """Return the condition that a number of a card is within a bound."""
        op, limit = term.op.replace(":", "="), term.number
        if term.name in ("added", "rated"):
            op = "<=" if term.op == ":" else op  # `added:7` is the last seven days, as in Anki
            if term.name == "added":
                return _among(self._added(op, limit))
            return f"(last_day > 0 AND ? - last_day {op} ?)", [self._today, limit]
        if term.name == "due":
            start = micros(self._calendar.start(self._today))
            # How many whole days after today's beginning; SQLite would round towards 0.
            days = f"((due - ? - CASE WHEN due < ? THEN {_DAY_US - 1} ELSE 0 END) / {_DAY_US})"
            return f"(due IS NOT NULL AND {days} {op} ?)", [start, start, limit]
        if term.name in ("lapses", "reps"):
            return f"(known AND {term.name} {op} ?)", [limit]
        if term.name == "recall":
            return self._recall(op, limit / 100)
        column = {"ivl": "interval_days"}.get(term.name, term.name)
        return f"(phase != {_NEW} AND {column} {op} ?)", [limit]

    def _recall(self, op: str, chance: float) -> Condition:
        """Return the condition on the chance of recall, which falls as the days since grow against the stability."""
        if not 0 < chance <= 1:
            return (f"phase != {_NEW}", []) if (chance > 1) == (op in ("<", "<=")) and op != "=" else _NOTHING
        decay = -self._desk.scheduler.parameters[20]
        ratio = (chance ** (1 / decay) - 1) / (0.9 ** (1 / decay) - 1)
        return f"(phase != {_NEW} AND {_FORGOTTEN} {_OPPOSITE[op]} ?)", [self._today, ratio]

    def _added(self, op: str, days: float) -> list[CardId]:
        """Return the cards that ledger or log first knew so many days ago."""
        births: dict[CardId, datetime] = {}
        for news in card_news(self._desk):
            if news.what == "added":
                births[news.card] = min(news.at, births.get(news.card, news.at))
        ago = (self._today - day for day in self._calendar.days(births.values()))
        within = {"<": float.__lt__, ">": float.__gt__, "<=": float.__le__, ">=": float.__ge__, "=": float.__eq__}[op]
        return [card for card, days_ago in zip(births, ago, strict=True) if within(float(days_ago), days)]


_FORGOTTEN = "(max(0, ? - last_day) / stability)"


def _bare(tag: str) -> str:
    return tag.removeprefix("#")


def _among(cards: Iterable[CardId]) -> Condition:
    """Return the condition that a card is one of these."""
    return "card.id IN (SELECT value FROM json_each(?))", [json.dumps(list(cards))]


def _ordered(records: Records, where: str, values: list[object], order: Order, now: datetime) -> array[int]:
    """Return the cards that a condition selects, in an order: what has no value in it comes last."""
    down = " DESC" if order.descending else ""
    today = records.desk.scheduler.calendar.day(now)
    known: dict[str, tuple[str, str]] = {  # which have a value, and it
        "due": ("due IS NOT NULL", "due"),
        "concept": ("1", "deck.names"),
        "question": ("words IS NOT NULL", "words"),
        "kind": ("1", f"instr('{_KINDS}', ifnull(nullif(card.kind, ''), 'none'))"),
        "ivl": (f"phase != {_NEW}", "interval_days"),
        "difficulty": (f"phase != {_NEW}", "difficulty"),
        "lapses": ("known", "lapses"),
        "recall": (f"phase != {_NEW}", f"-max(0, {today} - last_day) / stability"),
    }
    query = f"SELECT card.number, deck.name {_FROM} WHERE {where} ORDER BY"
    if order.by in known:
        has, value = known[order.by]
        query += f" NOT ({has}), {value}{down},"
    down = down if order.by == "deck" else ""
    rows = records.desk.cards.database.rows(f"{query} deck.name{down}, card.place{down}", values)
    if order.by == "topic":
        topic = {name: folded(records.topic(path_of(name))) for name in {name for _, name in rows}}
        rows.sort(key=lambda row: topic[row[1]], reverse=order.descending)
        rows.sort(key=lambda row: not topic[row[1]])
    return array("q", [number for number, _ in rows])
