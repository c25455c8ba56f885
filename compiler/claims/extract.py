"""Claims of sources: those in the replies to its segments that the source supports, and one source with its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from compiler.gates.gates import statement_refused
from compiler.index.steps import Steps, encoded
from compiler.model.report import Rejection
from compiler.model.requests import ExtractReply, PossibleCard, Term
from compiler.sources.fingerprint import Fingerprint
from compiler.sources.inventory import Tracked
from compiler.sources.opening import opening
from vault.model.claim import Claim, ClaimKind
from vault.model.source import FoldedText, SourceText
from vault.text.formatting import clean, fold, normal

STEP = "claims"  # of a source, as the embedded engine extracts them
MAX_QUOTE = 2_000  # characters; a quote is the words of a claim, not a page


@dataclass(frozen=True, slots=True)
class Verified:
    """A claim whose quote was found at `start` of the source text; it has no id yet."""

    kind: ClaimKind
    quote: str
    statement: str
    about: tuple[str, ...]
    start: int
    locator: str
    cards: tuple[PossibleCard, ...] = ()


@dataclass(frozen=True, slots=True)
class Extracted:
    """The result for one source: claims in the order of its text, the names it offers for concepts, and rejections."""

    claims: tuple[Verified, ...]
    terms: tuple[Term, ...]
    rejections: tuple[Rejection, ...]


def stored_claims(steps: Steps, key: bytes, make: Callable[[], Extracted]) -> Extracted:
    """Return what `make` extracts of a source; what an earlier build extracted under the same key."""
    data = steps.get_large(STEP, key)
    if data is not None:
        claims, terms, rejections = msgspec.json.decode(data)
        return Extracted(
            tuple(_verified(*claim) for claim in claims),
            tuple(Term(name=n, aliases=tuple(aliases), signal=s) for n, aliases, s in terms),
            tuple(Rejection(**rejection) for rejection in rejections),
        )
    made = make()
    claims = [
        [c.kind.value, c.quote, c.statement, c.about, c.start, c.locator, [p.as_json() for p in c.cards]]
        for c in made.claims
    ]
    terms = [[t.name, t.aliases, t.signal] for t in made.terms]
    steps.put_large(STEP, key, encoded([claims, terms, [asdict(r) for r in made.rejections]]))
    return made


def _verified(
    kind: str, quote: str, statement: str, about: list[str], start: int, locator: str, cards: list[dict[str, Any]]
) -> Verified:
    """Return a claim as it was stored."""
    shown = tuple(PossibleCard(**card) for card in cards)
    return Verified(ClaimKind(kind), quote, statement, tuple(about), start, locator, shown)


def claims_in(source: SourceText, replies: Sequence[ExtractReply]) -> Extracted:
    """Return the claims of the embedded engine's `replies` (one a segment, in order), each wording once.

    A quote must occur in the source's text, and a statement must say what its quote says, in its words. The sentences
    with which the document introduces itself are claims, too.
    """
    claims: dict[str, Verified] = {}
    terms: list[Term] = []
    rejections: list[Rejection] = []
    for segment, reply in zip(source.segments, replies, strict=True):
        text = source.text[segment.start : segment.end]
        terms += reply.terms
        folded: FoldedText | None = None
        for claim in reply.claims:
            words = clean(claim.quote)
            start = claim.start if claim.quote and text.startswith(claim.quote, claim.start) else None
            if start is None:
                folded = folded or FoldedText.of(text)
                span = folded.find(words, near=claim.start)
                start = span[0] if span else None
            if start is None or len(words) > MAX_QUOTE or not fold(words):
                why = "the quote is too long" if len(words) > MAX_QUOTE else "the quote does not occur in the source"
                rejections.append(Rejection("quote", why, fold(normal(words))[:200]))
                continue
            at = segment.start + start
            statement = "" if fold(claim.statement) == fold(words) else fold(clean(claim.statement))
            if statement and (refused := statement_refused(statement, fold(words))):
                rejections.append(Rejection("statement", refused, statement[:200]))
                continue
            claims.setdefault(
                fold(words),
                Verified(claim.kind, fold(words), statement, claim.about, at, source.locate(at), claim.cards),
            )
    claims = {**_opening(source), **claims}
    return Extracted(tuple(sorted(claims.values(), key=lambda c: c.start)), tuple(terms), tuple(rejections))


def _opening(source: SourceText) -> dict[str, Verified]:
    """Return the sentences with which a document introduces itself as claims that are about no concept, by quote."""
    quotes = [(fold(source.text[start:end]), start) for start, end in opening(source)]
    return {quote: Verified(ClaimKind.FACT, quote, "", (), at, source.locate(at)) for quote, at in quotes}


@dataclass(frozen=True, slots=True)
class Gathered:
    """One source with its text and claims; `source` is None where it could not be read or is only recorded."""

    tracked: Tracked
    source: SourceText | None
    claims: tuple[tuple[Claim, tuple[str, ...]], ...] = ()
    extracted: Extracted | None = None
    recorded: str = ""  # the kind of a file that is kept, not read
    fresh: bool = False  # it is new, or holds other bytes than before
    starts: dict[str, int] = field(default_factory=dict)
    cards: dict[str, tuple[PossibleCard, ...]] = field(default_factory=dict)  # claim id -> its questions
    fingerprint: Fingerprint | None = None  # there is one where there is a source
