"""Suggested cards in a build: which proposals of the engine the user decided on, and what is offered of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from compiler.cards.live_cards import keyed, suggestion_key
from compiler.model.requests import CardsReply, ProposedCard, SuggestedCard
from vault.ids import CardId
from vault.inbox.suggestion_events import Triage

PER_ARTICLE = 4  # suggestions that wait at a time: more would bury the better ones of other articles


@dataclass(frozen=True, slots=True)
class Candidate:
    """A suggestion for the concept with the id `concept`; `id` is that of the card that it would become."""

    id: CardId
    concept: str
    card: SuggestedCard


@dataclass(frozen=True, slots=True)
class SortedCards:
    """The engine's cards for a concept: `proposals` by key; `kept` are keys of those that the user kept.

    `suggestible` are the cards that may be suggested, by key.
    """

    proposals: dict[str, ProposedCard]
    kept: frozenset[str]
    suggestible: dict[str, SuggestedCard]


def sort_cards(
    reply: CardsReply, triage: Triage, id_of: Callable[[str], CardId], living: Iterable[CardId]
) -> SortedCards:
    """Return the embedded engine's cards for a concept by the user's decisions; what was dropped is left out.

    `id_of` returns the card that has or would have a key; a card of `living` keeps its proposal, by which it follows
    its claims, whatever the score is now.
    """
    alive, queue = frozenset(living), {(card.question, card.cites) for card in reply.cards}
    proposals, suggestible = dict[str, ProposedCard](), dict[str, SuggestedCard]()
    kept, handled = set[str](), set[tuple[str, tuple[str, ...]]]()
    for card in reply.suggested:
        key, same = suggestion_key(card), (card.question, card.cites)
        id_ = id_of(key)
        if triage.dropped(id_, card.question):
            handled.add(same)
            continue
        if triage.kept(id_):
            kept.add(key)
        if triage.kept(id_) or id_ in alive or (card.form in triage.queued and same not in queue):
            handled.add(same)
            proposals[key] = card
        elif same not in queue:
            suggestible[key] = card
    left = [card for card in reply.cards if (card.question, card.cites) not in handled]
    return SortedCards(keyed(left) | proposals, frozenset(kept), suggestible)


def offered(candidates: Sequence[Candidate], refused: Callable[[Candidate], str]) -> list[Candidate]:
    """Return the candidates that are offered, best first: a few an article, and none that `refused` gives a reason for.

    `refused` remembers what it passed, so that nothing is offered twice.
    """
    count = Counter[str]()
    out = []
    for candidate in sorted(candidates, key=lambda c: (-c.card.score, c.id)):
        if count[candidate.concept] < PER_ARTICLE and not refused(candidate):
            count[candidate.concept] += 1
            out.append(candidate)
    return out
