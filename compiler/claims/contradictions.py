"""Pairs of claims that contradict each other, found by rules: sure ones, and candidates for a model to judge.

A model judges each candidate, so these rules are wide; but where they see that both claims can hold (other conditions,
another unit, a hedge, two things), no model is asked. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, pairwise, product

from compiler.claims.number_conflicts import clashes, year
from compiler.index.steps import Steps, digest_of_words
from compiler.language.comparisons import Comparison, comparisons, contrary, placed
from compiler.language.lexicon import pattern, stem
from compiler.language.opposites import has_opposite, opposite, same_root, synonym_stem
from compiler.language.quantities import Number, quantities
from compiler.language.tokens import content_words
from compiler.sources.editions import are_comparable
from vault.ids import ClaimId, SourceId
from vault.model.claim import Claim, ClaimKind

MOST_OF_A_CONCEPT = 300  # claims that are compared
_LONGEST = 400  # characters; in a longer sentence nobody can say what its number or its "not" belongs to
_FEWEST_SURE = 3  # stems in common where no model is asked
_FEWEST = 2  # stems in common
_ALIKE = 0.5  # share of the stems of the shorter one that both have, in some form or as an opposite
_SAME = 0.25  # the same share, of those in one form
_WORD = re.compile(r"[A-Za-z]*[A-Z0-9][\w.]*(?:-\w+)+|[^\W\d_]+(?:['’][^\W\d_]+)?")
_ANY = re.compile(r"[\w-]+")
_DENIAL = pattern("contradictions_denial")
_NO_DENIAL = re.compile(  # a bound, a list, or the second half of one denial
    r"\bnot only\b|\bnicht nur\b|\b(?:no|not) (?:more|less|fewer|later|earlier|longer) than\b|\bnor\b|\bnot until\b",
    re.IGNORECASE,
)
_HEDGED = pattern("contradictions_hedged")
_MONTH_OF_MAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\.? May\b|\bMay \d|\b(?:in|since|until|by|of) May\b")
_REPORTED = pattern("contradictions_reported")
_BOUNDARY = "in on for with at among during under across by of and to from than that is are was were has have had"
_WHERE = re.compile(  # what a fact is restricted to
    rf"\b(?:in|on|for|with|at|among|during|under|across)\s+(?P<what>(?:(?!(?:{'|'.join(_BOUNDARY.split())})\b)[\w'’-]+\s*)"
    r"{1,5})",
    re.IGNORECASE,
)
_BY = re.compile(r"\b(?:by|von|durch)\s+(?P<who>[A-Z][\w’'-]+(?:\s+(?:and\s+)?[A-Z][\w’'-]+){0,4})")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two claims of independent sources that cannot both hold."""

    first: Claim
    second: Claim
    point: str = field(default="", compare=False)  # on which they differ, as a model has it


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two claims that seem to contradict each other; `sure` if independent sources differ in one word only."""

    first: Claim
    second: Claim
    sure: bool
    weight: float  # the more alike two claims are, the likelier they speak of one fact


@dataclass(frozen=True, slots=True)
class Statement:
    """The words of a claim, prepared for comparison. `order` are its content stems in order, without number words."""

    words: str
    order: tuple[str, ...]
    stems: frozenset[str]
    numbers: tuple[Number, ...]
    years: frozenset[int]
    scopes: tuple[frozenset[str], ...]
    denies: bool


def candidates(
    title: str,
    claims: Sequence[Claim],
    origin: Callable[[SourceId], SourceId],
    published: Callable[[SourceId], str],
) -> list[Candidate]:
    """The pairs among the claims on the concept `title` that may contradict each other, the likeliest first.

    `origin` names the source behind a copy, `published` its day ("" if unknown).
    """
    subject = frozenset(content_stems(title))
    said = [(c, read_statement(c.words)) for c in claims[:MOST_OF_A_CONCEPT] if _is_comparable(c)]
    found = []
    for (one, a), (other, b) in combinations(said, 2):
        if weight := may_contradict(a, b, subject):
            days = {published(one.source), published(other.source)}
            first, second = sorted((one, other), key=lambda c: c.id)
            independent = origin(one.source) != origin(other.source)
            found.append(Candidate(first, second, independent and len(days) == 1 and _one_wording(a, b), weight))
    return sorted(found, key=lambda c: (not c.sure, -c.weight, c.first.id, c.second.id))


@dataclass(frozen=True, slots=True)
class Forms:
    """What two claims' words must share to contradict each other for sure, "" for what never does.

    `wording` is that of the words without numbers and denials; `compared` of a comparison without what has an opposite.
    """

    wording: str
    compared: str


def forms_in(words: str) -> Forms:
    """Return the forms of a claim's words; of those that assert nothing plainly, none."""
    if not is_plain(words):
        return Forms("", "")
    form = "" if is_hearsay(words) else " ".join(wording(words))
    if _compared_things(words):
        plain = " ".join(sorted(stem for stem in read_statement(words).stems if not has_opposite(stem)))
        return Forms(form, plain)
    return Forms(form, "")


def stored_forms(steps: Steps) -> Callable[[str], Forms]:
    """Return `forms_in`, which for words of an earlier build has the forms stored."""

    def forms_of(words: str) -> Forms:
        key = digest_of_words(words)
        found = steps.get("forms", key)
        if found is None:
            made = forms_in(words)
            found = steps.put("forms", key, f"{made.wording}\0{made.compared}".encode("utf-8", "surrogatepass"))
        return Forms(*found.decode("utf-8", "surrogatepass").split("\0"))

    return forms_of


def _compared_things(words: str) -> list[Comparison]:
    """Return the comparisons of a claim that denies nothing; not those of time."""
    found = [c for c in comparisons(words) if c.dimension != "time"]
    return found if found and not read_statement(words).denies else []


def disagreements(
    concepts: Iterable[Sequence[Claim]],
    claims: Collection[Claim],
    origin: Callable[[SourceId], SourceId],
    published: Callable[[SourceId], str],
    forms_of: Callable[[str], Forms] = forms_in,
) -> list[Disagreement]:
    """Return the sure contradictions between independent sources, in the same words: no model is needed.

    A fact with another number or denied is looked for in the claims of each concept, a comparison turned round in all
    `claims`. `origin` returns the source behind a copy, `published` its day ("" if unknown): what was published on
    different days may each have been so in its time. `forms_of` returns the forms of a claim's words.
    """
    forms = {claim.id: forms_of(claim.words) for claim in claims if claim.kind is not ClaimKind.QUESTION}
    pairs = [pair for own in concepts for pair in _facts_changed(own, forms, origin)]
    pairs += _comparisons_turned(claims, forms, origin)
    found: dict[tuple[str, ...], Disagreement] = {}
    for a, b in pairs:
        days = published(a.source), published(b.source)
        whole = all(c.words.endswith((".", "。")) for c in (a, b))  # a label or an item of a list is no statement
        if whole and origin(a.source) != origin(b.source) and not are_comparable(*days):
            found[tuple(sorted((a.id, b.id)))] = Disagreement(a, b)
    return list(found.values())


def _facts_changed(
    own: Sequence[Claim], forms: Mapping[ClaimId, Forms], origin: Callable[[SourceId], SourceId]
) -> Iterator[tuple[Claim, Claim]]:
    """Yield the pairs among a concept's claims that say the same but for one number or a denial."""
    said = [c for c in own[:MOST_OF_A_CONCEPT] if c.id in forms and forms[c.id].wording]
    for group in _alike(said, lambda c: forms[c.id].wording, origin):
        for one, other in combinations(group, 2):
            a, b = read_statement(one.words), read_statement(other.words)
            if len(a.stems & b.stems) >= _FEWEST_SURE and _differ_once(a, b):
                yield one, other


def _alike(
    claims: Iterable[Claim], form: Callable[[Claim], str], origin: Callable[[SourceId], SourceId]
) -> Iterator[list[Claim]]:
    """Yield the claims of one form, where they are of several independent sources."""
    groups: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        groups[form(claim)].append(claim)
    for group in groups.values():
        if len(group) > 1 and len({origin(c.source) for c in group}) > 1:
            yield group[:MOST_OF_A_CONCEPT]


def _differ_once(a: Statement, b: Statement) -> bool:
    """Return whether two statements differ in a denial alone, or in a number or year alone."""
    if a.denies != b.denies:
        compared = comparisons(a.words) or comparisons(b.words)
        return not compared and a.years == b.years and not clashes(a.words, b.words, a.numbers, b.numbers)
    if not len(a.numbers) + len(a.years) == len(b.numbers) + len(b.years) == 1:
        return False
    return a.years != b.years or any(measures(x) for x, _ in clashes(a.words, b.words, a.numbers, b.numbers))


def measures(number: Number) -> bool:
    """Return whether a number has a unit or counts something: that of a step, a shard or an example only names it."""
    return bool(number.unit) or any(True for _ in content_words(number.noun))


def _comparisons_turned(
    claims: Iterable[Claim], forms: Mapping[ClaimId, Forms], origin: Callable[[SourceId], SourceId]
) -> Iterator[tuple[Claim, Claim]]:
    """Yield the pairs of which one puts first what the other puts last, in otherwise the same words."""
    compared = [c for c in claims if c.id in forms and forms[c.id].compared]
    for group in _alike(compared, lambda c: forms[c.id].compared, origin):
        for first, second in combinations(group, 2):
            both = product(_compared_things(first.words), _compared_things(second.words))
            if any(contrary(a, b) for a, b in both):
                yield first, second


def _is_comparable(claim: Claim) -> bool:
    """Return whether a claim asserts something plainly enough to be compared: no question, no hedge, not too long."""
    return claim.kind is not ClaimKind.QUESTION and is_plain(claim.words)


def is_plain(words: str) -> bool:
    """Return whether words are neither hedged nor too long to be compared."""
    return len(words) <= _LONGEST and not _HEDGED.search(_MONTH_OF_MAY.sub(" ", words))


def is_hearsay(words: str) -> bool:
    """Return whether words report what somebody else says."""
    return bool(_REPORTED.search(words))


@lru_cache(maxsize=1 << 13)
def read_statement(claim_words: str) -> Statement:
    """Return the words of a claim with the stems, numbers, years and restrictions that are compared."""
    words = claim_words
    known = quantities(words)
    years = {y for n in known.numbers if (y := year(n)) is not None} | {d.year for d in known.days if d.year}
    spelled = {stem(w) for n in known.numbers if n.spelled for w in n.text.casefold().split()}
    order = tuple(s for s in content_stems(words) if s not in spelled)
    numbers = tuple(n for n in known.numbers if year(n) is None)
    denies = len(_DENIAL.findall(_NO_DENIAL.sub(" ", words))) % 2 == 1
    return Statement(words, order, frozenset(order), numbers, frozenset(years), tuple(_scopes(words)), denies)


def content_stems(words: str) -> Iterator[str]:
    """Yield the stems that carry content or have an opposite, in order; a name with a hyphen is one."""
    for word in _WORD.findall(words):
        plain = stem(word.casefold())
        if "-" in word and not word[1:].islower():
            yield word.casefold()
        elif "-" in word:
            yield from (synonym_stem(stem(part.casefold())) for part in word.split("-"))
        elif content_words(word) or has_opposite(plain):
            yield synonym_stem(plain)
    yield from (w for w in content_words(words) if not w.isascii() and len(w) == 1)  # a CJK character is a word


def _scopes(words: str) -> Iterator[frozenset[str]]:
    """Yield the content stems of each phrase that restricts where or for what a claim holds."""
    for found in _WHERE.finditer(words):
        if stems := frozenset(content_stems(found["what"])):
            yield stems


# --- what speaks for a pair -----------------------------------------------------------------------------------------


def may_contradict(a: Statement, b: Statement, subject: frozenset[str]) -> float:
    """Return how alike two claims are that seem to contradict each other, in (0, 1]; 0 if nothing suggests it.

    That both speak of the `subject` is not enough: something must be said of it in common.
    """
    weight = _likeness(a, b) if a.stems & b.stems - subject else 0.0
    return weight if weight and _seems_contrary(a, b) and not _both_can_hold(a, b) else 0.0


def _likeness(a: Statement, b: Statement) -> float:
    """Return how much two claims have in common, in [0, 1]; 0 if too little to be about one fact."""
    same, fewest = len(a.stems & b.stems), min(len(a.stems), len(b.stems))
    if same < _SAME * fewest:
        return 0.0
    ours, theirs = a.stems - b.stems, b.stems - a.stems
    answered = sum(any(opposite(w, v) or same_root(w, v) for v in theirs) for w in ours)
    common = same + answered
    if common < _FEWEST or common < _ALIKE * fewest:
        return 0.0
    return round(common / (len(a.stems | b.stems) - answered), 4)


def _seems_contrary(a: Statement, b: Statement) -> bool:
    """Return whether a denial, an opposite, a number, a year or another author sets two claims against each other."""
    if _contrary_words(a, b) % 2 == 1:
        return True
    if a.denies or b.denies:
        return False
    other_year = bool(a.years and b.years and not a.years & b.years)
    return bool(clashes(a.words, b.words, a.numbers, b.numbers)) or other_year or other_authors(a, b)


def _contrary_words(a: Statement, b: Statement) -> int:
    """Return how often the one claim says the opposite of the other; an odd number makes them contrary."""
    ours, theirs = a.stems - b.stems, b.stems - a.stems
    turned = sum(any(opposite(w, v) for v in theirs) for w in ours)
    return turned + (a.denies != b.denies) + _swapped(a, b)


def _swapped(a: Statement, b: Statement) -> bool:
    """Return whether two comparisons put the same things on opposite sides."""
    return any(placed(c, d) < 0 for c in comparisons(a.words) for d in comparisons(b.words))


def other_authors(a: Statement, b: Statement) -> bool:
    """Return whether the same act is ascribed to other people ("by ...")."""
    ours, theirs = ({w for m in _BY.finditer(s.words) for w in m["who"].split()} for s in (a, b))
    return bool(ours and theirs and not ours & theirs)


# --- what lets both hold --------------------------------------------------------------------------------------------


def _both_can_hold(a: Statement, b: Statement) -> bool:
    """Return whether two claims can hold together: of two things, in other cases, or for other arrangements."""
    return _other_subjects(a, b) or _other_scope(a, b) or _other_arrangement(a, b)


def _other_subjects(a: Statement, b: Statement) -> bool:
    """Return whether each claim begins with something that the other does not name."""
    first = [next((s for s in said.order if not has_opposite(s)), "") for said in (a, b)]
    named = (_names(first[0], b), _names(first[1], a))
    return not any(named)


def _names(word: str, said: Statement) -> bool:
    """Return whether a statement has the stem, one of its root, or its opposite."""
    return any(word == s or same_root(word, s) or opposite(word, s) for s in said.order)


def _other_scope(a: Statement, b: Statement) -> bool:
    """Return whether both claims say where or for what they hold, and name other places or cases."""
    mine, yours = a.stems, b.stems
    return any(_disjoint_scopes(x, y, mine, yours) for x, y in product(a.scopes, b.scopes))


def _disjoint_scopes(x: frozenset[str], y: frozenset[str], mine: frozenset[str], yours: frozenset[str]) -> bool:
    """Return whether two restrictions have nothing in common."""
    ours, theirs = x - yours, y - mine
    return bool(ours and theirs) and not any(same_root(w, v) for w in ours for v in theirs)


def _other_arrangement(a: Statement, b: Statement) -> bool:
    """Return whether other numbers belong to other things: two of them, another year, or another kind of the thing."""
    found = clashes(a.words, b.words, a.numbers, b.numbers)
    if not found or _contrary_words(a, b) % 2 == 1:
        return False
    if a.years and b.years and not a.years & b.years:
        return True
    if all(len({(n.unit, n.noun, id(n)) for n in side}) > 1 for side in zip(*found, strict=True)):
        return True
    return other_kinds(a, b)


def other_kinds(a: Statement, b: Statement) -> bool:
    """Return whether one noun has other qualifiers in the two claims: the base model, the big model."""
    before: list[dict[str, set[str]]] = [{}, {}]
    for said, kinds in zip((a, b), before, strict=True):
        words = [synonym_stem(stem(w.casefold())) for w in _ANY.findall(said.words)]
        for one, other in pairwise(words):
            if one in said.stems and other in said.stems:
                kinds.setdefault(other, set()).add(one)
    here, there = before
    return any(
        not here[w] & there[w] and not here[w] & b.stems and not there[w] & a.stems for w in here.keys() & there.keys()
    )


def _one_wording(a: Statement, b: Statement) -> bool:
    """Return whether two claims have the same words but for a number or a denial, and neither is hearsay."""
    if is_hearsay(a.words) or is_hearsay(b.words):
        return False
    return wording(a.words) == wording(b.words)


def wording(words: str) -> list[str]:
    """Return the stems of the words that are no number, denial or auxiliary verb."""
    spelled = {w for n in quantities(words).numbers if n.spelled for w in n.text.casefold().split()}
    plain = (stem(w.casefold()) for w in _WORD.findall(_DENIAL.sub(" ", words)) if w.casefold() not in spelled)
    return [w for w in plain if w not in _CARRIERS]


_CARRIERS = frozenset(stem(w) for w in "do does did".split())
