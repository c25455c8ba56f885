"""Names to concepts: which names are one idea, which ideas the sources explain, and which they only mention."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from compiler import names
from compiler.engines.port import Term
from vault.claim import Claim, ClaimKind
from vault.ids import ConceptId, SourceId, free_slug, mint
from vault.ledger import Event, Ids

ENOUGH_CLAIMS = 3  # about a name that no sentence defines, if the document's structure sets the name off
_STRUCTURE = frozenset({"title", "heading", "index", "acronym", "alias", "glossary", "emphasis", "definition", "item"})
_SET_OFF = _STRUCTURE - {"definition"}
_EXPLAINS = frozenset({ClaimKind.MECHANISM, ClaimKind.RELATION, ClaimKind.APPLICATION, ClaimKind.LIMITATION})
_MAX_NAME_WORDS = 6


@dataclass(frozen=True, slots=True)
class SourceClaims:
    """One source as resolve sees it: its claims with the names they are about, and the names it offers."""

    source: SourceId
    title: str
    language: str
    claims: tuple[tuple[Claim, tuple[str, ...]], ...]
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A concept and the claims about it, in the order of the sources. `main` are those whose subject it is."""

    id: ConceptId
    title: str
    aliases: tuple[str, ...]
    slug: str
    language: str
    keys: frozenset[str]
    main: tuple[Claim, ...]


@dataclass(slots=True)
class Resolution:
    """All concepts by id; what each claim names; names that are offered but not explained; the ledger's news."""

    concepts: dict[ConceptId, Resolved] = field(default_factory=dict)
    mentions: dict[str, tuple[ConceptId, ...]] = field(default_factory=dict)  # claim id -> concepts its words name
    unexplained: dict[str, str] = field(default_factory=dict)  # key -> the name as it is written
    named_by: dict[str, tuple[str, ...]] = field(default_factory=dict)  # claim id -> unexplained keys its words name
    events: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class _Evidence:
    variants: Counter[str] = field(default_factory=Counter)
    signals: set[str] = field(default_factory=set)
    claims: list[Claim] = field(default_factory=list)
    languages: Counter[str] = field(default_factory=Counter)
    defined: bool = False


class _Union:
    """Names that are one, by their keys; the smallest key of a set stands for it, so order plays no part."""

    def __init__(self) -> None:
        self.parent: dict[str, str] = {}

    def find(self, key: str) -> str:
        root = key
        while (up := self.parent.setdefault(root, root)) != root:
            root = up
        while self.parent[key] != root:
            self.parent[key], key = root, self.parent[key]
        return root

    def join(self, a: str, b: str) -> None:
        low, high = sorted((self.find(a), self.find(b)))
        self.parent[high] = low


@lru_cache(maxsize=200_000)
def _key(name: str, language: str) -> str:
    return names.key(name, language) if names.is_name(name, language) else ""


def resolve(sources: Sequence[SourceClaims], ids: Ids, at: str) -> Resolution:
    """The concepts that `sources` explain. Pure; the order of `sources` only orders claims within a concept.

    A concept is admitted by its own evidence: a sentence that defines it, or enough claims about a name that the
    documents set off. Its id is the ledger's where the ledger knows one of its names, else newly minted.
    """
    union, evidence = _gather(sources)
    groups: dict[str, list[str]] = defaultdict(list)
    for key in evidence:
        groups[union.find(key)].append(key)
    out = Resolution()
    taken = ids.slugs("concept")
    plain: dict[str, tuple[list[str], _Evidence]] = {
        root: (sorted(keys), _sum(evidence[k] for k in sorted(keys))) for root, keys in groups.items()
    }
    for root in sorted(plain):
        keys, found = plain[root]
        if _admitted(found):
            concept = _concept(keys, found, evidence, ids, at, taken, out.events)
            out.concepts[concept.id] = concept
        elif found.signals & _STRUCTURE or len(found.claims) >= ENOUGH_CLAIMS:
            out.unexplained[root] = names.title(found.variants.elements())
    _retire(out, ids, at)
    _find_mentions(sources, out, union)
    return out


def _gather(sources: Sequence[SourceClaims]) -> tuple[_Union, dict[str, _Evidence]]:
    union = _Union()
    evidence: dict[str, _Evidence] = defaultdict(_Evidence)
    for source in sources:
        for term in source.terms:
            key = _key(term.name, source.language)
            if not key:
                continue
            evidence[key].variants[term.name] += 1
            evidence[key].signals.add(term.signal)
            for alias in term.aliases:
                other = _key(alias, "en" if alias.isascii() else source.language)  # "自注意力（self-attention）"
                if other:
                    evidence[other].variants[alias] += 1
                    union.join(key, other)
        for claim, about in source.claims:
            for name in about:
                key = _key(name, source.language)
                if not key:
                    continue
                own = evidence[key]
                own.variants[name] += 1
                own.claims.append(claim)
                own.languages[source.language] += 1
                own.defined |= claim.kind is ClaimKind.DEFINITION
    return union, evidence


def _sum(parts: Iterable[_Evidence]) -> _Evidence:
    total = _Evidence()
    for part in parts:
        total.variants += part.variants
        total.signals |= part.signals
        total.claims += part.claims
        total.languages += part.languages
        total.defined |= part.defined
    return total


def _admitted(found: _Evidence) -> bool:
    """Whether a name has its own evidence: a definition, enough claims, or one that explains what is set off."""
    if found.defined:
        return True
    if len(found.claims) >= ENOUGH_CLAIMS and found.signals & _STRUCTURE:
        return True
    return bool(found.signals & _SET_OFF) and bool(found.claims)


def _concept(
    keys: list[str],
    found: _Evidence,
    evidence: dict[str, _Evidence],
    ids: Ids,
    at: str,
    taken: set[str],
    events: list[Event],
) -> Resolved:
    language = min(found.languages, key=lambda tag: (-found.languages[tag], tag), default="")
    known = sorted(
        {i for k in keys if (i := ids.keys.get(("concept", k))) and i not in ids.merged},
        key=lambda i: (ids.births[i].at, i),
    )
    if known:
        id_ = ConceptId(known[0])
        events += [
            {"v": 1, "type": "merge", "of": "concept", "id": other, "at": at, "into": id_} for other in known[1:]
        ]
        if id_ in ids.retired:
            events.append({"v": 1, "type": "revive", "of": "concept", "id": id_, "at": at})
        name, slug = ids.births[id_].name, ids.births[id_].slug
    else:
        name = names.title(found.variants.elements(), language)
        birth_key = names.key(name, language)
        birth_key = birth_key if birth_key in keys else keys[0]
        id_ = ConceptId(mint("concept", birth_key, ids.births))
        slug = free_slug(name, id_, taken)
        taken.add(slug.casefold())
        events.append(
            {
                "v": 1,
                "type": "birth",
                "of": "concept",
                "id": id_,
                "at": at,
                "key": birth_key,
                "name": name,
                "slug": slug,
            }
        )
    own = names.key(name, language)
    aliases = sorted({names.title(evidence[k].variants.elements(), language) for k in keys if k != own} - {name})
    return Resolved(id_, name, tuple(aliases), slug, language, frozenset(keys), tuple(_once(found.claims)))


def _once(claims: list[Claim]) -> Iterable[Claim]:
    return {c.id: c for c in claims}.values()


def _retire(out: Resolution, ids: Ids, at: str) -> None:
    merged = {e["id"] for e in out.events if e["type"] == "merge"}
    for id_, birth in ids.births.items():
        if birth.noun == "concept" and ids.alive(id_) and id_ not in out.concepts and id_ not in merged:
            out.events.append(
                {"v": 1, "type": "retire", "of": "concept", "id": id_, "at": at, "reason": "no evidence left"}
            )


def _find_mentions(sources: Sequence[SourceClaims], out: Resolution, union: _Union) -> None:
    concept_of = {key: c.id for c in out.concepts.values() for key in c.keys}
    known = frozenset(concept_of) | {k for k in union.parent if union.find(k) in out.unexplained}
    unspaced = sorted(k for k in known if not k.isascii() and " " not in k)
    for source in sources:
        for claim, _ in source.claims:
            found = names_in(claim.words, known)
            if not claim.words.isascii():
                found += [k for k in unspaced if k in claim.words.casefold()]
            out.mentions[claim.id] = tuple(dict.fromkeys(concept_of[k] for k in found if k in concept_of))
            out.named_by[claim.id] = tuple(dict.fromkeys(union.find(k) for k in found if k not in concept_of))


def names_in(words: str, known: frozenset[str]) -> list[str]:
    """The keys of `known` that `words` name, in order; of overlapping names the longest from the left."""
    tokens = [t.strip(".,;:!?()[]\"'“”‘’") for t in words.replace("-", " ").replace("–", " ").split()]
    lowered = [t.casefold() for t in tokens]
    found = []
    start = 0
    while start < len(tokens):
        step = 1
        for length in range(min(_MAX_NAME_WORDS, len(tokens) - start), 0, -1):
            head = _head(tokens[start + length - 1])
            run = " ".join([*lowered[start : start + length - 1], head])
            if head and run in known:
                found.append(run)
                step = length
                break
        start += step
    return found


@lru_cache(maxsize=100_000)
def _head(token: str) -> str:
    return names.key(token)
