"""The concepts that were made: of a compiled vault by reading its notes, or by the engine's rules in this process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.concept_figures import Made
from compiler.articles import compose
from compiler.cards import cards
from compiler.claims.extract import claims_in, requests_for
from compiler.concepts.resolve import Resolution, SourceClaims, resolve
from compiler.model.engine_names import VERSIONS
from compiler.model.requests import Engine
from compiler.readers.formats import RECORDED, kind_of
from compiler.readers.read import read_source
from vault.errors import Unreadable
from vault.ids import ClaimId, SourceId, digest12, mint
from vault.layout import CONCEPTS, GAPS, SUMMARIES
from vault.log.ledger import Ids
from vault.model.article import sentences
from vault.model.claim import Claim
from vault.model.frontmatter import read_properties
from vault.model.gaps import GapKind, parse_agenda
from vault.model.source import SourceText
from vault.vault import Vault

_AT = "2026-01-01T00:00:00.000Z"  # any instant: what is measured does not depend on it
_LEAD = 2  # sentences


def in_vault(vault: Vault, folder: Path) -> list[Made]:
    """Every article of the vault; its files are those of `folder` that hold the bytes of its sources."""
    by_digest = {hashlib.sha256(p.read_bytes()).hexdigest(): relative for p, relative in files_of(folder)}
    origin: dict[str, str] = {}
    for path in vault.paths(SUMMARIES, ".md"):
        digest = read_properties(vault.read_text(path) or "").text("source_sha256")
        origin[path.removesuffix(".md")] = by_digest.get(digest, "")
    return [_article(vault.read_text(path) or "", origin) for path in vault.paths(CONCEPTS, ".md")]


def _article(text: str, origin: dict[str, str]) -> Made:
    properties = read_properties(text)
    said = list(sentences(text))
    cited = {origin.get(cite.summary, "") for sentence in said for cite in sentence.cites}
    return Made(
        title=properties.text("title"),
        aliases=properties.texts("aliases"),
        lead=" ".join(sentence.text for sentence in said[:_LEAD]),
        files=tuple(sorted(cited - {""})),
    )


def structural_gaps(vault: Vault) -> list[str]:
    """What the agenda says that articles mention and no source explains."""
    return [g.what for g in parse_agenda(vault.read_text(GAPS) or "") if g.kind is GapKind.STRUCTURAL and g.open]


def files_of(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below `folder`, in order, with its path below it."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        yield path, path.relative_to(folder).as_posix()


@dataclass(frozen=True, slots=True)
class Document:
    """A document as its reader gives it; `file` is its path below the folder."""

    file: str
    source: SourceText


def documents(folder: Path) -> list[Document]:
    """What the readers make of the documents in `folder`; those they keep unread or cannot read are left out."""
    out = []
    for path, relative in files_of(folder):
        data = path.read_bytes()
        if kind_of(path.name, data[:4096]) in RECORDED:
            continue
        try:
            out.append(Document(relative, read_source(data, path.name)))
        except Unreadable:
            continue
    return out


@dataclass(frozen=True, slots=True)
class Run:
    """What one engine makes of some documents: concepts, and how many cards pass the gates."""

    made: tuple[Made, ...]
    cards: int


def run(read: list[Document], engine: Engine) -> Run:
    """`engine` over the documents, in this process and without a vault: extract, check, resolve, ask for cards."""
    ids = Ids()
    sources = [_claims(document, engine) for document in read]
    resolution = resolve(sources, ids, _AT)
    files = {source.source: document.file for source, document in zip(sources, read, strict=True)}
    made = tuple(
        Made(
            c.title,
            c.aliases,
            " ".join(m.words for m in c.main[:_LEAD]),
            tuple(sorted({files[m.source] for m in c.main})),
        )
        for c in resolution.concepts.values()
    )
    return Run(made, _cards(sources, resolution, ids, engine))


def _claims(document: Document, engine: Engine) -> SourceClaims:
    source = document.source
    found = claims_in(source, [engine.extract(request) for request in requests_for(source)])
    id_ = SourceId(mint("source", document.file))
    claims = []
    for verified in found.claims:
        key = f"{id_}:{digest12(verified.quote)}"
        claim = Claim(ClaimId(mint("claim", key)), id_, verified.kind, verified.quote, verified.statement)
        claims.append((claim, verified.about))
    return SourceClaims(id_, source.title, source.language, tuple(claims), found.terms)


def _cards(sources: list[SourceClaims], resolution: Resolution, ids: Ids, engine: Engine) -> int:
    """How many cards pass the gates, each concept asked in the order of the titles, as a compile does."""
    shelf = compose.Shelf({s.source: s.title for s in sources}, {s.source: s.source for s in sources})
    words: dict[str, str] = {c.id: f"{c.kind} {c.words}" for s in sources for c, _ in s.claims}
    order = sorted(resolution.concepts.values(), key=lambda c: (c.title.casefold(), c.id))
    desk = cards.CardDecider(ids, {}, words, {m.id: c.id for c in order for m in c.main}, _AT, VERSIONS["extractive"])
    desk.open()
    for concept in order:
        views = compose.views_of(concept, resolution, shelf)
        desk.decide(concept, views, engine.cards(cards.request_for(concept, views)))
    return desk.close().created


def engine_without(signal: str = "") -> Engine:
    """The embedded engine, less one of its signals. Raises LookupError where it cannot leave one out."""
    from compiler.engines.extractive import ExtractiveEngine

    if not signal:
        return ExtractiveEngine()
    if not signals():
        raise LookupError("the engine of this version cannot leave a signal out")
    built: Any = ExtractiveEngine
    engine: Engine = built(without=frozenset({signal}))
    return engine


def signals() -> tuple[str, ...]:
    """The engine's signals that can be left out, in its order; () where it has none to name."""
    from compiler.engines import extractive

    return tuple(getattr(extractive, "SIGNALS", ()))
