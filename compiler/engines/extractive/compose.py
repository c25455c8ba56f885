"""Articles of passages: the sentence that defines, then the source's own paragraphs in their order, each cited."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compiler.engines.extractive.features import words_of
from compiler.engines.extractive.terms import heading_name
from compiler.language import names
from compiler.model.requests import ClaimView, ComposeReply, ComposeRequest, Section, Sentence
from vault.model.claim import ClaimKind

_HEADINGS: dict[str, dict[ClaimKind, str]] = {
    "en": {
        ClaimKind.MECHANISM: "How it works",
        ClaimKind.RELATION: "How it relates",
        ClaimKind.APPLICATION: "When to use it",
        ClaimKind.FACT: "Facts",
    },
    "de": {
        ClaimKind.MECHANISM: "Wie es funktioniert",
        ClaimKind.RELATION: "Zusammenhänge",
        ClaimKind.APPLICATION: "Wann man es verwendet",
        ClaimKind.FACT: "Fakten",
    },
    "zh": {
        ClaimKind.MECHANISM: "工作原理",
        ClaimKind.RELATION: "相互关系",
        ClaimKind.APPLICATION: "应用",
        ClaimKind.FACT: "要点",
    },
}
_MOST_SENTENCES = 40
_SAME = 0.85  # share of words from which two sentences say the same
_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")
_POINTING = frozenset(
    "it they this that these those such he she its their however therefore thus but and so also hence er sie es dies"
    " diese dieser dieses damit daher dadurch dabei".split()
)


def compose(request: ComposeRequest) -> ComposeReply:
    """Return the article of one concept; without a sentence that defines it there is none."""
    language = request.language or "en"
    own = {names.key(n, language) for n in (request.title, *request.aliases)}
    defining = [c for c in request.claims if c.kind is ClaimKind.DEFINITION and c.about[:1] == (request.title,)]
    if not defining:
        return ComposeReply(sections=())
    first = min(defining, key=lambda c: (c.words[:1].islower(), len(c.words)))
    groups = _passages(request.claims)
    lead = next((g for g in groups if first in g), (first,))
    lead = (first, *(c for c in lead[lead.index(first) + 1 :]))
    said = _Said(request.claims)
    sections = [Section(heading="", paragraphs=(said.sentences(lead),))]
    headed: dict[str, list[tuple[Sentence, ...]]] = {}
    loose: dict[ClaimKind, list[ClaimView]] = {}
    for group in groups:
        rest = tuple(c for c in group if c not in lead)
        if len(rest) > 1:
            heading = heading_name(rest[0].heading)
            plain = "" if names.key(heading, language) in own else heading
            if paragraph := said.sentences(_from_first_whole(rest)):
                headed.setdefault(plain, []).append(paragraph)
        else:
            for claim in rest:
                loose.setdefault(claim.kind, []).append(claim)
    sections[0] = Section(heading="", paragraphs=(*sections[0].paragraphs, *headed.pop("", ())))
    sections += [Section(heading=heading, paragraphs=tuple(found)) for heading, found in headed.items()]
    for kind, heading in _HEADINGS.get(language, _HEADINGS["en"]).items():
        alone = [c for c in loose.get(kind, ()) if not _points_back(c.words)]
        if paragraph := said.sentences(alone[:6]):
            sections.append(Section(heading=heading, paragraphs=(paragraph,)))
    return ComposeReply(sections=tuple(_bounded(sections)))


def _passages(claims: Sequence[ClaimView]) -> list[tuple[ClaimView, ...]]:
    """Return the claims grouped by the paragraph of the source they stand in, in the order of the sources."""
    groups: dict[str, list[ClaimView]] = {}
    for claim in claims:
        groups.setdefault(claim.passage or claim.id, []).append(claim)
    return [tuple(group) for group in groups.values()]


def _from_first_whole(claims: Sequence[ClaimView]) -> Sequence[ClaimView]:
    """Return a passage from the first sentence that does not point at one before it."""
    start = next((n for n, c in enumerate(claims) if not _points_back(c.words)), len(claims))
    return claims[start:]


def _points_back(words: str) -> bool:
    """Return whether a sentence opens with a word that stands for something before it."""
    return words_of(words[:40])[:1] != [] and words_of(words[:40])[0] in _POINTING


_Wording = tuple[tuple[str, ...], tuple[str, ...]]  # words in small letters, figures


class _Said:
    """What an article says so far: no sentence stands in it twice, and each cites all claims that have its words.

    Sentences with other figures say other things, however alike their words: 40 credits a year, and 60.
    """

    def __init__(self, claims: Sequence[ClaimView]) -> None:
        self._before: list[tuple[set[str], tuple[str, ...]]] = []
        self._ids: dict[_Wording, list[str]] = {}
        for claim in claims:
            self._ids.setdefault(_wording(claim), []).append(claim.id)

    def sentences(self, claims: Sequence[ClaimView]) -> tuple[Sentence, ...]:
        """Return the claims as cited sentences, without those that repeat what was said."""
        out = []
        for claim in claims:
            wording = _wording(claim)
            words, figures = set(wording[0]), wording[1]
            if any(len(words & w) >= _SAME * min(len(words), len(w)) for w, f in self._before if f == figures):
                continue
            self._before.append((words, figures))
            others = (id_ for id_ in self._ids[wording] if id_ != claim.id)
            out.append(Sentence(text=claim.words, cites=(claim.id, *others)))
        return tuple(out)


def _wording(claim: ClaimView) -> _Wording:
    """Return the words of a claim and the figures in it."""
    return tuple(words_of(claim.words)) or (claim.words,), tuple(_FIGURES.findall(claim.words))


def _bounded(sections: Sequence[Section]) -> list[Section]:
    """Return the sections up to the most sentences that an article has."""
    left, out = _MOST_SENTENCES, []
    for section in sections:
        kept = []
        for paragraph in section.paragraphs:
            if paragraph and left > 0:
                kept.append(paragraph[:left])
                left -= len(kept[-1])
        if kept:
            out.append(Section(heading=section.heading, paragraphs=tuple(kept)))
    return out
