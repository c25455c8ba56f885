"""The third step of a build, with a model only: what it extracts from each segment of each document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.build.attachments import Attachments
from compiler.build.read import Document
from compiler.build.start import BuildInput
from compiler.claims.extract import requests_for, statements_in
from compiler.concepts.evidence import STRUCTURE, key_of, names_in
from compiler.gates.checks import Stated
from compiler.model.requests import ExtractReply, ExtractRequest
from compiler.replies.asker import ShowsPages
from compiler.replies.journal import Journal
from compiler.workers.engine_client import embedded_reply
from compiler.workers.pool import WorkerPool
from vault.ids import SourceId
from vault.log.ledger import Ids
from vault.model.source import MarkKind

_MOST_KNOWN = 12  # names of the wiki that go with a segment which names them
_FEWEST = 40  # characters besides code: less, as a bare heading, says nothing


@dataclass(slots=True)
class Extraction:
    """The replies on one document, one a segment, and for each who gave it and when."""

    replies: list[ExtractReply] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)


def ask_for_claims(
    start: BuildInput, crew: WorkerPool, documents: Sequence[Document], ids: Ids
) -> dict[SourceId, Extraction] | None:
    """Return the replies on every document, their statements checked; None where the embedded engine extracts.

    Raises: what the asker raises.
    """
    asker, verdicts = start.asker, start.verdicts
    if asker is None or verdicts is None:
        return None
    asker.fallback = lambda request: embedded_reply(crew, request)
    attachments = Attachments(crew, start.vault.root)
    if isinstance(asker.backend, ShowsPages):
        asker.backend.shown = attachments.shown
    names = _names(asker.journal)
    names |= {key: ids.births[i].name for (noun, key), i in ids.keys.items() if noun == "concept"}
    keys = frozenset(names)
    todo: list[tuple[SourceId, ExtractRequest | None]] = []
    for document in documents:
        source, id_ = document.text, document.tracked.id
        if source is None:
            continue
        for segment, request in zip(source.segments, requests_for(source), strict=True):
            known = tuple(dict.fromkeys(names[k] for k in names_in(request.text, keys)))[:_MOST_KNOWN]
            whole = request.model_copy(update={"source": id_, "known": known})
            attachments.learn(whole, source, segment, document.tracked)
            todo.append((id_, whole if _prose(request) >= _FEWEST else None))
    replies = iter(asker.ask([request for _, request in todo if request is not None], "extract"))
    stated: list[Stated] = []
    out: dict[SourceId, Extraction] = {}
    for id_, asked in todo:
        reply = next(replies) if asked is not None else None
        if asked is not None and isinstance(reply, ExtractReply):
            stated += statements_in(asked, reply)
        extraction = out.setdefault(id_, Extraction())
        extraction.said.append(asker.said(asked) if asked is not None else ("", ""))
        extraction.replies.append(reply if isinstance(reply, ExtractReply) else ExtractReply())
    verdicts.settle_statements(stated, asker)
    return out


def _names(journal: Journal) -> dict[str, str]:
    """Return key -> name of what earlier replies set off, so that replies on several segments use the same names."""
    names: dict[str, str] = {}
    for entry in journal.entries:
        reply = entry.value() if entry.of == "extract" else None
        for term in reply.terms if isinstance(reply, ExtractReply) else ():
            if term.signal in STRUCTURE and (key := key_of(term.name, "", True)):
                names.setdefault(key, term.name)
    return names


def _prose(request: ExtractRequest) -> int:
    """Return how many characters of a segment are not code."""
    code = sum(mark.end - mark.start for mark in request.marks if mark.kind == MarkKind.CODE)
    return len(request.text.strip()) - code
