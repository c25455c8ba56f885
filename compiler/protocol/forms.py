"""The text of a request and the reading of an answer, by the type of the request."""

from __future__ import annotations

from compiler.protocol import answer, check, read, reconcile, settle, tasks, write
from compiler.protocol.faults import Fault
from compiler.protocol.replies import (
    AnswerReply,
    CheckReply,
    ReadReply,
    ReconcileReply,
    Reply,
    SettleReply,
    WriteReply,
    WrittenArticle,
)
from compiler.protocol.requests import (
    AnswerRequest,
    CheckRequest,
    ReadRequest,
    ReconcileRequest,
    Request,
    SettleRequest,
    WriteRequest,
)

MAX_ANSWER, MAX_LINE = 4 << 20, 8_000  # characters of an answer, and of a line of it, that are looked at


def render(request: Request) -> str:
    """Return a request as the text that is sent, without the instructions of its type."""
    match request:
        case ReadRequest():
            return read.render(request)
        case SettleRequest():
            return settle.render(request)
        case WriteRequest():
            return tasks.render(request)
        case CheckRequest():
            return check.render(request)
        case ReconcileRequest():
            return reconcile.render(request)
        case AnswerRequest():
            return answer.render(request)


def parse(request: Request, text: str) -> tuple[Reply, list[Fault]]:
    """Return what is good of an answer, and what is wrong with the rest."""
    lines = text[:MAX_ANSWER].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    text = "\n".join(line[:MAX_LINE] for line in lines)
    match request:
        case ReadRequest():
            return read.parse(request, text)
        case SettleRequest():
            return settle.parse(request, text)
        case WriteRequest():
            return write.parse(request, text)
        case CheckRequest():
            return check.parse(request, text)
        case ReconcileRequest():
            return reconcile.parse(request, text)
        case AnswerRequest():
            return answer.parse(request, text)


def is_usable(request: Request, reply: Reply) -> bool:
    """Return whether a reply has anything in it that answers the request."""
    match reply:
        case ReadReply():
            return bool(reply.concepts or reply.summaries or reply.terms)
        case WriteReply():
            return any(article.sections for article in reply.articles)
        case CheckReply() | ReconcileReply():
            return bool(reply.verdicts)
        case SettleReply():
            asked = isinstance(request, SettleRequest) and any(n.page and not n.settled for n in request.names)
            return not asked or bool(reply.clusters or reply.same or reply.lines)
        case _:
            return bool(reply.sentences or reply.missing)


def nothing(request: Request) -> Reply:
    """Return the reply that says nothing, for a request to which no answer came."""
    match request:
        case ReadRequest():
            return ReadReply(covers=tuple(read.covered(request)))
        case WriteRequest():
            return WriteReply(articles=tuple(WrittenArticle(title=c.title, covers=c.covers) for c in request.concepts))
        case SettleRequest():
            return SettleReply(covers=tuple(n.title for n in request.names))
        case CheckRequest():
            return CheckReply(verdicts=())
        case ReconcileRequest():
            return ReconcileReply(verdicts=())
        case _:
            return AnswerReply()
