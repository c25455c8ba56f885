"""From all the cards that a concept's claims support to the few worth reviewing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rapidfuzz import fuzz

from compiler.engines.extractive.questions.question import Ask
from compiler.model.requests import ClaimView, ProposedCard

PER_KIND = 2
SAME_QUESTION, SAME_ANSWER = 91, 80  # of 100, words sorted
KINDS = ("definitional", "mechanistic", "relational", "applied")


@dataclass(frozen=True, slots=True)
class Offer:
    """A card with the claim behind it; `place` is the claim's position among the concept's claims."""

    ask: Ask
    claim: ClaimView
    place: int


def chosen(offers: Iterable[Offer]) -> tuple[ProposedCard, ...]:
    """At most two cards a kind, the best first, none repeating another, in the order of the four kinds."""
    kept: list[Offer] = []
    ranked = sorted(offers, key=lambda o: (-o.ask.score, o.place, o.ask.question))
    for kind in KINDS:
        mine = [o for o in ranked if o.ask.kind == kind]
        kept += _best(mine, kept)
    return tuple(
        ProposedCard(kind=o.ask.kind, question=o.ask.question, answer=o.ask.answer, cites=(o.claim.id,)) for o in kept
    )


def _best(ranked: list[Offer], others: list[Offer]) -> Iterator[Offer]:
    taken: list[Offer] = []
    for offer in ranked:
        if len(taken) == PER_KIND:
            return
        if any(_repeats(offer, o) for o in (*others, *taken)):
            continue
        if any(o.claim.id == offer.claim.id for o in taken):
            continue  # a card is known by its kind and claim
        taken.append(offer)
        yield offer


def _repeats(a: Offer, b: Offer) -> bool:
    if a.ask.reverse != b.ask.reverse:
        return fuzz.token_set_ratio(a.ask.question, b.ask.answer) > 90 and a.claim.id != b.claim.id
    questions = fuzz.token_sort_ratio(a.ask.question, b.ask.question)
    answers = fuzz.token_sort_ratio(a.ask.answer, b.ask.answer)
    if questions > SAME_QUESTION or answers > SAME_ANSWER:
        return True
    return (questions > 80 and answers > 55) or fuzz.token_set_ratio(a.ask.answer, b.ask.answer) > 95
