"""Claims to articles: the request for one concept, and the sentences of the reply that may stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compiler.concepts.resolve import Resolution, Resolved
from compiler.gates.gates import Entailed, sentence_refused
from compiler.model.limits import MOST_CLAIMS
from compiler.model.report import Rejection
from compiler.model.requests import ClaimView, ComposeReply, ComposeRequest
from vault.ids import ClaimId, ConceptId, SourceId
from vault.model.article import ArticleSection, CitedSentence
from vault.model.claim import Claim
from vault.model.topic import disagreement_heading
from vault.model.wikilink import Citation
from vault.text.sanitize import clean, clean_line, fold

Cite = Callable[[ClaimId], Citation]
DISPUTES = 6  # that one page shows


@dataclass(frozen=True, slots=True)
class Shelf:
    """What composing needs to know of the sources: their titles, and the paths of their summaries without `.md`."""

    titles: dict[SourceId, str]
    summaries: dict[SourceId, str]


def views_of(concept: Resolved, resolution: Resolution, shelf: Shelf) -> tuple[ClaimView, ...]:
    """The concept's claims as an engine sees them."""
    return tuple(_view(claim, concept, resolution, shelf) for claim in concept.main)


def _view(claim: Claim, concept: Resolved, resolution: Resolution, shelf: Shelf) -> ClaimView:
    others = [i for i in resolution.mentions.get(claim.id, ()) if i != concept.id]
    return ClaimView(
        id=claim.id,
        kind=claim.kind,
        words=claim.words,
        quote=claim.quote,
        source=shelf.titles[claim.source],
        about=tuple(dict.fromkeys((resolution.concepts[resolution.owners[claim.id]].title, concept.title))),
        mentions=tuple(resolution.concepts[ConceptId(i)].title for i in others),
    )


def request_for(concept: Resolved, views: tuple[ClaimView, ...]) -> ComposeRequest:
    return ComposeRequest(
        title=concept.title,
        aliases=concept.aliases,
        language=concept.language,
        claims=views[:MOST_CLAIMS],
        concept=concept.id,
    )


def places(
    claims: Sequence[Claim], before: Sequence[SourceId], order: Callable[[SourceId], tuple[str, str]]
) -> list[SourceId]:
    """The sources of an article in the order of their numbers: those it had `before`, then new ones at the end."""
    new = sorted({c.source for c in claims} - set(before), key=order)
    return [*before, *new]


def sections_in(
    reply: ComposeReply,
    views: tuple[ClaimView, ...],
    cite: Cite,
    entailed: Entailed | None = None,
) -> tuple[list[ArticleSection], list[Rejection]]:
    """The sections of `reply` with every sentence that the gate refuses left out, and what was refused."""
    claims = {v.id: v for v in views}
    rejections: list[Rejection] = []
    sections = []
    for section in reply.sections:
        paragraphs = []
        for paragraph in section.paragraphs:
            kept = []
            for sentence in paragraph:
                reason = sentence_refused(sentence, claims, entailed)
                if reason:
                    rejections.append(Rejection("sentence", reason, fold(sentence.text)[:200]))
                else:
                    cites = tuple(cite(ClaimId(c)) for c in dict.fromkeys(sentence.cites))
                    kept.append(CitedSentence(fold(clean(sentence.text)), cites))
            if kept:
                paragraphs.append(tuple(kept))
        if paragraphs:
            sections.append(ArticleSection(clean_line(section.heading), tuple(paragraphs)))
    return sections, rejections


def contested(language: str, disputes: Sequence[tuple[str, Claim, Claim]], cite: Cite) -> tuple[ArticleSection, ...]:
    """The sections that show each contradiction (verdict, weightier claim, other) in the sources' own words."""
    sections = []
    for verdict, first, second in disputes[:DISPUTES]:
        sides = tuple((CitedSentence(c.quote, (cite(c.id),)),) for c in (first, second))
        sections.append(ArticleSection(verdict, sides, level=3))
    head = ArticleSection(disagreement_heading(language), ())
    return (head, *sections) if sections else ()
