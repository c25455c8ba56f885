"""Whether two documents give one named thing another quantity, or deny what the other says, in nearly the same words.

Only the two sentences are known here, and nobody judges what is found. So they have to be about one thing by name, have
the same words but for the number or the denial, and be of one time, version and condition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from compiler.claims.contradictions import is_hearsay, is_plain, measures, read_statement
from compiler.claims.number_conflicts import clashes
from compiler.claims.plain_contradictions import Point
from compiler.claims.qualifiers import labels, months
from compiler.gates.facts import identifiers
from compiler.language.lexicon import GENERIC, pattern, singular, stem, word_list, words
from compiler.language.opposites import synonym_stem
from compiler.language.quantities import Number, quantities

_LONGEST = 220  # characters of a statement
_FEWEST = 3  # stems of a statement that is denied
_SENTENCE = re.compile(r"\W?[^\W\d_a-z].*[.。]")
_ARTICLE = re.compile(r"(?:the|an?|each|every|der|die|das|eine?)\s+", re.IGNORECASE)
_VERB = re.compile(r"is|are|was|were|has|have|had|can|cannot|[a-z]+[a-rt-z]s")
_WORD = re.compile(r"[^\W_](?:[\w’'-]*\w)?")
_NAME = re.compile(r"(?<=[\w,;)’'] )[A-ZÄÖÜ][\w’'-]*")
_UNNAMED = words("unnamed_subjects") | GENERIC
_LOOSE = pattern("source_conflicts_loose")
_PARTICLE = re.compile(r"\b(?:on|off|in|out|up|down|with|without|over|under|above|below|inside|outside)\b")
_ROWS = [row.split() for row in word_list("measured_dimensions").split("|")]
_DIMENSION = {synonym_stem(stem(word)): row[0] for row in _ROWS for word in row}
_DENIALS = {stem("cannot")}
_BEFORE_VERB = 4  # words of a name without an article


@dataclass(frozen=True, slots=True)
class Assertion:
    """A sentence that states something of a named thing: its stems, its numbers in order, its names, its denial."""

    stems: frozenset[str]
    numbers: tuple[Number, ...]
    names: frozenset[str]
    denies: bool


@lru_cache(maxsize=1 << 12)
def subject_key(statement: str) -> str:
    """Return the word with which the subject of a sentence begins, in lower case; "" where it names nothing."""
    if not 12 <= len(statement) <= _LONGEST or not _SENTENCE.fullmatch(statement):
        return ""
    article = _ARTICLE.match(statement)
    found = [
        word.casefold() for word in _WORD.findall(statement[article.end() if article else 0 :])[: _BEFORE_VERB + 1]
    ]
    found = found[: next((n for n, word in enumerate(found) if word[0].isdigit()), len(found))]
    verb = next((n for n, word in enumerate(found) if n and _VERB.fullmatch(word)), 0)
    named = found[:1] if not verb else {found[0], found[verb - 1]} if verb == 1 else {found[verb - 1]}
    if not found or not (article or verb) or any(singular(word) in _UNNAMED for word in named):
        return ""  # an order, an item of a list, or nothing that has a name
    return singular(found[0])


@lru_cache(maxsize=1 << 12)
def read_assertion(statement: str) -> Assertion | None:
    """Return what a sentence asserts; None where it is hedged, an example, of some day, or reported."""
    if not is_plain(statement) or is_hearsay(statement) or _LOOSE.search(statement) or quantities(statement).days:
        return None
    read = read_statement(statement)
    if read.years or months(statement):
        return None
    counted = {stem(word.casefold()) for number in read.numbers for word in _WORD.findall(number.text)}
    stems = frozenset(_DIMENSION.get(each, each) for each in read.stems - counted - _DENIALS)
    names = frozenset(identifiers(statement)) | frozenset(_NAME.findall(statement))
    particles = frozenset(found[0].casefold() for found in _PARTICLE.finditer(statement))
    return Assertion(stems, read.numbers, names | labels(statement) | particles, read.denies)


def conflict(first: str, second: str) -> Point | None:
    """Return on what two sentences of different documents contradict each other; None if both may hold."""
    a, b = read_assertion(first), read_assertion(second)
    if a is None or b is None or a.stems != b.stems or a.names != b.names or len(a.numbers) != len(b.numbers):
        return None
    other = [(x, y) for x, y in zip(a.numbers, b.numbers, strict=True) if not x.values & y.values]
    if a.denies != b.denies:
        return Point.WORDS if not other and len(a.stems) >= _FEWEST else None
    if len(other) != 1 or any(x.unit != y.unit for x, y in zip(a.numbers, b.numbers, strict=True)):
        return None
    x, y = other[0]
    same_thing = x.noun == y.noun or bool(x.unit)
    return Point.NUMBER if same_thing and measures(x) and clashes(first, second, [x], [y]) else None
