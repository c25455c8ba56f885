"""Searches for cards and articles: a query over the card columns and the word index, with an order."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import merge
from itertools import compress
from typing import Any

from learning.search.card_table import CardColumns, Mask
from learning.search.index import SearchIndex, View
from learning.search.query import Filter, Query, Term, Word
from learning.search.segment import folded

SORTS = ("deck", "due", "concept", "question", "kind", "topic", "ivl", "difficulty", "lapses", "recall")
SCOPES = ("cards", "articles", "both")
_AT_ONCE = 8_000  # that are sorted in one go: others have their turn in between
_LAST = 1e18  # what has no number comes last
_NO_WORDS = "\U0010ffff"  # and so does what has no words


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the results; `by` is one of SORTS."""

    by: str = "deck"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Cards and articles by their numbers, in order."""

    cards: array[int] = field(default_factory=lambda: array("i"))
    articles: array[int] = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        return len(self.cards) + len(self.articles)


def find(
    query: Query,
    columns: CardColumns,
    index: SearchIndex,
    now: datetime,
    *,
    scope: str = "cards",
    order: Order | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Found:
    """Return the results of a query. Raises: Superseded as soon as `is_wanted` is False."""
    cards = int.from_bytes(b"\1" * len(columns), "little") if scope != "articles" else 0
    count = len(index.view.articles)
    articles = int.from_bytes(b"\1" * count, "little") if scope != "cards" and not query.of_cards else 0
    for term in query.terms:
        card_mask, article_mask = _masks(term, columns, index, now, is_wanted)
        cards, articles = _joined(cards, card_mask, term), _joined(articles, article_mask, term)
    order = order or Order()
    found = compress(range(len(columns)), cards.to_bytes(len(columns), "little"))
    ordered = _ordered(found, order, columns, index.view.of(columns), now)
    titles = index.view
    mine = [n for n, meant in enumerate(articles.to_bytes(max(count, 1), "little")) if meant]
    mine.sort(key=lambda n: titles.title(n).casefold())
    return Found(ordered, array("i", mine))


def _joined(found: int, mask: Mask, term: Term) -> int:
    """Return the mask with a term applied."""
    meant = int.from_bytes(mask, "little")
    return found & ~meant if term.negated else found & meant


def _masks(
    term: Term, columns: CardColumns, index: SearchIndex, now: datetime, is_wanted: Callable[[], bool]
) -> tuple[Mask, Mask]:
    """Return the cards and the articles that a term selects."""
    if isinstance(term, Word):
        key = folded(term.text)
        cards, articles = index.holding(key, is_wanted)
        cards = cards if len(cards) == len(columns) else Mask(len(columns))  # others are listed just now
        of_topic = columns.in_topic(key)
        both = int.from_bytes(cards, "little") | int.from_bytes(of_topic, "little")
        return Mask(both.to_bytes(len(columns), "little")), articles
    if isinstance(term, Filter) and term.name == "path":
        key = folded(term.value)
        return columns.mask(term, now), Mask(key in folded(path) for path in index.view.articles)
    return columns.mask(term, now), Mask(len(index.view.articles))


def _ordered(found: Iterable[int], order: Order, columns: CardColumns, view: View, now: datetime) -> array[int]:
    """Return the cards in an order."""
    if order.by == "deck":
        numbers = array("i", found)
        return numbers[::-1] if order.descending else numbers
    keys = _keys(order.by, columns, view, now)
    mine = list(found)
    if not order.descending:
        return array("i", _sorted_in_steps(mine, keys))
    nothing = [n for n in mine if keys[n] in (_LAST, _NO_WORDS)]  # stays last when all else is turned round
    known = [n for n in mine if keys[n] not in (_LAST, _NO_WORDS)] if nothing else mine
    return array("i", [*_sorted_in_steps(known, keys, reverse=True), *nothing])


def _sorted_in_steps(numbers: list[int], keys: Sequence[Any], *, reverse: bool = False) -> Iterator[int]:
    """Yield `numbers` sorted by their keys, a few at a time, so that no single sort takes long."""
    runs = [
        sorted(numbers[at : at + _AT_ONCE], key=keys.__getitem__, reverse=reverse)
        for at in range(0, len(numbers), _AT_ONCE)
    ]
    return iter(runs[0] if len(runs) == 1 else merge(*runs, key=keys.__getitem__, reverse=reverse))


def _keys(by: str, columns: CardColumns, view: View, now: datetime) -> Sequence[Any]:
    """Return what each card is sorted by."""
    if by == "kind":
        return columns.kinds
    if by == "question":
        return [folded(view.question(n) or "\U0010ffff") for n in range(len(columns))]
    if by in ("concept", "topic"):
        of_deck = [folded(title) for title in columns.titles]
        if by == "topic":
            of_deck = [folded(columns.topic_of(path)) or _NO_WORDS for path in columns.paths]
        counts = (columns.first[n + 1] - columns.first[n] for n in range(len(columns.paths)))
        return [key for key, count in zip(of_deck, counts, strict=True) for _ in range(count)]
    if by == "due":
        due = columns.states.column("due")
        return [_LAST if row < 0 or due[row] < -(2**62) else due[row] for row in columns.rows]
    return [_LAST if value is None else value for value in columns.values(by, now)]
