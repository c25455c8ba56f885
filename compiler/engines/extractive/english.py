"""What an English segment says: its claims, sorted and with the names they are about, and the terms it offers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compiler import names, words
from compiler.engines.extractive import cues
from compiler.engines.extractive.antecedents import MAX_QUOTE, Antecedent, antecedent_of, resolved, with_reason
from compiler.engines.extractive.asides import apposition_in, entry_in, named_after, naming_in
from compiler.engines.extractive.asking import Matter, flat
from compiler.engines.extractive.cards import asks
from compiler.engines.extractive.clauses import Clause, parse
from compiler.engines.extractive.definitions import Definition, definition_in
from compiler.engines.extractive.sentences import Sentence, sentences
from compiler.engines.extractive.standing import stands_alone, without_pointers
from compiler.engines.extractive.terms import structure_terms
from compiler.engines.port import ExtractedClaim, ExtractReply, ExtractRequest, Term
from vault.claim import ClaimKind

_OF = re.compile(
    r"^(?:(?:an?|the|one|another|some|many|several|most|two|three|four|common|main|major|key|core|basic|central|"
    r"fundamental|typical|popular|important|further)\s+)*"
    r"(?P<head>[a-z-]+)\s+(?:of|for|with|in|behind|to)\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_SKIPPED_HEADINGS = re.compile(
    r"^(?:\d[\d.]*\s+)?(?:references?|bibliography|acknowledge?ments?|exercises?|homework|about the authors?|"
    r"contributors?|licen[sc]e|installation|"
    r"changelog|citation|credits?|table of contents|contents|index|appendix\b.*|author contributions?|funding|"
    r"further reading|see also|"
    r"additional resources|resources|getting started|requirements|quick ?start|discussions?|solutions?|learning "
    r"objectives|preface|notation)\W*$",
    re.IGNORECASE,
)
Found = tuple[ClaimKind, list[str], list[Term]]


@dataclass(frozen=True, slots=True)
class _Known:
    """Keys of the names that the segment itself sets off."""

    keys: frozenset[str]

    def holds(self, name: str) -> bool:
        return names.key(name) in self.keys


def extract(request: ExtractRequest) -> ExtractReply:
    """Claims and terms of one English segment; nothing from reference lists, exercises and their like."""
    if any(_SKIPPED_HEADINGS.match(h) for h in request.headings):
        return ExtractReply()
    terms = list(structure_terms(request))
    known = _Known(frozenset(names.key(n) for t in terms for n in (t.name, *t.aliases)))
    claims = []
    for claim, offered in (*_glossary(request), *_prose(request, known)):
        claims.append(claim)
        terms += offered
    return ExtractReply(claims=tuple(claims), terms=tuple(dict.fromkeys(terms)))


def _glossary(request: ExtractRequest) -> Iterator[tuple[ExtractedClaim, list[Term]]]:
    """Entries of definition lists: the marked term and the paragraph after it."""
    for mark in request.marks:
        after = re.compile(r"\s*\n\s*(\S[^\n]*)").match(request.text, mark.end) if mark.kind == "term" else None
        term = request.text[mark.start : mark.end].strip()
        if not after or not names.is_name(term) or len(after[1]) > 400 or len(after[1].split()) < 3:
            continue
        quote = request.text[mark.start : after.end()].rstrip()
        words_ = f"{term}: {after[1].strip()}"
        if entry_in(words_) and stands_alone(words_, loose=True):
            claim = ExtractedClaim(
                kind=ClaimKind.DEFINITION, quote=quote, statement=words_, about=(names.bare(term),), start=mark.start
            )
            yield claim, []


def _prose(request: ExtractRequest, known: _Known) -> Iterator[tuple[ExtractedClaim, list[Term]]]:
    before: Antecedent | None = None
    last: Sentence | None = None
    for sentence in sentences(request):
        if named := _named(sentence, last, request):
            yield named
        said, start = _said(sentence, before, last)
        last = sentence
        text = said or sentence.text
        clause = parse(without_pointers(text)) if stands_alone(text) else None
        found = _entry(sentence, known) or (_found(clause, known) if clause else None)
        if found:
            kind, about, offered = found
            quote = request.text[start : sentence.end]
            claim = ExtractedClaim(kind=kind, quote=quote, statement=said, about=_once(about), start=start)
            yield claim, offered
        if said and clause:
            continue  # the pronoun's meaning goes on
        before = antecedent_of(clause, definition_in(clause), sentence.start, sentence.block) if clause else None


def _said(sentence: Sentence, before: Antecedent | None, last: Sentence | None) -> tuple[str, int]:
    """(the sentence with its first words spelled out, or "" if it needs none, where its quote begins)."""
    if last and (said := with_reason(sentence, last)):
        return said, last.start
    if before and (said := resolved(sentence, before)):
        return said, before.start
    return "", sentence.start


def _named(
    sentence: Sentence, last: Sentence | None, request: ExtractRequest
) -> tuple[ExtractedClaim, list[Term]] | None:
    """The sentence, with the one before it if it begins with "This is known as", where it gives a thing its name."""
    start = sentence.start
    if _THIS_IS_CALLED.match(sentence.text):
        if last is None or last.block != sentence.block or sentence.end - last.start > MAX_QUOTE:
            return None
        start = last.start
    quote = request.text[start : sentence.end]
    naming = naming_in(quote)
    if naming is None or not stands_alone(naming.body.rstrip(".") + "."):
        return None
    claim = ExtractedClaim(kind=ClaimKind.DEFINITION, quote=quote, about=(naming.name,), start=start)
    return claim, [_term(naming)]


_THIS_IS_CALLED = re.compile(
    r"(?:This|These)(?: [a-z-]+)? (?:is|are) (?:\w+ )?(?:known as|called|referred to as|termed) ", re.IGNORECASE
)


def _once(about: list[str]) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for name in about:
        unique.setdefault(names.key(name), name)
    unique.pop("", None)
    return tuple(unique.values())[:6]


def _entry(sentence: Sentence, known: _Known) -> Found | None:
    entry = entry_in(sentence.text) if sentence.first and len(sentence.text) < 400 else None
    if entry and (sentence.item or known.holds(entry.name)) and stands_alone(sentence.text, loose=True):
        return ClaimKind.DEFINITION, [entry.name], [_term(entry, "glossary")]
    return None


def _term(definition: Definition, signal: str = "definition") -> Term:
    inside = re.search(r"\(([^()]{2,40})\)", definition.term)
    aliases = definition.aliases + ((inside[1],) if inside and names.is_acronym(inside[1]) else ())
    return Term(name=definition.name, aliases=aliases, signal="glossary" if signal == "glossary" else "definition")


def _found(clause: Clause, known: _Known) -> Found | None:
    return _defined(clause, known) or _within(clause, known) or _sorted(clause, known)


def _defined(clause: Clause, known: _Known) -> Found | None:
    definition = definition_in(clause)
    if definition and definition.shape == "alias":
        return ClaimKind.FACT, [definition.name, *definition.aliases], [_term(definition)]
    if definition and not _is_vague(definition.term, known) and not cues.weakens(definition.body):
        return ClaimKind.DEFINITION, [definition.name, *_others(clause, known)], [_term(definition)]
    apposition = apposition_in(clause.text) or named_after(clause.text)
    if apposition and not _is_vague(apposition.term, known):
        return ClaimKind.DEFINITION, [apposition.name, *_others(clause, known)], [_term(apposition)]
    return None


def _is_vague(term: str, known: _Known) -> bool:
    """Whether the term points to something before: "the growth", unless the document itself sets that name off."""
    parts = term.split()
    return len(parts) == 2 and parts[0].casefold() == "the" and parts[1].islower() and not known.holds(term)


def _within(clause: Clause, known: _Known) -> Found | None:
    """In batch optimization, each update ...": about what happens in a thing that the document sets off."""
    front = clause.fronted
    if not front.casefold().startswith("in ") or not known.holds(front[3:]) or not names.is_name(front[3:]):
        return None
    name = names.bare(front[3:])
    if any(known.holds(s) for s in subjects(clause)):
        return None
    found = [a for a in asks(clause.text, Matter(name), clause) if a.kind == "mechanistic"]
    return (ClaimKind.MECHANISM, [name, *subjects(clause), *_others(clause, known)], []) if found else None


def _sorted(clause: Clause, known: _Known) -> Found | None:
    about = subjects(clause)
    if not about or _is_vague(clause.subject, known):
        return _beside(clause, known)
    kind = _kind(clause, about[0])
    if kind is None:
        return None
    other = _ALSO_CALLED.search(clause.subject)
    aliases = (names.bare(other[1]),) if other and names.is_name(other[1]) else ()
    offered = [Term(name=about[0], aliases=aliases, signal="subject")] if aliases or len(about[0].split()) > 1 else []
    return kind, [*about, *_others(clause, known)], offered


_ALSO_CALLED = re.compile(r"\((?:also|sometimes|often) (?:called|known as|referred to as) ([^()]+)\)$")


def _beside(clause: Clause, known: _Known) -> Found | None:
    """A claim about a name that is not its subject: "Learners rarely choose spacing, because ..." tells of spacing."""
    if re.match(r"(?:the|an?|its|their)\s", clause.subject, re.IGNORECASE):
        return None
    for name in _others(clause, known):
        if any(a.kind == "mechanistic" for a in asks(clause.text, Matter(name), clause)):
            return ClaimKind.MECHANISM, [name], []
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


def subjects(clause: Clause) -> list[str]:
    """The names the clause's subject gives, the main one first: "an advantage of X" gives X, "X and Y" both."""
    subject = re.sub(r"\s*\([^()]*\)", "", clause.subject)
    match = _OF.match(subject)
    if match and words.singular(match["head"].casefold()) in words.TRANSPARENT | cues.PROPERTIES:
        subject = match["rest"]
    return [names.bare(p) for p in _parts(subject) if names.is_name(p)]


_AND = re.compile(r",\s*(?:and|or)\s+|,\s*|\s+(?:and|or)\s+")
_MODIFIED = re.compile(
    r"\s+(?:in|for|with|on|from|during|like|such as|that|which|used|based|trained|at|between|over)\s+"
)


def _parts(subject: str) -> list[str]:
    if names.is_name(subject):
        return [subject]
    pieces = _AND.split(subject)
    if len(pieces) > 1:
        return pieces
    cut = _MODIFIED.split(subject, maxsplit=1)
    return cut[:1] if len(cut) > 1 else []


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
