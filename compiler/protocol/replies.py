"""What answers say, as the journal stores it: citations resolved to sources and words, passages to blocks.

Shape is checked here; whether a quote stands in its source is looked up again in every build.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from compiler.model.message import Id, Line, Message, Name, Text, Verbatim
from compiler.model.requests import CardKindName
from vault.ids import ALPHABET

_REF = rf"[{ALPHABET}]{{10}}:[0-9a-f]{{12}}"
Ref = Annotated[str, Meta(pattern=rf"^{_REF}\Z")]  # a block: SOURCE:KEY
RefOrNone = Annotated[str, Meta(pattern=rf"^(?:{_REF})?\Z")]  # "" for no block
Key = Annotated[str, Meta(pattern=r"^[0-9a-f]{12}\Z")]


class Quote(Message):
    """Words of a source, folded: whole sentences, a row, an item, a listing."""

    source: Id
    words: Verbatim


Quotes = Annotated[tuple[Quote, ...], Meta(max_length=12)]


class Statement(Message):
    """A sentence and what it rests on."""

    text: Line
    quotes: Quotes = ()


class ReadConcept(Message):
    """A concept that passages teach: `blocks` carry it, `line` says what it is."""

    title: Name
    aliases: tuple[Name, ...] = ()
    page: bool = True
    line: Statement | None = None
    blocks: tuple[Ref, ...] = ()


class ReadTerm(Message):
    """A term that is used and not explained."""

    name: Name
    blocks: tuple[Ref, ...] = ()


class SourceStatement(Statement, kw_only=True):
    """A sentence of the summary of a source."""

    source: Id


class Clash(Message):
    """What cannot both be right, with the words of either side."""

    text: Line
    first: Quotes
    second: Quotes


class ReadReply(Message):
    """The answer to READ. `covers` are the blocks that were shown."""

    covers: tuple[Ref, ...]
    concepts: tuple[ReadConcept, ...] = ()
    terms: tuple[ReadTerm, ...] = ()
    clashes: tuple[Clash, ...] = ()
    summaries: tuple[SourceStatement, ...] = ()


class Cluster(Message):
    """Concepts that are written together, and the topic that they make."""

    topic: Name
    titles: tuple[Name, ...]


class SettleReply(Message):
    """The answer to SETTLE. `covers` are the titles that were asked about."""

    covers: tuple[Name, ...]
    same: tuple[tuple[Name, Name], ...] = ()  # (title that goes on, other title)
    lines: tuple[Name, ...] = ()  # titles that get only a line of the glossary
    pages: tuple[Name, ...] = ()
    clusters: tuple[Cluster, ...] = ()


Mark = Literal["", "derived", "computed"]
Form = Literal["", "item", "step", "head", "row", "keep"]


class WrittenSentence(Message):
    """A sentence of an article. `form` says how it stands: in a paragraph, a list, a table, or as a block put in whole.

    `mark` says that it is a step from what it cites, or a result of running code: `note` says what was run. For
    "keep", `block` is what is put in. `head` is the first row of a table, which asserts nothing. `links` are words of
    the text that lead to the page of a title, as (words, title).
    """

    text: Text = ""
    quotes: Quotes = ()
    form: Form = ""
    mark: Mark = ""
    note: Line = ""
    block: RefOrNone = ""
    links: Annotated[tuple[tuple[Name, Name], ...], Meta(max_length=20)] = ()


class WrittenSection(Message):
    """`heading` "" is the lead."""

    heading: Name
    paragraphs: tuple[tuple[WrittenSentence, ...], ...]


class WrittenCard(Message):
    kind: CardKindName
    question: Text
    answer: Text
    quotes: Quotes = ()


class Left(Message, kw_only=True):
    """A block that a page leaves out, and why; `block` is "" where the answer names none."""

    block: RefOrNone = ""
    why: Line


class WrittenArticle(Message):
    """The article of one concept; without sections where none could be written. `covers` are the blocks it knows."""

    title: Name
    covers: tuple[Ref, ...] = ()
    sections: tuple[WrittenSection, ...] = ()
    cards: tuple[WrittenCard, ...] = ()
    questions: tuple[Statement, ...] = ()
    left: tuple[Left, ...] = ()
    see: tuple[Name, ...] = ()


class WriteReply(Message):
    articles: tuple[WrittenArticle, ...]
    clashes: tuple[Clash, ...] = ()


class CheckVerdict(Message):
    """`fix` gives the words as they should be (`answer` those of a card's answer), `drop` says why."""

    item: Key
    verdict: Literal["ok", "fix", "drop"]
    text: Text = ""
    answer: Text = ""
    why: Line = ""


class CheckReply(Message):
    verdicts: tuple[CheckVerdict, ...]
    clashes: tuple[Clash, ...] = ()


ReconcileWord = Literal["conflict", "reported", "changed", "none"]


class PairVerdict(Message):
    pair: Key
    verdict: ReconcileWord
    why: Line = ""


class ReconcileReply(Message):
    verdicts: tuple[PairVerdict, ...]


class AnswerSentence(Message):
    """A sentence with the claims that it cites, and the words of passages."""

    text: Line
    cites: tuple[Id, ...] = ()
    quotes: Quotes = ()


class AnswerReply(Message):
    sentences: tuple[AnswerSentence, ...] = ()
    missing: Line = ""


Reply = ReadReply | SettleReply | WriteReply | CheckReply | ReconcileReply | AnswerReply
REPLY_TO: dict[str, type[Reply]] = {
    "read": ReadReply,
    "settle": SettleReply,
    "write": WriteReply,
    "check": CheckReply,
    "reconcile": ReconcileReply,
    "answer": AnswerReply,
}
