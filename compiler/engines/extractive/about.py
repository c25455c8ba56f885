"""Which names an English sentence is about: its subjects, what they belong to, what its section is called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from compiler.engines.extractive import cues
from compiler.engines.extractive.grammar.clauses import Clause
from compiler.engines.extractive.questions.question import flat
from compiler.language import lexicon, names
from compiler.model.requests import ExtractRequest, Term

MAX_ABOUT = 4
_OF = re.compile(
    r"^(?:(?:an?|the|one|another|some|many|several|most|two|three|four|common|main|major|key|core|basic|central|"
    r"fundamental|typical|popular|important|further|biggest|first|second|last)\s+)*"
    r"(?P<head>[a-z-]+)\s+(?:of|for|with|in|behind|to)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^()]*\)")
_AND = re.compile(r",\s*(?:and|or)\s+|,\s*|\s+(?:and|or)\s+")
_MODIFIED = re.compile(
    r"\s+(?:in|for|with|on|from|during|like|such as|that|which|used|based|trained|at|between|over)\s+"
)


@dataclass(frozen=True, slots=True)
class Known:
    """Keys of the names that the segment itself sets off, and what its section is about."""

    keys: frozenset[str]
    topics: tuple[str, ...] = ()

    def holds(self, name: str) -> bool:
        return names.key(name) in self.keys


def known_in(request: ExtractRequest, terms: Iterable[Term], topics: tuple[str, ...]) -> Known:
    """The names that `terms` offer, by their keys."""
    return Known(frozenset(k for t in terms for n in (t.name, *t.aliases) if (k := names.key(n))), topics)


def subjects(clause: Clause) -> list[str]:
    """The names the clause's subject gives, the main one first: "an advantage of X" gives X, "X and Y" both."""
    subject = _ASIDE.sub("", clause.subject)
    match = _OF.match(subject)
    if match and lexicon.singular(match["head"].casefold()) in lexicon.TRANSPARENT | cues.PROPERTIES:
        subject = match["rest"]
    return [names.bare(p) for p in _parts(subject) if names.is_name(p)][:MAX_ABOUT]


def _parts(subject: str) -> list[str]:
    if names.is_name(subject):
        return [subject]
    pieces = _AND.split(subject)
    if len(pieces) > 1:
        return pieces
    cut = _MODIFIED.split(subject, maxsplit=1)
    return cut[:1] if len(cut) > 1 else []


def is_vague(term: str, known: Known) -> bool:
    """Whether the term points to something before: "the growth", unless the document itself sets that name off."""
    parts = term.split()
    return len(parts) == 2 and parts[0].casefold() == "the" and parts[1].islower() and not known.holds(term)


def named_topics(text: str, known: Known) -> list[str]:
    """The section's topics that the sentence names."""
    said = f" {flat(text)} "
    return [t for t in known.topics if any(f" {form} " in said for form in _forms(t))]


def _forms(name: str) -> tuple[str, ...]:
    low = flat(name)
    return (
        low,
        f"{low}s",
        lexicon.singular(low)
        if " " not in low
        else f"{low.rsplit(' ', 1)[0]} {lexicon.singular(low.rsplit(' ', 1)[1])}",
    )


def others(clause: Clause, known: Known) -> list[str]:
    """Names the segment sets off that stand in the sentence beside its subject, longer ones first."""
    outside = (*clause.words[: clause.start], *clause.words[clause.subject_end :])
    rest = f" {flat(' '.join(t.text for t in outside))} "
    found: list[str] = []
    for key in sorted(known.keys, key=lambda k: (-len(k), k)):
        if f" {flat(key)} " in rest:
            found.append(key)
            rest = rest.replace(f" {flat(key)} ", "  ")
    return found[:5]
