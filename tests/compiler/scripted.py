"""A backend that answers by rule: honest to the port, without a model; it counts and can be made to fail."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from compiler.model.requests import (
    AnswerReply,
    AnswerRequest,
    CardsReply,
    CardsRequest,
    CheckReply,
    CheckRequest,
    ClaimView,
    ComposeReply,
    ComposeRequest,
    ExtractedClaim,
    ExtractReply,
    ExtractRequest,
    MatchReply,
    MatchRequest,
    ProposedCard,
    ReconcileReply,
    ReconcileRequest,
    Reply,
    Request,
    Section,
    Sentence,
    Term,
)
from compiler.replies.asker import Answered, Failed
from compiler.sources.segments import passages
from vault.model.claim import ClaimKind

_DEFINES = re.compile(r"^(?:An?|The)?\s*([A-Za-z][\w -]{2,40}?) (?:is|are) (?:an?|the)\b")
_KINDS = (
    (ClaimKind.MECHANISM, re.compile(r"\bbecause|so that|therefore|by \w+ing|when\b")),
    (ClaimKind.RELATION, re.compile(r"\bthan|unlike|whereas|compared\b")),
    (ClaimKind.APPLICATION, re.compile(r"\bused? (?:for|to|when|in)\b")),
    (ClaimKind.LIMITATION, re.compile(r"\bcannot|fails|limit\w*\b")),
)
_WAYS = ("", "Notably, ", "In short, ", "Plainly, ", "As a rule, ")
_HEADINGS = {"definition": "", "mechanism": "How it works", "relation": "How it relates", "application": "Uses"}
Rewriter = Callable[[str], str]


def extract(request: ExtractRequest) -> ExtractReply:
    """Every sentence of the passages that are asked for; what a sentence defines is what those after it are about."""
    claims, terms = [], {}
    subject = request.headings[-1] if request.headings else request.title
    wanted = [words[s:e] for words in request.fresh or (request.text,) for s, e in passages(words)]
    for words in wanted:
        if len(words.split()) < 5 or words.startswith(("#", "|", "-", "`")):
            continue
        defined = _DEFINES.match(words)
        if defined:
            subject = defined[1].strip()
            terms[subject] = Term(name=subject, signal="definition")
        kind = ClaimKind.DEFINITION if defined else next((k for k, cue in _KINDS if cue.search(words)), ClaimKind.FACT)
        claims.append(ExtractedClaim(kind=kind, quote=words, about=(subject[:200],)))
    return ExtractReply(claims=tuple(claims), terms=tuple(terms.values()))


def compose(request: ComposeRequest, reword: Rewriter = str) -> ComposeReply:
    """A paragraph a kind, a sentence a claim."""
    by_heading: dict[str, list[Sentence]] = {}
    for claim in _asked(request):
        heading = _HEADINGS.get(claim.kind.value, "Facts")
        by_heading.setdefault(heading, []).append(Sentence(text=reword(claim.words), cites=(claim.id,)))
    return ComposeReply(sections=tuple(Section(heading=h, paragraphs=(tuple(s),)) for h, s in by_heading.items()))


def cards(request: CardsRequest) -> CardsReply:
    """A card for each definition, of what follows the name in it."""
    out = []
    for claim in _asked(request):
        found = re.search(r" (?:is|are) ((?:an?|the) .+?)\.?$", claim.words)
        if claim.kind is ClaimKind.DEFINITION and found and request.title.casefold() not in found[1].casefold():
            out.append(
                ProposedCard(
                    kind="definitional", question=f"What is {request.title}?", answer=found[1], cites=(claim.id,)
                )
            )
    return CardsReply(cards=tuple(out))


def _asked(request: ComposeRequest | CardsRequest) -> Sequence[ClaimView]:
    fresh = set(request.fresh)
    return [c for c in request.claims if not fresh or c.id in fresh]


@dataclass
class Scripted:
    """Answers every request. `fail_after` ends it for good after so many; `broken` says why one gets no answer."""

    name: str = "scripted"
    engine: str = "scripted/1"
    reword: Rewriter = str
    tokens: tuple[int, int] = (100, 20)
    usd: float | None = 0.001
    fail_after: int | None = None
    broken: Callable[[Request], str] = lambda _: ""
    asked: list[Request] = field(default_factory=list)

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        for n, request in enumerate(requests):
            if self.fail_after is not None and len(self.asked) >= self.fail_after:
                yield n, Failed("nobody answers any more", "run it again", final=True)
                return
            self.asked.append(request)
            if why := self.broken(request):
                yield n, Failed(why, tokens=self.tokens, usd=self.usd)
            else:
                yield n, Answered(self.reply(request), self.engine, self.tokens, self.usd)

    def counts(self) -> Counter[str]:
        return Counter(request.type for request in self.asked)

    def reply(self, request: Request) -> Reply:
        if isinstance(request, ExtractRequest):
            return extract(request)
        if isinstance(request, ComposeRequest):
            return compose(request, self.reword)
        if isinstance(request, CardsRequest):
            return cards(request)
        if isinstance(request, MatchRequest):
            return MatchReply(same="yes" if request.a.title.casefold() == request.b.title.casefold() else "no")
        if isinstance(request, ReconcileRequest):
            return ReconcileReply(verdict="conflict")
        if isinstance(request, CheckRequest):
            return CheckReply(entailed="yes")
        assert isinstance(request, AnswerRequest)
        return AnswerReply(sentences=tuple(Sentence(text=c.words, cites=(c.id,)) for c in request.claims[:2]))


@dataclass
class Whimsical(Scripted):
    """Says it in other words each time, leaves things out, and puts them in another order."""

    rng: random.Random = field(default_factory=lambda: random.Random(7))

    def _way(self, words: str) -> str:
        return self.rng.choice(_WAYS) + words

    def reply(self, request: Request) -> Reply:
        said = super().reply(request)
        if isinstance(said, ExtractReply):
            claims = [
                c.model_copy(update={"statement": self._way(c.quote)})
                for c in self.rng.sample(said.claims, len(said.claims))
                if self.rng.random() < 0.9
            ]
            return ExtractReply(claims=tuple(claims), terms=said.terms)
        if isinstance(said, ComposeReply):
            return ComposeReply(sections=tuple(self._section(s) for s in said.sections))
        return said

    def _section(self, section: Section) -> Section:
        paragraphs = (tuple(s.model_copy(update={"text": self._way(s.text)}) for s in p) for p in section.paragraphs)
        return Section(heading=section.heading, paragraphs=tuple(p for p in paragraphs if p))
