"""The requests to a model or an agent, as values that cross a process border as JSON.

Each shows documents as numbered passages and is answered in text; `forms` renders it and reads the answer.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from compiler.model.message import Message
from compiler.model.requests import ClaimView
from compiler.protocol.replies import WrittenCard, WrittenSentence


class BlockView(Message):
    """A block of a passage as it is shown: see `compiler.protocol.passages.Block`."""

    key: str
    text: str
    kind: str = ""
    info: str = ""
    level: int = 0
    picture: str = ""


class PassageView(Message):
    """A passage; in an answer it is `DOCUMENT:NUMBER`."""

    number: int
    headings: tuple[str, ...]
    blocks: tuple[BlockView, ...]


class DocumentView(Message):
    """A document, or a part of one. `number` is its name in this request."""

    number: int
    source: str  # the source's id
    title: str
    language: str
    passages: tuple[PassageView, ...]


class Asked(Message):
    """A request. `aside` are the fields that only help and do not make it another request."""

    aside: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Return the id of the request: its type and twelve hex digits of what it asks."""
        body = {name: value for name, value in self.as_json().items() if name not in ("aside", *self.aside)}
        text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return f"{body['type']}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"

    @property
    def title(self) -> str:
        """Return what the request is about, in a few words."""
        return ""


class ReadRequest(Asked, kw_only=True):
    """Which concepts do these documents teach? `known` are names that are there already."""

    type: Literal["read"] = "read"
    documents: tuple[DocumentView, ...]
    known: tuple[str, ...] = ()
    aside: tuple[str, ...] = ("known",)

    @property
    def title(self) -> str:
        return ", ".join(d.title for d in self.documents)


class NameLine(Message):
    """A name that READ found: its other names, its line, how many passages and documents carry it."""

    title: str
    aliases: tuple[str, ...] = ()
    line: str = ""
    page: bool = True
    passages: int = 0
    documents: tuple[int, ...] = ()
    settled: bool = False  # it was in an earlier request: it is here so that new names can be joined with it


class SettleRequest(Asked, kw_only=True):
    """Which names are one idea, which get a page, and which are written together?"""

    type: Literal["settle"] = "settle"
    names: tuple[NameLine, ...]

    @property
    def title(self) -> str:
        return f"{sum(not n.settled for n in self.names)} names"


class PresentSentence(Message):
    """A sentence of the article as it is. `gone` says that the source has not its words any more."""

    heading: str
    sentence: WrittenSentence
    gone: bool = False


class ConceptTask(Message):
    """One article to write: `passages` are those that carry the concept, `new` those that it does not know yet.

    `covers` are references to the blocks of these passages; `words` and `most_cards` are how long it may be; `reasons`
    say why the user rejected earlier versions.
    """

    title: str
    aliases: tuple[str, ...] = ()
    line: str = ""
    passages: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    words: int = 0
    most_cards: int = 4
    present: tuple[PresentSentence, ...] = ()
    cards: tuple[WrittenCard, ...] = ()  # that stay
    reasons: tuple[str, ...] = ()


class WriteRequest(Asked, kw_only=True):
    """Write the articles and cards of these concepts. `neighbours` are the titles of other pages."""

    type: Literal["write"] = "write"
    language: str
    concepts: tuple[ConceptTask, ...]
    documents: tuple[DocumentView, ...]
    neighbours: tuple[str, ...] = ()
    aside: tuple[str, ...] = ("neighbours",)

    @property
    def title(self) -> str:
        return ", ".join(c.title for c in self.concepts)


class CheckItem(Message):
    """A sentence or a card, and the places of what it cites, as `2:17b`."""

    key: str
    about: str
    text: str
    answer: str = ""  # of a card, whose question is `text`
    mark: str = ""
    places: tuple[str, ...] = ()


class CheckRequest(Asked, kw_only=True):
    """Which of these say more, surer or other things than the sentences they cite? `by` wrote them."""

    type: Literal["check"] = "check"
    items: tuple[CheckItem, ...]
    documents: tuple[DocumentView, ...] = ()
    by: tuple[str, ...] = ()
    aside: tuple[str, ...] = ("by",)

    @property
    def title(self) -> str:
        return f"{len(self.items)} sentences and cards"


class Side(Message):
    """A claim in a contradiction."""

    words: str
    source: str  # the source's title
    published: str = ""


class PairView(Message):
    """Two claims on one concept, by the key under which the verdict is kept."""

    key: str
    about: str
    a: Side
    b: Side


class ReconcileRequest(Asked, kw_only=True):
    """Which of these pairs cannot both hold?"""

    type: Literal["reconcile"] = "reconcile"
    pairs: tuple[PairView, ...]

    @property
    def title(self) -> str:
        return f"{len(self.pairs)} pairs"


class Exchange(Message):
    """A question that was asked before, and what was answered."""

    question: str
    answer: str


class ArticleView(Message):
    """A page of the wiki; `text` has the numbers of the claims that its sentences cite, as in the request."""

    title: str
    text: str


class AnswerRequest(Asked, kw_only=True):
    """Answer a question from these claims and passages, and say what they do not tell.

    `titles` are those of pages that may have to do with it, `articles` the pages that fit best, `earlier` what was
    asked and answered before.
    """

    type: Literal["answer"] = "answer"
    question: str
    claims: tuple[ClaimView, ...] = ()
    documents: tuple[DocumentView, ...] = ()
    articles: tuple[ArticleView, ...] = ()
    titles: tuple[str, ...] = ()
    earlier: tuple[Exchange, ...] = ()
    aside: tuple[str, ...] = ("titles",)

    @property
    def title(self) -> str:
        return self.question


Request = ReadRequest | SettleRequest | WriteRequest | CheckRequest | ReconcileRequest | AnswerRequest
REQUESTS: dict[str, type[Request]] = {
    "read": ReadRequest,
    "settle": SettleRequest,
    "write": WriteRequest,
    "check": CheckRequest,
    "reconcile": ReconcileRequest,
    "answer": AnswerRequest,
}
ROLE_OF = {  # the role whose model answers
    "read": "read",
    "settle": "read",
    "write": "write",
    "answer": "write",
    "check": "check",
    "reconcile": "check",
}


def request_in(value: Any) -> Request:
    """Return a request from its JSON. Raises: ValueError or KeyError for an invalid one."""
    return REQUESTS[str(value["type"])].from_json(value)
