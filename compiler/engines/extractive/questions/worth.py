"""Cards that read well and are still not worth a daily review: what fresh readers threw out, as rules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from compiler.engines.extractive.questions.scope import GENERAL, lacks_field, leans_on_page
from compiler.engines.extractive.questions.wholeness import is_cut, is_damaged, lacks_dimension, loses_limit
from compiler.language import names

_BARE = re.compile(r"What (?:does|do|did) (?P<subject>.+?) (?P<verb>[a-z]+)(?: (?:of|for|on|to|from|in|with))?\?")
_TELLING_VERBS = frozenset(
    {"consist", "prevent", "stand", "cause", "depend", "measure"}
)  # with these, the bare question has one answer
_OPEN = re.compile(r"What (?:happens (?:in|if|when)|can .+ (?:be )?appl(?:y|ied)) ", re.IGNORECASE)
_PRAISE = re.compile(r"\b(?:crucial|important|central|essential|key) (?:aspect|part|role|step|tool|task|component)\b")
_OUT_OF_PLACE = re.compile(r"[“”\"]|\w\(\w+\)|[=≤≥∑∏∈]|\$")  # a quotation or a symbol that only the page explains
_THE = re.compile(r"What (?P<verb>is|are) the (?P<term>.+)\?")
_ASKS_NAME = re.compile(r"What is this called\?$|^What is the (?:term|name) ")
_SETTING = re.compile(
    r"In (?!(?:all|many|some|most|such|other|these) |(?:general|practice|short|fact|the extreme|particular|contrast)\b)"
    r"(?P<setting>[a-z][^,]{3,50}), "
)
_EMPTY = frozenset(
    "type kind form sort model method variable concept task problem way idea set technique approach algorithm system"
    " process term name example part class family variant one case thing special certain particular specific large"
    " larger broad broader wide wider general common important popular simple main basic new different various group"
    " collection field area branch domain research discipline category subcategory subclass subtype subset tool"
    " structure feature high low level".split()
)
_PARTS = re.compile(r"\bconsist of\?$")  # complete although a formula or an example goes on from it
_ONE_OF_MANY = re.compile(
    r"What (?:is|are) (?:an?|one|another) (?:\w+ )?"
    r"(?:application|use|property|example|feature|aspect|characteristic)s? "
    r"|What (?:has|have) .+ been (?:\w+ly )?(?:applied|used|employed)|Where (?:can|could|may|has|have|was|were) "
    r"|Where (?:is|are) .+ (?:used|applied|employed)"
    r"|What (?:can|could|may) .+ be (?:used|applied|designed|employed|trained) ",
    re.IGNORECASE,
)
_PASSING_PART = re.compile(
    r"What (?:is|are) the (?:initial|input|output|local|global|final|current|original|entire|overall|total) [a-z]+\?"
)  # a part of one example, model or figure
_MAX_FRONT = 12  # words that may stand before the question proper
_FRONT = re.compile(r"^(?P<front>.+?)[,;] (?:why|how|when|where|what) ")
_VACUOUS = re.compile(
    r"\b(?:certain|some|various|several|many|different|particular|specific|desirable|"
    r"(?:an? )?(?:number|variety|range|set)"
    r" of) (?:\w+ ){0,1}(?:characteristics|properties|conditions|cases|circumstances|situations|criteria|requirements|"
    r"ways|factors|settings|reasons|purposes|tasks|applications|problems|areas|fields)\b(?! (?:that|such|like|of|where|"
    r"which|in which|:))(?!:)",
    re.IGNORECASE,
)
_TAXONOMY = re.compile(
    r"(?:An?|The|One) sub-?(?:category|class|type|species|kind|set|group) of (?:an? |the )?[\w -]+\.$"
)
_REASONED = re.compile(r"^[^,]+, (?:because|since) ")  # tells why a thing is of that kind, not what sets it apart
_WORD = re.compile(r"[^\W\d_]{2,}")
_SMALL = frozenset(
    "a an the of for to in on at by with and or that which is are as its their it this from into".split()
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a card rests on: its claim's words and quote, the names that its words hold, and what the vault knows.

    `known` are names of concepts that need no introduction; `defined` says that a claim tells what the concept is.
    """

    words: str
    title: str
    aliases: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    defined: bool = False
    quote: str = ""


def worth_asking(kind: str, question: str, answer: str, evidence: Evidence) -> bool:
    """Whether the question can be answered from knowledge of the field alone, in one way, with something to know."""
    return _stays_true(kind, question, answer, evidence) and _is_worth(kind, question, answer, evidence)


def _stays_true(kind: str, question: str, answer: str, evidence: Evidence) -> bool:
    """Whether the card says what its quote says, no more, and says it without the page."""
    quote = evidence.words
    announces = (evidence.quote or quote).rstrip().endswith((":", ","))
    if (announces and kind != "definitional" and not _PARTS.search(question)) or is_damaged(f"{question} {answer}"):
        return False
    if is_cut(answer, quote) or loses_limit(kind, question, answer, quote):
        return False
    if kind == "relational" and lacks_dimension(answer):
        return False
    names_ = (evidence.title, *evidence.aliases, *evidence.known)
    if leans_on_page(question, answer, names_):
        return False
    return kind in ("definitional", "relational") or not lacks_field(
        question, evidence.title, evidence.aliases, evidence.defined
    )


def _is_worth(kind: str, question: str, answer: str, evidence: Evidence) -> bool:
    front = _FRONT.match(question)
    if front and (len(front["front"].split()) > _MAX_FRONT or re.search(r"\bit\b", front["front"])):
        return False
    quote, title, aliases = evidence.words, evidence.title, evidence.aliases
    if _ONE_OF_MANY.match(question) or (kind != "relational" and _VACUOUS.search(answer)):
        return False
    if _OPEN.match(question) or _PRAISE.search(question) or _OUT_OF_PLACE.search(question):
        return False
    if re.search(r"\botherwise\b", answer) or _is_bare(question, title, aliases):
        return False
    if kind != "definitional" or _ASKS_NAME.search(question):
        return True
    if _REASONED.search(answer) or _is_aside(evidence):
        return False
    return _stands_alone(question, quote) and not _is_thin(answer, title)


def _is_aside(evidence: Evidence) -> bool:
    """Whether an everyday word is explained in passing, for the sake of the sentence around it: "chance, the ..."."""
    quote = evidence.quote or evidence.words
    return " " not in evidence.title and quote[:1].islower() and bool(GENERAL.search(evidence.title))


def _is_bare(question: str, title: str, aliases: Iterable[str]) -> bool:
    """ "What does X do?", "What do X require?": many things would answer it."""
    found = _BARE.fullmatch(question)
    if found is None or found["verb"] in _TELLING_VERBS:
        return False
    keys = {names.key(n) for n in (title, *aliases)}
    return names.key(re.sub(r" \([^()]*\)$", "", found["subject"])) in keys


def _stands_alone(question: str, quote: str) -> bool:
    """Whether the term keeps the scope that the quote gives it, as "the keys" and "in coreference resolution" do."""
    if _PASSING_PART.fullmatch(question):
        return False
    the = _THE.fullmatch(question)
    if the is not None:
        if the["verb"] == "are" or "'s " in the["term"] or "’s " in the["term"]:
            return False
        head = the["term"].split()[0].casefold()
        if not re.match(rf"(?:[^,]{{0,60}}, )?[Tt]he {re.escape(head)}", quote, re.IGNORECASE):
            return False
    setting = _SETTING.match(quote)
    return setting is None or setting["setting"].casefold() in question.casefold()


def _is_thin(answer: str, title: str) -> bool:
    """Whether the answer says no more than what sort of thing it is."""
    if _TAXONOMY.match(answer):
        return True
    named = {w.casefold() for w in _WORD.findall(title)}
    if len(named) == 1 and " " not in title and named & {w.casefold() for w in _WORD.findall(answer)}:
        return True  # "Loss: a metric of the loss at each step"
    told = {w.casefold() for w in _WORD.findall(answer)} - _SMALL - _EMPTY - named
    return len(told) < 2
