"""Which cards a queue is made of: those that may be due today, or were never seen. The others are not looked at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from itertools import compress

from learning.anki_siblings import groups
from learning.checkpoint import Past
from learning.indexed_cards import IndexedCards, is_paused
from learning.placed import Placed, front_pauses
from learning.queue import Item
from learning.state_columns import StateColumns, instant_of, micros
from vault.ids import CardId
from vault.store import Vault

_EACH = re.compile(rb"[0-9a-z]{10}")


def items(vault: Vault, cards: Mapping[CardId, Placed], past: Past, tag: str, until: datetime) -> list[Item]:
    """The cards that may be queued, in the order of the decks; with an index, those that fall due by `until`.

    With `tag` only those of that tag, kind or concept.
    """
    tag = tag.removeprefix("#").casefold()
    if isinstance(cards, IndexedCards):
        return list(_of_index(vault, cards, past, tag, until))
    return list(_of_decks(vault, list(cards.values()), tag))


def groups_of(vault: Vault, cards: Mapping[CardId, Placed], wanted: Collection[CardId]) -> set[str]:
    """What the `wanted` cards share with their siblings; those that are in no deck have none."""
    if isinstance(cards, IndexedCards):
        return {cards.group(card) for card in wanted if card in cards}
    return set(groups(vault, [cards[card] for card in wanted if card in cards]).values())


def _of_decks(vault: Vault, cards: Collection[Placed], tag: str) -> Iterator[Item]:
    of = groups(vault, cards)
    paused: dict[str, bool] = {}
    tagged: dict[str, bool] = {}
    for placed in cards:
        path = placed.deck.path
        if path not in paused:
            paused[path] = is_paused(vault, placed.concept, front_pauses(placed.deck.text.encode()))
            tagged[path] = not tag or tag in names_of(placed)
        if not paused[path] and (tagged[path] or tag == placed.kind):
            yield Item(placed.id, of[placed.id], placed.kind)


def _of_index(vault: Vault, cards: IndexedCards, past: Past, tag: str, until: datetime) -> Iterator[Item]:
    index = cards.index
    each: list[bytes] = _EACH.findall(index.ids)
    away = _away(past, until)
    deck, end, skipped = -1, 0, True
    all_tagged = True
    for row in [n for n, id_ in enumerate(each) if id_ not in away]:
        if row >= end:
            deck = cards.deck_of(row)
            end = index.first[deck + 1]
            skipped = is_paused(vault, index.concept(deck), index.paused(deck))
            card = CardId(each[row].decode("ascii"))
            all_tagged = not tag or (not skipped and (found := cards.get(card)) is not None and tag in names_of(found))
        if not skipped and (all_tagged or tag == index.kind(row)):
            yield Item(CardId(each[row].decode("ascii")), index.group(row, deck), index.kind(row))


def concepts_asked(cards: Mapping[CardId, Placed], past: Past, until: datetime) -> set[str]:
    """The concepts whose article says something about the queue: those of all that `items` may give."""
    if not isinstance(cards, IndexedCards):
        return {placed.concept for placed in cards.values()}
    away, index = _away(past, until), cards.index
    rows = [n for n, id_ in enumerate(_EACH.findall(index.ids)) if id_ not in away]
    return {index.concept(cards.deck_of(row)) for row in rows}


def next_change(past: Past, now: datetime) -> datetime:
    """The first instant after `now` at which a card falls due or is no longer buried."""
    states = past.before.states
    found = [at for state in past.recent.values() for at in (state.due, state.buried_until) if at and at > now]
    if isinstance(states, StateColumns):
        least = micros(now)
        for name in ("due", "buried_until"):
            later = min((number for number in states.column(name) if number > least), default=None)
            if later is not None:
                found.append(instant_of(later))
    else:
        found += [at for state in states.values() for at in (state.due, state.buried_until) if at and at > now]
    return min(found, default=datetime.max.replace(tzinfo=UTC))


def _away(past: Past, until: datetime) -> set[bytes]:
    """The cards that were met and are not due before `until`."""
    states = past.before.states
    if not isinstance(states, StateColumns):
        return set()
    limit = micros(until)
    away = set(compress(_EACH.findall(states.ids), map(limit.__le__, states.column("due"))))
    away.difference_update(card.encode("utf-8", "replace") for card in past.recent)
    away.update(
        card.encode("utf-8", "replace")
        for card, state in past.recent.items()
        if state.due is not None and state.due >= until
    )
    return away


def names_of(placed: Placed) -> set[str]:
    """What a tag may call the deck of a card: its tags, its concept and its title, case folded."""
    tags = placed.deck.properties.texts("tags")
    return {placed.concept.casefold(), placed.title.casefold(), *(t.removeprefix("#").casefold() for t in tags)}
