"""The agenda as a reading list: gaps by subject, ranked, with what to look for and which works are named."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from compiler.articles.article import Articles
from compiler.articles.sources import Sources
from compiler.claims.extract import Gathered
from compiler.concepts.resolve import Resolution, Resolved
from compiler.language.lexicon import word_list
from compiler.language.mentions import places
from compiler.pages.references import Citations, Work, address_in
from vault.diagnostic import Diagnostic
from vault.ids import ConceptId, GapId, SourceId
from vault.model.claim import Claim
from vault.model.gaps import Gap, GapKind, GapStatus
from vault.model.reading_list import Cited, Lack, Wanted
from vault.model.wikilink import raw_link

LISTED = 100  # subjects on the page
MAX_QUERIES = 3
MAX_WORKS = 3
MAX_MENTIONS = 4
MAX_PLACES = 10  # of a borrowed name in one source that are asked likewise
MAX_CLAIMS = 200  # of one subject that are asked for the works they cite
_KINDS_OF_IT = 2  # names that hold a word, which then is a general one
_KINDS = ("definitional", "mechanistic")  # the order in which they are wanted
# What to look for, by what is missing; {x} is the subject, {y} a neighbour of it.
_QUERIES = {
    language: dict(zip((*_KINDS, ""), word_list(f"queries_{language}").split(" ; "), strict=True))
    for language in ("en", "de", "zh")
}
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_ANY = dict.fromkeys((*_KINDS, ""), "{x} {y}")


@dataclass(slots=True)
class _Subject:
    """What several gaps are about: a concept with an article, or a name without one."""

    what: str
    concept: ConceptId | None
    gaps: list[tuple[str, Gap]] = field(default_factory=list)  # (kind of what is missing, gap)
    claims: list[Claim] = field(default_factory=list)  # those about it and those that name it
    own: frozenset[str] = frozenset()  # ids of those about it
    names: tuple[str, ...] = ()
    waiting: tuple[ConceptId, ...] = ()  # the concepts whose own claims name it
    borrowed_in: tuple[SourceId, ...] = ()  # the sources that use a name without an article
    sources: int = 0


def fill_links(fills: Mapping[GapId, Sequence[str]], gathered: Sequence[Gathered]) -> dict[GapId, list[str]]:
    """Return for each gap links to the sources that were added to fill it and are still there."""
    there = {path for g in gathered for path in g.tracked.paths}
    return {
        gap: [raw_link(p, p.rsplit("/", 1)[-1], depth=1) for p in paths if p in there] for gap, paths in fills.items()
    }


def fill_notices(
    items: Iterable[Gap], fills: Mapping[GapId, Sequence[str]], gathered: Sequence[Gathered]
) -> list[Diagnostic]:
    """Return which gaps the sources read in this build filled, of those that they were added for."""
    fresh = {path for g in gathered if g.fresh for path in g.tracked.paths}
    out = []
    for gap in items:
        for path in fills.get(gap.id, ()):
            if path in fresh and gap.open:
                what = f"added for the gap {gap.what}, but does not fill it; still missing: {gap.fill}"
                out.append(
                    Diagnostic(path, 0, "gap-open", what, f"if this is enough, run `retain gaps ignore {gap.id}`")
                )
            elif path in fresh and gap.status is GapStatus.FILLED:
                out.append(Diagnostic(path, 0, "gap-filled", f"fills a gap: {gap.what} ({gap.missing})"))
    return out


def reading_list(
    asked: Iterable[tuple[str, Gap]], known: Resolution, articles: Articles, sources: Sources
) -> list[Wanted]:
    """Return the subjects of the open gaps, the most wanted first. `asked` are the gaps with their keys.

    First comes what many articles name and little is known of, then what most sources speak of. General words of
    which the vault explains several kinds come after the rest.
    """
    subjects = _subjects(asked, known)
    _find_claims(subjects, known, sources.gathered)
    general = _general(known)
    order = sorted(subjects.items(), key=lambda item: _rank(item[0], item[1], general))
    works = _Works(sources)
    near = _neighbours(known, {c for _, s in order[:LISTED] for c in ([s.concept] if s.concept else s.waiting)})
    return [_wanted(subject, known, articles, works, near) for _, subject in order[:LISTED]]


def _subjects(asked: Iterable[tuple[str, Gap]], known: Resolution) -> dict[str, _Subject]:
    """Return the subjects of the open gaps by the part of the gaps' keys that names them."""
    out: dict[str, _Subject] = {}
    for key, gap in asked:
        kind, _, rest = key.partition(":")
        if not gap.open or kind not in (GapKind.STRUCTURAL, GapKind.EPISTEMIC):
            continue
        about, _, missing = rest.partition(":") if kind == GapKind.EPISTEMIC else (rest, "", "")
        concept = known.concepts.get(ConceptId(about)) if kind == GapKind.EPISTEMIC else None
        if kind == GapKind.EPISTEMIC and concept is None:
            continue
        lacking = known.lacking.get(about) if concept is None else None
        names = (concept.title, *concept.aliases) if concept else (gap.what, *(lacking.spellings if lacking else ()))
        subject = out.setdefault(f"{kind}:{about}", _Subject(gap.what, concept.id if concept else None, names=names))
        subject.gaps.append((missing or "definitional", gap))
    return out


def _find_claims(subjects: Mapping[str, _Subject], known: Resolution, documents: Sequence[Gathered]) -> None:
    """Set for each subject the claims that are about it or name it, and the concepts and sources that need it."""
    home = {claim.id: concept.id for concept in known.concepts.values() for claim in concept.main}
    waiting: dict[str, dict[ConceptId, None]] = defaultdict(dict)
    for subject in subjects.values():
        if subject.concept:
            subject.claims += known.concepts[subject.concept].main
            subject.own = frozenset(claim.id for claim in subject.claims)
    texts = {SourceId(g.tracked.id): g.source.text.lower() for g in documents if g.source is not None}
    for subject in subjects.values():
        if not subject.concept:
            named = (
                id_ for id_, text in texts.items() if any(next(places(text, n.lower()), None) for n in subject.names)
            )
            subject.borrowed_in = tuple(sorted(named))
    for gathered in documents:
        for claim, _ in gathered.claims:
            keys = [f"{GapKind.EPISTEMIC}:{id_}" for id_ in known.mentions.get(claim.id, ())]
            keys += (f"{GapKind.STRUCTURAL}:{name}" for name in known.named_by.get(claim.id, ()))
            for key in keys:
                about = subjects.get(key)
                owner = home.get(claim.id)
                if about is None or (owner is not None and owner == about.concept):
                    continue
                about.claims.append(claim)
                if owner is not None:
                    waiting[key][owner] = None
    for key, subject in subjects.items():
        subject.waiting = tuple(sorted(waiting[key]))
        subject.sources = len({claim.source for claim in subject.claims} | set(subject.borrowed_in))


def _rank(key: str, subject: _Subject, general: frozenset[ConceptId]) -> tuple[bool, float, int, int, str, str]:
    """Return the sort key of a subject: what needs it against what is known of it; general words come last."""
    kinds = [_KINDS.index(kind) for kind, _ in subject.gaps if kind in _KINDS]
    lack = len(subject.waiting) / (1 + len(subject.own))
    is_general = subject.concept in general
    return is_general, -lack, -subject.sources, min(kinds, default=-1), subject.what.casefold(), key


def _general(known: Resolution) -> frozenset[ConceptId]:
    """Return the concepts of one word that several others' names contain: "vector" in "support vector machine"."""
    within: Counter[str] = Counter()
    for concept in known.concepts.values():
        within.update({word for key in concept.keys if " " in key for word in key.split()})
    return frozenset(
        c.id for c in known.concepts.values() if " " not in c.title and any(within[k] >= _KINDS_OF_IT for k in c.keys)
    )


def _neighbours(known: Resolution, wanted: set[ConceptId]) -> dict[ConceptId, list[str]]:
    """Return for each concept the titles of those named with it, first those that most sources name with it.

    A neighbour is of the same language, as both are in one query.
    """
    together: dict[ConceptId, Counter[ConceptId]] = {id_: Counter() for id_ in wanted}
    sources: dict[ConceptId, set[tuple[ConceptId, str]]] = {id_: set() for id_ in wanted}
    for concept in known.concepts.values():
        for claim in concept.main:
            named = {concept.id, *known.mentions.get(claim.id, ())} & known.concepts.keys()
            for id_ in named & wanted:
                together[id_].update(named - {id_})
                sources[id_].update((other, claim.source) for other in named - {id_})
    out = {}
    for id_, found in together.items():
        spread = Counter(other for other, _ in sources[id_])
        alike = [o for o in found if _language(known.concepts[o]) == _language(known.concepts[id_])]
        order = sorted(alike, key=lambda o: (-spread[o], -found[o], o))
        out[id_] = [known.concepts[o].title for o in order[:8]]
    return out


def _language(concept: Resolved) -> str:
    """Return the language to search for a concept in: that of its name's script, which may not be its sources'."""
    if _CJK.search(concept.title):
        return concept.language if concept.language in ("ja", "ko") else "zh"
    return "en" if concept.language in ("zh", "ja", "ko") else concept.language


def _wanted(
    subject: _Subject, known: Resolution, articles: Articles, works: _Works, near: Mapping[ConceptId, list[str]]
) -> Wanted:
    """Return a subject as the reading list shows it."""
    gaps = sorted(subject.gaps, key=lambda one: (_KINDS.index(one[0]) if one[0] in _KINDS else -1, one[1].id))
    if subject.concept:
        language, neighbours = _language(known.concepts[subject.concept]), near[subject.concept]
    else:
        found = Counter(_language(known.concepts[c]) for c in subject.waiting) or works.languages(subject.borrowed_in)
        language = min(found, key=lambda tag: (-found[tag], tag), default="")
        neighbours = [known.concepts[c].title for c in subject.waiting]
    mentions = sorted(articles[c].link for c in subject.waiting if c in articles)
    mentions += sorted(map(works.sources.link, subject.borrowed_in))
    return Wanted(
        what=subject.what,
        waiting=len(subject.waiting),
        lacks=tuple(Lack(gap.id, gap.missing, gap.fill) for _, gap in gaps),
        queries=queries(subject.what, [kind for kind, _ in gaps], neighbours, language),
        works=works.on(subject),
        mentions=tuple(mentions[:MAX_MENTIONS]),
        link=articles[subject.concept].link if subject.concept and subject.concept in articles else "",
    )


def queries(what: str, missing: Sequence[str], neighbours: Sequence[str], language: str) -> tuple[str, ...]:
    """Return search queries in the language of the sources: the subject, its neighbours, what is missing."""
    forms = _QUERIES.get(language, _ANY)
    folded = what.casefold()
    others = [n for n in neighbours if n.casefold() not in folded and folded not in n.casefold()]
    kinds = [kind for kind in missing if kind in forms] or [""]
    if not missing or missing == [""]:
        kinds = ["", "mechanistic", "definitional"]
    out: dict[str, None] = {}
    for kind in [*kinds, *(k for k in ("", "mechanistic") if k not in kinds)]:
        words = forms[kind].format(x=what, y=others[0] if others else "")
        out.setdefault(" ".join(words.split()))
    return tuple(out)[:MAX_QUERIES]


class _Works:
    """The works that sources cite on a subject, without those that are in the vault already."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._sources = {SourceId(g.tracked.id): g for g in sources.gathered if g.source is not None}
        self._read: dict[SourceId, Citations] = {}
        texts = [g.source for g in sources.gathered if g.source is not None]
        self._owned = {Work(text.title).key for text in texts}
        addresses = {text.properties.get("url", "") for text in texts} | set(sources.addresses.values())
        self._owned |= {address_in(address) or address for address in addresses}
        self._owned.discard("")  # no address, no title: that is nobody's

    def on(self, subject: _Subject) -> tuple[Cited, ...]:
        """Return the works on a subject: first those that most sources cite, then those easiest to find."""
        found: dict[str, Work] = {}
        by: dict[str, dict[SourceId, None]] = defaultdict(dict)
        claims = sorted(subject.claims, key=lambda c: c.id)[:MAX_CLAIMS]
        cited = [(claim.source, work) for claim in claims for work in self._at(claim, subject)]
        cited += [(source, work) for source in subject.borrowed_in for work in self._where_borrowed(source, subject)]
        said = {work.key for _, work in cited}
        sources = {claim.source for claim in subject.claims} | set(subject.borrowed_in)
        for source in sorted(sources & self._sources.keys()):
            cited += ((source, work) for work in self._citations(source).titled(subject.names))
        for source, work in cited:
            if work.key not in self._owned and work.address not in self._owned:
                found[work.key] = min(found.get(work.key, work), work, key=lambda w: (not w.address, w.words))
                by[work.key][source] = None
        order = sorted(found, key=lambda k: (k not in said, -len(by[k]), not found[k].title, not found[k].address, k))
        return tuple(
            Cited(found[key].words, found[key].address, tuple(sorted(map(self.sources.link, by[key])))[:2])
            for key in order[:MAX_WORKS]
        )

    def _at(self, claim: Claim, subject: _Subject) -> tuple[Work, ...]:
        """Return the works that a claim's sentence cites for the subject."""
        gathered = self._sources.get(claim.source)
        if gathered is None or claim.id not in gathered.starts:
            return ()
        about = claim.id in subject.own
        return self._citations(claim.source).at(gathered.starts[claim.id], subject.names, about=about)

    def _where_borrowed(self, source: SourceId, subject: _Subject) -> Iterator[Work]:
        """Return the works that a source cites with a name that it uses without explaining it."""
        text = self._sources[source].source if source in self._sources else None
        lowered = text.text.lower() if text is not None else ""
        for name in subject.names:
            for start, _ in islice(places(lowered, name.lower()), MAX_PLACES):
                yield from self._citations(source).at(start, subject.names, about=False)

    def languages(self, sources: Sequence[SourceId]) -> Counter[str]:
        """Return how many of the sources are in each language."""
        texts = (self._sources[source].source for source in sources if source in self._sources)
        return Counter(text.language for text in texts if text is not None)

    def _citations(self, source: SourceId) -> Citations:
        """Return what a source cites, read once."""
        if source not in self._read:
            text = self._sources[source].source
            assert text is not None
            self._read[source] = Citations(text)
        return self._read[source]
