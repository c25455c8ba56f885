"""Which rules read a segment and write its cards: those of its language."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.engines.extractive import chinese, english, german
from compiler.engines.extractive.borrowed import borrowed_terms
from compiler.engines.extractive.questions.cards import asks as english_asks
from compiler.engines.extractive.questions.question import Ask, Matter
from compiler.engines.extractive.questions.selection import Offer, chosen
from compiler.engines.extractive.questions.worth import Evidence, worth_asking
from compiler.model.requests import CardsReply, CardsRequest, ClaimView, ExtractReply, ExtractRequest
from vault.model.claim import ClaimKind

_KINDS = {
    ClaimKind.DEFINITION: "definitional",
    ClaimKind.MECHANISM: "mechanistic",
    ClaimKind.RELATION: "relational",
    ClaimKind.APPLICATION: "applied",
    ClaimKind.LIMITATION: "applied",
}


def extract(request: ExtractRequest, without: frozenset[str] = frozenset()) -> ExtractReply:
    """Claims and terms of one segment; from a language without rules of its own only the names that it borrows."""
    reply = _extract(request, without)
    borrowed = (t for t in borrowed_terms(request) if t.signal not in without)
    return ExtractReply(claims=reply.claims, terms=(*reply.terms, *borrowed))


def _extract(request: ExtractRequest, without: frozenset[str]) -> ExtractReply:
    if request.language == "de":
        return german.extract(request, without)
    if request.language == "zh":
        return chinese.extract(request, without)
    return english.extract(request, without) if request.language in ("", "en") else ExtractReply()


def cards(request: CardsRequest) -> CardsReply:
    """The few best cards that the concept's own claims support; each of the kind its claim is evidence for."""
    matter = Matter(request.title, request.aliases, [c.words for c in request.claims], request.language)
    defined = any(c.kind is ClaimKind.DEFINITION and c.about[:1] == (request.title,) for c in request.claims)
    offers = [
        Offer(ask, claim, place)
        for place, claim in enumerate(request.claims)
        if not claim.about or claim.about[0] == request.title  # else the concept it is about asks for it
        for ask in _asks(request.language, claim.words, matter)
        if _KINDS.get(claim.kind) == ask.kind
        and (
            request.language not in ("", "en")
            or worth_asking(ask.kind, ask.question, ask.answer, _evidence(request, claim, defined))
        )
    ]
    return CardsReply(cards=chosen(offers))


def _evidence(request: CardsRequest, claim: ClaimView, defined: bool) -> Evidence:
    return Evidence(claim.words, request.title, request.aliases, claim.mentions, defined, claim.quote)


def _asks(language: str, words: str, matter: Matter) -> Iterable[Ask]:
    if language == "de":
        return german.asks(words, matter)
    if language == "zh":
        return chinese.asks(words, matter)
    return english_asks(words, matter)
