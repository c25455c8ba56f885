"""The claims and names of earlier replies that are still valid for a changed segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compiler.model.requests import ExtractedClaim, ExtractReply, ExtractRequest, Term
from compiler.replies.journal import PASSAGES, Entry, Journal
from compiler.sources.segments import passages
from vault.ids import digest12
from vault.model.claim import ClaimKind
from vault.model.source import FoldedText
from vault.text.formatting import fold

_LONG_ENOUGH = 12  # characters: a shorter piece of a quote does not say of which passage it was


@dataclass(frozen=True, slots=True)
class _Passage:
    """`words` are folded; `source_reply` is the reply that knows it, None where none does."""

    start: int
    end: int
    words: str
    source_reply: Entry | None


@dataclass(frozen=True, slots=True)
class _CurrentClaim:
    """A claim of an earlier reply whose quote the segment holds between `start` and `end`."""

    claim: ExtractedClaim
    start: int
    end: int

    def touches(self, passage: _Passage) -> bool:
        return self.start < passage.end and passage.start < self.end


def still_said(request: ExtractRequest, journal: Journal, prompt: str = "") -> tuple[ExtractRequest, bool]:
    """The request with the claims and names of earlier replies that stand, and whether a passage is left to ask for.

    Each passage goes by the reply that knew most of the segment, the latest of several. A passage of which a quote is
    gone that went beyond it is asked for again. With `prompt`, only what somebody answered to this one stands.
    """
    passages = list(_passages_of(request, journal, prompt))
    current_claims = _current_claims(request, passages, _current(journal, request.about, prompt))
    entries_used = list(dict.fromkeys(p.source_reply for p in passages if p.source_reply is not None))
    if not entries_used and not current_claims:
        return request, True
    gone = {id(e): [q for c in _claims(e) if (q := fold(c.quote)) and q not in current_claims] for e in entries_used}
    fresh = [p.source_reply is None or _robbed(p, gone[id(p.source_reply)], current_claims.values()) for p in passages]
    left = [p for p, new in zip(passages, fresh, strict=True) if not new]
    update = {
        "standing": tuple(s.claim for s in sorted(current_claims.values(), key=lambda s: s.start)),
        "offered": tuple(_names(entries_used, left, current_claims)),
        "fresh": tuple(_stretches(request.text, passages, fresh)),
    }
    return request.model_copy(update=update), any(fresh)


def _passages_of(request: ExtractRequest, journal: Journal, prompt: str) -> Iterator[_Passage]:
    """The segment's passages, each with the reply that it goes by."""
    known = journal.replies_by_passage(request.about)
    spans = [(s, e, fold(request.text[s:e])) for s, e in passages(request.text)]
    found = [
        [e for e in known.get(digest12(words), ()) if not prompt or (e.prompt == prompt and not e.failed)]
        for _, _, words in spans
    ]
    shared = Counter(id(e) for entries in found for e in entries)
    for (start, end, words), entries in zip(spans, found, strict=True):
        yield _Passage(start, end, words, max(entries, key=lambda e: shared[id(e)], default=None))


def _current(journal: Journal, source: str, prompt: str) -> Iterator[Entry]:
    """The replies for the source, less those of which later ones knew every passage; the latest first."""
    covered: set[str] = set()
    for entry in journal.about("extract", source) if source else ():
        mine = set(entry.parts.get(PASSAGES, "").split())
        if not mine <= covered and (not prompt or (entry.prompt == prompt and not entry.failed)):
            covered |= mine
            yield entry


def _current_claims(
    request: ExtractRequest, passages: Sequence[_Passage], current: Iterable[Entry]
) -> dict[str, _CurrentClaim]:
    """The claims that stand, by their quotes: in a passage those of the reply that it goes by, in a new one all."""
    entries_used = list(dict.fromkeys(p.source_reply for p in passages if p.source_reply is not None))
    others = current if any(p.source_reply is None for p in passages) else ()
    text = FoldedText.of(request.text)
    found: dict[str, _CurrentClaim] = {}
    for entry in dict.fromkeys((*entries_used, *others)):
        for claim in _claims(entry):
            words = fold(claim.quote)
            if words in found or words not in text.text or (span := text.find(words, near=claim.start)) is None:
                continue
            one = _CurrentClaim(claim.model_copy(update={"start": span[0]}), *span)
            mine = [p.source_reply for p in passages if one.touches(p)]
            if all(source_reply is None for source_reply in mine) or entry in mine:
                found[words] = one
    return found


def _claims(entry: Entry) -> tuple[ExtractedClaim, ...]:
    reply = entry.value()
    return reply.claims if isinstance(reply, ExtractReply) else ()


def _robbed(passage: _Passage, gone: Iterable[str], current_claims: Iterable[_CurrentClaim]) -> bool:
    """Return whether a quote that is gone held words of the passage, and no claim that stands does."""
    if any(one.touches(passage) for one in current_claims):
        return False
    pieces = (quote[s:e] for quote in gone for s, e in passages(quote))
    return any(len(p) >= _LONG_ENOUGH and p in passage.words for p in pieces)


def _names(
    entries_used: Iterable[Entry], left: Sequence[_Passage], current_claims: Mapping[str, _CurrentClaim]
) -> Iterator[Term]:
    """The names that the passages still write, less those that only a definition offered which is gone."""
    seen: set[tuple[str, str]] = set()
    for entry in entries_used:
        reply = entry.value()
        assert isinstance(reply, ExtractReply), "looked up by its type"
        words = [p.words.casefold() for p in left if p.source_reply is entry]
        for term in reply.terms:
            written = any(fold(n).casefold() in w for n in (term.name, *term.aliases) for w in words)
            if written and (term.name, term.signal) not in seen and not _undefined(term, reply, current_claims):
                seen.add((term.name, term.signal))
                yield term


def _undefined(term: Term, reply: ExtractReply, current_claims: Mapping[str, _CurrentClaim]) -> bool:
    """Return whether the reply had definitions of the name, and none of them stands."""
    if term.signal != "definition":
        return False
    name = term.name.casefold()
    about = [c for c in reply.claims if c.kind is ClaimKind.DEFINITION and name in (n.casefold() for n in c.about)]
    return bool(about) and not any(fold(c.quote) in current_claims for c in about)


def _stretches(text: str, passages: Sequence[_Passage], fresh: Sequence[bool]) -> Iterator[str]:
    """The passages that are to be asked for as the segment writes them, neighbours together."""
    begin = -1
    for n, (passage, new) in enumerate(zip(passages, fresh, strict=True)):
        if new and begin < 0:
            begin = passage.start
        if new and not (n + 1 < len(passages) and fresh[n + 1]):
            yield text[begin : passage.end]
            begin = -1
