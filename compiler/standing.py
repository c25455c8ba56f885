"""What of earlier replies still stands when something changed, so that only what is new is asked for.

A model that is asked twice says it in other words. So a sentence that was changed in a source costs the claims that
rest on it and no others; a claim that changed costs the sentences and cards that cite it and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.engines.port import (
    CardsReply,
    CardsRequest,
    ClaimView,
    ComposeReply,
    ComposeRequest,
    ExtractedClaim,
    ExtractReply,
    ExtractRequest,
    ProposedCard,
    Reply,
    Request,
    Section,
    Sentence,
    Term,
)
from compiler.journal import Entry, Journal
from compiler.segment import passages
from vault.clean import fold
from vault.ids import digest12
from vault.source import FoldedText

_PASSAGES = "passages"


def prepared(request: Request, journal: Journal) -> tuple[Request, bool]:
    """The request with what stands of earlier replies, and whether anything is left to ask."""
    older = journal.about(request.type, request.about) if request.about else ()
    if isinstance(request, ExtractRequest) and older:
        return _extract(request, older)
    if isinstance(request, ComposeRequest) and older:
        return _compose(request, older)
    if isinstance(request, CardsRequest) and older:
        return _cards(request, older)
    return request, True


def stand_in(request: Request) -> Reply | None:
    """The reply as far as it stands without asking; None where nothing does."""
    if isinstance(request, ExtractRequest):
        return ExtractReply(claims=request.standing, terms=request.offered)
    if isinstance(request, ComposeRequest):
        return ComposeReply(sections=request.standing)
    if isinstance(request, CardsRequest):
        return CardsReply(cards=request.standing)
    return None


def merged(request: Request, reply: Reply) -> Reply:
    """What stands, and what the reply adds to it on what is new."""
    if isinstance(request, ExtractRequest) and isinstance(reply, ExtractReply) and request.fresh:
        claims = (*request.standing, *_on_fresh(request, reply.claims))
        return ExtractReply(claims=claims, terms=(*request.offered, *reply.terms))
    if isinstance(request, ComposeRequest) and isinstance(reply, ComposeReply) and request.standing:
        return ComposeReply(sections=_joined(request.standing, reply.sections, frozenset(request.fresh)))
    if isinstance(request, CardsRequest) and isinstance(reply, CardsReply) and request.standing:
        held = {(c.kind, fold(c.question)) for c in request.standing}
        new = frozenset(request.fresh)
        more = (c for c in reply.cards if new.intersection(c.cites) and (c.kind, fold(c.question)) not in held)
        return CardsReply(cards=(*request.standing, *more))
    return reply


def parts(request: Request) -> dict[str, str]:
    """What the bits of a reply to the request rest on, for when only some of it changes."""
    if isinstance(request, ExtractRequest):
        return {_PASSAGES: " ".join(dict.fromkeys(digest12(words) for words in _passages(request.text)))}
    if isinstance(request, ComposeRequest | CardsRequest):
        return {c.id: _digest(c) for c in request.claims}
    return {}


def _passages(text: str) -> Iterator[str]:
    return (fold(text[start:end]) for start, end in passages(text))


def _digest(claim: ClaimView) -> str:
    return digest12(f"{claim.kind}\x1f{claim.words}\x1f{claim.quote}")


# --- segments -------------------------------------------------------------------------------------------------------


def _extract(request: ExtractRequest, older: Sequence[Entry]) -> tuple[ExtractRequest, bool]:
    seen = {digest for entry in older for digest in entry.parts.get(_PASSAGES, "").split()}
    spans = passages(request.text)
    fresh = [request.text[s:e] for s, e in spans if digest12(fold(request.text[s:e])) not in seen]
    claims, terms = _still_there(request, older)
    if len(fresh) == len(spans) and not claims:
        return request, True
    now = request.model_copy(update={"standing": claims, "offered": terms, "fresh": tuple(fresh)})
    return now, bool(fresh)


def _still_there(
    request: ExtractRequest, older: Iterable[Entry]
) -> tuple[tuple[ExtractedClaim, ...], tuple[Term, ...]]:
    """The claims of earlier replies whose quotes the segment holds, and the names that it still writes."""
    text, lowered = fold(request.text), fold(request.text).casefold()
    claims: dict[str, ExtractedClaim] = {}
    terms: dict[str, Term] = {}
    for entry in older:
        reply = entry.value()
        assert isinstance(reply, ExtractReply), "looked up by its type"
        for claim in reply.claims:
            words = fold(claim.quote)
            if words and words in text:
                claims.setdefault(words, claim.model_copy(update={"start": 0}))
        for term in reply.terms:
            if fold(term.name).casefold() in lowered:
                terms.setdefault(f"{term.name} {term.signal}", term)
    return tuple(claims.values()), tuple(terms.values())


def _on_fresh(request: ExtractRequest, claims: Iterable[ExtractedClaim]) -> Iterator[ExtractedClaim]:
    """The claims whose quote holds words of a passage that is new; those that stand nowhere are left to the gate."""
    spans: list[tuple[int, int]] = []
    at = 0
    for words in request.fresh:
        start = request.text.find(words, at)
        if start >= 0:
            at = start + len(words)
            spans.append((start, at))
    folded = FoldedText.of(request.text)
    held = {fold(c.quote) for c in request.standing}
    for claim in claims:
        span = folded.find(claim.quote, near=claim.start)
        if fold(claim.quote) in held:
            continue
        if span is None or any(span[0] < end and start < span[1] for start, end in spans):
            yield claim


# --- articles -------------------------------------------------------------------------------------------------------


def _compose(request: ComposeRequest, older: Sequence[Entry]) -> tuple[ComposeRequest, bool]:
    last = older[0]
    reply = last.value()
    assert isinstance(reply, ComposeReply), "looked up by its type"
    covered = _covered(request.claims, last)
    kept = _only(reply.sections, covered)
    if not kept:
        return request, True
    fresh = tuple(c.id for c in request.claims if c.id not in covered)
    return request.model_copy(update={"standing": kept, "fresh": fresh}), bool(fresh)


def _covered(claims: Iterable[ClaimView], last: Entry) -> frozenset[str]:
    """The claims that the entry was told of in the very words that they have now."""
    return frozenset(c.id for c in claims if last.parts.get(c.id) == _digest(c))


def _only(sections: Iterable[Section], covered: frozenset[str]) -> tuple[Section, ...]:
    out = []
    for section in sections:
        paragraphs = (tuple(s for s in p if s.cites and covered.issuperset(s.cites)) for p in section.paragraphs)
        if kept := tuple(p for p in paragraphs if p):
            out.append(Section(heading=section.heading, paragraphs=kept))
    return tuple(out)


def _sentences(sections: Iterable[Section]) -> Iterator[Sentence]:
    return (s for section in sections for p in section.paragraphs for s in p)


def _joined(standing: Sequence[Section], added: Iterable[Section], new: frozenset[str]) -> tuple[Section, ...]:
    """`standing` with the sentences of `added` that cite what is new, each at the end of its section."""
    out = {section.heading: list(section.paragraphs) for section in standing}
    said = {fold(s.text) for s in _sentences(standing)}
    for section in added:
        for paragraph in section.paragraphs:
            kept = tuple(s for s in paragraph if new.intersection(s.cites) and fold(s.text) not in said)
            if kept:
                out.setdefault(section.heading, []).append(kept)
    return tuple(Section(heading=h, paragraphs=tuple(p)) for h, p in out.items())


# --- cards ----------------------------------------------------------------------------------------------------------


def _cards(request: CardsRequest, older: Sequence[Entry]) -> tuple[CardsRequest, bool]:
    last = older[0]
    reply = last.value()
    assert isinstance(reply, CardsReply), "looked up by its type"
    covered = _covered(request.claims, last)
    there = {c.id for c in request.claims}
    standing = [c for c in reply.cards if c.cites and covered.issuperset(c.cites)]
    changed: list[ProposedCard] = [c for c in reply.cards if c not in standing and c.cites and c.cites[0] in there]
    if not standing and not changed:
        return request, True
    fresh = tuple(c.id for c in request.claims if c.id not in covered)
    update = {"standing": tuple(standing), "changed": tuple(changed), "fresh": fresh}
    return request.model_copy(update=update), bool(fresh)
