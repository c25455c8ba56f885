"""What an English segment says: its claims, sorted and with the names they are about, and the terms it offers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler import names, words
from compiler.engines.extractive import cues
from compiler.engines.extractive.asking import Matter, flat
from compiler.engines.extractive.cards import asks
from compiler.engines.extractive.clauses import Clause, parse
from compiler.engines.extractive.definitions import Definition, apposition_in, definition_in, entry_in
from compiler.engines.extractive.sentences import Sentence, sentences
from compiler.engines.extractive.standing import stands_alone
from compiler.engines.extractive.terms import structure_terms
from compiler.engines.port import ExtractedClaim, ExtractReply, ExtractRequest, Term
from vault.claim import ClaimKind

_OF = re.compile(
    r"^(?:(?:an?|the|one|another|some|many|several|most|two|three|four|common|main|major|key|typical|popular|important|further)\s+)*(?P<head>[a-z-]+)\s+(?:of|for|with|in|behind|to)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_SKIPPED_HEADINGS = re.compile(
    r"^(?:\d[\d.]*\s+)?(?:references?|bibliography|acknowledge?ments?|exercises?|homework|about the authors?|contributors?|licen[sc]e|installation|"
    r"changelog|citation|credits?|table of contents|contents|index|appendix\b.*|author contributions?|funding|further reading|see also|"
    r"additional resources|resources|getting started|requirements|quick ?start|discussions?|solutions?|learning objectives|preface|notation)\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Known:
    """Keys of the names that the segment itself sets off."""

    keys: frozenset[str]

    def holds(self, name: str) -> bool:
        return names.key(name) in self.keys


def extract(request: ExtractRequest) -> ExtractReply:
    """Claims and terms of one English segment; nothing from reference lists, exercises and their like."""
    terms = list(structure_terms(request))
    if any(_SKIPPED_HEADINGS.match(h) for h in request.headings):
        return ExtractReply()
    known = _Known(frozenset(names.key(n) for t in terms for n in (t.name, *t.aliases)))
    claims: list[ExtractedClaim] = []
    for sentence in sentences(request):
        found = _claim(sentence, known, request)
        if found is None:
            continue
        claim, offered = found
        claims.append(claim)
        terms += offered
    return ExtractReply(claims=tuple(claims), terms=tuple(dict.fromkeys(terms)))


def _claim(sentence: Sentence, known: _Known, request: ExtractRequest) -> tuple[ExtractedClaim, list[Term]] | None:
    text = sentence.text
    entry = entry_in(text) if sentence.first and len(text) < 400 else None
    if entry and (sentence.item or known.holds(entry.name)) and stands_alone(text, loose=True):
        return _made(sentence, ClaimKind.DEFINITION, [entry.name]), [_term(entry, "glossary")]
    if not stands_alone(text):
        return None
    clause = parse(text)
    if clause is None:
        return None
    return _defined(sentence, clause, known) or _sorted(sentence, clause, known)


def _made(sentence: Sentence, kind: ClaimKind, about: list[str]) -> ExtractedClaim:
    unique: dict[str, str] = {}
    for name in about:
        unique.setdefault(names.key(name), name)
    unique.pop("", None)
    return ExtractedClaim(kind=kind, quote=sentence.text, about=tuple(unique.values())[:6], start=sentence.start)


def _term(definition: Definition, signal: str = "definition") -> Term:
    inside = re.search(r"\(([^()]{2,40})\)", definition.term)
    aliases = definition.aliases + ((inside[1],) if inside and names.is_acronym(inside[1]) else ())
    return Term(name=definition.name, aliases=aliases, signal="glossary" if signal == "glossary" else "definition")


def _defined(sentence: Sentence, clause: Clause, known: _Known) -> tuple[ExtractedClaim, list[Term]] | None:
    definition = definition_in(clause)
    if definition and definition.shape == "alias":
        return _made(sentence, ClaimKind.FACT, [definition.name, *definition.aliases]), [_term(definition)]
    if definition and not _is_vague(definition.term, known) and not cues.weakens(definition.body):
        return _made(sentence, ClaimKind.DEFINITION, [definition.name, *_others(clause, known)]), [_term(definition)]
    apposition = apposition_in(sentence.text)
    if apposition and not _is_vague(apposition.term, known):
        return _made(sentence, ClaimKind.DEFINITION, [apposition.name, *_others(clause, known)]), [_term(apposition)]
    return None


def _is_vague(term: str, known: _Known) -> bool:
    """ "The decoder", "the growth": one common noun with "the" means some one before, unless the document names it so."""
    parts = term.split()
    return len(parts) == 2 and parts[0].casefold() == "the" and parts[1].islower() and not known.holds(term)


def _sorted(sentence: Sentence, clause: Clause, known: _Known) -> tuple[ExtractedClaim, list[Term]] | None:
    about = subjects(clause, known.keys)
    if not about or _is_vague(clause.subject, known):
        return _beside(sentence, clause, known)
    kind = _kind(clause, about[0])
    if kind is None:
        return None
    offered = [Term(name=about[0], signal="subject")] if len(about[0].split()) > 1 else []
    return _made(sentence, kind, [*about, *_others(clause, known)]), offered


def _beside(sentence: Sentence, clause: Clause, known: _Known) -> tuple[ExtractedClaim, list[Term]] | None:
    """A claim about a name that is not its subject: "Learners rarely choose spacing, because ..." tells of spacing."""
    if re.match(r"(?:the|an?|its|their)\s", clause.subject, re.IGNORECASE):
        return None
    for name in _others(clause, known):
        found = [a for a in asks(clause.text, Matter(name), clause) if a.kind == "mechanistic"]
        if found:
            return _made(sentence, ClaimKind.MECHANISM, [name]), []
    return None


def _kind(clause: Clause, name: str) -> ClaimKind | None:
    """The kind of which the sentence is evidence: that of the best card it supports, else what its cue words say."""
    found = [a for a in asks(clause.text, Matter(name), clause) if a.kind != "definitional"]
    if not found:
        return cues.kind_of(clause, name)
    best = max(found, key=lambda a: a.score)
    if best.kind == "applied":
        return ClaimKind.LIMITATION if cues.is_limitation(clause) else ClaimKind.APPLICATION
    return ClaimKind.MECHANISM if best.kind == "mechanistic" else ClaimKind.RELATION


def subjects(clause: Clause, known: frozenset[str]) -> list[str]:
    """The names the clause's subject gives, the main one first: "an advantage of X" gives X, "X and Y" both."""
    subject = _no_brackets(clause.subject)
    match = _OF.match(subject)
    if match and words.singular(match["head"].casefold()) in words.TRANSPARENT | cues.PROPERTIES:
        subject = match["rest"]
    found = [p for p in _parts(subject) if names.is_name(p)]
    return [names.bare(p) for p in found]


def _parts(subject: str) -> list[str]:
    if names.is_name(subject):
        return [subject]
    pieces = re.split(r",\s*(?:and|or)\s+|,\s*|\s+(?:and|or)\s+", subject)
    if len(pieces) > 1:
        return pieces
    cut = re.split(
        r"\s+(?:in|for|with|on|from|during|that|which|used|based|trained|at|between|over)\s+", subject, maxsplit=1
    )
    return cut[:1] if len(cut) > 1 else []


def _no_brackets(text: str) -> str:
    return re.sub(r"\s*\([^()]*\)", "", text)


def _others(clause: Clause, known: _Known) -> list[str]:
    """Names the segment sets off that stand in the sentence beside its subject, longer ones first."""
    outside = (*clause.words[: clause.start], *clause.words[clause.subject_end :])
    rest = f" {flat(' '.join(t.text for t in outside))} "
    found: list[str] = []
    for key in sorted(known.keys, key=lambda k: (-len(k), k)):
        if f" {flat(key)} " in rest:
            found.append(key)
            rest = rest.replace(f" {flat(key)} ", "  ")
    return found[:5]
