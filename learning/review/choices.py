"""What a review can be limited to: topics, tags, kinds and concepts, each with its cards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from learning.cards.workspace import Desk
from learning.history.due import TOPIC
from learning.stats.mastery import Studied
from learning.stats.material import studied
from learning.store.topics import topics
from vault.ids import CardId

_KINDS = ("definitional", "mechanistic", "relational", "applied")


@dataclass(frozen=True, slots=True)
class Choice:
    """A selection of cards: `tag` is what a Plan takes ("" for every card); `group` is "topic", "tag", "kind",
    "concept" or "". `due` and `new` are what today takes of them.
    """

    tag: str
    name: str
    group: str
    cards: int
    due: int
    new: int


def choices(desk: Desk) -> list[Choice]:
    """Return the selections: every card first, then topics, tags and kinds, then concepts by how many cards are due."""
    cards, today = studied(desk), desk.today
    due = {item.card for item in (*desk.queue.due, *desk.queue.waiting)}
    new = {item.card for item in desk.queue.new}
    groups: dict[tuple[str, str, str], list[CardId]] = {("", "", ""): [card.card for card in cards]}
    of_topic: dict[str, list[str]] = {}
    for topic, stems in topics(desk.vault).items():
        for stem in stems:
            of_topic.setdefault(stem, []).append(topic)
    for card in cards:
        for key in _keys(card, of_topic):
            groups.setdefault(key, []).append(card.card)
    out = [
        Choice(
            tag,
            name,
            group,
            len(ids),
            min(today["due"], sum(c in due for c in ids)),
            min(today["new"], sum(c in new for c in ids)),
        )
        for (group, tag, name), ids in groups.items()
    ]
    order = ("", "topic", "tag", "kind", "concept")
    return sorted(out, key=lambda c: (order.index(c.group), -c.due, -c.new, c.name.casefold()))


def _keys(card: Studied, of_topic: dict[str, list[str]]) -> Iterable[tuple[str, str, str]]:
    """Yield (group, tag, name) of each selection that a card is in."""
    for topic in of_topic.get(card.concept, ()):
        yield "topic", TOPIC + topic, topic
    for tag in card.tags:
        yield "tag", tag, tag
    if card.kind in _KINDS:
        yield "kind", card.kind, card.kind
    yield "concept", card.concept, card.title
