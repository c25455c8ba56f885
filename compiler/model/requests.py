"""The typed requests that the embedded engine answers, and its typed replies; and the types of what any engine says.

Requests and replies are values that cross a process border as JSON; a reply is checked here for shape and by
`compiler.gates` for truth. An engine returns data only: names, words, ids it was given. Code makes every path.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from vault.model.claim import Claim, ClaimKind
from vault.text.formatting import normal

MOST_CLAIMS = 120  # of one concept that an engine is sent: more make no better page

# What an engine says in its own words is cleaned as it comes in, as a document's text was: nothing hidden in it.
Verbatim = Annotated[str, Field(max_length=20_000)]
Text = Annotated[str, Field(max_length=20_000), AfterValidator(normal)]
Name = Annotated[str, Field(max_length=200), AfterValidator(normal)]
Id = Annotated[str, Field(pattern=r"^[0-9a-hjkmnp-tv-z]{10}$")]

Signal = Literal["definition", "named", "page", "line"]
CardKindName = Literal["definitional", "mechanistic", "relational", "applied"]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Span(Model):
    """A mark of the document's structure inside the request's text; offsets count characters of that text."""

    kind: str
    start: int
    end: int


class Term(Model):
    """A name the segment offers for a concept. `signal` is how the embedded engine found it: defined, or merely named.

    It is "page" or "line" where a model or an agent says that the concept gets an article or a line.
    """

    name: Name
    aliases: tuple[Name, ...] = ()
    signal: Signal


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
    """`quote` is verbatim; `statement` "" if it says the same; `about` names concepts, the main one first."""

    kind: ClaimKind
    quote: Verbatim
    statement: Text = ""
    about: tuple[Name, ...] = ()
    start: int = 0  # where the quote begins in the segment, a hint for repeated words
    cards: tuple[PossibleCard, ...] = ()


class ExtractRequest(Model):
    """Extract claims and the names of concepts from one segment of a source."""

    type: Literal["extract"] = "extract"
    title: str  # of the document
    language: str
    headings: tuple[str, ...]  # the path that leads to the segment
    text: str
    marks: tuple[Span, ...] = ()


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
    passage: str = ""  # the same for claims of one paragraph of a source; for the embedded engine only
    heading: str = ""  # of the section that the claim stands in, likewise
    cards: tuple[PossibleCard, ...] = ()  # likewise

    @classmethod
    def of(cls, claim: Claim, source: str = "") -> ClaimView:
        """Return a claim of a finished vault, for the gates and for answers."""
        return cls(id=claim.id, kind=claim.kind, words=claim.words, quote=claim.quote, source=source)


class Sentence(Model):
    text: Text
    cites: tuple[Id, ...]


class Section(Model):
    """`heading` "" is the lead, before the first heading. A paragraph is a run of cited sentences."""

    heading: Name
    paragraphs: tuple[tuple[Sentence, ...], ...]


class OnConcept(Model):
    """What is asked about one concept, from its claims. `concept` is its id."""

    title: str
    aliases: tuple[str, ...]
    language: str
    claims: tuple[ClaimView, ...]
    concept: str = ""


class ComposeRequest(OnConcept):
    """Compose the article of one concept from its claims."""

    type: Literal["compose"] = "compose"


class ComposeReply(Model):
    sections: tuple[Section, ...]


class ProposedCard(Model):
    kind: CardKindName
    question: Text
    answer: Text
    cites: tuple[Id, ...]


class CardsRequest(OnConcept):
    """Write cards for one concept from its article's claims."""

    type: Literal["cards"] = "cards"


class SuggestedCard(ProposedCard):
    """A card of the embedded engine with what a user's decision on it is known by: see `PossibleCard`."""

    score: float
    form: str
    number: int


class CardsReply(Model):
    """`suggested` are the embedded engine's, best first, those of `cards` among them; others' count for nothing."""

    cards: tuple[ProposedCard, ...] = ()
    suggested: tuple[SuggestedCard, ...] = ()


Request = ExtractRequest | ComposeRequest | CardsRequest
Reply = ExtractReply | ComposeReply | CardsReply
REPLY_TO: dict[str, type[Reply]] = {"extract": ExtractReply, "compose": ComposeReply, "cards": CardsReply}


class Engine(Protocol):
    """Answers typed requests; those of a document's segments together."""

    def load(self) -> None: ...

    def read(self, requests: Sequence[ExtractRequest]) -> list[ExtractReply]: ...

    def compose(self, request: ComposeRequest) -> ComposeReply: ...

    def cards(self, request: CardsRequest) -> CardsReply: ...


def digest(engine: str, request: Request) -> bytes:
    """Return the digest of a request for the embedded engine, under which its reply is stored."""
    body = json.dumps(
        [engine, request.model_dump(mode="json")], ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return hashlib.blake2b(body.encode(), digest_size=16).digest()
