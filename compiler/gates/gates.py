"""What may enter the wiki and the decks. Every engine's words pass here, and what is refused is reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from compiler.gates.card_form import alike, asked, contained_fault, ideas_fault, kind_fault, manner
from compiler.gates.entailment import FLOOR, UNRELATED, Judgement, judge, names_told, shared
from compiler.gates.entailment import needs_check as needs_check
from compiler.gates.facts import name_fault, quantity_fault
from compiler.language.formulas import read_out
from compiler.language.lexicon import stem
from compiler.language.tokens import CJK, FUNCTION_WORDS, WORD
from compiler.language.tokens import content_words as content_words
from compiler.model.requests import ClaimView, ProposedCard, Sentence
from vault.model.claim import ClaimKind
from vault.text.sanitize import clean, fold

_TELLING = re.compile(  # what changes the truth of a sentence in one stroke: numbers and negations
    r"\d+(?:[.,]\d+)*|\b(?:not|no|never|none|nothing|neither|nor|cannot|without|nicht|nie|kein\w*|ohne)\b|n['’]t\b|[不没無无非]",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"not|no|never|none|nothing|neither|nor|cannot|without|nicht|nie|kein\w*|ohne|\w+n['’]t")
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
SUPPORTED = 1.0  # of the content words of a sentence or an answer must stand in the claims it cites
STATED = 1.0  # of the content words of a claim's statement must stand in its quote
LEAKED = 0.6  # of an answer's content words standing in the question give it away
SAME_QUESTION = 93  # out of 100, by sorted tokens
SAME_CARD = 92  # out of 100: question and answer together, in any order and number of words
SAME_ANSWER = 0.75  # of the content words of two answers about one concept


# Whether somebody has checked that words follow from evidence; None where nobody has. Given, words may be free:
# rules hold the facts, and the check says whether the rest follows. Without it, all words are the evidence's own.
Entailed = Callable[[str, Sequence[str]], bool | None]


def support(words: str, evidence: Sequence[str]) -> tuple[float, list[str]]:
    """(share in [0, 1] of the content words of `words` that `evidence` has, the numbers and negations it has not).

    A negation carries no content of its own and turns all of it round, so it is looked for by itself.
    """
    proof = " ".join(evidence)
    known = set(content_words(proof))
    wanted = content_words(words)
    there = {m.casefold() for m in _TELLING.findall(proof)}
    strange = [m for m in _TELLING.findall(words) if m.casefold() not in there]
    return (sum(w in known for w in wanted) / len(wanted) if wanted else 1.0), strange


def negations_dropped(words: str, evidence: Sequence[str]) -> list[str]:
    """The negations of `evidence` that `words` leaves out between the very words that they stand between."""
    said, _ = _neighbours(words)
    plain: set[tuple[str, str]] = set()
    negated: dict[tuple[str, str], str] = {}
    for text in evidence:
        here, denied = _neighbours(text)
        plain |= here
        negated |= denied
    return sorted({word for pair, word in negated.items() if pair in said - plain})


def _neighbours(text: str) -> tuple[set[tuple[str, str]], dict[tuple[str, str], str]]:
    """(pairs of content words that follow each other, pairs with a negation between them and that negation)."""
    plain: set[tuple[str, str]] = set()
    negated: dict[tuple[str, str], str] = {}
    last, negation = "", ""
    for word in WORD.findall(text.casefold()):
        if _NEGATION.fullmatch(word):
            negation = word
        elif word == "only":
            negation = ""  # "not only" denies nothing
        elif word not in FUNCTION_WORDS:
            pair = (last, stem(word))
            if negation:
                negated[pair] = negation
            else:
                plain.add(pair)
            last, negation = pair[1], ""
    return plain, negated


def statement_refused(statement: str, quote: str, entailed: Entailed | None = None, context: str = "") -> str:
    """Why a claim's quote does not prove its statement; "" if it does. A claim without a statement says its quote.

    A name that stands in the `context` of the quote may be what the quote calls "it": a check says whether.
    """
    if entailed is not None:
        judgement = judge(statement, [quote], names_told(context))
        return _settled(judgement, statement, [quote], entailed) if fold(statement) else ""
    share, strange = support(statement, [quote])
    if strange:
        return f"the quote does not say {', '.join(strange)}"
    if share < STATED:
        return "the quote does not bear out the statement"
    dropped = negations_dropped(statement, [quote])
    return f"the statement leaves out the quote's {', '.join(dropped)}" if dropped else ""


def _settled(judgement: Judgement, words: str, evidence: Sequence[str], entailed: Entailed) -> str:
    """Why words may not stand, after a check if they need one; "" if they may."""
    if judgement.refused or not judgement.needs_check:
        return judgement.refused
    verdict = entailed(words, evidence)
    if verdict is None:
        return "nobody has checked whether it follows from its evidence"
    return "" if verdict else "a check found that it does not follow from its evidence"


def sentence_refused(sentence: Sentence, claims: dict[str, ClaimView], entailed: Entailed | None = None) -> str:
    """Why the sentence may not stand in an article; "" if it may."""
    if not fold(sentence.text):
        return "the sentence is empty"
    if not sentence.cites:
        return "the sentence cites nothing"
    if any(c not in claims for c in sentence.cites):
        return "the sentence cites a claim that does not exist"
    evidence = [t for c in sentence.cites for t in (claims[c].quote, claims[c].words)]
    if any(fold(sentence.text) == fold(t) for t in evidence):
        return ""
    if entailed is not None:
        return _settled(judge(sentence.text, evidence), sentence.text, evidence, entailed)
    share, strange = support(sentence.text, evidence)
    if strange:
        return f"the cited claims do not say {', '.join(strange)}"
    if share < SUPPORTED:
        return "the cited claims do not bear out the sentence"
    dropped = negations_dropped(sentence.text, evidence)
    return f"it leaves out the cited claims' {', '.join(dropped)}" if dropped else ""


@dataclass(slots=True)
class CardGate:
    """Judges cards one by one and remembers those that passed, so that none repeats another of the vault.

    Cards in free words are held to more, as their words prove nothing: where `entailed` is given, unless `fluent` is
    False, as for the cards of a finished vault, each of which has passed one gate or the other.
    """

    answers: dict[str, str] = field(default_factory=dict)  # folded answer -> folded question
    questions: set[str] = field(default_factory=set)
    entailed: Entailed | None = None
    fluent: bool | None = None
    _whole: list[str] = field(default_factory=list)  # question and answer of each card
    _bare_wholes: list[str] = field(default_factory=list)  # the same, bare
    _concepts: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # of each concept: its cards

    def admit(self, question: str, answer: str, concept: str = "") -> None:
        """Remember a card that is in the vault already; `concept` is the id or title of what it is about."""
        self.answers.setdefault(_bare(answer), _bare(question))
        self.questions.add(_bare(question))
        self._whole.append(f"{question}\n{answer}")
        self._bare_wholes.append(_bare(self._whole[-1]))
        if concept:
            self._concepts.setdefault(concept, []).append((question, answer))

    def refused(
        self,
        card: ProposedCard,
        title: str,
        claims: dict[str, ClaimView],
        *,
        names: Sequence[str] = (),
        concept: str = "",
    ) -> str:
        """Why the card may not enter; "" if it may, and then it is remembered.

        `names` are the concept's names beside its title, `concept` its id where cards are admitted by it.
        """
        concept = concept or title
        fluent = self.entailed is not None if self.fluent is None else self.fluent
        reason = card_refused(card, title, claims, self.entailed if fluent else None, names=names)
        if self.entailed is not None and not fluent:  # a finished vault: a card passed one gate or the other
            for free in (False, True):
                reason = reason and card_refused(card, title, claims, self.entailed, names=names, fluent=free)
            reason = reason or self._same(card)
        else:
            reason = reason or (self._nearly(card, concept) if fluent else self._repeats(card))
        if not reason:
            self.admit(card.question, card.answer, concept)
        return reason

    def _repeats(self, card: ProposedCard) -> str:
        from rapidfuzz import fuzz, process

        question = _bare(card.question)
        if reason := self._same(card):
            return reason
        if process.extractOne(question, self.questions, scorer=fuzz.token_sort_ratio, score_cutoff=SAME_QUESTION):
            return "another card asks nearly this"
        return ""

    def _same(self, card: ProposedCard) -> str:
        if _bare(card.answer) in self.answers:
            return "another card has this answer"
        return "another card asks this" if _bare(card.question) in self.questions else ""

    def _nearly(self, card: ProposedCard, concept: str) -> str:
        """Why a card in free words says nothing that another does not; one other number or name is another card."""
        from rapidfuzz import fuzz, process

        if reason := self._same(card):
            return reason
        about, how = asked(card.question), manner(card.question)
        for question, answer in self._concepts.get(concept, ()):
            same_answer = alike(asked(card.answer), asked(answer)) >= SAME_ANSWER
            if same_answer or (asked(question) == about and manner(question) == how):
                return "another card here has this answer" if same_answer else "another card asks nearly this"
        whole = f"{card.question}\n{card.answer}"
        near = process.extract(
            _bare(whole), self._bare_wholes, scorer=fuzz.token_sort_ratio, score_cutoff=SAME_CARD, limit=5
        )
        if any(not (asked(whole) ^ asked(self._whole[at])) for _, _, at in near):
            return "another card asks and answers nearly this"
        near_questions = process.extract(
            _bare(card.question), self.questions, scorer=fuzz.token_sort_ratio, score_cutoff=SAME_QUESTION, limit=5
        )
        return "another card asks nearly this" if any(asked(q) == about for q, _, _ in near_questions) else ""


def _bare(text: str) -> str:
    return " ".join(WORD.findall(CJK.sub(r" \g<0> ", text).casefold()))


def card_refused(
    card: ProposedCard,
    title: str,
    claims: dict[str, ClaimView],
    entailed: Entailed | None = None,
    *,
    names: Sequence[str] = (),
    fluent: bool | None = None,
) -> str:
    """Why a card is no good in itself; "" if it is. `title` is the concept's: naming it gives nothing away."""
    question, answer = fold(card.question), fold(card.answer)
    if not question or not answer:
        return "the card has no question or no answer"
    if len(question) > MAX_QUESTION or len(answer) > MAX_ANSWER:
        return "the card is too long"
    if "\ufffd" in clean(card.question + card.answer):  # or held them, before it came in
        return "the card holds control characters"
    if not question.endswith(("?", "？")):
        return "the question does not ask"
    if not card.cites or any(c not in claims for c in card.cites):
        return "the card cites no claim, or one that does not exist"
    if not any(claims[c].kind in KIND_OF[card.kind] for c in card.cites):
        return f"no cited claim is evidence of a {card.kind} kind"
    if _DANGLING.search(question) or _DANGLING.search(answer):
        return "the card points at something outside itself"
    known = (title, *names) if title else tuple(names)
    free = entailed is not None if fluent is None else fluent
    if free and (fault := form_fault(card, known)):
        return fault
    evidence = [t for c in card.cites for t in (claims[c].quote, claims[c].words)]
    return _unsupported(card, known, evidence, entailed) or _leak(question, answer, known, free)


def form_fault(card: ProposedCard, names: Sequence[str]) -> str:
    """Why a card in free words is no good in its form: its kind, one idea, to be understood by itself; "" if it is."""
    return (
        kind_fault(card.kind, card.question)
        or contained_fault(card.question, card.answer, names)
        or ideas_fault(card.question, card.answer)
    )


def _unsupported(card: ProposedCard, names: Sequence[str], evidence: Sequence[str], entailed: Entailed | None) -> str:
    if entailed is not None:
        return _settled(judge_card(card, names, evidence), card_words(card), evidence, entailed)
    share, strange = support(fold(card.answer), evidence)
    if strange:
        return f"the cited claims do not say {', '.join(strange)}"
    return "the cited claims do not give the answer" if share < SUPPORTED else ""


def card_words(card: ProposedCard) -> str:
    """What a check of a card is asked about: the question with its answer."""
    return f"{fold(card.question)} {fold(card.answer)}"


def judge_card(card: ProposedCard, names: Sequence[str], evidence: Sequence[str]) -> Judgement:
    """What rules say of a card on its evidence. An answer in its very words still has to answer the question.

    `names` are the concept's: a question may name it though the evidence says "it", if a check finds that it is meant.
    """
    question, answer = fold(read_out(card.question)), fold(card.answer)
    evidence = [read_out(e) for e in evidence]
    known = (*evidence, *names)
    fault = quantity_fault(question, known) or name_fault(question, evidence, names)
    if fault:
        return Judgement(f"the evidence {fault}, as the card asks")
    judgement = judge(answer, evidence, (*names, question))
    if judgement.refused == UNRELATED and shared(card_words(card), known) >= FLOOR:
        return Judgement(needs_check=True)
    if judgement.passes and not asked(question) <= {s for text in evidence for s in asked(text)}:
        return Judgement(needs_check=True)
    return judgement


def _leak(question: str, answer: str, names: Sequence[str], free: bool) -> str:
    if _bare(answer) and f" {_bare(answer)} " in f" {_bare(question)} ":
        return "the question contains its answer"
    told = set(content_words(question))
    title = content_words(" ".join(names) if free else names[0] if names else "")
    unnamed = free and not set(title) & told  # what is asked for is the name
    named = set() if _ASKS_NAME.search(question) or unnamed else set(title)
    wanted = [w for w in content_words(answer) if w not in named]
    if not wanted:
        return "the answer only names the concept"
    if sum(w in told for w in wanted) / len(wanted) >= LEAKED:
        return "the question gives its answer away"
    return ""
