"""The typed requests that every engine answers, and their typed replies.

Requests and replies are values that cross a process border as JSON; a reply is checked here for shape and by
`compiler.gates.gates` for truth. An engine returns data only: names, words, ids it was given. Code makes every path.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from vault.model.claim import ClaimKind
from vault.text.formatting import normal

MOST_CLAIMS = 120  # of one concept that an engine is sent: more make no better page

# What an engine says in its own words is cleaned as it comes in, as a document's text was: nothing hidden in it.
Verbatim = Annotated[str, Field(max_length=20_000)]
Text = Annotated[str, Field(max_length=20_000), AfterValidator(normal)]
Name = Annotated[str, Field(max_length=200), AfterValidator(normal)]
Id = Annotated[str, Field(pattern=r"^[0-9a-hjkmnp-tv-z]{10}$")]

Signal = Literal[
    "title",
    "heading",
    "index",
    "definition",
    "acronym",
    "alias",
    "emphasis",
    "item",
    "glossary",
    "link",
    "subject",
    "cited",
    "named",
]
CardKindName = Literal["definitional", "mechanistic", "relational", "applied"]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Span(Model):
    """A mark of the document's structure inside the request's text; offsets count characters of that text."""

    kind: str
    start: int
    end: int
    level: int = 0
    leads: Literal["", "web", "note"] = ""  # where a link leads: out to the web, or to a note by its name


class Term(Model):
    """A name the segment offers for a concept, and what in the document offers it.

    `english` is what the idea is called in English, where the text is in another language. It need not stand there, and
    joins nothing by itself: it is no alias.
    """

    name: Name
    aliases: tuple[Name, ...] = ()
    signal: Signal
    english: Name = ""


class PossibleCard(Model):
    """A question that the words of a claim answer, and how likely, in [0, 1], a reader keeps it as a card.

    `form` names the rule that made it; `number` counts the questions that the rule made of the claim, from 1.
    """

    kind: CardKindName
    question: str
    answer: str
    score: float
    form: str
    number: int = 1


class ExtractedClaim(Model):
    """`quote` is verbatim; `statement` "" if it says the same; `about` names concepts, the main one first.

    `cards` are the embedded engine's; those of others count for nothing.
    """

    kind: ClaimKind
    quote: Verbatim
    statement: Text = ""
    about: tuple[Name, ...] = ()
    start: int = 0  # where the quote begins in the segment, a hint for repeated words
    cards: SkipJsonSchema[tuple[PossibleCard, ...]] = ()


class ExtractRequest(Model):
    """Extract claims and the names of concepts from one segment of a source.

    `standing` are claims that an older text of the source gave and that this one still says, `fresh` the passages that
    it did not have: where there are any, only these are asked for. `known` are names that the wiki has for what the
    segment names.
    """

    type: Literal["extract"] = "extract"
    title: str  # of the document
    language: str
    headings: tuple[str, ...]  # the path that leads to the segment
    text: str
    marks: tuple[Span, ...] = ()
    source: str = ""  # the source's id
    standing: tuple[ExtractedClaim, ...] = ()
    offered: tuple[Term, ...] = ()  # names that stand likewise
    fresh: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    def rests_on(self) -> Any:
        return [self.text, self.language]

    @property
    def about(self) -> str:
        return self.source


class ExtractReply(Model):
    claims: tuple[ExtractedClaim, ...] = ()
    terms: tuple[Term, ...] = ()


class ClaimView(Model):
    """A verified claim as an engine sees it when it composes or writes cards."""

    id: Id
    kind: ClaimKind
    words: str
    quote: str
    source: str  # the source's title
    about: tuple[str, ...] = ()  # canonical titles of the concepts it is about, the main one first
    mentions: tuple[str, ...] = ()  # canonical titles of other concepts of the vault that its words name
    passage: str = ""  # the same for claims of one paragraph of a source; for the embedded engine only
    heading: str = ""  # of the section that the claim stands in, likewise
    cards: tuple[PossibleCard, ...] = ()  # likewise


class Sentence(Model):
    text: Text
    cites: tuple[Id, ...]


class Section(Model):
    """`heading` "" is the lead, before the first heading. A paragraph is a run of cited sentences."""

    heading: Name
    paragraphs: tuple[tuple[Sentence, ...], ...]


class Ask(Model):
    """A request; `about` is the id of the concept or source that it is about, "" if it has none."""

    @property
    def about(self) -> str:
        return ""


class OnConcept(Ask):
    """What is asked about one concept, from its claims. `concept` is its id."""

    title: str
    aliases: tuple[str, ...]
    language: str
    claims: tuple[ClaimView, ...]
    concept: str = ""

    def rests_on(self) -> Any:
        return [self.concept, sorted([c.id, c.kind, c.words, c.quote] for c in self.claims)]

    @property
    def about(self) -> str:
        return self.concept


class ComposeRequest(OnConcept):
    """Compose the article of one concept from its claims.

    `standing` is what stays of the article as it was: with it, only sentences on the claims that it does not cite yet
    are asked for (`fresh`). `reasons` say why the user turned earlier versions down.
    """

    type: Literal["compose"] = "compose"
    standing: tuple[Section, ...] = ()
    fresh: tuple[str, ...] = ()  # the ids of those claims
    reasons: tuple[str, ...] = ()


class ComposeReply(Model):
    sections: tuple[Section, ...]


class ProposedCard(Model):
    kind: CardKindName
    question: Text
    answer: Text
    cites: tuple[Id, ...]


class CardsRequest(OnConcept):
    """Write cards for one concept from its article's claims.

    `standing` are the cards that live on as they are, `changed` those whose claims say something else now: a card with
    the kind and the first claim of one of these takes its place. `reasons` say why the user turned earlier ones down.
    """

    type: Literal["cards"] = "cards"
    standing: tuple[ProposedCard, ...] = ()
    changed: tuple[ProposedCard, ...] = ()
    fresh: tuple[str, ...] = ()  # the ids of the claims that earlier cards did not know
    reasons: tuple[str, ...] = ()


class SuggestedCard(ProposedCard):
    """A card of the embedded engine with what a user's decision on it is known by: see `PossibleCard`."""

    score: float
    form: str
    number: int


class CardsReply(Model):
    """`suggested` are the embedded engine's, best first, those of `cards` among them; others' count for nothing."""

    cards: tuple[ProposedCard, ...] = ()
    suggested: SkipJsonSchema[tuple[SuggestedCard, ...]] = ()


class NameView(Model):
    """One side of a question about names: what it is called, and a sentence that says what it is."""

    title: str
    aliases: tuple[str, ...] = ()
    definition: str = ""


class MatchRequest(Ask):
    """Are `a` and `b` names of one idea? With equal titles: is what is called so here the same idea as there?"""

    type: Literal["match"] = "match"
    a: NameView
    b: NameView

    def rests_on(self) -> Any:
        sides = sorted((self.a, self.b), key=lambda n: (n.title.casefold(), n.definition))
        if sides[0].title.casefold() == sides[1].title.casefold():
            return [[n.title.casefold(), n.definition] for n in sides]
        return [n.title.casefold() for n in sides]

    @property
    def title(self) -> str:
        return f"{self.a.title} / {self.b.title}"


Verdict = Literal["yes", "no", "unsure"]


class MatchReply(Model):
    same: Verdict
    why: Text = ""


class Side(Model):
    """A claim in a contradiction: its words, quote and source."""

    id: Id
    words: str
    quote: str
    source: str  # the source's title
    published: str = ""
    authority: int = 1


class ReconcileRequest(Ask):
    """Can both claims hold? `conflict`: no; `reported`: one only tells what somebody says; `changed`: the world did."""

    type: Literal["reconcile"] = "reconcile"
    title: str  # of the concept that both are about
    a: Side
    b: Side

    def rests_on(self) -> Any:
        return sorted([s.words, s.quote] for s in (self.a, self.b))


class ReconcileReply(Model):
    verdict: Literal["conflict", "reported", "changed", "none", "unsure"]
    why: Text = ""


class CheckRequest(Ask):
    """Do the `evidence` quotes alone support `words`? `context` tells what "it" in a quote is, and nothing else."""

    type: Literal["check"] = "check"
    words: str
    evidence: tuple[str, ...]
    context: str = ""  # title, headings and the sentences before the quote

    def rests_on(self) -> Any:
        return [self.words, list(self.evidence), *([self.context] if self.context else [])]

    @property
    def title(self) -> str:
        return self.words


class CheckReply(Model):
    entailed: Verdict
    why: Text = ""


class AnswerRequest(Ask):
    """Answer a question from these claims, and say what they do not tell."""

    type: Literal["answer"] = "answer"
    question: str
    claims: tuple[ClaimView, ...]

    def rests_on(self) -> Any:
        return [self.question, sorted([c.id, c.kind, c.words, c.quote] for c in self.claims)]

    @property
    def title(self) -> str:
        return self.question


class AnswerReply(Model):
    sentences: tuple[Sentence, ...] = ()
    missing: Text = ""


Request = (
    ExtractRequest | ComposeRequest | CardsRequest | MatchRequest | ReconcileRequest | CheckRequest | AnswerRequest
)
Reply = ExtractReply | ComposeReply | CardsReply | MatchReply | ReconcileReply | CheckReply | AnswerReply

REQUESTS: dict[str, type[Request]] = {
    "extract": ExtractRequest,
    "compose": ComposeRequest,
    "cards": CardsRequest,
    "match": MatchRequest,
    "reconcile": ReconcileRequest,
    "check": CheckRequest,
    "answer": AnswerRequest,
}
REPLY_TO: dict[str, type[Reply]] = {
    "extract": ExtractReply,
    "compose": ComposeReply,
    "cards": CardsReply,
    "match": MatchReply,
    "reconcile": ReconcileReply,
    "check": CheckReply,
    "answer": AnswerReply,
}
ROLE_OF = {  # the role whose model answers
    "extract": "extract",
    "compose": "write",
    "cards": "write",
    "answer": "write",
    "match": "check",
    "reconcile": "check",
    "check": "check",
}


class Engine(Protocol):
    """Answers typed requests. `name` is "engine/version": it is part of every digest, so a new version asks anew."""

    @property
    def name(self) -> str: ...

    def extract(self, request: ExtractRequest) -> ExtractReply: ...

    def read(self, requests: Sequence[ExtractRequest]) -> list[ExtractReply]: ...

    def compose(self, request: ComposeRequest) -> ComposeReply: ...

    def cards(self, request: CardsRequest) -> CardsReply: ...


def rests(request: Request) -> str:
    """Return the SHA-256 of what a reply rests on: the request's words, not what only goes with them as context."""
    body = json.dumps([request.type, request.rests_on()], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def digest(engine: str, request: Request) -> str:
    """Return the SHA-256 of a request for the embedded engine, under which its reply is cached."""
    body = json.dumps(
        [engine, request.model_dump(mode="json")], ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(body.encode()).hexdigest()
