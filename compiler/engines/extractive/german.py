# ruff: noqa: E501 - a pattern is read best on one line
"""Definitions and questions in German sentences, by the words of grammar that mark them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.engines.extractive.definitions import Definition
from compiler.engines.extractive.phrases import capital, essence, is_whole, trimmed
from compiler.engines.extractive.questions import Question

_ARTICLE = r"(?:(?:Ein|Eine|Der|Die|Das|Den|Dem|Einem|Einer|ein|eine|einen|einem|einer|der|die|das|den|dem)\s+)?"
_NO_NAME = r"(?!(?:(?:Dies|Jed|Solch|Kein|Unser|Ihr|Sein|Mein|Welch|Manch|Ander|Viel|Beid|All)(?:e|er|es|en|em)?|Es|Sie|Er|Wir|Man)\s)"
_ADJECTIVE = r"(?:[A-Za-zÄÖÜäöü][\w-]*(?:e|er|es|en|em)\s+){0,2}"
_NAME = (
    _NO_NAME
    + rf"(?P<term>{_ADJECTIVE}[A-ZÄÖÜ][\w-]*(?:\s+(?:und|von|der|des|zur|zum|für|mit|im|in)\s+(?:der\s+|dem\s+)?[A-ZÄÖÜ][\w-]*)?)(?:\s*\([^)]{{1,40}}\))?"
)
_DOMAIN = r"(?P<domain>(?:In|Im|Bei|Beim)\s[^,.]{3,40}?\s)?"
_PATTERNS = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (rf"^{_ARTICLE}{_NAME}\s+(?:ist|sind)\s+(?P<meaning>(?:ein|eine|einer|eines|der|die|das|alle|jede[rs]?|diejenige[nr]?)\s.+)$", "copula"),
        (rf"^{_DOMAIN}(?:[Uu]nter|[Mm]it)\s+{_ARTICLE}{_NAME}\s+(?:versteht|meint|bezeichnet)\s+man\s+(?:dabei\s+|auch\s+)?(?P<meaning>.+)$", "means"),
        (rf"^{_ARTICLE}{_NAME}\s+(?:bezeichnet|bedeutet|beschreibt|meint)\s*,?\s+(?P<meaning>.+)$", "means"),
        (rf"^Als\s+{_ARTICLE}{_NAME}\s+(?:bezeichnet\s+man|wird|werden|gilt|gelten)\s+(?:dabei\s+|auch\s+)?(?P<meaning>.+?)(?:\s+bezeichnet)?[.]?$", "called"),
        (rf"^(?P<meaning>.+?)\s+(?:heißt|heißen|nennt\s+man)\s+(?:auch\s+)?{_ARTICLE}[„»\"]?{_NAME}[“«\"]?[.]?$", "called"),
        (rf"^(?P<meaning>.+?)\s+(?:wird|werden)\s+(?:auch\s+)?(?:als\s+)?{_ARTICLE}[„»\"]?{_NAME}[“«\"]?\s+(?:genannt|bezeichnet)[.]?$", "called"),
        (rf"^{_NAME}\s*(?::|–)\s+(?P<meaning>(?:[Ee]in|[Ee]ine|[Dd]er|[Dd]ie|[Dd]as)\s.+)$", "lead"),
    )
)  # fmt: skip
_CONDITION = re.compile(
    r"^(?P<mark>Wenn|Falls|Sobald|Sofern)\s(?P<condition>[^,]+(?:,[^,]+,)?[^,]*),\s+(?:dann\s+|so\s+)?(?P<main>\w.+?)[.]$"
)
_REASON = re.compile(
    r"^(?P<main>(?P<subject>(?:Der|Die|Das|Ein|Eine|[A-ZÄÖÜ][\w-]+)(?:\s+[\w-]+){0,3}?)\s+(?P<verb>ist|sind|kann|können|muss|müssen|darf|dürfen|wird|werden|hat|haben|soll|sollte|sollten)\s+(?P<rest>[^,]+)),\s+(?:weil|da)\s+(?P<reason>.+?)[.]$"
)
POINTS = re.compile(r"\b(?:dies(?:e[rsnm]?)?|solche?[rsnm]?|hier|oben|unten|folgend\w*|wir|unser\w*|Sie|Ihr\w*)\b")
_LEFT = re.compile(r"\s+(?:bezeichnet|genannt|verstanden)(?=,|\.|$)")


def _nominative(phrase: str) -> str:
    """Return a phrase that is the object of "versteht man" as a subject would be."""
    first, _, rest = phrase.partition(" ")
    found = {"den": "der", "einen": "ein", "jeden": "jeder", "denjenigen": "derjenige"}.get(first.lower(), first)
    return f"{found} {rest}"


def definitions_in(text: str) -> Iterator[Definition]:
    """Yield what a German sentence defines."""
    for pattern, name in _PATTERNS:
        match = pattern.match(text)
        if match is None:
            continue
        meaning = _nominative(trimmed(_LEFT.sub("", match["meaning"])))
        if len(meaning.split()) > 2 and is_whole(meaning) and not POINTS.search(meaning):
            domain = match.groupdict().get("domain") or ""
            yield Definition(match["term"].strip(), meaning, name, "", domain.strip())
            return


def from_definition(definition: Definition) -> Iterator[Question]:
    """Yield the questions for the meaning of a term, and for the term of a meaning."""
    term, meaning = definition.term, essence(definition.meaning)
    yield Question("definition", "definitional", f"Was versteht man unter „{term}“?", capital(meaning) + ".", term)
    yield Question("term", "definitional", f"Wie lautet der Fachbegriff für: {meaning}?", term + ".", term)


def questions_in(text: str) -> Iterator[Question]:
    """Yield the questions that a German sentence answers."""
    if match := _CONDITION.match(text):
        asked = f"Was gilt, {match['mark'].lower()} {match['condition']}?"
        yield Question("condition", "mechanistic", asked, f"Dann {match['main']}.", "")
    if match := _REASON.match(text):
        subject = match["subject"]
        first, _, others = subject.partition(" ")
        inside = f"{first.lower()} {others}" if first in ("Der", "Die", "Das", "Ein", "Eine") else subject
        asked = f"Warum {match['verb']} {inside} {match['rest']}?"
        yield Question("reason", "mechanistic", asked, f"Weil {match['reason']}.", subject)
