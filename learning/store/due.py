"""The cards that a queue is made of: those that may be due, and those that were never reviewed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from learning.memory.state import MemoryState
from learning.schedule.queue import Item
from learning.store.cards import IndexedCards
from learning.store.history import History
from learning.store.paused import Paused
from learning.store.placed import Placed, front_pauses
from learning.store.siblings import groups
from learning.store.state_table import StateColumns, micros
from learning.store.topics import topic_named, topics
from vault.ids import CardId
from vault.vault import Vault

TOPIC = "topic:"  # begins the name of a topic, where a tag may stand


def items(vault: Vault, cards: Mapping[CardId, Placed], past: History, tag: str, until: datetime) -> list[Item]:
    """Return the cards that may be queued, in the order of the decks; with an index, those that fall due by `until`.

    With `tag` only those of that tag, kind or concept, or, where it is `topic:NAME`, of the topic's concepts. Raises:
    NotFound for a topic that is not there.
    """
    names = _selecting_names(vault, tag.removeprefix("#"))
    if isinstance(cards, IndexedCards):
        return list(_items_of_index(cards, past, names, until))
    return list(_items_of_decks(vault, list(cards.values()), names, _with_own_tag(past, names)))


def _with_own_tag(past: History, names: frozenset[str]) -> frozenset[CardId]:
    """Return the cards that are selected by a tag of their own."""
    if not names or TOPIC in names:
        return frozenset()
    return frozenset(card for card, tags in past.tagged().items() if not names.isdisjoint(map(str.casefold, tags)))


def _selecting_names(vault: Vault, tag: str) -> frozenset[str]:
    """Return the names, case folded, that select a card: a tag, or the concepts of a topic; empty where all are
    selected.
    """
    if not tag.casefold().startswith(TOPIC):
        return frozenset({tag.casefold()} - {""})

    return frozenset(stem.casefold() for stem in topic_named(tag[len(TOPIC) :], topics(vault))[1]) | {TOPIC}


def groups_of(vault: Vault, cards: Mapping[CardId, Placed], wanted: Collection[CardId]) -> set[str]:
    """Return the names of the siblings of the `wanted` cards; those that are in no deck have none."""
    if isinstance(cards, IndexedCards):
        return {cards.group(card) for card in wanted if card in cards}
    return set(groups(vault, [cards[card] for card in wanted if card in cards]).values())


def _items_of_decks(
    vault: Vault, cards: Collection[Placed], names: frozenset[str], own: Collection[CardId]
) -> Iterator[Item]:
    """Yield the selected cards of parsed decks."""
    of = groups(vault, cards)
    articles = Paused(vault)
    paused: dict[str, bool] = {}
    tagged: dict[str, bool] = {}
    for placed in cards:
        path = placed.deck.path
        if path not in paused:
            paused[path] = articles.pauses(placed.concept, front_pauses(placed.deck.text.encode()))
            tagged[path] = not names or not names.isdisjoint(_names_among(placed, names))
        if not paused[path] and (tagged[path] or placed.kind in names or placed.id in own):
            yield Item(placed.id, of[placed.id], placed.kind)


def _items_of_index(cards: IndexedCards, past: History, names: frozenset[str], until: datetime) -> Iterator[Item]:
    """Yield the selected cards of an index that fall due before `until`."""
    index = cards.index
    deck, end, skipped = -1, 0, True
    all_tagged, own = True, _with_own_tag(past, names)
    for row, card in _near_cards(cards, past, until):
        if row >= end:
            deck = cards.deck_of(row)
            end = index.first[deck + 1]
            skipped = cards.paused.pauses(index.concept(deck), index.paused(deck))
            all_tagged = not names or (not skipped and _has_name(cards.get(card), names))
        if not skipped and (all_tagged or index.kind(row) in names or card in own):
            yield Item(card, index.group(row, deck), index.kind(row))
    cards.paused.write_cache()


def _near_cards(cards: IndexedCards, past: History, until: datetime) -> list[tuple[int, CardId]]:
    """Return (number, id) of the cards that are new or fall due before `until`, in the order of the decks."""
    states, recent, index = past.before.states, past.recent, cards.index
    if not isinstance(states, StateColumns):
        return [(n, id_) for n, id_ in enumerate(index.card_ids()) if _is_near(past.states.get(id_), until)]
    crossed = cards.crossed(states)
    found: dict[int, CardId] = {}
    for row in crossed.before(micros(until)):
        number = crossed.cards[row]
        if number >= 0 and (card := index.card_id(number)) not in recent:
            states.cache_state(card, row)
            found[number] = card
    for number in crossed.unmet:
        if (card := index.card_id(number)) not in recent:
            states.cache_state(card, None)
            found[number] = card
    for card, state in recent.items():
        if _is_near(state, until) and (place := crossed.number(card)) is not None:
            found[place] = card
    for number, card in found.items():
        cards.cache_number(card, number)
    return sorted(found.items())


def _is_near(state: MemoryState | None, until: datetime) -> bool:
    """Return whether a card with this state is new or due before `until`."""
    return state is None or state.due is None or state.due < until


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
