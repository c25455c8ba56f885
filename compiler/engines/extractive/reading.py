"""What a document's sentences say of its terms: chosen definitions, passages, and statements that stand alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from unicodedata import category

from compiler.engines.extractive import chinese, definitions, features, german, questions
from compiler.engines.extractive.cards import KIND_OF_QUESTION
from compiler.engines.extractive.definitions import Definition
from compiler.engines.extractive.phrases import is_whole, name_of, subject_of, trimmed
from compiler.engines.extractive.questions import Question, long_form
from compiler.engines.extractive.selection import model
from compiler.engines.extractive.sentence import MAX_WORDS, Sentence, parse_all, root_of, sentences_of
from compiler.engines.extractive.terms import Terms, context_of, heading_name, terms_of
from compiler.language import names
from compiler.model.requests import ExtractedClaim, ExtractReply, ExtractRequest, PossibleCard, Term
from vault.model.claim import ClaimKind

if TYPE_CHECKING:
    from spacy.tokens import Doc

PARSED = frozenset({"", "en"})  # the languages with a parser
_MODULES: dict[str, Any] = {"de": german, "zh": chinese}
_LONGEST_TERM = 80  # characters
_SHORTEST = 12  # characters of a sentence
_TWICE = re.compile(r"\b(?!that\b|had\b)([a-z]{2,}) \1\b")
_LEFT_OUT = ("[…]", "\ufffd")  # what readers write for what they could not read
_ENDS = tuple(".!?:。！？：”\"')）")
_LONGEST_PASSAGE = 10  # sentences of a paragraph
MOST_PARAGRAPHS = 6  # about one term, of one document
_USED = 4  # times that a document names an acronym worth knowing
_OFTEN = 2  # times that a paragraph names the term it is about
_UNEXPLAINED = 3  # times that a document must name what it doesn't define


def asks(text: str, doc: Doc | None, language: str) -> Iterator[Question]:
    """Yield the questions that a sentence answers besides what its terms mean."""
    if doc is not None:
        yield from questions.questions_in(doc)
    elif language in _MODULES:
        module = _MODULES[language]
        for found in module.questions_in(text):
            whole = is_whole(found.question) and is_whole(found.answer)
            if whole and not module.POINTS.search(f"{found.question} {found.answer}"):
                yield found


def asks_for(definition: Definition, language: str) -> Iterator[Question]:
    """Yield the questions for a term and its meaning."""
    yield from _MODULES.get(language, questions).from_definition(definition)


def defined(doc: Doc | None, sentence: Sentence, terms: Terms) -> Iterator[Definition]:
    """Yield what a sentence defines, the term as the document writes it inside a sentence."""
    found: Iterable[Definition] = ()
    if sentence.entry:
        yield Definition(sentence.entry, trimmed(sentence.text), "lead")
    if doc is not None:
        found = definitions.definitions_in(doc, sentence)
    elif terms.language in _MODULES:
        found = _MODULES[terms.language].definitions_in(sentence.text)
    for one in found:
        domain = one.domain if terms.get(one.domain.partition(" ")[2]).count > 1 else ""
        yield replace(one, term=terms.best(one.term), domain=domain)


@dataclass(slots=True)
class _Claims:
    """The claims of a document by sentence: what kind each is, and the terms it is about, the main one first."""

    kinds: dict[int, ClaimKind] = field(default_factory=dict)
    about: dict[int, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, at: int, name: str, kind: ClaimKind | None = None) -> None:
        """Record that the sentence is about a term; the first kind that is given stays."""
        self.about[at].setdefault(name)
        if kind is not None:
            self.kinds.setdefault(at, kind)


def _is_quotable(sentence: Sentence) -> bool:
    """Return whether a sentence is whole, neither a scrap nor one of which the reader left something out."""
    text = sentence.text
    if not len(text) >= _SHORTEST or len(text.split()) > MAX_WORDS or any(sign in text for sign in _LEFT_OUT):
        return False
    if _TWICE.search(text):  # something stood between the two that could not be read
        return False
    if any(category(c) == "Sm" and c not in "+=~" for c in text):  # a formula in running text is seldom read right
        return False
    if sentence.is_item or sentence.has("emphasis") or sentence.has("term"):
        return True
    return text.rstrip().endswith(_ENDS) and not text[0].islower()


class Reading:
    """One document as the engine reads it."""

    def __init__(self, requests: Sequence[ExtractRequest]) -> None:
        self.requests = requests
        self.language = (requests[0].language if requests else "") or "en"
        self.sentences = [s for s in sentences_of(requests) if _is_quotable(s)]
        parsed = parse_all([s.text for s in self.sentences]) if self.language in PARSED else None
        self.docs: Sequence[Doc | None] = parsed or [None] * len(self.sentences)
        self.terms: Terms = terms_of(requests, zip(self.sentences, self.docs, strict=True), self.language)

    def key(self, name: str) -> str:
        """Return the form in which equal names are equal."""
        return names.key(name, self.language)

    @cached_property
    def definitions(self) -> dict[str, list[tuple[int, Definition, float]]]:
        """The definitions that are chosen, by key of their term: (sentence, definition, how likely it is one)."""
        out: dict[str, list[tuple[int, Definition, float]]] = defaultdict(list)
        title, whole = model("title"), model("definition")
        for at, (sentence, doc) in enumerate(zip(self.sentences, self.docs, strict=True)):
            for definition in defined(doc, sentence, self.terms):
                key = self.key(definition.term)
                if not key or len(definition.term) > _LONGEST_TERM or not names.could_name(definition.term):
                    continue
                if not title.chooses(features.term_features(definition.term, self.terms), self.language):
                    continue
                score = whole.probability(features.definition_features(definition, sentence, doc, self.terms, at))
                if score >= whole.threshold(self.language):
                    out[key].append((at, definition, score))
        return out

    @cached_property
    def plausible(self) -> dict[str, str]:
        """Key -> name of what is a term of the subject by its form and its places, defined or not."""
        title = model("title")
        out: dict[str, str] = {}
        for key, term in self.terms.by_key.items():
            if not key or not term.written:
                continue
            name = term.written.most_common(1)[0][0]
            if names.could_name(name) and title.chooses(features.term_features(name, self.terms), self.language):
                out[key] = name
        out |= {key: found[0][1].term for key, found in self.definitions.items()}
        return out

    def replies(self) -> list[ExtractReply]:
        """Return the claims and terms of each segment."""
        claims = _Claims()
        self._add_definitions(claims)
        self._add_passages(claims)
        self._add_statements(claims)
        by_segment: dict[int, list[ExtractedClaim]] = defaultdict(list)
        for at in sorted(claims.about):
            sentence = self.sentences[at]
            asked = self.asks[at]
            kind = claims.kinds.get(at) or (KIND_OF_QUESTION[asked[0][0].kind] if asked else self._kind(at))
            by_segment[sentence.segment].append(
                ExtractedClaim(
                    kind=kind,
                    quote=sentence.text,
                    about=tuple(claims.about[at]),
                    start=sentence.start,
                    cards=tuple(ask for ask, _ in asked if KIND_OF_QUESTION[ask.kind] is kind),
                )
            )
        terms = self._terms()
        return [
            ExtractReply(claims=tuple(by_segment[n]), terms=tuple(terms.get(n, ()))) for n in range(len(self.requests))
        ]

    @cached_property
    def asks(self) -> list[list[tuple[PossibleCard, str]]]:
        """For each sentence its questions that a reader would keep, the best first, with the term each is about."""
        chooser, context = model("card"), context_of(self.terms)
        out: list[list[tuple[PossibleCard, str]]] = []
        for at, (sentence, doc) in enumerate(zip(self.sentences, self.docs, strict=True)):
            found: list[tuple[PossibleCard, str]] = []
            for question, numbers in self._questions(at, sentence, doc):
                score = chooser.probability(numbers)
                about = self._about(question)
                if score >= chooser.threshold(self.language) and about:
                    front = with_context(question, context)
                    ask = PossibleCard(
                        kind=question.kind, question=front, answer=question.answer, score=round(score, 3)
                    )
                    found.append((ask, about))
            out.append(sorted(found, key=lambda f: -f[0].score))
        return out

    def _questions(self, at: int, sentence: Sentence, doc: Doc | None) -> Iterator[tuple[Question, features.Features]]:
        """Yield the questions that a sentence answers, with the features by which they are weighed."""
        for found in self.definitions.values():
            for definition in (d for place, d, _ in found if place == at):
                whole = features.definition_features(definition, sentence, doc, self.terms, at)
                for asked in asks_for(definition, self.language):
                    yield asked, self.numbers(asked, sentence, doc, whole, definition.pattern)
        for asked in (*asks(sentence.text, doc, self.language), *self.long_forms(sentence)):
            yield asked, self.numbers(asked, sentence, doc, features.term_features(asked.about, self.terms))

    def long_forms(self, sentence: Sentence) -> Iterator[Question]:
        """Yield the questions for the acronyms that a sentence introduces and the document goes on to use."""
        for short, long in names.acronym_pairs(sentence.text):
            if self.text.count(short) >= _USED:
                yield long_form(short, long, self.language)

    @cached_property
    def text(self) -> str:
        """The text of the document."""
        return "\n\n".join(r.text for r in self.requests)

    def numbers(
        self, asked: Question, sentence: Sentence, doc: Doc | None, about: features.Features, pattern: str = ""
    ) -> features.Features:
        """Return the features of a question with those of what it is about."""
        own = features.question_features(asked, sentence.text, doc, self.language, pattern)
        return own | {f"page:{k}": v for k, v in about.items() if v}

    def _add_definitions(self, claims: _Claims) -> None:
        for found in self.definitions.values():
            for at, definition, _ in found:
                claims.add(at, definition.term, ClaimKind.DEFINITION)

    def _add_passages(self, claims: _Claims) -> None:
        """Add the paragraphs that are about a term: each paragraph belongs to one."""
        paragraphs: dict[tuple[int, int], list[int]] = defaultdict(list)
        for at, sentence in enumerate(self.sentences):
            paragraphs[sentence.segment, sentence.paragraph].append(at)
        used: Counter[str] = Counter()
        last, section = "", tuple[str, ...]()
        for members in paragraphs.values():
            first = self.sentences[members[0]]
            if first.headings != section:
                last, section = self._heading_term(first), first.headings
            name, start = self._topic(members)
            last = name or last
            if last and used[last] < MOST_PARAGRAPHS and (name or not self._names_other(members, last)):
                used[last] += 1
                for at in members[start : start + _LONGEST_PASSAGE]:
                    if self._says_something(at):
                        claims.add(at, last)

    def _says_something(self, at: int) -> bool:
        """Return whether a sentence has a verb, as far as a parser tells: a caption or a label says nothing."""
        doc = self.docs[at]
        return doc is None or any(token.pos_ in ("VERB", "AUX") for token in doc)

    def _topic(self, members: Sequence[int]) -> tuple[str, int]:
        """Return the term that a paragraph is about, and which of its sentences begins to say so; "" if none."""
        for n, at in enumerate(members):
            if at in self._defining:
                return self._defining[at], n if n > 1 else 0
        if name := self.plausible.get(self.key(self._subject(members[0])), ""):
            return name, 0
        counts = Counter(name for at in members for name in self._named(at))
        name, most = counts.most_common(1)[0] if counts else ("", 0)
        return (name, 0) if most >= _OFTEN and name in self._named(members[0]) else ("", 0)

    def _heading_term(self, sentence: Sentence) -> str:
        """Return the term that is the heading of a sentence's section; "" if it is none."""
        return self.plausible.get(self.key(heading_name(sentence.headings[-1])), "") if sentence.headings else ""

    def _names_other(self, members: Sequence[int], name: str) -> bool:
        """Return whether a paragraph names a defined term, but not this one."""
        named = {n for at in members for n in self._named(at)}
        return bool(named) and name not in named

    @cached_property
    def _defining(self) -> dict[int, str]:
        """Sentence -> the term that it defines."""
        return {at: self.plausible[key] for key, found in self.definitions.items() for at, _, _ in found}

    def _named(self, at: int) -> list[str]:
        """Return the defined terms that a sentence names."""
        words = f" {self.key(self.sentences[at].text)} " if self.language == "zh" else ""
        if words:
            return [self.plausible[key] for key in self.definitions if key in words]
        tokens = features.words_of(self.sentences[at].text)
        found = []
        for size in (4, 3, 2, 1):
            for start in range(len(tokens) - size + 1):
                key = self.key(" ".join(tokens[start : start + size]))
                if key in self.definitions:
                    found.append(self.plausible[key])
        return found

    def _subject(self, at: int) -> str:
        """Return the name that is the subject of a sentence; "" if there is none."""
        doc = self.docs[at]
        root = root_of(doc) if doc is not None else None
        subject = subject_of(root) if root is not None else None
        return name_of(subject) if subject is not None else ""

    def _add_statements(self, claims: _Claims) -> None:
        """Add the sentences that answer a good question about a term, and those that have one as their subject."""
        for at, (sentence, doc) in enumerate(zip(self.sentences, self.docs, strict=True)):
            for ask, about in self.asks[at][:1]:
                claims.add(at, about, KIND_OF_QUESTION[ask.kind])
            name = self.plausible.get(self.key(self._subject(at)), "")
            if name and self._stands_alone(sentence, doc):
                claims.add(at, name)

    def _about(self, asked: Question) -> str:
        """Return the term that a question is about: the one it is known to be, else the first that it names."""
        if name := self.plausible.get(self.key(asked.about), ""):
            return name
        words = asked.question.rstrip("?？").split()
        for size in (4, 3, 2, 1):
            for start in range(len(words) - size + 1):
                key = self.key(" ".join(words[start : start + size]).strip(",.;:"))
                if key in self.definitions:
                    return self.plausible[key]
        return ""

    def _stands_alone(self, sentence: Sentence, doc: Doc | None) -> bool:
        """Return whether a sentence is a whole statement that needs none of its neighbours."""
        found = features.form_features(sentence.text, doc, self.language)
        words = found["sentence.words"]
        return bool(
            found["sentence.ended"]
            and not found["sentence.question"]
            and 6 <= words <= 40
            and not (found["sentence.deictic"] or found["sentence.personal"] or found["sentence.chapter"])
            and found.get("parse.verb", 1.0)
            and not found["sentence.symbols"]
        )

    def _kind(self, at: int) -> ClaimKind:
        """Return what a sentence does: explains a working, relates terms, names a limit or a use; else it is a fact."""
        sentence, doc = self.sentences[at], self.docs[at]
        kinds = [KIND_OF_QUESTION[a.kind] for a in asks(sentence.text, doc, self.language)]
        return kinds[0] if kinds else ClaimKind.FACT

    def _terms(self) -> dict[int, list[Term]]:
        """Return the names that each segment gives: defined ones, and those that the document names and leaves open."""
        out: dict[int, list[Term]] = defaultdict(list)
        shorts = defaultdict(list)
        for short, long in self.terms.long_forms.items():
            shorts[self.key(long)].append(short)
        for key, found in self.definitions.items():
            at, definition, _ = max(found, key=lambda f: f[2])
            out[self.sentences[at].segment].append(
                Term(name=definition.term, aliases=tuple(shorts.get(key, ())), signal="definition")
            )
        for key, name in self.plausible.items():
            if key not in self.definitions and self.terms.by_key[key].count >= _UNEXPLAINED:
                out[0].append(Term(name=name, signal="named"))
        return out


def read(requests: Sequence[ExtractRequest]) -> list[ExtractReply]:
    """Return the reply to each segment of one document."""
    return Reading(requests).replies() if requests else []


_LONGEST_CONTEXT = 70  # characters


def with_context(asked: Question, context: str) -> str:
    """Return a question after what its document is about, unless the question says it or it gives the answer away."""
    question, answer = asked.question, set[str]()
    if asked.form != "long form":  # its words may be those of the title: they are not given away by it
        answer = _stems(features.words_of(asked.answer)[:6])
    for part in (context, context.partition(": ")[2], context.partition(": ")[0]):
        words = set(features.words_of(part))
        if not part or len(part) > _LONGEST_CONTEXT or part[0].islower():  # "why it matters" names no subject
            continue
        if not _stems(words) & answer:
            said = {w.removesuffix("s") for w in features.words_of(question)}
            return question if {w.removesuffix("s") for w in words} <= said else f"{part}: {question}"
    return question


def _stems(words: Iterable[str]) -> set[str]:
    """Return the words of more than three letters without a plural's ending."""
    return {w.removesuffix("s") for w in words if len(w) > 3}
