"""Cards from the claims of one concept: of the questions that its claims answer, the best; the rest as suggestions."""

from __future__ import annotations

from collections import Counter

from compiler.engines.extractive.selection import model
from compiler.gates.repeated_cards import PER_KIND
from compiler.model.requests import CardKindName, CardsReply, CardsRequest, ProposedCard, SuggestedCard
from vault.model.claim import ClaimKind

KIND_OF_QUESTION: dict[CardKindName, ClaimKind] = {
    "definitional": ClaimKind.DEFINITION,
    "mechanistic": ClaimKind.MECHANISM,
    "relational": ClaimKind.RELATION,
    "applied": ClaimKind.APPLICATION,
}


def cards(request: CardsRequest) -> CardsReply:
    """Return the cards that a concept's own claims support; none for a kind without a good one.

    What is good enough for the queue and has no place left in it is dropped: it says what better cards say.
    """
    offers = [
        (ask, claim.id, place)
        for place, claim in enumerate(request.claims)
        if not claim.about or claim.about[0] == request.title  # else the concept it is about asks for it
        for ask in claim.cards
        if KIND_OF_QUESTION[ask.kind] is claim.kind
    ]
    least, count = model("card").threshold(request.language), Counter[str]()
    chosen: list[ProposedCard] = []
    suggested: list[SuggestedCard] = []
    for ask, claim_id, _ in sorted(offers, key=lambda offer: (-offer[0].score, offer[2])):
        card = ProposedCard(kind=ask.kind, question=ask.question, answer=ask.answer, cites=(claim_id,))
        if ask.score >= least:
            if count[ask.kind] == PER_KIND:
                continue
            count[ask.kind] += 1
            chosen.append(card)
        suggested.append(SuggestedCard(**card.as_json(), score=ask.score, form=ask.form, number=ask.number))
    return CardsReply(cards=tuple(chosen), suggested=tuple(suggested))
