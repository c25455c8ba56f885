"""From names to concepts: which names are one concept, which the sources explain, and which they only mention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from compiler.concepts.evidence import (
    NO_RULINGS,
    Evidence,
    Mentions,
    SourceClaims,
    admitted,
    defined_keys,
    gather,
    glosses,
    summed,
)
from compiler.concepts.rulings import Rulings, Union, is_sense, last, sense_key
from compiler.concepts.unexplained import Lacking, unexplained_names
from compiler.index.steps import Steps
from compiler.language import names
from compiler.language.aboutness import is_about, names_only_inside
from vault.ids import ConceptId, free_slug, mint
from vault.log.ledger import Event, Ids
from vault.model.claim import Claim

ENOUGH_CLAIMS = 3  # about a name that is the main subject of none


@dataclass(frozen=True, slots=True)
class Resolved:
    """A concept and the claims about it, in the order of the sources. `main` are those with it as subject."""

    id: ConceptId
    title: str
    aliases: tuple[str, ...]
    slug: str
    language: str
    keys: frozenset[str]
    main: tuple[Claim, ...]


@dataclass(slots=True)
class Resolution:
    """All concepts by id, the mentions of each claim, the unexplained names, and the new ledger events."""

    concepts: dict[ConceptId, Resolved] = field(default_factory=dict)
    mentions: dict[str, tuple[ConceptId, ...]] = field(default_factory=dict)  # claim id -> concepts its words name
    lacking: dict[str, Lacking] = field(default_factory=dict)  # key -> an unexplained name
    named_by: dict[str, tuple[str, ...]] = field(default_factory=dict)  # claim id -> unexplained keys its words name
    owners: dict[str, ConceptId] = field(default_factory=dict)  # claim id -> of the concepts it is about, the main one
    taken_in: dict[ConceptId, tuple[str, ...]] = field(default_factory=dict)  # concept -> those merged into it
    events: list[Event] = field(default_factory=list)


def resolve(
    sources: Sequence[SourceClaims],
    ids: Ids,
    at: str,
    rulings: Rulings = NO_RULINGS,
    held: frozenset[ConceptId] = frozenset(),
    steps: Steps | None = None,
) -> Resolution:
    """The concepts that `sources` explain. Pure; the order of `sources` only orders claims within a concept.

    A concept is admitted by its own evidence: a sentence that defines it, or enough claims about a name that the
    documents set off. Its id is the ledger's where the ledger knows one of its names, else newly minted. `rulings` say
    which names are one or two in spite of all rules; a concept that is `held` keeps its path though it is renamed.
    `steps` has what earlier builds found in the words of claims.
    """
    union, evidence, subjects = gather(sources, rulings)
    groups: dict[str, list[str]] = defaultdict(list)
    for key in [*evidence, *sorted(rulings.joined() - evidence.keys())]:
        groups[union.find(key)].append(key)
    out = Resolution()
    birth = _ConceptIds(ids, at, rulings, held, out.events)
    plain: dict[str, tuple[list[str], Evidence]] = {
        root: (sorted(keys), summed(evidence[k] for k in sorted(keys))) for root, keys in groups.items()
    }
    _keep_own_claims(plain, subjects, evidence, rulings)
    unknown: dict[str, Evidence] = {}
    for root in sorted(plain):
        keys, found = plain[root]
        if _is_concept(keys, found, rulings):
            concept = birth.concept(keys, found, evidence)
            out.concepts[concept.id] = concept
        else:
            unknown[root] = found
    out.lacking = unexplained_names(sources, union, unknown, [c.keys for c in out.concepts.values()])
    _retire(out, ids, at)
    _find_merged(out, ids)
    _find_mentions(sources, out, union, glosses(sources, evidence), rulings, steps)
    _find_owners(subjects, out)
    return out


def _is_concept(keys: list[str], found: Evidence, rulings: Rulings) -> bool:
    """Return whether names have an article: by their evidence, or as one of two that a user separated."""
    return admitted(found) or (bool(found.claims) and not rulings.kept.isdisjoint(keys))


def _keep_own_claims(
    plain: dict[str, tuple[list[str], Evidence]],
    subjects: dict[str, tuple[str, ...]],
    evidence: dict[str, Evidence],
    rulings: Rulings,
) -> None:
    """Keep for every name the claims that say something of it, those whose subject it is first.

    A claim that is about another concept and merely names this one is not what this one's article rests on, unless
    there are `ENOUGH_CLAIMS` of them and nothing else.
    """
    root_of = {key: root for root, (keys, found) in plain.items() if _is_concept(keys, found, rulings) for key in keys}
    owner = {claim: next((root_of[k] for k in keys if k in root_of), "") for claim, keys in subjects.items()}
    longer = _longer_names(plain, evidence)
    opens: dict[str, str] = {}  # claim id -> the name whose article it opens
    for root, (keys, found) in plain.items():
        if "page" in found.signals:
            continue  # what its article cites is its own
        spellings, around = [*found.variants, *keys], longer.get(root, ())
        if around and all(names_only_inside(claim.words, spellings, around) for claim in found.claims):
            found.claims, found.defined = [], False
        if root not in root_of:
            continue
        mine = [c for c in found.claims if owner[c.id] == root]
        mentions = [c for c in found.claims if owner[c.id] != root and is_about(c.words, spellings, around)]
        if mine or mentions or len({c.id for c in found.claims}) < ENOUGH_CLAIMS:
            found.claims = [*mine, *mentions]
        opens |= {claim.id: root for claim in mine[:1]}
    for root, (_, found) in plain.items():
        found.claims.sort(key=lambda c: opens.get(c.id, root) != root)


def _longer_names(
    plain: dict[str, tuple[list[str], Evidence]], evidence: dict[str, Evidence]
) -> dict[str, tuple[str, ...]]:
    """Return by root the spellings of other names that contain one of its names."""
    root_of = {key: root for root, (keys, _) in plain.items() for key in keys}
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for key in sorted(k for k in defined_keys(evidence) & root_of.keys() if not is_sense(k)):
        parts = key.split()
        for at, end in combinations(range(len(parts) + 1), 2):
            inner = root_of.get(" ".join(parts[at:end]))
            if inner is not None and inner != root_of[key]:
                found[inner] |= dict.fromkeys((key, *evidence[key].variants))
    return {root: tuple(sorted(written, key=lambda w: (-len(w), w))) for root, written in found.items()}


@dataclass(slots=True)
class _ConceptIds:
    """Assigns ids, titles and paths to concepts: those of the ledger, or new ones, which are recorded."""

    ids: Ids
    at: str
    rulings: Rulings
    held: frozenset[ConceptId]
    events: list[Event]
    taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.taken = self.ids.slugs("concept")

    def concept(self, keys: list[str], found: Evidence, evidence: dict[str, Evidence]) -> Resolved:
        """Return the concept of these names."""
        language = min(found.languages, key=lambda tag: (-found.languages[tag], tag), default="")
        known = self._known(keys)
        if known:
            id_ = known[0]
            for other in known[1:]:
                self._record("merge", other, into=id_)
            if not self.ids.alive(id_):
                self._record("revive", id_)
            name, slug = self._named(id_)
        else:
            id_, name, slug = self._created(keys, found, language)
        own = {names.key(name, language), sense_key(name, language)}
        written = {names.title(evidence[k].variants.elements(), language) for k in keys if k not in own}
        given = self.rulings.aliases.get(id_, ())
        spelled = {names.key(g, language) for g in given}  # as the user writes them
        machines = {w for w in written if w and names.key(w, language) not in spelled}
        aliases = sorted((machines | set(given)) - {name})
        return Resolved(id_, name, tuple(aliases), slug, language, frozenset(keys), tuple(_once(found.claims)))

    def _known(self, keys: list[str]) -> list[ConceptId]:
        """Return the ledger's concepts of these names: first the one that remains, then those merged into it now.

        One that was taken in by a concept of other names is one of its own again.
        """
        there = {i for k in keys if (i := self.ids.keys.get(("concept", k)))}
        own = [i for i in there if self.ids.merged.get(i) is None or last(self.ids.merged, i) not in there]
        found = [ConceptId(i) for i in sorted(own, key=lambda i: (self.ids.births[i].at, i))]
        if len(found) > 1 and (chosen := last(self.rulings.into, found[0])) in found:
            found = [chosen, *(i for i in found if i != chosen)]
        return found

    def _named(self, id_: ConceptId) -> tuple[str, str]:
        """Return name and slug of a known concept; a change of them is recorded."""
        born = self.ids.births[id_]
        name = self.rulings.names.get(id_) or self.ids.first_name(id_)
        if name == born.name:
            return name, born.slug
        earlier = self.ids.named[id_].get(name)
        slug = born.slug if id_ in self.held else earlier or free_slug(name, id_, self.taken - self.ids.slugs_of(id_))
        self.taken.add(slug.casefold())
        self._record("rename", id_, key=self.ids.present_key[id_], name=name, slug=slug)
        return name, slug

    def _created(self, keys: list[str], found: Evidence, language: str) -> tuple[ConceptId, str, str]:
        """Return id, name and slug of a new concept, which is recorded."""
        parted = next((k for k in keys if k in self.rulings.titles), "")
        written = found.written.get(language) or found.variants  # in texts of the language of most claims, if any
        name = self.rulings.titles.get(parted) or names.title(written.elements(), language)
        birth_key = parted or names.key(name, language)
        birth_key = birth_key if birth_key in keys else keys[0]
        id_ = ConceptId(mint("concept", birth_key, self.ids.births))
        slug = free_slug(name, id_, self.taken)
        self.taken.add(slug.casefold())
        self._record("birth", id_, key=birth_key, name=name, slug=slug)
        return id_, name, slug

    def _record(self, type_: str, id_: str, **rest: str) -> None:
        """Record an event of the ledger."""
        self.events.append({"v": 1, "type": type_, "of": "concept", "id": id_, "at": self.at, **rest})


def _once(claims: list[Claim]) -> Iterable[Claim]:
    """Return the claims without repetitions."""
    return {c.id: c for c in claims}.values()


def _retire(out: Resolution, ids: Ids, at: str) -> None:
    """Record that concepts without evidence are retired."""
    merged = {e["id"] for e in out.events if e["type"] == "merge"}
    for id_, birth in ids.births.items():
        if birth.noun == "concept" and ids.alive(id_) and id_ not in out.concepts and id_ not in merged:
            out.events.append(
                {"v": 1, "type": "retire", "of": "concept", "id": id_, "at": at, "reason": "no evidence left"}
            )


def _find_merged(out: Resolution, ids: Ids) -> None:
    """Fill in which concepts were merged into which."""
    merged = {i: into for i, into in ids.merged.items() if i not in out.concepts}
    merged |= {e["id"]: e["into"] for e in out.events if e["type"] == "merge"}
    for id_ in sorted(merged):
        if (heir := ConceptId(last(merged, id_))) in out.concepts:
            out.taken_in[heir] = (*out.taken_in.get(heir, ()), id_)


def _find_owners(subjects: dict[str, tuple[str, ...]], out: Resolution) -> None:
    """Fill in for each claim the first of its subjects that has an article, else the article that borrows it."""
    concept_of = {key: c.id for c in out.concepts.values() for key in c.keys}
    for claim, keys in subjects.items():
        if owner := next((concept_of[k] for k in keys if k in concept_of), None):
            out.owners[claim] = owner
    for id_ in sorted(out.concepts):
        for one in out.concepts[id_].main:
            out.owners.setdefault(one.id, id_)


def _find_mentions(
    sources: Sequence[SourceClaims],
    out: Resolution,
    union: Union,
    foreign: frozenset[str],
    rulings: Rulings,
    steps: Steps | None,
) -> None:
    """Fill in which concepts and which unexplained names each claim names."""
    concept_of = {key: c.id for c in out.concepts.values() for key in c.keys if key not in foreign}
    parted = rulings.parted()
    known = frozenset(concept_of) | parted | {k for k in union.parent if union.find(k) in out.lacking}
    mentions = Mentions(known, steps)
    for source in sources:
        for claim, _ in source.claims:
            found = [rulings.meant(k, source.source, claim.id) for k in mentions.of(claim.words)]
            out.mentions[claim.id] = tuple(dict.fromkeys(concept_of[k] for k in found if k in concept_of))
            out.named_by[claim.id] = tuple(
                dict.fromkeys(union.find(k) for k in found if k not in concept_of and k not in parted)
            )
