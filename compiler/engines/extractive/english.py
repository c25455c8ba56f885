"""What an English segment says: its claims, sorted and with the names they are about, and the terms it offers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.engines.extractive import cues
from compiler.engines.extractive.about import (
    Known,
    is_vague,
    known_in,
    named_topics,
    others,
    subjects,
)
from compiler.engines.extractive.antecedents import MAX_QUOTE, Antecedent, antecedent_of, resolved, with_reason
from compiler.engines.extractive.grammar.asides import apposition_in, entry_in, named_after, naming_in
from compiler.engines.extractive.grammar.clauses import Clause, parse
from compiler.engines.extractive.grammar.definitions import Definition, definition_in
from compiler.engines.extractive.grammar.leads import has_hole, with_end, without_lead
from compiler.engines.extractive.grammar.shown import without_shown
from compiler.engines.extractive.grammar.standalone import introduces_alone, stands_alone, without_pointers
from compiler.engines.extractive.passing import explained_in_passing
from compiler.engines.extractive.questions.cards import asks
from compiler.engines.extractive.questions.question import Matter
from compiler.engines.extractive.sentences import Sentence, sentences
from compiler.engines.extractive.terms import index_terms, introduced, run_in_heading, structure_terms, topics_of
from compiler.language import names
from compiler.model.requests import ExtractedClaim, ExtractReply, ExtractRequest, Term
from vault.model.claim import ClaimKind

_SKIPPED_HEADINGS = re.compile(
    r"^(?:\d[\d.]*\s+)?(?:references?|bibliography|acknowledge?ments?|exercises?|homework|about the authors?|"
    r"contributors?|licen[sc]e|installation|"
    r"changelog|citation|credits?|table of contents|contents|index|appendix\b.*|author contributions?|funding|"
    r"further reading|see also|"
    r"resources|getting started|requirements|quick ?start|discussions?|solutions?|learning "
    r"objectives|preface|notation)\W*$",
    re.IGNORECASE,
)
MAX_GAP = 3  # characters between a sentence and the one that leans on it
Found = tuple[ClaimKind, list[str], list[Term]]


def extract(request: ExtractRequest, without: frozenset[str] = frozenset()) -> ExtractReply:
    """Claims and terms of one English segment; from an index only its names, nothing from exercises and their like."""
    offered = [t for t in index_terms(request) if t.signal not in without]
    if offered or any(_SKIPPED_HEADINGS.match(h) for h in request.headings):
        return ExtractReply(terms=tuple(offered))
    terms = [t for t in structure_terms(request) if t.signal not in without]
    known = known_in(request, terms, () if "section" in without else topics_of(request))
    claims = []
    for claim, found in (*_glossary(request), *_Prose(request, known, without).claims()):
        claims.append(claim)
        terms += (t for t in found if t.signal not in without)
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


class _Prose:
    """Walks the sentences of a segment; what the last one was about is what "it" means in the next."""

    def __init__(self, request: ExtractRequest, known: Known, without: frozenset[str]) -> None:
        self.request, self.known, self.without = request, known, without
        self.before: Antecedent | None = None
        self.label: tuple[str, ...] = ()  # what the heading names that runs into the paragraph
        self.last: Sentence | None = None

    def claims(self) -> Iterator[tuple[ExtractedClaim, list[Term]]]:
        """Each claim of the segment's prose with the terms it offers."""
        for sentence in sentences(self.request):
            if has_hole(sentence.text):
                self.before = None
                self.last = sentence
                continue
            if named := self._named(sentence):
                yield named
            yield from self._claims_of(sentence)
            self.last = sentence

    def _claims_of(self, sentence: Sentence) -> Iterator[tuple[ExtractedClaim, list[Term]]]:
        if sentence.first:
            self.label = () if "item" in self.without else run_in_heading(self.request, sentence.start)
        said, start = self._said(sentence)
        text = said or sentence.text
        alone = stands_alone(text, formulas="formula" not in self.without)
        clause = parse(without_pointers(text)) if alone else None
        found = self._entry(sentence) or self._labelled(sentence)
        found = found or (self._found(clause) if clause else None)
        found = found or (self._of_section(text) if alone else None)
        set_off = [] if "emphasis" in self.without else introduced(self.request, sentence.start, sentence.end)
        if self.label and not found and (label := self._under_label(sentence, start)):
            found, start = label
        if set_off and not found:
            found, start = self._introduced(set_off, sentence, start, alone)
        elif set_off and found:
            found = (found[0], [*found[1], *set_off], found[2])
        if found:
            kind, about, offered = found
            quote = self.request.text[start : sentence.end]
            yield ExtractedClaim(kind=kind, quote=quote, statement=said, about=_once(about), start=start), offered
        if (not found or found[0] is not ClaimKind.DEFINITION) and "aside" not in self.without:
            for claim, definition in explained_in_passing(sentence.text, sentence.start):
                yield claim, [_term(definition)]
        if not (said and clause and start < sentence.start):  # else the pronoun's meaning goes on
            means = definition_in(clause) if clause else None
            self.before = antecedent_of(clause, means, sentence.start, sentence.block) if clause else None

    def _said(self, sentence: Sentence) -> tuple[str, int]:
        """(the sentence with its first words spelled out, or "" if it needs none, where its quote begins)."""
        last, before = self.last, self.before
        if "antecedent" not in self.without:
            if last and (said := with_reason(sentence, last)):
                return without_shown(said), last.start
            if before and (said := resolved(sentence, before)):
                return without_shown(said), before.start
        plain = without_shown(sentence.text)
        if stands_alone(sentence.text):
            return (plain if plain != sentence.text else ""), sentence.start
        rest = plain if "lead-in" in self.without else without_lead(plain)
        rest = rest if "formula" in self.without else with_end(rest)
        return (rest if rest != sentence.text and introduces_alone(rest) else ""), sentence.start

    def _named(self, sentence: Sentence) -> tuple[ExtractedClaim, list[Term]] | None:
        """The sentence that gives a thing its name, with the one before it if it begins with "This is known as"."""
        start, last = sentence.start, self.last
        if "definition" in self.without:
            return None
        if _THIS_IS_CALLED.match(sentence.text):
            if last is None or last.block != sentence.block or sentence.end - last.start > MAX_QUOTE:
                return None
            start = last.start
        quote = self.request.text[start : sentence.end]
        naming = naming_in(quote)
        if naming is None or not stands_alone(naming.body.rstrip(".") + "."):
            return None
        claim = ExtractedClaim(kind=ClaimKind.DEFINITION, quote=quote, about=(naming.name,), start=start)
        return claim, [_term(naming)]

    def _introduced(self, set_off: list[str], sentence: Sentence, start: int, alone: bool) -> tuple[Found | None, int]:
        """A sentence that sets a name off, and where its quote begins: with the one before it if it leans on that."""
        if not alone and not introduces_alone(sentence.text):
            last = self.last
            if last is None or sentence.end - last.start > MAX_QUOTE or sentence.start - last.end > MAX_GAP:
                return None, start
            if not introduces_alone(with_end(sentence.text), after=True) or not introduces_alone(
                without_lead(last.text)
            ):
                return None, start
            start = last.start
        return (cues.kind_in(sentence.text), set_off, []), start

    def _entry(self, sentence: Sentence) -> Found | None:
        entry = entry_in(sentence.text) if sentence.first and len(sentence.text) < 400 else None
        if entry and (sentence.item or self.known.holds(entry.name)) and stands_alone(sentence.text, loose=True):
            return ClaimKind.DEFINITION, [entry.name], [_term(entry, "glossary")]
        return None

    def _labelled(self, sentence: Sentence) -> Found | None:
        """ "X: provides a format for ...", "X: This structure holds ...": a list's item about what its label names."""
        match = _LABEL.match(sentence.text) if sentence.first and "item" not in self.without else None
        if not match or not (sentence.item or self.label or self.known.holds(match["label"])):
            return None
        about = [names.bare(n) for n in re.split(r" and |, ", match["label"]) if names.is_name(n)]
        if not about or not introduces_alone(match["body"], after=True):
            return None
        return cues.kind_in(match["body"]), about, [Term(name=n, signal="item") for n in about]

    def _under_label(self, sentence: Sentence, start: int) -> tuple[Found, int] | None:
        """The first sentence after a heading that runs into the paragraph, kept with that heading."""
        terms = [Term(name=n, signal="heading") for n in self.label]
        alone = introduces_alone(sentence.text)
        last = self.last
        if last is None or last.block != sentence.block or not last.first or len(last.text) > names.MAX_CHARS:
            return ((cues.kind_in(sentence.text), list(self.label), terms), start) if alone and sentence.first else None
        if not introduces_alone(sentence.text, after=True) or sentence.end - last.start > MAX_QUOTE:
            return None
        return (cues.kind_in(sentence.text), list(self.label), terms), last.start

    def _found(self, clause: Clause) -> Found | None:
        return self._defined(clause) or self._within(clause) or self._sorted(clause)

    def _defined(self, clause: Clause) -> Found | None:
        if "definition" in self.without:
            return None
        definition = definition_in(clause)
        if definition and definition.shape == "alias":
            return ClaimKind.FACT, [definition.name], [_term(definition)]
        if definition and not cues.weakens(definition.body):
            vague = is_vague(definition.term, self.known)
            if not vague:
                return ClaimKind.DEFINITION, [definition.name], [_term(definition)]
        apposition = apposition_in(clause.text) or named_after(clause.text)
        if apposition and not is_vague(apposition.term, self.known):
            return ClaimKind.DEFINITION, [apposition.name], [_term(apposition)]
        return None

    def _within(self, clause: Clause) -> Found | None:
        """In batch optimization, each update ...": about what happens in a thing that the document sets off."""
        front = clause.fronted
        if not front.casefold().startswith("in ") or not self.known.holds(front[3:]) or not names.is_name(front[3:]):
            return None
        name = names.bare(front[3:])
        if any(self.known.holds(s) for s in subjects(clause)):
            return None
        found = [a for a in asks(clause.text, Matter(name), clause) if a.kind == "mechanistic"]
        return (ClaimKind.MECHANISM, [name], []) if found else None

    def _sorted(self, clause: Clause) -> Found | None:
        about = subjects(clause)
        if not about or is_vague(clause.subject, self.known):
            return self._beside(clause)
        kind = _kind(clause, about[0])
        return None if kind is None else (kind, about, self._offered(clause, about))

    def _offered(self, clause: Clause, about: list[str]) -> list[Term]:
        other = _ALSO_CALLED.search(clause.subject)
        aliases = (names.bare(other[1]),) if other and names.is_name(other[1]) else ()
        return [
            Term(name=name, aliases=aliases if i == 0 else (), signal="subject")
            for i, name in enumerate(about)
            if " " in name or (i == 0 and aliases)
        ]

    def _beside(self, clause: Clause) -> Found | None:
        """A claim about a name that is not its subject: "Learners rarely space, because ..." tells of spacing."""
        if re.match(r"(?:the|an?|its|their)\s", clause.subject, re.IGNORECASE):
            return None
        for name in others(clause, self.known):
            if any(a.kind == "mechanistic" for a in asks(clause.text, Matter(name), clause)):
                return ClaimKind.MECHANISM, [name], []
        return None

    def _of_section(self, text: str) -> Found | None:
        """A sentence without a name for its subject that names what its section is about."""
        about = named_topics(text, self.known)
        return (cues.kind_in(text), about[:1], []) if about else None


_THIS_IS_CALLED = re.compile(
    r"(?:This|These)(?: [a-z-]+)? (?:is|are) (?:\w+ )?(?:known as|called|referred to as|termed) ", re.IGNORECASE
)
_LABEL = re.compile(
    r"(?P<label>[A-Z][^:.!?()\[\]]{2,60}?)\s*(?:\[\d+\]|\([^()]*\))?\s*:\s+(?P<body>[A-Z]\S*\s.+)$", re.DOTALL
)
_ALSO_CALLED = re.compile(r"\((?:also|sometimes|often) (?:called|known as|referred to as) ([^()]+)\)$")


def _once(about: list[str]) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for name in about:
        unique.setdefault(names.key(name), name)
    unique.pop("", None)
    return tuple(unique.values())


def _term(definition: Definition, signal: str = "definition") -> Term:
    inside = re.search(r"\(([^()]{2,40})\)", definition.term)
    aliases = definition.aliases + ((inside[1],) if inside and names.is_acronym(inside[1]) else ())
    return Term(name=definition.name, aliases=aliases, signal="glossary" if signal == "glossary" else "definition")


def _kind(clause: Clause, name: str) -> ClaimKind | None:
    """The kind of which the sentence is evidence: that of the best card it supports, else what its cue words say."""
    found = [a for a in asks(clause.text, Matter(name), clause) if a.kind != "definitional"]
    if not found:
        return cues.kind_of(clause, name)
    best = max(found, key=lambda a: a.score)
    if best.kind == "applied":
        return ClaimKind.LIMITATION if cues.is_limitation(clause) else ClaimKind.APPLICATION
    return ClaimKind.MECHANISM if best.kind == "mechanistic" else ClaimKind.RELATION
