"""Cards for one concept from its claims."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.engines.extractive.applied import applied
from compiler.engines.extractive.asking import Ask, Matter
from compiler.engines.extractive.choosing import EVIDENCE, Offer, chosen
from compiler.engines.extractive.clauses import Clause, parse
from compiler.engines.extractive.definitional import definitional
from compiler.engines.extractive.mechanistic import mechanistic
from compiler.engines.extractive.relational import relational
from compiler.engines.extractive.standing import without_pointers
from compiler.engines.port import CardsReply, CardsRequest


def cards(request: CardsRequest) -> CardsReply:
    """The few best cards that the concept's own claims support."""
    matter = Matter(request.title, request.aliases, [c.words for c in request.claims])
    return CardsReply(cards=chosen(_offers(request, matter)))


def _offers(request: CardsRequest, matter: Matter) -> Iterator[Offer]:
    for place, claim in enumerate(request.claims):
        if claim.about and claim.about[0] != request.title:
            continue  # the concept it is about asks for it
        for ask in asks(claim.words, matter):
            if ask.kind in EVIDENCE.get(claim.kind, ()):
                yield Offer(ask, claim, place)


def asks(words: str, matter: Matter, clause: Clause | None = None) -> list[Ask]:
    """Every card that one sentence supports about the matter."""
    words = without_pointers(words)
    clause = clause or parse(words)
    found = definitional(words, clause, matter)
    if clause:
        found += [*mechanistic(clause, matter), *relational(clause, matter), *applied(clause, matter)]
    return [a for a in found if a is not None]
