"""The third step of a build, with a model only: what it is asked, and what its answers make of the documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from compiler.articles.concepts import Concepts
from compiler.build.read import Document
from compiler.build.start import BuildInput
from compiler.claims.conflicts import Clashing
from compiler.claims.extract import Extracted, Gathered, Verified, claims_in
from compiler.claims.segments import requests_for
from compiler.concepts.evidence import key_of
from compiler.concepts.rulings import Rulings
from compiler.drafts.consult import Consulted, consult
from compiler.drafts.evidence import with_others
from compiler.drafts.plan import Rejected, Sizes
from compiler.model.requests import ExtractedClaim, ExtractReply
from compiler.protocol import passages
from compiler.protocol.replies import Quote
from compiler.replies.journal import Journal
from compiler.replies.knowledge import title_key
from compiler.workers.pool import WorkerPool
from vault.errors import WorkerFailed
from vault.ids import ClaimId, SourceId, digest12
from vault.inbox.events import all_reasons, rejected_at
from vault.log.ledger import Ids
from vault.model.claim import ClaimKind


def consult_model(start: BuildInput, documents: Sequence[Document], ids: Ids) -> Consulted | None:
    """Return what a model's answers give, all that was open asked; None where the embedded engine works alone.

    Raises: what the asker raises.
    """
    if start.asker is None:
        return None
    shelf = [
        passages.Document(d.tracked.id, d.tracked.path, d.text)
        for d in sorted(documents, key=lambda d: d.tracked.birth)
        if d.text is not None
    ]
    sizes = Sizes.of_part(start.options.part_bytes)
    rejected = {
        title_key(ids.births[id_].name): Rejected(why, rejected_at(start.decided, id_))
        for id_, why in all_reasons(start.decided).items()
        if id_ in ids.births
    }
    consulted = consult(shelf, start.asker, start.rulings, ids, sizes, rejected)
    inherited = _inherited(start.asker.journal, consulted, ids)
    return replace(consulted, extracted=with_others(consulted.extracted, inherited))


def _inherited(journal: Journal, consulted: Consulted, ids: Ids) -> dict[SourceId, Extracted]:
    """Return the claims of the ledger that answers of version 1 extracted and that still stand in their sources.

    So a vault of an earlier version keeps its claims, and the cards that rest on them.
    """
    found: dict[SourceId, list[Verified]] = {}
    for event in journal.former:
        source, reply = event.get("about"), event.get("reply")
        if event.get("of") != "extract" or not isinstance(source, str) or not isinstance(reply, dict):
            continue
        if source not in consulted.shelf.by_id:
            continue
        try:
            claims = [ExtractedClaim.from_json(claim) for claim in reply.get("claims", ())]
        except (TypeError, ValueError):
            continue
        for claim in claims:
            at = consulted.shelf.place(Quote(source=source, words=claim.quote[:20_000]))
            id_ = ids.keys.get(("claim", f"{source}:{digest12(claim.quote)}"))
            if at >= 0 and id_ is not None and ids.alive(id_):
                place = consulted.shelf.by_id[source].text.locate(at)
                found.setdefault(SourceId(source), []).append(
                    Verified(ClaimKind(claim.kind), claim.quote, "", claim.about, at, place)
                )
    return {source: Extracted(tuple(claims), (), ()) for source, claims in found.items()}


def with_rules(consulted: Consulted, crew: WorkerPool, documents: Sequence[Document]) -> Mapping[SourceId, Extracted]:
    """Return the claims that answers cite, and those that rules find where no model did its work, or a small one."""
    others: dict[SourceId, Extracted] = {}
    for document in documents:
        source = document.tracked.id
        keys = consulted.unwritten.get(source, frozenset())
        whole = source in consulted.failed or source in consulted.small
        if document.text is None or not (whole or keys):
            continue
        replies = []
        for request in requests_for(document.text):
            try:
                answer = crew.ask({"op": "ask", "request": request.as_json()})
                replies.append(ExtractReply.from_json(answer["reply"]))
            except (WorkerFailed, ValueError, KeyError):
                replies.append(ExtractReply())
        found = claims_in(document.text, replies)
        others[source] = found if whole else _about(found, keys, document.text.language)
    return with_others(consulted.extracted, others)


def _about(found: Extracted, keys: frozenset[str], language: str) -> Extracted:
    """Return the claims that are about concepts with these keys."""
    own = (c for c in found.claims if any(key_of(name, language, True) in keys for name in c.about))
    return Extracted(tuple(own), (), ())


def rulings_with_titles(consulted: Consulted) -> Rulings:
    """Return the rulings with the names that were joined and the titles of the pages."""
    titles = {key: g.title for g in consulted.groups if g.page for key in [min(g.keys)]}
    return replace(consulted.rulings, titles={**titles, **consulted.rulings.titles})


def claims_by_quote(gathered: Sequence[Gathered]) -> dict[Quote, ClaimId]:
    """Return the ids of all claims by source and quote."""
    return {Quote(source=g.tracked.id, words=c.quote): c.id for g in gathered for c, _ in g.claims}


def clashes_in(consulted: Consulted, concepts: Concepts) -> Iterator[Clashing]:
    """Yield the pairs of claims that a reader of the documents noticed, with all words of either side."""
    known = {Quote(source=c.source, words=c.quote): c for c in concepts.sources.claims.values()}
    for clash in consulted.drafts.clashes:
        first, second = clash.first[0], clash.second[0]
        if first in known and second in known:
            words = tuple(" ".join(q.words for q in side) for side in (clash.first, clash.second))
            yield Clashing(clash.text[:200], known[first], known[second], words[0], words[1])
