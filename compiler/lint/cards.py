"""Rules on cards: what makes them hard to learn or wrong to trust."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.gates.repeated_cards import repeats
from compiler.language.search_terms import FUNCTION_WORDS, terms
from compiler.lint.wiki import Wiki
from vault.model.card import Card, Deck
from vault.model.markdown import plain_words
from vault.text.formatting import truncate

Found = Iterator[tuple[str, int, str, str]]
LONGEST = 60  # words of an answer
_QUOTED = 80  # characters of a question in a finding
_UNNAMED = re.compile(
    r"^(?:what|how|why|when|where|who|which)\b[^?]*?\b(?:is|are|does|do|did|was|were|can)\s+(?:it|this|that|they|these|those)"
    r"(?:\s*\?|\s+(?:\w+\s*){0,3}\?)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\s*(?:[-*+]|\d+[.)]|\|)", re.MULTILINE)


def _cards(wiki: Wiki) -> Iterator[tuple[Deck, Card]]:
    return ((deck, card) for deck in wiki.decks for card in deck.cards)


def too_long(wiki: Wiki) -> Found:
    """Yield cards whose answer is too long."""
    for deck, card in _cards(wiki):
        count = len(plain_words(card.answer).split())
        if count > LONGEST and not _LISTED.search(card.answer):
            yield deck.path, card.line, f"its answer has {count} words", "make two cards of it: `retain card edit`"


def doubles(wiki: Wiki) -> Found:
    """Yield cards of a deck that ask what an earlier one asks."""
    for deck in wiki.decks:
        before: list[tuple[str, str]] = []
        for card in deck.cards:
            words = plain_words(card.question), plain_words(card.answer)
            if repeats(*words, before):
                what = f"“{truncate(words[0], _QUOTED)}” asks what an earlier card of the deck asks"
                yield deck.path, card.line, what, "delete one of the two"
            before.append(words)


def leaking(wiki: Wiki) -> Found:
    """Yield cards whose question has all words of the answer."""
    for deck, card in _cards(wiki):
        answer = [word for word in terms(plain_words(card.answer)) if word not in FUNCTION_WORDS]
        asked = set(terms(plain_words(card.question)))
        if answer and asked.issuperset(answer):
            yield deck.path, card.line, "the answer is in the question", "reword it: `retain card edit`"


def unclear(wiki: Wiki) -> Found:
    """Yield cards whose question speaks of something that it does not name."""
    for deck, card in _cards(wiki):
        if _UNNAMED.match(plain_words(card.question).strip()):
            what = f"“{truncate(plain_words(card.question), _QUOTED)}” does not name what it asks about"
            yield deck.path, card.line, what, "name it: `retain card edit`"


def unsupported(wiki: Wiki) -> Found:
    """Yield cards that nobody edited and that cite no claim, or one that is gone."""
    for deck, card in _cards(wiki):
        if not card.stamp or card.human_edited or deck.properties.text("anki_deck"):
            continue
        if not any(str(cite.claim) in wiki.claims for cite in card.support):
            yield deck.path, card.line, "it cites no claim", "`retain compile` retracts it; edit it to make it your own"
