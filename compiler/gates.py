"""What may enter the wiki and the decks. Every engine's words pass here, and what is refused is reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from compiler.engines.port import ClaimView, ProposedCard, Sentence
from compiler.words import stem
from vault.claim import ClaimKind
from vault.clean import clean, fold

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_TELLING = re.compile(  # what changes the truth of a sentence in one stroke: numbers and negations
    r"\d+(?:[.,]\d+)*|\b(?:not|no|never|none|nothing|neither|nor|cannot|without|nicht|nie|kein\w*|ohne)\b|n['’]t\b|[不没無无非]",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"not|no|never|none|nothing|neither|nor|cannot|without|nicht|nie|kein\w*|ohne|\w+n['’]t")
_FUNCTION_WORDS = frozenset(
    # closed-class words of English and German: they carry no content that a source must bear out
    """a an the this that these those it its they them their he she his her we our you your i my one ones some
    any each every all both either neither no not nor and or but if then else so because since as than while
    although though however of in on at by for from to into onto with without within between among over under
    about above below through during is are was were be been being am do does did done doing has have had having
    can could may might must shall should will would there here when where which who whom whose what why how
    also only just very more most less least much many few other another such same own too up out off again
    further once der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren wird
    werden wurde hat haben kann können muss im in am an auf aus bei mit nach von vom zu zum zur für über durch
    als wie wenn dass was wer wo warum wozu welche welcher welches nicht auch nur es er sie sich man""".split()
)
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


# Whether somebody has checked that words follow from evidence; None where nobody has. Rules hold the facts anyway.
Entailed = Callable[[str, Sequence[str]], bool | None]


def content_words(text: str) -> list[str]:
    """The words of `text` that carry content, case and plural folded; a CJK character counts as a word."""
    words = [stem(w) for w in _WORD.findall(_CJK.sub(" ", text).casefold()) if w not in _FUNCTION_WORDS]
    return words + _CJK.findall(text)


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
    for word in _WORD.findall(text.casefold()):
        if _NEGATION.fullmatch(word):
            negation = word
        elif word == "only":
            negation = ""  # "not only" denies nothing
        elif word not in _FUNCTION_WORDS:
            pair = (last, stem(word))
            if negation:
                negated[pair] = negation
            else:
                plain.add(pair)
            last, negation = pair[1], ""
    return plain, negated


def needs_check(words: str, evidence: Sequence[str]) -> bool:
    """Whether rules alone can't say that the words follow, and see nothing that speaks against it."""
    share, strange = support(words, evidence)
    return not strange and share < SUPPORTED and not negations_dropped(words, evidence)


def statement_refused(statement: str, quote: str, entailed: Entailed | None = None) -> str:
    """Why a claim's quote does not prove its statement; "" if it does. A claim without a statement says its quote."""
    share, strange = support(statement, [quote])
    if strange:
        return f"the quote does not say {', '.join(strange)}"
    if share < STATED and not (entailed and entailed(statement, [quote])):
        return "the quote does not bear out the statement"
    dropped = negations_dropped(statement, [quote])
    return f"the statement leaves out the quote's {', '.join(dropped)}" if dropped else ""


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
    share, strange = support(sentence.text, evidence)
    if strange:
        return f"the cited claims do not say {', '.join(strange)}"
    if share < SUPPORTED and not (entailed and entailed(sentence.text, evidence)):
        return "the cited claims do not bear out the sentence"
    dropped = negations_dropped(sentence.text, evidence)
    return f"it leaves out the cited claims' {', '.join(dropped)}" if dropped else ""


@dataclass(slots=True)
class CardGate:
    """Judges cards one by one and remembers those that passed, so that none repeats another of the vault."""

    answers: dict[str, str] = field(default_factory=dict)  # folded answer -> folded question
    questions: set[str] = field(default_factory=set)
    entailed: Entailed | None = None

    def admit(self, question: str, answer: str) -> None:
        """Remember a card that is in the vault already."""
        self.answers.setdefault(_bare(answer), _bare(question))
        self.questions.add(_bare(question))

    def refused(self, card: ProposedCard, title: str, claims: dict[str, ClaimView]) -> str:
        """Why the card may not enter; "" if it may, and then it is remembered."""
        reason = card_refused(card, title, claims, self.entailed) or self._repeats(card)
        if not reason:
            self.admit(card.question, card.answer)
        return reason

    def _repeats(self, card: ProposedCard) -> str:
        from rapidfuzz import fuzz, process

        question, answer = _bare(card.question), _bare(card.answer)
        if answer in self.answers:
            return "another card has this answer"
        if question in self.questions:
            return "another card asks this"
        if process.extractOne(question, self.questions, scorer=fuzz.token_sort_ratio, score_cutoff=SAME_QUESTION):
            return "another card asks nearly this"
        return ""


def _bare(text: str) -> str:
    return " ".join(_WORD.findall(_CJK.sub(r" \g<0> ", text).casefold()))


def card_refused(card: ProposedCard, title: str, claims: dict[str, ClaimView], entailed: Entailed | None = None) -> str:
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
    evidence = [t for c in card.cites for t in (claims[c].quote, claims[c].words)]
    share, strange = support(answer, evidence)
    if strange or (share < SUPPORTED and not (entailed and entailed(answer, evidence))):
        return (
            f"the cited claims do not say {', '.join(strange)}"
            if strange
            else "the cited claims do not give the answer"
        )
    return _leak(question, answer, title)


def _leak(question: str, answer: str, title: str) -> str:
    if _bare(answer) and f" {_bare(answer)} " in f" {_bare(question)} ":
        return "the question contains its answer"
    told = set(content_words(question))
    named = set() if _ASKS_NAME.search(question) else set(content_words(title))
    wanted = [w for w in content_words(answer) if w not in named]
    if not wanted:
        return "the answer only names the concept"
    if sum(w in told for w in wanted) / len(wanted) >= LEAKED:
        return "the question gives its answer away"
    return ""
