"""Cards from the claims of one concept: of the questions that its claims answer, the best."""

from __future__ import annotations

from collections import Counter

from compiler.engines.extractive.selection import model
from compiler.model.requests import CardsReply, CardsRequest, ProposedCard
from vault.model.claim import ClaimKind

PER_KIND = 2
KIND_OF_QUESTION = {
    "definitional": ClaimKind.DEFINITION,
    "mechanistic": ClaimKind.MECHANISM,
    "relational": ClaimKind.RELATION,
    "applied": ClaimKind.APPLICATION,
}


def cards(request: CardsRequest) -> CardsReply:
    """Return the cards that a concept's own claims support; none for a kind without a good one."""
    offers = [
        (ask, claim.id, place)
        for place, claim in enumerate(request.claims)
        if not claim.about or claim.about[0] == request.title  # else the concept it is about asks for it
        for ask in claim.cards
        if KIND_OF_QUESTION[ask.kind] is claim.kind
    ]
    least, count, chosen = model("card").threshold(request.language), Counter[str](), []
    for ask, claim_id, _ in sorted(offers, key=lambda offer: (-offer[0].score, offer[2])):
        if ask.score >= least and count[ask.kind] < PER_KIND:
            count[ask.kind] += 1
            card = ProposedCard(kind=ask.kind, question=ask.question, answer=ask.answer, cites=(claim_id,))
            chosen.append(card)
    return CardsReply(cards=tuple(chosen))
