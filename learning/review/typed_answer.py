"""A typed answer compared with the card's, word by word: what both say, what is missing, what contradicts.

This knows words and not what they mean, and so it says little: it suggests Good where the two are the same but for
case, articles and commas, and nothing anywhere else. It never says that an answer is wrong, only that a number or a
"not" stands in one of the two and not in the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from learning.review.common_words import ARTICLES, ENDINGS, FILLERS, NEGATIONS, NUMBERS
from vault.log.events import Rating

NAME = "comparison/1"
_MOST = 8_000  # characters of either text that are looked at
_OVERLAP = 0.5  # of the answer's terms have to be there before a "not" in one of the two means anything
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:[.,]\d+)*)"
    rf"|(?P<han>[{_HAN}]+)"
    rf"|(?P<word>(?:(?![{_HAN}\d])\w)(?:(?![{_HAN}])\w|[’'](?=[^\W\d_]))*)"
    r"|(?P<sign>[^\s\w])"
)
_IDLE = frozenset(".,;:?\"“”„‘’'`*_…、，。；：？「」")  # between words these say nothing
_HAN_NOT = re.compile("[不没沒無无未非]")


class Mark(StrEnum):
    """How some words compare: both texts have them, only the card has them, or the two disagree."""

    SAID = "said"
    MISSING = "missing"
    AGAINST = "against"


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark of the text from `start` to `end`."""

    start: int
    end: int
    mark: Mark


@dataclass(frozen=True, slots=True)
class Clash:
    """A contradiction: `yours` is in the typed answer, `theirs` in the card's; one of them "" where it is a
    negation.
    """

    yours: str
    theirs: str
    negation: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result: `said` and `missing` are the card's key terms, as it writes them; the marks are sorted and do not
    overlap.
    """

    reference: str
    answer: str
    in_reference: tuple[Marked, ...] = ()
    in_answer: tuple[Marked, ...] = ()
    said: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    clashes: tuple[Clash, ...] = ()
    suggested: Rating | None = None


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, number or sign of a text."""

    words: str
    start: int
    end: int
    kind: str  # number, han, word, sign
    key: str  # what makes it the same as another

    @property
    def is_required(self) -> bool:
        """Return whether an answer that lacks it is incomplete."""
        return self.kind in ("number", "han") or (self.kind == "word" and self.key not in FILLERS | NEGATIONS)


def compare(question: str, reference: str, answer: str) -> Comparison:
    """Return how `answer` compares with `reference`, both plain text; what the question says does not count."""
    reference, answer = _plain(reference), _plain(answer)
    theirs, yours, asked = _tokens(reference), _tokens(answer), _tokens(_plain(question))
    known = {token.key for token in asked}
    terms = [token for token in theirs if token.is_required and token.key not in known]
    terms = terms or [token for token in theirs if token.is_required]
    said = [token for token in terms if _among(token, yours)]
    missing = [token for token in terms if not _among(token, yours)]
    clashes, against = _clashes(theirs, yours, known, len(said) / len(terms) if terms else 0.0)
    same = bool(theirs) and _wording(reference) == _wording(answer)
    return Comparison(
        reference,
        answer,
        _marks((t, Mark.AGAINST if t.key in against else Mark.MISSING if t in missing else Mark.SAID) for t in terms),
        _marks(
            (t, Mark.AGAINST if t.key in against else Mark.SAID) for t in yours if t.key in against or _among(t, terms)
        ),
        _named(said),
        _named(missing),
        tuple(clashes),
        Rating.GOOD if same and not clashes else None,
    )


def _plain(text: str) -> str:
    """Return the text in one normal form."""
    return unicodedata.normalize("NFC", text)[:_MOST].strip()


def _tokens(text: str) -> list[_Token]:
    """Return the text's words, numbers and signs; Han and kana as overlapping pairs, as no space divides their
    words.
    """
    out: list[_Token] = []
    for found in _TOKEN.finditer(text):
        kind, words, start = str(found.lastgroup), found[0], found.start()
        if kind == "han" and len(words) > 1:
            pairs = ((n, words[n : n + 2]) for n in range(len(words) - 1))
            out += [_Token(pair, start + n, start + n + 2, kind, pair) for n, pair in pairs]
        else:
            out.append(_Token(words, start, found.end(), _kind(kind, words), _key(kind, words)))
    return out


def _kind(kind: str, words: str) -> str:
    """Return the kind of a token."""
    return "number" if kind == "word" and words.casefold() in NUMBERS else kind


def _key(kind: str, words: str) -> str:
    """Return what a token is compared by."""
    if kind == "number":
        return _number(words)
    folded = words.casefold().replace("’", "'")
    if kind != "word":
        return folded
    return NUMBERS.get(folded) or _stem(folded)


def _number(words: str) -> str:
    """Return a number in one form: `1,000` is 1000 and `2.50` is 2.5; ambiguous ones stay as written."""
    whole = words.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", words) else words
    return whole.rstrip("0").rstrip(".") if re.fullmatch(r"\d+\.\d+", whole) else whole


def _stem(word: str) -> str:
    """Return the word without its inflection; English and German, roughly."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _among(token: _Token, others: Iterable[_Token]) -> bool:
    """Return whether one of the tokens equals `token`."""
    return any(token.key == other.key for other in others)


def _wording(text: str) -> list[str]:
    """Return the text's words and signs in order, without articles and punctuation; short ones with their case: mW is
    not MW.
    """
    out = []
    for found in _TOKEN.finditer(text):
        words = found[0]
        folded = words.casefold().replace("’", "'")
        if words in _IDLE or (found.lastgroup == "word" and folded in ARTICLES):
            continue
        keeps_case = len(words) <= 3 and folded not in FILLERS
        out.append(_number(words) if found.lastgroup == "number" else words if keeps_case else folded)
    return out


def _clashes(
    theirs: Sequence[_Token], yours: Sequence[_Token], known: set[str], overlap: float
) -> tuple[list[Clash], set[str]]:
    """Return what contradicts the answer, and the keys of the numbers in it."""
    mine = [t for t in yours if t.kind == "number" and t.key not in known and not _among(t, theirs)]
    wanted = [t for t in theirs if t.kind == "number" and t.key not in known and not _among(t, yours)]
    clashes = []
    if mine and wanted:
        clashes.append(Clash(", ".join(_named(mine)), ", ".join(_named(wanted))))
    nots = _negations(yours), _negations(theirs)
    if overlap >= _OVERLAP and len(nots[0]) % 2 != len(nots[1]) % 2:
        clashes.append(Clash(" … ".join(nots[0]), " … ".join(nots[1]), negation=True))
    return clashes, {t.key for t in (*mine, *wanted)} if mine and wanted else set()


def _negations(tokens: Iterable[_Token]) -> list[str]:
    """Return the negations among the tokens."""
    out: list[str] = []
    seen_to = -1
    for token in tokens:
        if token.kind == "word" and (token.words.casefold().replace("’", "'") in NEGATIONS or _contracted(token)):
            out.append(token.words)
        elif token.kind == "han" and token.start >= seen_to and (found := _HAN_NOT.search(token.words)):
            out.append(found[0])
            seen_to = token.start + found.end()
    return out


def _contracted(token: _Token) -> bool:
    """Return whether the token is a contracted negation, as in `isn't`."""
    return token.words.casefold().replace("’", "'").endswith("n't")


def _named(tokens: Iterable[_Token]) -> tuple[str, ...]:
    """Return each term once, as it is written first; pairs of Han that follow each other as one."""
    runs: list[list[_Token]] = []
    for token in tokens:
        if runs and token.kind == "han" == runs[-1][-1].kind and token.start <= runs[-1][-1].end:
            runs[-1].append(token)
        else:
            runs.append([token])
    names: dict[str, str] = {}
    for run in runs:
        words = run[0].words + "".join(t.words[run[n].end - t.start :] for n, t in enumerate(run[1:]))
        names.setdefault(run[0].key if len(run) == 1 else words, words)
    return tuple(names.values())


def _marks(found: Iterable[tuple[_Token, Mark]]) -> tuple[Marked, ...]:
    """Return the marks of a text, sorted, without overlap: where pairs of Han overlap, `said` wins."""
    painted: dict[int, Mark] = {}
    for token, mark in sorted(found, key=lambda each: each[1] is Mark.SAID):
        painted |= dict.fromkeys(range(token.start, token.end), mark)
    out: list[Marked] = []
    for place in sorted(painted):
        if out and out[-1].end == place and out[-1].mark is painted[place]:
            out[-1] = Marked(out[-1].start, place + 1, painted[place])
        else:
            out.append(Marked(place, place + 1, painted[place]))
    return tuple(out)
