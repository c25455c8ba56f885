"""Cards from the claims of one concept: of the questions that its claims answer, the best; the rest as suggestions."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

from compiler.engines.extractive.selection import model
from compiler.gates.repeated_cards import PER_KIND
from compiler.language.search_terms import FUNCTION_WORDS, query_words, terms
from compiler.model.requests import CardKindName, CardsReply, CardsRequest, ProposedCard, SuggestedCard
from vault.model.claim import ClaimKind

# The subject of a question with "the"; words after it may make clear which is meant, and "the same" needs none.
_DEFINITE = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|must|should|will|would|may|might|has|have|had) the (\S[^?]*)"
)
_MAKES_CLEAR = re.compile(
    r"(?:same|most|least|best|only|first|last|\w+est)\b|"
    r"(?:\S+ ){1,3}(?:of|for|in|on|at|by|with|from|to|between|that|which|who|where|when|whose)\b"
)
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
    ambiguous = _is_ambiguous(request)
    least, count = model("card").threshold(request.language), Counter[str]()
    chosen: list[ProposedCard] = []
    suggested: list[SuggestedCard] = []
    for ask, claim_id, _ in sorted(offers, key=lambda offer: (-offer[0].score, offer[2])):
        question = ask.question
        if ask.context and (ambiguous or _refers(question, request)):
            question = f"{ask.context}: {question}"
        card = ProposedCard(kind=ask.kind, question=question, answer=ask.answer, cites=(claim_id,))
        if ask.score >= least:
            if count[ask.kind] == PER_KIND:
                continue
            count[ask.kind] += 1
            chosen.append(card)
        suggested.append(SuggestedCard(**card.as_json(), score=ask.score, form=ask.form, number=ask.number))
    return CardsReply(cards=tuple(chosen), suggested=tuple(suggested))


def _is_ambiguous(request: CardsRequest) -> bool:
    """Return whether two sources say with wholly different words what the concept is: they may mean two things."""
    title = set(terms(" ".join([request.title, *request.aliases]), request.language))
    said: dict[str, set[str]] = {}
    for claim in request.claims:
        if claim.kind is ClaimKind.DEFINITION and (not claim.about or claim.about[0] == request.title):
            words = (word for word in query_words(claim.words) if word not in FUNCTION_WORDS)
            stems = {term for word in words for term in terms(word, request.language)}
            said.setdefault(claim.source, set()).update(stems - title)
    return any(one.isdisjoint(other) for one, other in combinations(said.values(), 2))


def _refers(question: str, request: CardsRequest) -> bool:
    """Return whether an English question speaks of "the model", say, which only its section makes clear.

    What follows may make it clear, too ("the end of the rope"), as do the words of a definition; a proper name and the
    concept's own name of several words need nothing.
    """
    if request.language != "en" or " the term for " in question:
        return False
    names = tuple(name.casefold() for name in (request.title, *request.aliases) if " " in name)
    found = _DEFINITE.search(question)
    if found is None or found[1][:1].isupper() or _MAKES_CLEAR.match(found[1]):
        return False
    return not found[1].casefold().startswith(names)
