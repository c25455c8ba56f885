"""What of earlier replies is still valid after a change, so that only what is new is asked for.

A model that is asked twice says it in other words. So a sentence that was changed in a source costs the claims that
rest on it and no others; a claim that changed costs the sentences and cards that cite it and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from compiler.model.requests import (
    CardsReply,
    CardsRequest,
    ClaimView,
    ComposeReply,
    ComposeRequest,
    ExtractReply,
    ExtractRequest,
    ProposedCard,
    Reply,
    Request,
    Section,
    Sentence,
)
from compiler.replies.journal import PASSAGES, Entry, Journal
from compiler.replies.reuse_claims import still_said
from compiler.sources.segments import passages
from vault.ids import digest12
from vault.model.source import FoldedText
from vault.text.formatting import fold


def prepared(request: Request, journal: Journal, prompt: str = "") -> tuple[Request, bool]:
    """The request with what stands of earlier replies, and whether anything is left to ask.

    With `prompt`, only what a model or an agent answered to this one stands.
    """
    if isinstance(request, ExtractRequest):
        return still_said(request, journal, prompt)
    if not isinstance(request, ComposeRequest | CardsRequest):
        return request, True
    older = [e for e in journal.about(request.type, request.about) if not prompt or _answers(e, prompt)]
    if not request.about or not older:
        return request, True
    return _compose(request, older) if isinstance(request, ComposeRequest) else _cards(request, older)


def _answers(entry: Entry, prompt: str) -> bool:
    """Return whether somebody answered that prompt."""
    return entry.prompt == prompt and not entry.failed


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
        return _with_fresh(request, reply)
    if isinstance(request, ComposeRequest) and isinstance(reply, ComposeReply) and request.fresh:
        order = {c.id: n for n, c in enumerate(request.claims)}
        return ComposeReply(sections=_joined(request.standing, reply.sections, frozenset(request.fresh), order))
    if isinstance(request, CardsRequest) and isinstance(reply, CardsReply) and request.fresh:
        held = {(c.kind, fold(c.question)) for c in request.standing}
        new = frozenset(request.fresh)
        more = (c for c in reply.cards if new.intersection(c.cites) and (c.kind, fold(c.question)) not in held)
        return CardsReply(cards=(*request.standing, *more))
    return reply


def parts(request: Request) -> dict[str, str]:
    """What the bits of a reply to the request rest on, for when only some of it changes."""
    if isinstance(request, ExtractRequest):
        return {PASSAGES: " ".join(dict.fromkeys(passage_key(request.text[s:e]) for s, e in passages(request.text)))}
    if isinstance(request, ComposeRequest | CardsRequest):
        return {c.id: _digest(c) for c in request.claims}
    return {}


def passage_key(words: str) -> str:
    """Twelve hex of a passage's words: white space tells nothing."""
    return digest12(fold(words))


def _digest(claim: ClaimView) -> str:
    return digest12(f"{claim.kind}\x1f{claim.words}\x1f{claim.quote}")


# --- segments -------------------------------------------------------------------------------------------------------


def _with_fresh(request: ExtractRequest, reply: ExtractReply) -> ExtractReply:
    """What stands, with the claims whose quote holds words of what is new; those that stand nowhere the gate names."""
    spans = list(_fresh_spans(request))
    folded = FoldedText.of(request.text)
    held = {fold(c.quote) for c in request.standing}
    claims = list(request.standing)
    for claim in reply.claims:
        span = folded.find(claim.quote, near=claim.start) if fold(claim.quote) not in held else None
        new = span is None or any(span[0] < end and start < span[1] for start, end in spans)
        if fold(claim.quote) not in held and new:
            claims.append(claim)
    terms = {(t.name, t.aliases, t.signal): t for t in (*request.offered, *reply.terms)}
    return ExtractReply(claims=tuple(claims), terms=tuple(terms.values()))


def _fresh_spans(request: ExtractRequest) -> Iterator[tuple[int, int]]:
    """Where in the segment each of the passages that are new stands; they are in its order."""
    begins = [start for start, _ in passages(request.text)]
    at = 0
    for words in request.fresh:
        start = next((b for b in begins if b >= at and request.text.startswith(words, b)), -1)
        if start >= 0:
            at = start + len(words)
            yield start, at


# --- articles and cards ---------------------------------------------------------------------------------------------


def _compose(request: ComposeRequest, older: Sequence[Entry]) -> tuple[ComposeRequest, bool]:
    unchanged: tuple[Section, ...] = ()
    cited: list[tuple[str, ...]] = []
    known: frozenset[str] = frozenset()
    order = {c.id: n for n, c in enumerate(request.claims)}
    for entry, covered, mine in _knowing(request.claims, older):
        reply = entry.value()
        assert isinstance(reply, ComposeReply), "looked up by its type"
        kept = _only(reply.sections, covered)
        unchanged = _joined(unchanged, kept, mine, order) if known else kept
        cited += [s.cites for s in _sentences(reply.sections) if mine.intersection(s.cites)]
        known |= mine
    if not known:
        return request, True
    fresh = _to_ask(request.claims, known, cited, [s.cites for s in _sentences(unchanged)])
    return request.model_copy(update={"standing": unchanged, "fresh": fresh}), bool(fresh)


def _cards(request: CardsRequest, older: Sequence[Entry]) -> tuple[CardsRequest, bool]:
    unchanged: list[ProposedCard] = []
    changed: list[ProposedCard] = []
    cited: list[tuple[str, ...]] = []
    known: frozenset[str] = frozenset()
    there = {c.id for c in request.claims}
    for entry, covered, mine in _knowing(request.claims, older):
        reply = entry.value()
        assert isinstance(reply, CardsReply), "looked up by its type"
        about = [c for c in reply.cards if c.cites and (not known or mine.intersection(c.cites))]
        unchanged += [c for c in about if covered.issuperset(c.cites) and c not in unchanged]
        if not known:
            changed = [c for c in about if c not in unchanged and c.cites[0] in there]
        cited += [c.cites for c in about]
        known |= mine
    if not known:
        return request, True
    fresh = _to_ask(request.claims, known, cited, [c.cites for c in unchanged])
    update = {"standing": tuple(unchanged), "changed": tuple(changed), "fresh": fresh}
    return request.model_copy(update=update), bool(fresh)


def _knowing(
    claims: Sequence[ClaimView], older: Iterable[Entry]
) -> Iterator[tuple[Entry, frozenset[str], frozenset[str]]]:
    """The entries that had claims in the very words that they have now, the latest first.

    With each come all those claims, and the ones among them that no later entry knew: a source that comes back brings
    back what was said of it.
    """
    left = frozenset(c.id for c in claims)
    for entry in older:
        covered = frozenset(c.id for c in claims if entry.parts.get(c.id) == _digest(c))
        if mine := covered & left:
            yield entry, covered, mine
            left -= mine
        if not left:
            return


def _to_ask(
    claims: Iterable[ClaimView],
    known: frozenset[str],
    cited: Iterable[tuple[str, ...]],
    kept: Iterable[tuple[str, ...]],
) -> tuple[str, ...]:
    """The claims that no reply knew, and those that lose what was said of them with another's words."""
    lost = {c for cites in cited for c in cites} - {c for cites in kept for c in cites}
    return tuple(c.id for c in claims if c.id not in known or c.id in lost)


def _only(sections: Iterable[Section], covered: frozenset[str]) -> tuple[Section, ...]:
    out = []
    for section in sections:
        paragraphs = (tuple(s for s in p if s.cites and covered.issuperset(s.cites)) for p in section.paragraphs)
        if kept := tuple(p for p in paragraphs if p):
            out.append(Section(heading=section.heading, paragraphs=kept))
    return tuple(out)


def _sentences(sections: Iterable[Section]) -> Iterator[Sentence]:
    return (s for section in sections for p in section.paragraphs for s in p)


def _joined(
    unchanged: Sequence[Section], added: Iterable[Section], new: frozenset[str], order: Mapping[str, int]
) -> tuple[Section, ...]:
    """`unchanged` with the sentences of `added` that cite what is new, in the section that they are of.

    There they go before the first paragraph of which every claim comes later in the `order` of the claims, so that a
    definition whose words changed opens the article again.
    """
    out = {section.heading: list(section.paragraphs) for section in unchanged}
    said = {fold(s.text) for s in _sentences(unchanged)}
    for section in added:
        for paragraph in section.paragraphs:
            kept = tuple(s for s in paragraph if new.intersection(s.cites) and fold(s.text) not in said)
            if kept:
                there = out.setdefault(section.heading, [])
                there.insert(_place(kept, there, order), kept)
    lead = out.pop("", None)  # what is before the first heading
    whole = ({"": lead} if lead else {}) | out
    return tuple(Section(heading=h, paragraphs=tuple(p)) for h, p in whole.items())


def _place(paragraph: Sequence[Sentence], there: Sequence[Sequence[Sentence]], order: Mapping[str, int]) -> int:
    def first(of: Sequence[Sentence]) -> int:
        return min((order.get(c, len(order)) for s in of for c in s.cites), default=len(order))

    mine = first(paragraph)
    return next((n for n, other in enumerate(there) if first(other) > mine), len(there))
