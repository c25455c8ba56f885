"""Concept articles: the best claims under headings, in the sources' own words, each cited."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.engines.extractive.grammar.clauses import skip_connectives
from compiler.engines.extractive.grammar.standalone import without_pointers
from compiler.engines.extractive.grammar.tagger import tokens
from compiler.engines.extractive.questions.question import flat
from compiler.language import names
from compiler.model.requests import ClaimView, ComposeReply, ComposeRequest, Section, Sentence
from vault.model.claim import ClaimKind

_HEADINGS: dict[str, dict[ClaimKind, str]] = {
    "en": {
        ClaimKind.MECHANISM: "How it works",
        ClaimKind.RELATION: "How it relates",
        ClaimKind.APPLICATION: "When to use it",
        ClaimKind.LIMITATION: "Limits",
        ClaimKind.FACT: "Facts",
        ClaimKind.QUESTION: "Open questions",
    },
    "de": {
        ClaimKind.MECHANISM: "Wie es funktioniert",
        ClaimKind.RELATION: "Zusammenhänge",
        ClaimKind.APPLICATION: "Wann man es verwendet",
        ClaimKind.LIMITATION: "Grenzen",
        ClaimKind.FACT: "Fakten",
        ClaimKind.QUESTION: "Offene Fragen",
    },
    "zh": {
        ClaimKind.MECHANISM: "工作原理",
        ClaimKind.RELATION: "相互关系",
        ClaimKind.APPLICATION: "应用",
        ClaimKind.LIMITATION: "局限",
        ClaimKind.FACT: "要点",
        ClaimKind.QUESTION: "未决问题",
    },
}
_CAP = {ClaimKind.DEFINITION: 3, ClaimKind.MECHANISM: 6, ClaimKind.FACT: 5}
_CAP_ELSE = 5
_SAME = 0.85  # share of words from which two sentences say the same
_PARAGRAPH = 3  # sentences


@dataclass(slots=True)
class _Chosen:
    text: str
    cites: list[str]
    place: int


def compose(request: ComposeRequest) -> ComposeReply:
    """The article of one concept; what can't be said well is left out."""
    own = {names.key(n, request.language) for n in (request.title, *request.aliases)}
    ranked = sorted(enumerate(request.claims), key=lambda pair: (-_worth(pair[1], own, request.title), pair[0]))
    sections: list[Section] = []
    said: list[_Chosen] = []
    for kind in (ClaimKind.DEFINITION, *_HEADINGS["en"]):
        mine = [(i, c) for i, c in ranked if c.kind is kind]
        kept = _select(mine, said, _CAP.get(kind, _CAP_ELSE))
        if kind is ClaimKind.DEFINITION:
            ordered = kept
        else:
            ordered = sorted(kept, key=lambda c: c.place)
        if ordered:
            heading = _HEADINGS.get(request.language, _HEADINGS["en"]).get(kind, "")
            sections.append(Section(heading=heading, paragraphs=_paragraphs(ordered)))
    if sections and sections[0].heading and (lead := _lead(sections)):
        sections = lead
    return ComposeReply(sections=tuple(sections))


_FRAGMENT = 8  # words that a sentence must have to open an article


def _lead(sections: list[Section]) -> list[Section]:
    """Without a definition the first sentence of the article that is whole stands before the first heading."""
    every = [s for section in sections for paragraph in section.paragraphs for s in paragraph]
    head = next((s for s in every if _may_lead(s.text)), every[0])
    kept = [
        Section(heading=section.heading, paragraphs=tuple(p for p in paragraphs if p))
        for section in sections
        if any(paragraphs := tuple(tuple(s for s in p if s is not head) for p in section.paragraphs))
    ]
    return [Section(heading="", paragraphs=((head,),)), *kept]


def _may_lead(text: str) -> bool:
    """Whether the sentence can open an article: neither a scrap nor one that announces a formula."""
    return len(text.split()) >= _FRAGMENT and text.rstrip().endswith((".", "!", ".)", ".”", '."', "。"))


def _worth(claim: ClaimView, own: set[str], title: str) -> float:
    """Higher for a claim whose subject is the concept, of readable length, that needs no words before it."""
    words = claim.words
    worth = 2.0 if claim.about and claim.about[0] == title else 0.0
    start = flat(words[:80])
    worth += (
        1.0 if any(start.startswith((flat(n), "a " + flat(n), "an " + flat(n), "the " + flat(n))) for n in own) else 0.0
    )
    worth -= max(0, len(words) - 220) / 120
    worth -= 1.0 if words.rstrip().endswith((":", ",")) else 0.0
    worth -= 0.5 if _stripped(words) != words else 0.0
    worth -= 0.3 * sum(words.count(c) for c in "(;[")
    return worth


def _select(mine: list[tuple[int, ClaimView]], said: list[_Chosen], cap: int) -> list[_Chosen]:
    """The first `cap` of `mine` that repeat nothing said before; a repeat lends its citation to what it repeats."""
    kept: list[_Chosen] = []
    for place, claim in mine:
        text = _stripped(claim.words)
        twin = next((c for c in said if _repeats(c.text, text)), None)
        if twin is not None:
            if _is_copy(twin.text, text) and claim.id not in twin.cites:
                twin.cites.append(claim.id)
            continue
        if len(kept) < cap:
            new = _Chosen(text, [claim.id], place)
            kept.append(new)
            said.append(new)
    return kept


def _repeats(said: str, text: str) -> bool:
    """Whether `text` adds next to nothing: most of its words, or of the words said, stand in the other."""
    a, b = set(flat(said).split()), set(flat(text).split())
    return len(a & b) >= _SAME * min(len(a), len(b)) and min(len(a), len(b)) >= 4


def _is_copy(said: str, text: str) -> bool:
    """Whether two sentences say the same in nearly the same words, so that one may cite the other's claim."""
    a, b = set(flat(said).split()), set(flat(text).split())
    apart = a ^ b
    return len(apart) <= 1 and not any(w[0].isdigit() or w in _TURNING for w in apart)


_TURNING = frozenset({"not", "no", "never", "without", "only", "unless", "except", "hardly", "rarely", "cannot"})


def _stripped(words: str) -> str:
    """The claim's words without "However," and its like, which would contrast with nothing, nor "(see chapter 5)"."""
    words = without_pointers(words)
    tokenized = tokens(words)
    start = skip_connectives(words, tokenized)
    if not start or start >= len(tokenized):
        return words
    rest = words[tokenized[start].start :]
    return rest[:1].upper() + rest[1:]


def _paragraphs(chosen: list[_Chosen]) -> tuple[tuple[Sentence, ...], ...]:
    sentences = [Sentence(text=c.text, cites=tuple(c.cites)) for c in chosen]
    return tuple(tuple(sentences[i : i + _PARAGRAPH]) for i in range(0, len(sentences), _PARAGRAPH))
