"""The query of a search: words, quoted phrases, filters and bounds, as a value.

    state:due kind:applied topic:attention concept:"spacing effect" is:leech lapses>3 due<7 -word "exact phrase"

All of it has to hold. A word or a phrase may stand anywhere in a card or an article, also within a word; a minus sign
turns any part round. A word with a colon that is no filter is written in quotes: `"std::map"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from vault.errors import UsageError
from vault.text.formatting import truncate

STATES = ("due", "new", "learning", "review", "relearning", "suspended", "buried", "retracted")
TRAITS = (*STATES, "leech", "flagged", "changed")
KINDS = ("definitional", "mechanistic", "relational", "applied", "none")
CHOICES = {"state": STATES, "is": TRAITS, "kind": KINDS}
TEXTS = ("topic", "concept", "tag", "id", "path")
NUMBERS = ("due", "ivl", "lapses", "reps", "difficulty", "stability", "recall", "added", "rated")
_NAMES = (*CHOICES, *TEXTS, *NUMBERS)
_TERM = re.compile(r'(?P<minus>-?)(?:(?P<name>[A-Za-z]+)(?P<op><=|>=|[:<>=]))?(?P<value>"(?:[^"\\]|\\.)*"?|\S*)')
_NUMBER = re.compile(r"-?[0-9]{1,7}(?:\.[0-9]{1,4})?")
_LOOKS_LIKE = re.compile(r"[A-Za-z]+(?:[:<>=])")
_ADDRESS = ("://", "::")  # what follows a name that is no filter's: a web address, a name of C++
_MOST = 1_000  # characters; nobody types more
_SHOWN = 31  # characters of a value in a message


class BadQuery(UsageError):
    """Raised for a search that cannot be parsed; `at` is where, counted from 0."""

    def __init__(self, what: str, *, at: int, hint: str = "") -> None:
        super().__init__(what, where=f"search, character {at + 1}", hint=hint)
        self.at = at


@dataclass(frozen=True, slots=True)
class Word:
    """Letters that the card contains, ignoring capitals and accents."""

    text: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """`name` is one of CHOICES or TEXTS."""

    name: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound on a number. `name` is one of NUMBERS, `op` one of `: < > <= >= =`. Days, counts, or a probability in
    percent (`recall`).
    """

    name: str
    op: str
    number: float
    negated: bool = False


Term = Word | Filter | Bound


@dataclass(frozen=True, slots=True)
class Query:
    """All terms of a search."""

    terms: tuple[Term, ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """Return the terms that are words."""
        return tuple(term for term in self.terms if isinstance(term, Word))

    @property
    def of_cards(self) -> bool:
        """Return whether a term applies to cards only."""
        return any(isinstance(term, Bound) or (isinstance(term, Filter) and term.name != "path") for term in self.terms)


def parse(text: str) -> Query:
    """Return the query in `text`. Raises: BadQuery, which names the word, its place and what is possible."""
    if len(text) > _MOST:
        raise BadQuery("this search is too long", at=_MOST, hint=f"at most {_MOST} characters")
    terms: list[Term] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _TERM.match(text, at)
        assert found is not None  # every part of it may be empty, and a character that is no blank is there
        term = _term(found, at)
        if term is not None:
            terms.append(term)
        at = max(found.end(), at + 1)
    return Query(tuple(terms))


def _term(found: re.Match[str], at: int) -> Term | None:
    """Return the term of one word of the query; None for an empty one."""
    name, op, negated = (found["name"] or "").casefold(), found["op"], bool(found["minus"])
    if name not in _NAMES:
        if op == ":" and not found[0][found.end("name") - at :].startswith(_ADDRESS):
            raise _unknown(found, at)
        return _word(found[0])
    value = _unquoted(found["value"])
    if not value:
        raise BadQuery(f"{name}{op} needs a value", at=at, hint=_expected(name))
    if name in NUMBERS:
        return _bound(name, op, value, negated, at)
    if op not in (":", "="):
        raise BadQuery(f"{name} cannot be compared with < or >", at=at, hint=f"write {name}:{truncate(value, _SHOWN)}")
    if name in CHOICES:
        value = value.casefold()
        if value not in CHOICES[name]:
            raise BadQuery(f"{name}:{truncate(value, _SHOWN)} is not a known value", at=at, hint=_expected(name))
    return Filter(name, value, negated)


def _word(written: str) -> Word | None:
    """Return a word to look for; None for an empty one."""
    negated = written.startswith("-") and len(written) > 1
    text = _unquoted(written[negated:])
    return Word(text, negated) if text.strip() else None


def _bound(name: str, op: str, value: str, negated: bool, at: int) -> Bound:
    """Return a bound. Raises: BadQuery."""
    if not _NUMBER.fullmatch(value):
        raise BadQuery(f"{name}{op}{truncate(value, _SHOWN)} needs a number", at=at, hint=_expected(name))
    return Bound(name, op, float(value), negated)


def _unknown(found: re.Match[str], at: int) -> BadQuery:
    """Return the error of an unknown filter."""
    name = found["name"] or ""
    near = get_close_matches(name.casefold(), _NAMES, 1, 0.6)
    perhaps = f"did you mean {near[0]}:? " if near else ""
    known = ", ".join(f"{each}:" for each in (*CHOICES, *TEXTS))
    return BadQuery(
        f"unknown filter {name}:", at=at, hint=f'{perhaps}filters are {known}; to search for text, put it in "quotes"'
    )


def _expected(name: str) -> str:
    """Return what a filter accepts."""
    if name in CHOICES:
        return f"{name}: takes {', '.join(CHOICES[name])}"
    return f"write {name}<7 or {name}>3" if name in NUMBERS else f'write {name}:word or {name}:"two words"'


def _unquoted(text: str) -> str:
    """Return a value without its quotes. One without a closing quote goes to the end, so that it can be typed."""
    if not text.startswith('"'):
        return text
    inner = text[1:-1] if len(text) > 1 and re.fullmatch(r'"(?:[^"\\]|\\.)*"', text, re.DOTALL) else text[1:]
    return re.sub(r"\\(.)", r"\1", inner, flags=re.DOTALL)


def render(query: Query) -> str:
    """Return the text that `parse` makes this query of."""
    return " ".join(map(_rendered, query.terms))


def _rendered(term: Term) -> str:
    """Return the text of a term."""
    minus = "-" if term.negated else ""
    if isinstance(term, Bound):
        return f"{minus}{term.name}{term.op}{term.number:.4f}".rstrip("0").rstrip(".")
    if isinstance(term, Filter):
        return f"{minus}{term.name}:{quoted(term.value)}"
    return minus + quoted(term.text, is_word=True)


def quoted(text: str, *, is_word: bool = False) -> str:
    """Return `text` as a value; in quotes where it would be read as something else without them."""
    bare = text and not re.search(r'[\s"\\]', text)
    if bare and not (is_word and (text.startswith("-") or _LOOKS_LIKE.match(text))):
        return text
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def completions(text: str, cursor: int, known: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what the word at `cursor` could become, the likeliest first; `known` are topics, concepts and tags by
    name.
    """
    start = len(text[:cursor]) - len(re.split(r"\s", text[:cursor])[-1])
    part = text[start:cursor]
    minus = "-" if part.startswith("-") else ""
    name, colon, value = part.removeprefix("-").casefold().partition(":")
    if not colon:
        names = (f"{each}:" for each in (*CHOICES, *TEXTS)) if name else ()
        return [minus + each for each in names if each.startswith(name)]
    values: Iterable[str] = CHOICES.get(name, ()) or known.get(name, ())
    key = value.removeprefix('"')
    fitting = [each for each in values if key in each.casefold()]
    fitting.sort(key=lambda each: not each.casefold().startswith(key))
    return [f"{minus}{name}:{quoted(each)}" for each in fitting]
