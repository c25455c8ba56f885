"""Rules on cards: what makes them hard to learn or wrong to trust."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from compiler.gates.repeated_cards import repeats
from compiler.language.search_terms import FUNCTION_WORDS, terms
from compiler.lint.wiki import Wiki
from vault.model.card import Card, Deck
from vault.model.markdown import plain_words
from vault.text.formatting import fold, truncate

Found = Iterator[tuple[str, int, str, str]]
LONGEST = 60  # words of an answer
_QUOTED = 80  # characters of a question in a finding
_UNNAMED = re.compile(
    r"^(?:what|how|why|when|where|who|which)\b[^?]*?\b(?:is|are|does|do|did|was|were|can)\s+(?:it|this|that|they|these|those)"
    r"(?:\s*\?|\s+(?:\w+\s*){0,3}\?)",
    re.IGNORECASE,
)
_NAMED_WORD = re.compile(
    r"`[^`]+`|\"[^\"]+\"|“[^”]+”|‘[^’]+’|(?<!\w)'[^']+'(?!\w)|«[^»]+»|(?<![\w*])\*[^*]+\*(?![\w*])"
)
_LISTED = re.compile(r"^\s*(?:[-*+]|\d+[.)]|\|)", re.MULTILINE)


def _cards(wiki: Wiki) -> Iterator[tuple[Deck, Card]]:
    return ((deck, card) for deck in wiki.decks_originals_first for card in deck.cards)


def too_long(wiki: Wiki) -> Found:
    """Yield cards whose answer is too long."""
    for deck, card in _cards(wiki):
        count = len(plain_words(card.answer).split())
        if count > LONGEST and not _LISTED.search(card.answer):
            yield (
                deck.path,
                card.line,
                f"its answer is too long to recall at once: {count} words",
                "split it into two cards: `retain card edit`",
            )


def doubles(wiki: Wiki) -> Found:
    """Yield cards of a deck that ask what an earlier one asks, and cards that another deck has word for word."""
    everywhere: dict[tuple[str, str], str] = {}
    for deck, card in _cards(wiki):
        whole = fold(plain_words(card.question)).casefold(), fold(plain_words(card.answer)).casefold()
        if everywhere.setdefault(whole, deck.path) != deck.path:
            what = f"“{truncate(plain_words(card.question), _QUOTED)}” is also in {everywhere[whole]}"
            yield deck.path, card.line, what, "delete one of the two"
    for deck in wiki.decks:
        before: list[tuple[str, str]] = []
        for card in deck.cards:
            words = plain_words(card.question), plain_words(card.answer)
            if repeats(*words, before) and not _asks_the_same(words, before):
                what = f"“{truncate(words[0], _QUOTED)}” asks the same question as an earlier card in the deck"
                yield deck.path, card.line, what, "delete one of the two"
            before.append(words)


def _asks_the_same(words: tuple[str, str], before: Iterable[tuple[str, str]]) -> bool:
    """Return whether earlier cards have the question word for word, and none of them the answer."""
    question, answer = (fold(each).casefold() for each in words)
    answers = [fold(a).casefold() for q, a in before if fold(q).casefold() == question]
    return bool(answers) and answer not in answers


def ambiguous(wiki: Wiki) -> Found:
    """Yield cards that ask what another card asks and have another answer, without saying of what."""
    by_question: dict[str, list[tuple[Deck, Card]]] = defaultdict(list)
    for deck, card in _cards(wiki):
        by_question[fold(plain_words(card.question)).casefold()].append((deck, card))
    for question, alike in by_question.items():
        first = alike[0][1]
        for deck, card in alike[1:]:
            same = fold(plain_words(card.answer)).casefold() == fold(plain_words(first.answer)).casefold()
            if question and not same:
                what = f"“{truncate(plain_words(card.question), _QUOTED)}” has a different answer in {alike[0][0].path}"
                yield deck.path, card.line, what, "say in the question what it is about: `retain card edit`"


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
        if _UNNAMED.match(plain_words(_NAMED_WORD.sub(" X ", card.question)).strip()):
            what = f"“{truncate(plain_words(card.question), _QUOTED)}” does not say what it is about"
            yield deck.path, card.line, what, "say what it is about: `retain card edit`"
