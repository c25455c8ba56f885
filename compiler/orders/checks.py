"""Checks of replies: which words rules can't decide on, and which agent wrote the words a check is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.claims.extract import around
from compiler.gates.checks import pairs_of_article, pairs_of_cards
from compiler.gates.entailment import names_around
from compiler.gates.gates import card_words, needs_check
from compiler.model.requests import (
    AnswerReply,
    AnswerRequest,
    CardsReply,
    CardsRequest,
    CheckRequest,
    ComposeReply,
    ComposeRequest,
    ExtractReply,
    ExtractRequest,
    Reply,
    Request,
    Section,
)
from compiler.orders.questions import order_id
from compiler.replies.journal import Entry
from vault.model.source import FoldedText
from vault.text.formatting import clean, fold

AGENT = "agent/1"


def count_soft_items(request: Request, reply: Reply) -> int:
    """Return how many items of the reply use words of which rules can't decide whether they follow."""
    if isinstance(request, ExtractRequest) and isinstance(reply, ExtractReply):
        return sum(_is_soft(request, reply))
    if isinstance(request, ComposeRequest) and isinstance(reply, ComposeReply):
        return sum(needs_check(*pair) for pair in pairs_of_article(reply, request.claims))
    if isinstance(request, CardsRequest) and isinstance(reply, CardsReply):
        return len(pairs_of_cards(reply, request.claims, (request.title, *request.aliases)))
    if isinstance(request, AnswerRequest) and isinstance(reply, AnswerReply):
        article = ComposeReply(sections=(Section(heading="", paragraphs=(reply.sentences,)),))
        return sum(needs_check(*pair) for pair in pairs_of_article(article, request.claims))
    return 0


def _is_soft(request: ExtractRequest, reply: ExtractReply) -> Iterator[bool]:
    """Yield, for each claim with a statement, whether it needs a check."""
    text = FoldedText.of(request.text)
    for claim in reply.claims:
        quote, statement = fold(clean(claim.quote)), fold(clean(claim.statement))
        if statement and statement != quote:
            span = text.find(quote)
            context = around(request.title, request.headings, request.text, span[0] if span else 0)
            yield needs_check(statement, (quote,), names_around(context))


def check_writers(requests: Sequence[Request], entries: Iterable[Entry]) -> dict[str, str]:
    """Return id of a check -> name of the agent that wrote its words, if one did; the latest counts."""
    wanted = {request.words: order_id(request) for request in requests if isinstance(request, CheckRequest)}
    found: dict[str, str] = {}
    for entry in entries if wanted else ():
        said_by, _, name = entry.engine.partition(" ")
        reply = entry.value() if said_by == AGENT and name else None
        for words in _own_words(reply) if reply is not None else ():
            if id_ := wanted.get(fold(words)):
                found[id_] = name
    return found


def _own_words(reply: Reply) -> Iterator[str]:
    """Yield what a reply says in words of its own."""
    if isinstance(reply, ExtractReply):
        yield from (clean(claim.statement) for claim in reply.claims)
    elif isinstance(reply, ComposeReply):
        yield from (s.text for section in reply.sections for paragraph in section.paragraphs for s in paragraph)
    elif isinstance(reply, CardsReply):
        yield from map(card_words, reply.cards)
