"""The gates for statements, sentences and cards: why one may not enter the wiki or a deck."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from compiler.gates.repeated_cards import manner, repeats
from compiler.index.steps import Steps, digest_of
from compiler.language.negation import negations, polarity_fault
from compiler.language.tokens import CJK, WORD, stems, tokens
from compiler.language.tokens import content_words as content_words
from compiler.model.requests import ClaimView, ProposedCard, Sentence
from vault.model.claim import ClaimKind
from vault.text.formatting import clean, fold

_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")
_THING = "method|approach|technique|paper|section|chapter|figure|table|example|article|case|result|equation|formula|way"
_DANGLING = re.compile(
    rf"\b(?:th(?:is|ese|at|ose) (?:{_THING})s?"
    r"|(?:as|see|shown|described|discussed|mentioned|given) (?:above|below|earlier|later)"
    r"|the (?:above|former|latter|following|preceding|previous (?:section|figure|example))"
    r"|(?:the|this) text)\b|^(?:this|these|those|such)\b",
    re.IGNORECASE,
)
_ASKS_NAME = re.compile(r"\bthe term for\b|\b(?:is|are) (?:this|these)(?: \w+)? called\b")  # its answer is the name
KIND_OF = {
    "definitional": {ClaimKind.DEFINITION},
    "mechanistic": {ClaimKind.MECHANISM},
    "relational": {ClaimKind.RELATION},
    "applied": {ClaimKind.APPLICATION, ClaimKind.LIMITATION},
}
MAX_QUESTION = 300
MAX_ANSWER = 700
LEAKED = 0.6  # of an answer's content words in the question give it away


# Whether a second reader accepted words (question and answer of a card, or a sentence and "") on these quotes.
Accepted = Callable[[str, str, Sequence[str]], bool]


def literal_fault(words: str, evidence: Sequence[str], who: str) -> str:
    """Return why words that nobody checks do not say what `evidence` says in its own words; "" if they do.

    Every content word and number has to be the evidence's, and no negation may be added or left out. `who` names the
    evidence in the reason.
    """
    known = set(content_words(" ".join(evidence)))
    evidence_words = {word for text in evidence for word in (*_FIGURES.findall(text), *negations(text))}
    if missing := [word for word in (*_FIGURES.findall(words), *negations(words)) if word not in evidence_words]:
        return f"{who} does not contain {', '.join(missing)}"
    if fault := polarity_fault(words, evidence):
        return f"{who} {fault}"
    return "" if all(word in known for word in content_words(words)) else f"{who} does not support it"


def statement_refused(statement: str, quote: str) -> str:
    """Return why a claim's quote does not prove its statement; "" if it does."""
    return literal_fault(statement, [quote], "the quote")


def sentence_refused(sentence: Sentence, claims: dict[str, ClaimView], accepted: Accepted | None = None) -> str:
    """Return why a sentence may not be in an article; "" if it may: it says what its claims say, or was `accepted`."""
    if not fold(sentence.text):
        return "the sentence is empty"
    if not sentence.cites:
        return "the sentence cites nothing"
    if any(c not in claims for c in sentence.cites):
        return "the sentence cites a claim that does not exist"
    evidence = [t for c in sentence.cites for t in (claims[c].quote, claims[c].words)]
    if any(fold(sentence.text) == fold(t) for t in evidence):
        return ""
    if accepted is not None and accepted(sentence.text, "", [claims[c].quote for c in sentence.cites]):
        return ""
    return literal_fault(sentence.text, evidence, "the evidence")


@dataclass(frozen=True, slots=True)
class CardForms:
    """The words of a card's question and answer without case and punctuation, and what its question asks."""

    question: str
    answer: str
    asks: str


def card_forms(question: str, answer: str) -> CardForms:
    """Return by which forms cards are found that repeat each other; `asks` is one for questions that ask the same."""
    stemmed = sorted(set(stems(tokens(question))))
    asks = " ".join([manner(question), *negations(question), *_FIGURES.findall(question), "", *stemmed])
    return CardForms(_folded(question), _folded(answer), asks)


@dataclass(slots=True)
class CardGate(ABC):
    """Checks cards one by one and remembers those that passed, so that none repeats another of the vault.

    Which words a card may have, and what counts as a repetition, is for the subclasses to say.
    """

    forms_of: Callable[[str, str], CardForms] = field(default=lambda question, answer: card_forms(question, answer))
    answers: set[str] = field(default_factory=set)
    questions: set[str] = field(default_factory=set)
    _asked: set[str] = field(default_factory=set)
    _by_concept: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def admit(self, question: str, answer: str, concept: str = "") -> None:
        """Remember a card that is in the vault already; `concept` is the id or title of what it is about."""
        known = self.forms_of(question, answer)
        self.answers.add(known.answer)
        self.questions.add(known.question)
        self._asked.add(known.asks)
        if concept:
            self._by_concept.setdefault(concept, []).append((question, answer))

    def refused(
        self,
        card: ProposedCard,
        title: str,
        claims: dict[str, ClaimView],
        *,
        names: Sequence[str] = (),
        concept: str = "",
        fault: str | None = None,
    ) -> str:
        """Return why the card may not enter; "" if it may, and then it is remembered.

        `names` are the concept's names beside its title, `concept` its id where cards are admitted by it; `fault` is
        what `fault` returned for the card, where that is known.
        """
        concept = concept or title
        reason = self.fault(card, title, claims, names) if fault is None else fault
        reason = reason or self._same(card) or self._repeats(card, concept)
        if not reason:
            self.admit(card.question, card.answer, concept)
        return reason

    @abstractmethod
    def fault(self, card: ProposedCard, title: str, claims: dict[str, ClaimView], names: Sequence[str]) -> str:
        """Return which words the card may not have; "" if all are right."""

    def _repeats(self, card: ProposedCard, concept: str) -> str:
        """Return which card says nearly the same; "" if none does."""
        return ""

    def _same(self, card: ProposedCard) -> str:
        """Return why a card repeats another word for word; "" if it does not."""
        known = self._forms(card)
        if known.answer in self.answers:
            return "another card has the same answer"
        return "another card asks the same question" if known.question in self.questions else ""

    def _forms(self, card: ProposedCard) -> CardForms:
        return self.forms_of(card.question, card.answer)


@dataclass(slots=True)
class StrictCardGate(CardGate):
    """The gate for cards in the words of their claims, which need no check."""

    def fault(self, card: ProposedCard, title: str, claims: dict[str, ClaimView], names: Sequence[str]) -> str:
        if _cites_known(card, claims) and not any(claims[c].kind in KIND_OF[card.kind] for c in card.cites):
            return f"no cited claim supports a {card.kind} card"
        return strict_card_fault(card, title, claims)

    def _repeats(self, card: ProposedCard, concept: str) -> str:
        return "another card asks almost the same question" if self._forms(card).asks in self._asked else ""


@dataclass(slots=True)
class WrittenCardGate(CardGate):
    """The gate for cards that a model or an agent wrote, which passed their rules and a second reader as drafts."""

    def fault(self, card: ProposedCard, title: str, claims: dict[str, ClaimView], names: Sequence[str]) -> str:
        return "the card cites no claim, or one that does not exist" if not _cites_known(card, claims) else ""

    def _same(self, card: ProposedCard) -> str:
        """Return why a card repeats another of the vault: only its question counts."""
        return "another card asks the same question" if self._forms(card).question in self.questions else ""

    def _repeats(self, card: ProposedCard, concept: str) -> str:
        return repeats(card.question, card.answer, self._by_concept.get(concept, ()))


@dataclass(slots=True)
class VaultCardGate(CardGate):
    """The gate for the cards of a finished vault: in the words of their claims, or accepted by a second reader."""

    accepted: Accepted = field(kw_only=True)

    def fault(self, card: ProposedCard, title: str, claims: dict[str, ClaimView], names: Sequence[str]) -> str:
        return written_card_fault(card, title, claims, self.accepted)

    def _same(self, card: ProposedCard) -> str:
        return "another card asks the same question" if self._forms(card).question in self.questions else ""


def card_gate(*, by_model: bool, forms_of: Callable[[str, str], CardForms] = card_forms) -> CardGate:
    """Return the gate for new cards: those of the embedded engine have to be in the words of their claims.

    `forms_of` gives the forms by which repetitions are found.
    """
    return WrittenCardGate(forms_of) if by_model else StrictCardGate(forms_of)


def stored_forms(steps: Steps) -> Callable[[str, str], CardForms]:
    """Return `card_forms`, which for cards of an earlier build has the forms stored."""

    def forms_of(question: str, answer: str) -> CardForms:
        key = digest_of(question, answer)
        found = steps.get("card-forms", key)
        if found is None:
            made = card_forms(question, answer)
            found = steps.put("card-forms", key, "\0".join((made.question, made.answer, made.asks)).encode())
        return CardForms(*found.decode().split("\0"))

    return forms_of


def _folded(text: str) -> str:
    """Return the words of a text in lower case, without punctuation."""
    return " ".join(WORD.findall(CJK.sub(r" \g<0> ", text).casefold()))


def strict_card_fault(card: ProposedCard, title: str, claims: dict[str, ClaimView]) -> str:
    """Return why a card in the words of its claims is no good in itself; "" if it is. To name `title` is no leak."""
    return (
        _plain_fault(card, claims)
        or literal_fault(fold(card.answer), _evidence(card, claims), "the evidence")
        or _leak(card, title)
    )


def written_card_fault(card: ProposedCard, title: str, claims: dict[str, ClaimView], accepted: Accepted | None) -> str:
    """Return why a card of the vault is neither in its claims' words nor accepted by a second reader; "" if it is."""
    if not _cites_known(card, claims):
        return "the card cites no claim, or one that does not exist"
    if accepted is not None and accepted(card.question, card.answer, [claims[c].quote for c in card.cites]):
        return ""
    return strict_card_fault(card, title, claims)


def _cites_known(card: ProposedCard, claims: dict[str, ClaimView]) -> bool:
    return bool(card.cites) and all(c in claims for c in card.cites)


def _plain_fault(card: ProposedCard, claims: dict[str, ClaimView]) -> str:
    """Return what is wrong with the form or the citations of any card; "" if nothing is."""
    question, answer = fold(card.question), fold(card.answer)
    if not question or not answer:
        return "the card has no question or no answer"
    if len(question) > MAX_QUESTION or len(answer) > MAX_ANSWER:
        return "the card is too long"
    if "\ufffd" in clean(card.question + card.answer):  # or held them, before it came in
        return "the card contains control characters"
    if not question.endswith(("?", "？")):
        return "the question is not phrased as a question"
    if not card.cites or any(c not in claims for c in card.cites):
        return "the card cites no claim, or one that does not exist"
    if _DANGLING.search(question) or _DANGLING.search(answer):
        return "the card refers to something that is not on it"
    return ""


def _evidence(card: ProposedCard, claims: dict[str, ClaimView]) -> list[str]:
    """Return the quotes and words of the claims that a card cites."""
    return [text for c in card.cites for text in (claims[c].quote, claims[c].words)]


def contains_answer(card: ProposedCard) -> bool:
    """Return whether a question has its whole answer in it."""
    return bool(_folded(card.answer)) and f" {_folded(card.answer)} " in f" {_folded(card.question)} "


def _leak(card: ProposedCard, title: str) -> str:
    """Return how the question gives its answer away; "" if it does not."""
    if contains_answer(card):
        return "the question contains its answer"
    question = fold(card.question)
    asked_words = set(content_words(question))
    named = set() if _ASKS_NAME.search(question) else set(content_words(title))
    wanted = [w for w in content_words(fold(card.answer)) if w not in named]
    if not wanted:
        return "the answer only names the concept"
    if sum(w in asked_words for w in wanted) / len(wanted) >= LEAKED:
        return "the question gives away its answer"
    return ""
