"""Negation: what words deny and their evidence does not, or the reverse."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from compiler.language.lexicon import pattern
from compiler.language.tokens import Token, clauses, folded_stem, stems, tokens

_MOST = 20  # denials of one clause
_CLAUSES = 40  # of what is said in one go; the gate holds sentences, not pages
_SPAN = 3  # content words after a negation that it turns
_COVERED = 0.7  # of what is denied must be what the other text speaks of
_STRONG = pattern("negation_strong")
_WEAK = pattern("negation_weak")
_WEAK_CJK = re.compile(r"缺|仅|只|少|难|失|除|禁止|避免|防止|停止|阻止|才|否")
_CJK = re.compile(r"没有|不会|不能|不可|无法|[不没無无非未]")
_HARMLESS_CJK = re.compile(r"不同|不断|不仅|不但|不过|无论|非常|除非|不管|不只|未来|无限|不久")
_HARMLESS = pattern("negation_harmless")
_FEWER = re.compile(r"\b(?:no|not) (?:more|less|fewer|later|earlier|longer) than\b", re.IGNORECASE)
_PREFIX = re.compile(r"(?:un|non-?|in|im|ir|il|dis)(?P<base>\w{4,})")
_CONTRAST = re.compile(r"\b(?:unlike|anders als|rather than|instead of|except|other than|statt)\b|不像", re.IGNORECASE)
_SAME = {"no": "not", "none": "not", "never": "not", "neither": "not", "nor": "not", "cannot": "not", "keine": "nicht"}


@dataclass(frozen=True, slots=True)
class Denial:
    """A negation: its word, and the stems of what it denies (of the whole clause where none follow)."""

    word: str
    scope: frozenset[str]


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its stems, its negations, words that deny in part, and whether it contrasts two things."""

    stems: frozenset[str]
    denials: tuple[Denial, ...]
    weak: frozenset[str]
    contrasts: bool


def negations(text: str) -> list[str]:
    """Return the words and characters of `text` that deny outright, in order."""
    return [t.word for t in tokens(text) if _STRONG.fullmatch(t.word)] + _CJK.findall(_HARMLESS_CJK.sub(" ", text))


def polarity_fault(words: str, evidence: Sequence[str]) -> str:
    """Return what shows that words and evidence deny different things; "" if nothing does for sure."""
    known = frozenset(t.stem for text in evidence for t in tokens(text))
    own = frozenset(t.stem for t in tokens(words))
    groups = [[_read_clause(p, own) for p in parts] for text in evidence for parts in clauses(text)]
    said = [_read_clause(p, known) for parts in clauses(words) for p in parts]
    everything = frozenset(s for one in said for s in one.stems)
    weak = frozenset(w for one in said for w in one.weak)
    denials = [d for one in said for d in one.denials][:_CLAUSES]
    for one in said[:_CLAUSES]:
        if fault := _added_denial(one, everything, weak, groups) or _dropped_denial(
            one, denials, everything, weak, groups
        ):
            return fault
    return ""


def _added_denial(
    one: Clause, everything: frozenset[str], weak: frozenset[str], groups: Sequence[Sequence[Clause]]
) -> str:
    """Return a denial of the statement that the evidence does not have of the same thing, as a reason; "" if none."""
    for denial in one.denials:
        near = [(p, g) for g in groups for p in g if _covers(p.stems, denial.scope)]
        if not near:
            near = [(j, [j]) for j in map(_joined, groups) if _covers(j.stems, denial.scope)]
        if near and all(_affirms(piece, group, everything, weak) for piece, group in near):
            return f"does not contain “{denial.word}”"
    return ""


def _affirms(piece: Clause, group: Sequence[Clause], everything: frozenset[str], weak: frozenset[str]) -> bool:
    """Return whether a clause denies nothing, nor does another clause of its sentence that the words speak of."""
    for other in group:
        speaks = other is piece or bool(other.stems & everything - piece.stems)
        if speaks and (other.denials or _other_words(other.weak, weak, everything)):
            return False
    return not any(other.contrasts for other in group)


def _other_words(weak: frozenset[str], than: frozenset[str], everything: frozenset[str]) -> bool:
    """Return whether words that deny in part are in the one text and not in the other."""
    return any(w not in than and folded_stem(w) not in everything for w in weak)


def _dropped_denial(
    one: Clause,
    denials: Sequence[Denial],
    everything: frozenset[str],
    weak: frozenset[str],
    groups: Sequence[Sequence[Clause]],
) -> str:
    """Return a denial of the evidence that the statement leaves out, as a reason; "" if none."""
    units = [p for g in groups for p in g]
    shares = [len(one.stems & u.stems) for u in units]
    most = max(shares, default=0)
    nearest = [u for u, n in zip(units, shares, strict=True) if n == most]
    for group in groups:
        for unit in group:
            mine = one.stems if len(one.stems) > 1 else everything
            for denial in _unmatched(unit.denials, denials) if unit.denials and not one.denials else ():
                if not _covers(mine, denial.scope, whole=len(denial.scope) < 3) or any(o.contrasts for o in group):
                    continue
                softened = frozenset(w for w in weak if folded_stem(w) not in denial.scope)
                if _other_words(softened, unit.weak, denial.scope):
                    continue
                flat = any(not u.denials and _covers(u.stems, denial.scope) for u in units)
                if not flat or all(u == unit for u in nearest):
                    return f"says “{denial.word}”, which the text leaves out"
    return ""


def _joined(group: Sequence[Clause]) -> Clause:
    """Return the clauses of a sentence as one."""
    return Clause(
        frozenset(s for p in group for s in p.stems),
        tuple(d for p in group for d in p.denials),
        frozenset(w for p in group for w in p.weak),
        any(p.contrasts for p in group),
    )


def _covers(have: frozenset[str], scope: frozenset[str], *, whole: bool = False) -> bool:
    """Return whether the stems have enough (with `whole`, all) of what a negation denies."""
    return bool(scope) and len(scope & have) / len(scope) >= (1 if whole else _COVERED)


def _unmatched(mine: Sequence[Denial], theirs: Sequence[Denial]) -> list[Denial]:
    """Return the denials of `mine` without a counterpart in `theirs`: of the same word, else of the same thing."""
    left, right = list(mine), list(theirs)
    for alike in (True, False):
        for denial in list(left):
            for other in right:
                same_word = _same_denial(denial.word) == _same_denial(other.word)
                if same_word if alike else denial.scope & other.scope:
                    left.remove(denial)
                    right.remove(other)
                    break
    return left


def _same_denial(word: str) -> str:
    """Return the word that represents all negations of its kind."""
    return "not" if word.endswith(("n't", "n’t")) else "kein" if word.startswith("kein") else _SAME.get(word, word)


@lru_cache(maxsize=512)
def _read_clause(text: str, other: frozenset[str]) -> Clause:
    """Return what a clause says and denies; with "stable" in `other`, "unstable" is a denial."""
    contrasts = bool(_CONTRAST.search(text))
    plain = _HARMLESS_CJK.sub(" ", _HARMLESS.sub(" ", text))
    fewer = _FEWER.search(plain)
    plain = _FEWER.sub(" ", plain)
    found = tokens(plain)
    said = frozenset(stems(found))
    denials = [*_denials(found), *_prefixed(found, other), *_chinese(plain)]
    weak = {t.word for t in found if _WEAK.fullmatch(t.word)} | set(_WEAK_CJK.findall(plain))
    return Clause(
        said | {s for d in denials for s in d.scope},
        tuple(denials),
        frozenset(weak | ({"only"} if fewer else set())),
        contrasts,
    )


def _denials(found: Sequence[Token]) -> Iterable[Denial]:
    """Yield the negations by a word of their own."""
    places = itertools.islice(((n, t) for n, t in enumerate(found) if _STRONG.fullmatch(t.word)), _MOST)
    for n, token in places:
        after = _denied_stems(found[n + 1 :])
        scope = after or stems(found[:n])
        if token.word == "nicht" and len(after) <= 1:
            scope = stems(found)
        alone = not after and len(scope) < 2  # "quicksort isn't": what it is not stands elsewhere
        yield Denial(token.word, frozenset(() if alone and token.word != "nicht" else scope))


def _denied_stems(rest: Sequence[Token]) -> list[str]:
    """Return the first stems after a negation, up to the next one."""
    scope: list[str] = []
    for token in rest:
        if _STRONG.fullmatch(token.word) and scope:
            break
        if token.content:
            scope.append(token.stem)
        if len(scope) == _SPAN:
            break
    return scope


def _prefixed(found: Sequence[Token], other: frozenset[str]) -> Iterable[Denial]:
    """Yield the negations by a prefix, where the other text has the word without it."""
    for token in found:
        match = _PREFIX.fullmatch(token.word)
        if match and token.stem not in other and (base := folded_stem(match["base"])) in other:
            yield Denial(token.word, frozenset({base}))


def _chinese(text: str) -> Iterable[Denial]:
    """Yield the negations of Chinese."""
    for match in itertools.islice(_CJK.finditer(text), _MOST):
        clause = re.match(r"[^，,。；;]{0,6}", text[match.end() :][:6])
        scope = stems(tokens(clause[0])) if clause else []
        yield Denial(match[0][0], frozenset(scope[:4] or stems(tokens(text[: match.start()][-12:]))))
