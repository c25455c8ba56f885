"""What the wiki cannot say, as a model's answers have it: unexplained terms, open questions, open contradictions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from rapidfuzz import fuzz

from compiler.cards.gaps import CONTESTED, SHOWN_MENTIONS, OpenGap, use_of, who_uses_it
from compiler.concepts.resolve import Resolution
from compiler.drafts.consult import Consulted, Unexplained
from compiler.language import names
from compiler.sources.segments import passages
from vault.ids import ConceptId, digest12
from vault.model.gaps import SOURCE_OF_TERM, GapKind
from vault.text.formatting import fold

OPEN = "open "  # begins the last part of the key of a question that an article leaves open
_QUESTIONS = 2  # of one concept: more would bury other concepts


def find_gaps(
    known: Resolution,
    consulted: Consulted,
    links: Mapping[str, str],
    sources: Mapping[str, str],
    contested: Collection[ConceptId],
    sides: Collection[tuple[str, str]],
) -> list[OpenGap]:
    """Return the gaps, most pressing first. `links` has a concept's link by id, `sources` a summary's by source.

    `sides` are the (source, quote) of all contradictions: an open question on one is the same gap once more.
    """
    found = [*_terms(consulted, sources), *_questions(known, consulted, links, contested, sides)]
    return sorted(found, key=lambda g: (g.kind.value, g.rank, -g.weight, g.what.casefold(), g.key))


def _terms(consulted: Consulted, sources: Mapping[str, str]) -> Iterator[OpenGap]:
    """Yield the terms that documents use and none explains: those first that most documents use."""
    for term in consulted.unexplained:
        using = list(dict.fromkeys(b.partition(":")[0] for b in term.blocks))
        yield OpenGap(
            key=f"structural:{names.key(term.name)}",
            kind=GapKind.STRUCTURAL,
            what=term.name,
            missing=who_uses_it(len(using)),
            fill=SOURCE_OF_TERM,
            mentions=tuple(sorted(sources[s] for s in using if s in sources))[:SHOWN_MENTIONS],
            weight=100 * len(using) + len(term.blocks),
            rank=0,
            use=_use(term, consulted),
        )


def _use(term: Unexplained, consulted: Consulted) -> str:
    """Return a part of a passage that uses a term; "" if there is none."""
    if not term.blocks:
        return ""
    document, _, place = consulted.shelf.blocks[term.blocks[0]]
    words = document.words(place)
    said = [fold(words[start:end]) for start, end in passages(words)] or [fold(words)]
    sentence = max(said, key=lambda one: fuzz.partial_ratio(term.name.casefold(), one.casefold()))
    return use_of(sentence, [term.name])


def _questions(
    known: Resolution,
    consulted: Consulted,
    links: Mapping[str, str],
    contested: Collection[ConceptId],
    sides: Collection[tuple[str, str]],
) -> Iterator[OpenGap]:
    """Yield the contradictions that nothing decides, then the questions that articles leave open."""
    by_key = {key: concept for concept in known.concepts.values() for key in concept.keys}
    for concept in known.concepts.values():
        if concept.id in contested:
            missing, fill = CONTESTED
            key = f"{GapKind.EPISTEMIC}:{concept.id}:contested"
            yield OpenGap(key, GapKind.EPISTEMIC, concept.title, missing, fill, (links[concept.id],), 1, 0)
    for draft in consulted.drafts.articles:
        found = next((by_key[key] for key in sorted(draft.group.keys) if key in by_key), None)
        new = [q for q in draft.questions if not any((e.source, e.words) in sides for e in q.quotes)]
        for question in new[:_QUESTIONS] if found is not None else ():
            assert found is not None
            yield OpenGap(
                key=f"{GapKind.EPISTEMIC}:{found.id}:{OPEN}{digest12(fold(question.text).casefold())}",
                kind=GapKind.EPISTEMIC,
                what=found.title,
                missing=question.text,
                fill="a source that answers it",
                mentions=(links[found.id],),
                weight=len(question.quotes),
                rank=1,
            )
