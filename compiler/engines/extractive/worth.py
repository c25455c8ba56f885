"""Cards that read well and are still not worth a daily review: what fresh readers threw out, as rules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from compiler import names

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
    " process term name example part class family variant one case thing".split()
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_SMALL = frozenset(
    "a an the of for to in on at by with and or that which is are as its their it this from into".split()
)


def worth_asking(kind: str, question: str, answer: str, quote: str, title: str, aliases: Iterable[str]) -> bool:
    """Whether the question can be answered from knowledge of the field alone, in one way, with something to know."""
    if _OPEN.match(question) or _PRAISE.search(question) or _OUT_OF_PLACE.search(question):
        return False
    if re.search(r"\botherwise\b", answer) or _is_bare(question, title, aliases):
        return False
    if kind != "definitional" or _ASKS_NAME.search(question):
        return True
    return _stands_alone(question, quote) and not _is_thin(answer, title)


def _is_bare(question: str, title: str, aliases: Iterable[str]) -> bool:
    """ "What does X do?", "What do X require?": many things would answer it."""
    found = _BARE.fullmatch(question)
    if found is None or found["verb"] in _TELLING_VERBS:
        return False
    keys = {names.key(n) for n in (title, *aliases)}
    return names.key(re.sub(r" \([^()]*\)$", "", found["subject"])) in keys


def _stands_alone(question: str, quote: str) -> bool:
    """Whether the term keeps the scope that the quote gives it, as "the keys" and "in coreference resolution" do."""
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
    named = {w.casefold() for w in _WORD.findall(title)}
    told = {w.casefold() for w in _WORD.findall(answer)} - _SMALL - _EMPTY - named
    return len(told) < 2
