"""Links in the text of an article: the first mention of each other concept leads to its page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from compiler.concepts.resolve import Resolution, Resolved
from compiler.language.mentions import places
from vault.ids import ConceptId
from vault.model.article import ArticleSection, CitedSentence, link_place

_PLURAL = re.compile(r"s(?!\w)")


def mentioned(
    cites: Sequence[str], own: ConceptId, pages: Mapping[ConceptId, str], resolution: Resolution
) -> list[ConceptId]:
    """Return the other concepts with a page that the claims name; `pages` are paths without .md by concept."""
    named = (other for claim in cites for other in resolution.mentions.get(claim, ()))
    return [other for other in dict.fromkeys(named) if other != own and other in pages]


def with_links(
    sections: Sequence[ArticleSection], concept: Resolved, pages: Mapping[ConceptId, str], resolution: Resolution
) -> tuple[ArticleSection, ...]:
    """Return the sections with a link at the first mention of each other concept that the cited claims name.

    A link that a model has set stays, and its concept gets no second one.
    """
    linked: set[str] = set()

    def link(sentence: CitedSentence) -> CitedSentence:
        linked.update(target for _, target in sentence.links)
        if sentence.form in ("head", "row") or sentence.shown is not None:
            return sentence
        named = mentioned([c.claim for c in sentence.cites], concept.id, pages, resolution)
        new = tuple(_links(sentence, concept, [resolution.concepts[i] for i in named], pages, linked))
        return replace(sentence, links=(*sentence.links, *new)) if new else sentence

    return tuple(
        replace(section, paragraphs=tuple(tuple(map(link, paragraph)) for paragraph in section.paragraphs))
        for section in sections
    )


def _links(
    sentence: CitedSentence,
    own: Resolved,
    named: Sequence[Resolved],
    pages: Mapping[ConceptId, str],
    linked: set[str],
) -> Iterator[tuple[str, str]]:
    """Yield (words, path) of the concepts that a sentence is the first to name, those with the longest name first."""
    lowered = sentence.text.lower()
    if len(lowered) != len(sentence.text):
        return  # a letter that is two in lower case: no place in one is a place in the other
    taken = [span for words, _ in sentence.links if (span := link_place(words, sentence.text)) is not None]
    spelled = [(name.lower(), other) for other in (own, *named) for name in (other.title, *other.aliases)]
    for name, other in sorted(spelled, key=lambda one: (-len(one[0]), one[0], one[1].id)):
        for start, singular in places(lowered, name):
            end = singular + bool(_PLURAL.match(lowered, singular))
            if any(start < last and first < end for first, last in taken):
                continue
            taken.append((start, end))
            target, words = pages.get(other.id, ""), sentence.text[start:end]
            if other.id != own.id and target not in linked and link_place(words, sentence.text) == (start, end):
                linked.add(target)
                yield words, target
