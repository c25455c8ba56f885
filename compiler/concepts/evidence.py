"""The evidence for each name: which names are one, what marks them as terms, what is said of them, when it suffices."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from compiler.concepts.rulings import Rulings, Union, pair
from compiler.index.steps import Steps, decoded, digest_of_words, encoded
from compiler.language import names
from compiler.language.lexicon import pattern
from compiler.model.requests import Term
from vault.ids import SourceId
from vault.model.claim import Claim, ClaimKind

UNDERSTOOD = frozenset({"page", "line"})  # of a model or an agent
_MAX_NAME_WORDS = 6
_MOST_KEYS = 500_000
_EMPTY_ADJECTIVE = pattern("evidence_empty_adjective")
_DATIVE = re.compile(r"(-[^\W\d_]{2,}(?:er|el))n$")  # "Attention-Layern", not "Stern"
_SQUEEZED = 8  # letters from which on a name may meet another that only parts its words otherwise
NO_RULINGS = Rulings()


@dataclass(frozen=True, slots=True)
class SourceClaims:
    """One source as input of `resolve`: its claims with the names they are about, and the names it offers."""

    source: SourceId
    title: str
    language: str
    claims: tuple[tuple[Claim, tuple[str, ...]], ...]
    terms: tuple[Term, ...]
    understood: bool = False  # by a model or an agent: not every name has to pass the rules for what rules find


@dataclass(slots=True)
class Evidence:
    """What the sources say of one name."""

    variants: Counter[str] = field(default_factory=Counter)
    signals: set[str] = field(default_factory=set)
    claims: list[Claim] = field(default_factory=list)
    languages: Counter[str] = field(default_factory=Counter)
    defined: bool = False
    written: dict[str, Counter[str]] = field(default_factory=dict)  # language -> the variants in texts of it

    def name(self, variant: str, language: str) -> None:
        """Record a way in which a text of that language writes the name."""
        self.variants[variant] += 1
        self.written.setdefault(language, Counter())[variant] += 1

    def add(self, claim: Claim, language: str) -> None:
        """Record a claim about the name in a text of that language."""
        self.claims.append(claim)
        self.languages[language] += 1
        self.defined |= claim.kind is ClaimKind.DEFINITION


_KEYS: dict[tuple[str, str, bool], str] = {}  # of the names that were asked for
_RECALLED: dict[tuple[str, str, bool], str] = {}  # as an earlier process found them


def key_of(name: str, language: str, understood: bool = False) -> str:
    """Return the key of what can be a name; "" for what cannot. `understood`: a reader of the text offers it."""
    found = _KEYS.get((name, language, understood))
    if found is None:
        found = _RECALLED.get((name, language, understood))
        if found is None:
            fits = names.could_name(name) if understood else names.is_name(name, language)
            found = names.key(name, language) if fits else ""
        _KEYS[name, language, understood] = found
    return found


def recall_keys(steps: Steps) -> None:
    """Take the keys of names from earlier builds: finding them is slow, and they never change."""
    of_names, plain = decoded(steps.state("name-keys")) or ((), ())
    for name, language, understood, key in of_names:
        _RECALLED[name, language, understood] = key
    for name, language, key in plain:
        names.RECALLED[name, language] = key


def store_keys(steps: Steps) -> None:
    """Store the keys of names for the next build."""
    of_names, plain = (
        [[*given, key] for given, key in islice(known.items(), _MOST_KEYS)] for known in (_KEYS, names.KEYS)
    )
    steps.leave("name-keys", encoded([of_names, plain]))


def base_form(name: str, language: str) -> str:
    """Return a name as a page's title: German compounds out of the dative plural, without empty adjectives."""
    if language != "de":
        return name
    if match := _EMPTY_ADJECTIVE.match(name):
        name = name[match.end() :]
    return _DATIVE.sub(r"\1", name)


def gather(
    sources: Sequence[SourceClaims], rulings: Rulings = NO_RULINGS
) -> tuple[Union, dict[str, Evidence], dict[str, tuple[str, ...]]]:
    """Return the names of all sources joined to sets, the evidence by key, and the subjects of each claim."""
    evidence: dict[str, Evidence] = defaultdict(Evidence)
    short = _Acronyms()
    same: set[tuple[str, str]] = set()
    for source in sources:
        for term in source.terms:
            name = base_form(term.name, source.language)
            key = key_of(name, source.language, source.understood) if term.signal != "named" else ""
            if not key:
                continue
            key = rulings.meant(key, source.source)
            evidence[key].name(name, source.language)
            evidence[key].signals.add(term.signal)
            for alias in term.aliases:
                spoken = "en" if alias.isascii() else source.language  # "自注意力（self-attention）"
                other = rulings.meant(key_of(alias, spoken, source.understood), source.source)
                if not other:
                    continue
                evidence[other].name(alias, spoken)
                if names.is_acronym(alias):
                    short.stands_for(other, key, source.source)
                else:
                    same.add(pair(key, other))
    union = _joined(same, evidence, short, rulings)
    subjects: dict[str, tuple[str, ...]] = {}
    for source in sources:
        for claim, about in source.claims:
            written = [base_form(name, source.language) for name in about]
            plain = [key_of(n, source.language, source.understood) for n in written]
            keys = [rulings.meant(key, source.source, claim.id) for key in plain]
            subjects[claim.id] = tuple(dict.fromkeys(short.meant(k, source.source) for k in keys if k))
            for key in subjects[claim.id]:
                evidence[key].add(claim, source.language)
            for name, key in zip(written, keys, strict=True):
                if key:
                    evidence[key].name(name, source.language)
    return union, evidence, subjects


def _joined(
    same: Iterable[tuple[str, str]], evidence: dict[str, Evidence], short: _Acronyms, rulings: Rulings
) -> Union:
    """Return the names joined by the user, by rule, and by a model; none that a user set apart."""
    union = Union(rulings.apart)
    for one in sorted(rulings.same):
        union.join(*one)
    # Where joins collide, the names that a user took out come last, and stay by themselves.
    for one in sorted(same, key=lambda p: (sum(k in rulings.loose for k in p), p)):
        union.join(*one)
    _join_spellings(union, evidence)
    short.join(union)
    for one in sorted(rulings.likely):
        union.join(*one)
    return union


class _Acronyms:
    """Short forms with the long forms that the sources give. One with two long forms is a name of neither."""

    def __init__(self) -> None:
        self._longs: dict[str, set[str]] = defaultdict(set)
        self._in_source: dict[tuple[str, SourceId], set[str]] = defaultdict(set)
        self._ambiguous: set[str] = set()

    def stands_for(self, short: str, long: str, source: SourceId) -> None:
        """Record that a source uses `short` for `long`."""
        self._longs[short].add(long)
        self._in_source[short, source].add(long)

    def join(self, union: Union) -> None:
        """Join every short form with the one long form that it has."""
        for short, longs in sorted(self._longs.items()):
            roots = {union.find(k) for k in longs}
            if max(Counter(k.isascii() for k in roots).values()) > 1:
                self._ambiguous.add(short)
                continue
            for long in sorted(longs):
                union.join(long, short)

    def meant(self, key: str, source: SourceId) -> str:
        """Return the long form of an ambiguous `key` in this source; `key` itself where it has none or several."""
        longs = self._in_source.get((key, source), set()) if key in self._ambiguous else set()
        return min(longs) if len(longs) == 1 else key


def _join_spellings(union: Union, evidence: dict[str, Evidence]) -> None:
    """Join names that only separate their words differently: "feed forward network" and "feedforward network"."""
    squeezed: dict[str, str] = {}
    for key in sorted(evidence):
        bare = key.replace(" ", "")
        if len(bare) >= _SQUEEZED:
            union.join(key, squeezed.setdefault(bare, key))


def defined_keys(evidence: dict[str, Evidence]) -> frozenset[str]:
    """Return the keys of the names that some document defines."""
    return frozenset(key for key, found in evidence.items() if "definition" in found.signals)


def summed(parts: Iterable[Evidence]) -> Evidence:
    """Return the evidence for several names that are one."""
    total = Evidence()
    for part in parts:
        total.variants += part.variants
        total.signals |= part.signals
        total.claims += part.claims
        total.languages += part.languages
        total.defined |= part.defined
        for language, variants in part.written.items():
            total.written.setdefault(language, Counter()).update(variants)
    return total


def glosses(sources: Sequence[SourceClaims], evidence: dict[str, Evidence]) -> frozenset[str]:
    """Return the keys that only documents in another language give, as the translation of a name of theirs.

    "双组件（two-component）" makes no name of the English words "two components".
    """
    glossed: set[str] = set()
    given: set[str] = set()
    for source in sources:
        for term in source.terms:
            if term.signal == "definition" and source.language == "en":
                given |= {key_of(name, "en") for name in (term.name, *term.aliases)}
            elif source.language != "en":
                glossed |= {key_of(alias, "en") for alias in term.aliases if alias.isascii()}
    said = {key for key, found in evidence.items() if found.claims}
    return frozenset(key for key in glossed - given - said if not names.is_acronym(key.upper()) or " " in key)


def admitted(found: Evidence) -> bool:
    """Return whether a name has evidence enough for an article: a definition.

    Where a model or an agent read the documents, it has decided that.
    """
    if found.signals & UNDERSTOOD:
        return "page" in found.signals and bool(found.claims)
    return found.defined and "definition" in found.signals


def unspaced(known: frozenset[str]) -> list[str]:
    """Return the names in scripts that put no blanks between words."""
    return sorted(k for k in known if not k.isascii() and " " not in k)


class Mentions:
    """Which names claims mention, with what an earlier build found in their words.

    What it found holds where none of the names that are known now and were not then, or the other way round, is in the
    words.
    """

    def __init__(self, known: frozenset[str], steps: Steps | None) -> None:
        self._known, self._bare, self._steps = known, unspaced(known), steps
        self._added: frozenset[str] = frozenset()
        self._gone: frozenset[str] = frozenset()
        if steps is not None:
            before = frozenset(decoded(steps.state("known-names")) or ())
            self._added, self._gone = known - before, before - known
            steps.leave("known-names", encoded(sorted(known)))
        self._first = {key.partition(" ")[0] for key in self._added}
        self._added_bare = unspaced(self._added)

    def of(self, words: str) -> list[str]:
        """Return the keys of the known names that `words` mention."""
        if self._steps is None:
            return named_in(words, self._known, self._bare)
        key = digest_of_words(words)
        stored = self._steps.get("mentions", key)
        if stored is not None:
            parts = stored.decode("utf-8", "surrogatepass").split("\0")
            found = [] if not parts[0] else parts[0].split("\n")
            if self._gone.isdisjoint(found) and not self._may_mention(words, parts[1]):
                return found
        found = named_in(words, self._known, self._bare)
        value = f"{chr(10).join(found)}\0{chr(10).join(_beginnings_in(words))}"
        self._steps.put("mentions", key, value.encode("utf-8", "surrogatepass"))
        return found

    def _may_mention(self, words: str, beginnings: str) -> bool:
        """Return whether words may mention a name that was not known to the earlier build."""
        if not self._first:
            return False
        if not self._first.isdisjoint(beginnings.split("\n")):
            return True
        return not words.isascii() and any(name in words.casefold() for name in self._added_bare)


def _beginnings_in(words: str) -> list[str]:
    """Return all with which a name that `words` mention may begin: each word, and the key that it has as a last one."""
    tokens = _tokens_in(words)
    return sorted({*(t.casefold() for t in tokens), *map(_head, tokens)})


def named_in(words: str, known: frozenset[str], bare_names: list[str]) -> list[str]:
    """Return the keys of `known` that `words` name, those of `bare_names` also without blanks around them."""
    found = names_in(words, known)
    return found if words.isascii() else found + [k for k in bare_names if k in words.casefold()]


def names_in(words: str, known: frozenset[str]) -> list[str]:
    """Return the keys of `known` that `words` name, in order; of overlapping names the longest from the left."""
    tokens = _tokens_in(words)
    lowered = [t.casefold() for t in tokens]
    begins = _beginnings(known)
    found = []
    start = 0
    while start < len(tokens):
        step = 1
        longest = min(begins.get(lowered[start], 1), len(tokens) - start)
        for length in range(longest, 0, -1):
            head = _head(tokens[start + length - 1])
            run = " ".join([*lowered[start : start + length - 1], head])
            if head and run in known:
                found.append(run)
                step = length
                break
        start += step
    return found


def _tokens_in(words: str) -> list[str]:
    """Return the words of a text as names are looked for in it."""
    return [t.strip(".,;:!?()[]\"'“”‘’") for t in words.replace("-", " ").replace("–", " ").split()]


@lru_cache(maxsize=4)
def _beginnings(known: frozenset[str]) -> dict[str, int]:
    """Return the first words of the names of several words, and how many words the longest of each has."""
    out: dict[str, int] = {}
    for key in known:
        first, blank, rest = key.partition(" ")
        if blank:
            out[first] = min(max(out.get(first, 1), 2 + rest.count(" ")), _MAX_NAME_WORDS)
    return out


@lru_cache(maxsize=100_000)
def _head(token: str) -> str:
    """Return the key of the last word of a name."""
    return names.key(token)
