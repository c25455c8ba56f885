"""Names that the sources rely on and none explains, found from the names that they use."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.concepts.evidence import Evidence, SourceClaims, key_of
from compiler.concepts.rulings import Union
from compiler.language import lexicon, names
from compiler.language.lexicon import words

_TREATS = {"definition", "mechanism"}
_KINDS = words("unexplained_kinds")
_NO_THING = re.compile(r"\b(?:not|and|or)\b")
_VERSION = re.compile(r"^(?P<base>\D{3,}?) ?v?\d[\d ]*[a-z]?$")


@dataclass(frozen=True, slots=True)
class Lacking:
    """A name without explanation: its keys and its spellings."""

    name: str
    keys: tuple[str, ...]
    spellings: tuple[str, ...]


@dataclass(slots=True)
class _Use:
    """How the sources use one name."""

    variants: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)

    def add(self, other: _Use) -> None:
        """Add another use to this one."""
        self.variants += other.variants
        self.keys |= other.keys


def unexplained_names(
    sources: Sequence[SourceClaims],
    union: Union,
    known: Mapping[str, Evidence],
    explained: Iterable[frozenset[str]],
) -> dict[str, Lacking]:
    """Return by its key in `union` each name that the sources rely on and none explains.

    `known` is the evidence for the names that are no article, by the same keys; `explained` are the keys of each
    article. What a document defines is explained there.
    """
    covered = _Covered(explained, (k for k, found in known.items() if _is_treated(found)), union)
    used = _merged_versions(_uses(sources, union), covered)
    out = {}
    for key in sorted(used):
        use = used[key]
        if not covered.holds(key, use.variants):
            out[key] = Lacking(_written(use.variants), tuple(sorted(use.keys)), tuple(sorted(use.variants)))
    return out


def _uses(sources: Sequence[SourceClaims], union: Union) -> dict[str, _Use]:
    """Return how the sources use each name."""
    used: dict[str, _Use] = defaultdict(_Use)
    for source in sources:
        for term in source.terms:
            if term.signal != "named" or not (key := key_of(term.name, source.language)):
                continue
            if _NO_THING.search(key) or _is_participle(key):
                continue
            use = used[union.find(key)]
            use.variants[term.name] += 1
            use.keys.add(key)
    return used


def _is_participle(key: str) -> bool:
    """Return whether a key says how something is: "independently and identically distributed"."""
    last = key.rsplit(" ", 1)[-1]
    return last.endswith(("ed", "ly")) and lexicon.looks_adjective(last)


def _is_treated(found: Evidence) -> bool:
    """Return whether the sources say more of a name than that they use it."""
    return "definition" in found.signals or found.defined or any(c.kind.value in _TREATS for c in found.claims)


def _written(variants: Counter[str]) -> str:
    """Return one way to write the name, with small letters where some sources have them."""
    mixed = Counter({v: n for v, n in variants.items() if not (v.isupper() and len(v) > 5)}) or variants
    marked = [v for v in mixed if any(_is_marked(w) or any(c.isdigit() for c in w) for w in v.split())]
    if marked and len(marked) == len(mixed):
        return min(marked, key=lambda v: (-mixed[v], v))  # its capitals are its own
    title = names.title(mixed.elements())
    last = title.rsplit(" ", 1)[-1]
    return title.removesuffix(last) + lexicon.singular(last) if last.islower() and last != title else title


def _merged_versions(used: dict[str, _Use], covered: _Covered) -> dict[str, _Use]:
    """Return the names with versions of one thing merged, where it is named without a number or with several.

    Likewise what is named with its kind ("Freebase database") and without.
    """
    for key in [k for k in sorted(used) if _core(k) != k and _core(k) in used]:
        used[_core(key)].add(used.pop(key))
    by_base: dict[str, list[str]] = defaultdict(list)
    for key in sorted(used):
        if match := _VERSION.match(key):
            by_base[match["base"].strip()].append(key)
    for base, keys in by_base.items():
        if base not in used and len(keys) < 2 and not covered.holds(base, Counter()):
            continue
        whole = used.setdefault(base, _Use())
        for key in keys:
            part = used.pop(key)
            part.variants = Counter({_without_version(v): n for v, n in part.variants.items()})
            whole.add(part)
    return used


def _without_version(name: str) -> str:
    """Return the name without its version number."""
    return re.sub(r"[\s-]*[vV]?\d[\d.]*[a-z]?$", "", name) or name


class _Covered:
    """The names that an article or a document explains, and whether another name is one of them in other words."""

    def __init__(self, articles: Iterable[frozenset[str]], treated: Iterable[str], union: Union) -> None:
        roots = set(treated)
        keys = {k for article in articles for k in article} | {k for k in union.parent if union.find(k) in roots}
        self._keys = keys | {_core(k) for k in keys}
        self._initials = {_initials(k) for k in keys if len(k.split()) > 1}
        self._parts = {part for k in keys for part in _runs(k)}

    def holds(self, key: str, variants: Counter[str]) -> bool:
        """Return whether the name is explained: itself, as part of a longer name, or as several names side by side."""
        core = _core(key)
        if key in self._keys or core in self._keys:
            return True
        if core in self._initials and all(v.isupper() for v in variants):
            return True  # "NLP", where natural language processing is explained
        parts = core.split()
        marked = any(any(c.isupper() for c in v.split()[0][1:]) for v in variants) and len(core) > 3
        if len(parts) <= 2 and core in self._parts and not (marked and len(parts) == 1):
            return True
        if variants and all(v.islower() for v in variants) and any(self._has(" ".join(parts[-n:])) for n in (2, 3)):
            return True  # "pre-trained word embeddings" are word embeddings
        return self._is_compound(parts, variants)

    def _is_compound(self, parts: list[str], variants: Counter[str]) -> bool:
        """Return whether the parts are two explained names: "FrameNet semantic role labeling"."""
        for cut in range(1, len(parts)):
            left, right = " ".join(parts[:cut]), " ".join(parts[cut:])
            if self._has(left) and self._has(right):
                marked = any(_is_marked(v.split()[0]) for v in variants if v)
                return marked or len(parts) > 2
        return False

    def _has(self, key: str) -> bool:
        """Return whether a key is explained."""
        return key in self._keys or lexicon.singular(key) in lexicon.GENERIC


def _is_marked(word: str) -> bool:
    """Return whether a word is marked as a name by capitals or digits."""
    return sum(c.isupper() for c in word) > 1


def _core(key: str) -> str:
    """Return the key without what only says what kind of thing it is."""
    parts = key.split()
    while len(parts) > 1 and parts[-1] in _KINDS:
        parts.pop()
    parts[-1] = lexicon.singular(parts[-1])
    return " ".join(parts)


def _initials(key: str) -> str:
    """Return the first letters of a key's words."""
    return "".join(part[0] for part in key.split())


def _runs(key: str) -> Iterable[str]:
    """Return the runs of one or two words in a key of more."""
    parts = key.split()
    for length in (1, 2):
        if len(parts) > length:
            yield from (" ".join(parts[i : i + length]) for i in range(len(parts) - length + 1))
