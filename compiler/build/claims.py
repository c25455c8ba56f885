"""The fourth step of a build: the claims of each document that its text supports, with their ids."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from compiler.build.read import Document, bad_reply
from compiler.claims.extract import Extracted, Gathered, Verified, claims_in, stored_claims
from compiler.index.steps import Steps
from compiler.language.rewording import successors
from compiler.sources.inventory import Tracked
from vault.diagnostic import Diagnostic
from vault.ids import ClaimId, SourceId, digest12, mint
from vault.log.ledger import Event, Ids
from vault.model.claim import Claim
from vault.text.formatting import clean_line

_NAMED = 3  # copies of a file that a notice names


@dataclass(slots=True)
class Claims:
    """Every source with its claims, what is new of them, and what went wrong.

    `words_before` are the former words of claims whose source words them otherwise now.
    """

    gathered: list[Gathered] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    words_before: dict[str, str] = field(default_factory=dict)
    failures: list[Diagnostic] = field(default_factory=list)
    notices: list[Diagnostic] = field(default_factory=list)


def verify_claims(
    documents: Sequence[Document],
    cited: Mapping[SourceId, Extracted] | None,
    ids: Ids,
    at: str,
    steps: Steps,
) -> Claims:
    """Return the claims of all documents. Claims of the ledger that no source supports any more are retired.

    `cited` are the claims that a model's articles and cards cite; None where those of the embedded engine count.
    `steps` has what was extracted by earlier builds.
    """
    out = Claims()
    known = _claims_by_source(ids)
    names = frozenset(PurePosixPath(document.tracked.path.casefold()).name for document in documents)
    for document in documents:
        tracked = document.tracked
        extracted = _extracted(document, cited, out, steps)
        if document.text is None or extracted is None:
            out.gathered.append(Gathered(tracked, None, recorded=document.recorded, fresh=document.fresh))
            continue
        out.notices += [
            Diagnostic(tracked.path, p.line, p.code, p.message)
            for p in document.text.problems
            if not (p.file and _names_one_of(p.file, names))
        ]
        if also := tracked.paths[1:]:
            what = f"the same file is also at {clean_line(', '.join(also[:_NAMED]))}: it is compiled once"
            out.notices.append(Diagnostic(tracked.path, 0, "same-file", what, "delete the copies you do not need"))
        claims = _identify(tracked, extracted.claims, known.get(tracked.id, {}), ids, at, out)
        pairs = [(c.id, v) for (c, _), v in zip(claims, extracted.claims, strict=True)]
        out.gathered.append(
            Gathered(
                tracked,
                document.text,
                claims,
                extracted,
                fresh=document.fresh,
                starts={id_: v.start for id_, v in pairs},
                cards={id_: v.cards for id_, v in pairs if v.cards},
                fingerprint=document.fingerprint,
            )
        )
    present = {c.id for g in out.gathered for c, _ in g.claims}
    gone = [i for i, b in ids.births.items() if b.noun == "claim" and ids.alive(i) and i not in present]
    retire: Event = {"v": 1, "type": "retire", "of": "claim", "at": at, "reason": "its text is no longer in the source"}
    out.events += [retire | {"id": i} for i in gone]
    return out


def _extracted(
    document: Document, cited: Mapping[SourceId, Extracted] | None, out: Claims, steps: Steps
) -> Extracted | None:
    """Return the claims of a document; None, and a failure, if there can be none."""
    if document.failure is not None:
        out.failures.append(document.failure)
    text = document.text
    if text is None:
        return None
    if cited is not None:
        return cited.get(document.tracked.id, Extracted((), (), ()))
    try:
        return stored_claims(steps, document.key, lambda: claims_in(text, document.replies()))
    except (KeyError, TypeError, ValueError) as error:
        out.failures.append(bad_reply(document.tracked, error))
        return None


def _names_one_of(file: str, names: Container[str]) -> bool:
    """Return whether an included file is a source itself: `add` may have moved both, so the folder says nothing.

    LaTeX leaves out the ending .tex.
    """
    name = PurePosixPath(file.casefold()).name
    return name in names or f"{name}.tex" in names


def _claims_by_source(ids: Ids) -> dict[str, dict[str, str]]:
    """Return source id -> {present key: claim id} of all claims of the ledger."""
    out: dict[str, dict[str, str]] = {}
    for (noun, key), id_ in ids.keys.items():
        if noun == "claim":
            out.setdefault(key.partition(":")[0], {})[key] = id_
    return out


def _identify(
    tracked: Tracked, found: Sequence[Verified], before: Mapping[str, str], ids: Ids, at: str, out: Claims
) -> tuple[tuple[Claim, tuple[str, ...]], ...]:
    """Return claims with ids: the ledger's where the words are the same or nearly, else newly minted."""
    keys = [f"{tracked.id}:{digest12(v.quote)}" for v in found]
    moved = _moved(found, keys, before, ids)
    quotes = {k: v.quote for v, k in zip(found, keys, strict=True)}
    out.events += [_event("reanchor", id_, key, quotes[key], at) for key, id_ in moved.items()]
    out.words_before |= {id_: ids.quotes[id_] for id_ in moved.values()}
    claims = []
    for verified, key in zip(found, keys, strict=True):
        id_ = before.get(key) or moved.get(key)
        if id_ is None:
            id_ = mint("claim", key, ids.births)
            out.events.append(_event("birth", id_, key, verified.quote, at))
        elif id_ in ids.retired:
            out.events.append({"v": 1, "type": "revive", "of": "claim", "id": id_, "at": at})
        claim = Claim(
            ClaimId(id_), tracked.id, verified.kind, verified.quote, verified.statement, locator=verified.locator
        )
        claims.append((claim, verified.about))
    return tuple(claims)


def _moved(found: Sequence[Verified], keys: Sequence[str], before: Mapping[str, str], ids: Ids) -> dict[str, str]:
    """Return new key -> id of the claims whose words were edited and have that key now."""
    gone = {id_ for key, id_ in before.items() if key not in set(keys) and ids.alive(id_)}
    new = {k: v.quote for v, k in zip(found, keys, strict=True) if k not in before}
    old = {id_: ids.quotes[id_] for id_ in sorted(gone) if id_ in ids.quotes} if new else {}
    return successors(old, new) if old else {}


def _event(type_: str, id_: str, key: str, quote: str, at: str) -> Event:
    """Return the event of a claim; it holds the words, so that they are recognised when they change."""
    return {"v": 1, "type": type_, "of": "claim", "id": id_, "at": at, "key": key, "quote": quote}
