"""The typed requests that every engine answers, and their typed replies.

Requests and replies are values that cross a process border as JSON; a reply is checked here for shape and by
`compiler.gates` for truth. An engine returns data only: names, words, ids it was given. Code makes every path.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from vault.claim import ClaimKind
from vault.clean import normal

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


class ExtractRequest(Model):
    """Extract claims and the names of concepts from one segment of a source."""

    type: Literal["extract"] = "extract"
    title: str  # of the document
    language: str
    headings: tuple[str, ...]  # the path that leads to the segment
    text: str
    marks: tuple[Span, ...] = ()


class Term(Model):
    """A name the segment offers for a concept, and what in the document offers it."""

    name: Name
    aliases: tuple[Name, ...] = ()
    signal: Signal


class ExtractedClaim(Model):
    """`quote` is verbatim; `statement` "" if it says the same; `about` names concepts, the main one first."""

    kind: ClaimKind
    quote: Verbatim
    statement: Text = ""
    about: tuple[Name, ...] = ()
    start: int = 0  # where the quote begins in the segment, a hint for repeated words


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


class ComposeRequest(Model):
    """Compose the article of one concept from its claims."""

    type: Literal["compose"] = "compose"
    title: str
    aliases: tuple[str, ...]
    language: str
    claims: tuple[ClaimView, ...]


class Sentence(Model):
    text: Text
    cites: tuple[Id, ...]


class Section(Model):
    """`heading` "" is the lead, before the first heading. A paragraph is a run of cited sentences."""

    heading: Name
    paragraphs: tuple[tuple[Sentence, ...], ...]


class ComposeReply(Model):
    sections: tuple[Section, ...]


class CardsRequest(Model):
    """Write cards for one concept from its article's claims."""

    type: Literal["cards"] = "cards"
    title: str
    aliases: tuple[str, ...]
    language: str
    claims: tuple[ClaimView, ...]


class ProposedCard(Model):
    kind: CardKindName
    question: Text
    answer: Text
    cites: tuple[Id, ...]


class CardsReply(Model):
    cards: tuple[ProposedCard, ...] = ()


Request = ExtractRequest | ComposeRequest | CardsRequest
Reply = ExtractReply | ComposeReply | CardsReply

REPLY_TO: dict[str, type[ExtractReply] | type[ComposeReply] | type[CardsReply]] = {
    "extract": ExtractReply,
    "compose": ComposeReply,
    "cards": CardsReply,
}


class Engine(Protocol):
    """Answers typed requests. `name` is "engine/version": it is part of every digest, so a new version asks anew."""

    @property
    def name(self) -> str: ...

    def extract(self, request: ExtractRequest) -> ExtractReply: ...

    def compose(self, request: ComposeRequest) -> ComposeReply: ...

    def cards(self, request: CardsRequest) -> CardsReply: ...


def digest(engine: str, request: Request) -> str:
    """SHA-256 of the request as this engine would see it: the key under which its reply is kept."""
    body = json.dumps(
        [engine, request.model_dump(mode="json")], ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(body.encode()).hexdigest()
