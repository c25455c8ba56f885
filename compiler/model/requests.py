"""The typed requests that the embedded engine answers, and its typed replies; and the types of what any engine says.

Requests and replies are values that cross a process border as JSON; a reply is checked here for shape and by
`compiler.gates` for truth. An engine returns data only: names, words, ids it was given. Code makes every path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from compiler.model.message import Id, Message, Name, Text, Verbatim
from vault.model.claim import Claim, ClaimKind

MOST_CLAIMS = 120  # of one concept that an engine is sent: more make no better page

Signal = Literal["definition", "named", "note", "page", "line"]
CardKindName = Literal["definitional", "mechanistic", "relational", "applied"]


class Span(Message):
    """A mark of the document's structure inside the request's text; offsets count characters of that text."""

    kind: str
    start: int
    end: int


class Term(Message, kw_only=True):
    """A name the segment offers for a concept. `signal` is how the embedded engine found it: defined, or merely named.

    It is "note" for the name of a note in place, which makes no concept by itself; "page" or "line" where a model or
    an agent says that the concept gets an article or a line.
    """

    name: Name
    aliases: tuple[Name, ...] = ()
    signal: Signal


class PossibleCard(Message):
    """A question that the words of a claim answer, and how likely, in [0, 1], a reader keeps it as a card.

    `form` names the rule that made it; `number` counts the questions that the rule made of the claim, from 1.
    `context` is what its document is about, for a question that is not clear alone; "" where that says nothing new.
    """

    kind: CardKindName
    question: str
    answer: str
    score: float
    form: str
    number: int = 1
    context: str = ""


class ExtractedClaim(Message):
    """`quote` is verbatim; `statement` "" if it says the same; `about` names concepts, the main one first."""

    kind: ClaimKind
    quote: Verbatim
    statement: Text = ""
    about: tuple[Name, ...] = ()
    start: int = 0  # where the quote begins in the segment, a hint for repeated words
    cards: tuple[PossibleCard, ...] = ()


class ExtractRequest(Message, kw_only=True):
    """Extract claims and the names of concepts from one segment of a source."""

    type: Literal["extract"] = "extract"
    title: str  # of the document
    language: str
    headings: tuple[str, ...]  # the path that leads to the segment
    text: str
    marks: tuple[Span, ...] = ()


class ExtractReply(Message):
    claims: tuple[ExtractedClaim, ...] = ()
    terms: tuple[Term, ...] = ()


class ClaimView(Message):
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


class Sentence(Message):
    text: Text
    cites: tuple[Id, ...]


class Section(Message):
    """`heading` "" is the lead, before the first heading. A paragraph is a run of cited sentences."""

    heading: Name
    paragraphs: tuple[tuple[Sentence, ...], ...]


class OnConcept(Message):
    """What is asked about one concept, from its claims. `concept` is its id."""

    title: str
    aliases: tuple[str, ...]
    language: str
    claims: tuple[ClaimView, ...]
    concept: str = ""


class ComposeRequest(OnConcept):
    """Compose the article of one concept from its claims."""

    type: Literal["compose"] = "compose"


class ComposeReply(Message):
    sections: tuple[Section, ...]


class ProposedCard(Message):
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


class CardsReply(Message):
    """`suggested` are the embedded engine's, best first, those of `cards` among them; others' count for nothing."""

    cards: tuple[ProposedCard, ...] = ()
    suggested: tuple[SuggestedCard, ...] = ()


Request = ExtractRequest | ComposeRequest | CardsRequest
Reply = ExtractReply | ComposeReply | CardsReply
REQUESTS: dict[str, type[Request]] = {"extract": ExtractRequest, "compose": ComposeRequest, "cards": CardsRequest}
REPLY_TO: dict[str, type[Reply]] = {"extract": ExtractReply, "compose": ComposeReply, "cards": CardsReply}


class Engine(Protocol):
    """Answers typed requests; those of a document's segments together."""

    def load(self) -> None: ...

    def read(self, requests: Sequence[ExtractRequest]) -> list[ExtractReply]: ...

    def compose(self, request: ComposeRequest) -> ComposeReply: ...

    def cards(self, request: CardsRequest) -> CardsReply: ...
