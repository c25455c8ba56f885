"""Claims from citations: every quote that a draft rests on, with its kind and what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compiler.claims.extract import Extracted, Verified
from compiler.drafts.drafts import Drafts, quotes_of
from compiler.drafts.names import Group, terms_of
from compiler.drafts.shelf import Shelf
from compiler.protocol.replies import Quote
from compiler.replies.knowledge import Knowledge, title_key
from vault.ids import SourceId
from vault.model.claim import ClaimKind

_RANK = ("definition", "mechanism", "relation", "application", "limitation", "fact", "question")


@dataclass(slots=True)
class _Use:
    kinds: set[str] = field(default_factory=set)
    about: dict[str, None] = field(default_factory=dict)


def extracted_of(
    drafts: Drafts, shelf: Shelf, knowledge: Knowledge, groups: Sequence[Group]
) -> dict[SourceId, Extracted]:
    """Return the claims of each source, in its order, and the names that it gives to concepts."""
    uses: dict[Quote, _Use] = {}

    def use(quotes: Iterable[Quote], kind: str, about: str = "") -> None:
        for quote in quotes:
            one = uses.setdefault(quote, _Use())
            one.kinds.add(kind)
            if about:
                one.about[about] = None

    for draft in drafts.articles:  # first what defines: a claim is at home where it does
        for line in draft.group.lines[:1]:
            use(line.quotes, "definition", draft.group.title)
    for draft in drafts.articles:
        for quote, kind in quotes_of(draft):
            use([quote], kind, draft.group.title)
    for _, line in drafts.lines:
        use(line.quotes, "fact")
    for clash in drafts.clashes:
        use((*clash.first, *clash.second), "fact")
    for said in (s for each in drafts.summaries.values() for s in each):
        use(said.quotes, "fact")
    pages = {title_key(t): group.page for group in groups for t in group.titles}
    terms = terms_of(knowledge, shelf, pages)
    by_source: dict[str, list[Verified]] = {d.id: [] for d in shelf.documents}
    for quote, one in uses.items():
        at = shelf.place(quote)
        if at >= 0:
            kind = ClaimKind(min(one.kinds, key=_RANK.index))
            locator = shelf.by_id[quote.source].text.locate(at)
            by_source[quote.source].append(Verified(kind, quote.words, "", tuple(one.about), at, locator))
    return {
        SourceId(source): Extracted(tuple(_once(claims)), tuple(terms.get(SourceId(source), ())), ())
        for source, claims in by_source.items()
    }


def _once(claims: Sequence[Verified]) -> list[Verified]:
    """Return claims in the order of their source, each wording once, of its strongest kind and about all.

    It is first of all about what its strongest kind is about: what it defines comes before what it is told for.
    """
    found: dict[str, Verified] = {}
    for claim in sorted(claims, key=lambda c: (c.start, c.quote)):
        known = found.setdefault(claim.quote, claim)
        if known is not claim:
            one, other = sorted((known, claim), key=lambda c: _RANK.index(c.kind.value))
            about = tuple(dict.fromkeys((*one.about, *other.about)))
            found[claim.quote] = replace(one, about=about, cards=known.cards or claim.cards)
    return list(found.values())


def with_others(own: Mapping[SourceId, Extracted], others: Mapping[SourceId, Extracted]) -> dict[SourceId, Extracted]:
    """Return the claims and names of both, each wording once: where nobody read a passage, rules did."""
    out = dict(own)
    for source, extracted in others.items():
        mine = own.get(source, Extracted((), (), ()))
        claims = _once([*mine.claims, *extracted.claims])
        out[source] = Extracted(
            tuple(claims), (*mine.terms, *extracted.terms), (*mine.rejections, *extracted.rejections)
        )
    return out
