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
from compiler.engines.extractive.frequency import frequency
from compiler.engines.extractive.phrases import is_whole, name_of, subject_of, trimmed
from compiler.engines.extractive.questions import Question, long_form
from compiler.engines.extractive.selection import model
from compiler.engines.extractive.sentence import MAX_WORDS, Sentence, parse_all, root_of, sentences_of
from compiler.engines.extractive.terms import Terms, context_of, heading_name, is_entry, terms_of
from compiler.engines.extractive.unexplained import unexplained
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
        first = sentence.text.partition(" ")[0].lower()
        yield Definition(
            sentence.entry, trimmed(sentence.text), "lead", article=first if first in ("a", "an", "the") else ""
        )
    if doc is not None:
        found = definitions.definitions_in(doc, sentence)
    elif terms.language in _MODULES:
        found = _MODULES[terms.language].definitions_in(sentence.text)
    for one in found:
        domain = one.domain if terms.get(one.domain.partition(" ")[2]).count > 1 else ""
        term = terms.best(one.term)
        article = one.article or ("" if one.plural else terms.article(term))
        yield replace(one, term=term, domain=domain, article=article)


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
        self._titles: dict[str, float] = {}  # name -> how likely it is a term
        self._word_ends: dict[str, str] = {}

    def key(self, name: str) -> str:
        """Return the form in which equal names are equal."""
        return names.key(name, self.language)

    @cached_property
    def definitions(self) -> dict[str, list[tuple[int, Definition, float]]]:
        """The definitions that are chosen, by key of their term: (sentence, definition, how likely it is one)."""
        out: dict[str, list[tuple[int, Definition, float]]] = defaultdict(list)
        whole = model("definition")
        for at, (sentence, doc) in enumerate(zip(self.sentences, self.docs, strict=True)):
            for definition in defined(doc, sentence, self.terms):
                key = self.key(definition.term)
                if not key or len(definition.term) > _LONGEST_TERM or not names.could_name(definition.term):
                    continue
                if self._title(definition.term) < model("title").threshold(self.language):
                    continue
                score = whole.probability(features.definition_features(definition, sentence, doc, self.terms, at))
                if score >= whole.threshold(self.language):
                    out[key].append((at, definition, score))
        return out

    def _title(self, name: str) -> float:
        """Return how likely a name is a term of the subject."""
        if name not in self._titles:
            self._titles[name] = model("title").probability(features.term_features(name, self.terms))
        return self._titles[name]

    @cached_property
    def plausible(self) -> dict[str, str]:
        """Key -> name of what is a term of the subject by its form and its places, defined or not."""
        least = model("title").threshold(self.language)
        out: dict[str, str] = {}
        for key, term in self.terms.by_key.items():
            if not key or not term.written:
                continue
            name = term.written.most_common(1)[0][0]
            if names.could_name(name) and self._title(name) >= least:
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
            asked = self._good(at)
            kind = claims.kinds.get(at) or (KIND_OF_QUESTION[asked[0][0].kind] if asked else self._kind(at))
            by_segment[sentence.segment].append(
                ExtractedClaim(
                    kind=kind,
                    quote=sentence.text,
                    about=tuple(claims.about[at]),
                    start=sentence.start,
                    cards=tuple(ask for ask, _ in self.asks[at] if KIND_OF_QUESTION[ask.kind] is kind),
                )
            )
        terms = self._terms()
        return [
            ExtractReply(claims=tuple(by_segment[n]), terms=tuple(terms.get(n, ()))) for n in range(len(self.requests))
        ]

    @cached_property
    def asks(self) -> list[list[tuple[PossibleCard, str]]]:
        """For each sentence its questions that a reader may keep, the best first, with the term each is about."""
        chooser, context = model("card"), context_of(self.terms)
        out: list[list[tuple[PossibleCard, str]]] = []
        for at, (sentence, doc) in enumerate(zip(self.sentences, self.docs, strict=True)):
            found: list[tuple[PossibleCard, str]] = []
            count = Counter[str]()
            for question, numbers in self._questions(at, sentence, doc):
                count[question.form] += 1
                score = chooser.probability(numbers)
                about = self._about(question)
                if score >= chooser.least(self.language) and about:
                    found.append((_possible(question, context, score, count[question.form]), about))
            out.append(sorted(found, key=lambda f: -f[0].score))
        return out

    def _good(self, at: int) -> list[tuple[PossibleCard, str]]:
        """Return those questions of a sentence that a reader would keep."""
        least = model("card").threshold(self.language)
        return [(ask, about) for ask, about in self.asks[at] if ask.score >= least]

    def _questions(self, at: int, sentence: Sentence, doc: Doc | None) -> Iterator[tuple[Question, features.Features]]:
        """Yield the questions that a sentence answers, with the features by which they are weighed."""
        for definition, score in self._defining.get(at, ()):
            for asked in asks_for(definition, self.language):
                yield asked, self._numbers(asked, sentence, doc, definition.pattern, score)
        for asked in (*asks(sentence.text, doc, self.language), *self.long_forms(sentence)):
            yield asked, self._numbers(asked, sentence, doc)

    def _numbers(
        self, asked: Question, sentence: Sentence, doc: Doc | None, pattern: str = "", definition: float = 0.0
    ) -> features.Features:
        """Return the features of a question with how likely it is about a term, and a definition."""
        own = features.question_features(asked, sentence.text, doc, self.language, pattern)
        return own | features.likely(self._title(asked.about), definition)

    def long_forms(self, sentence: Sentence) -> Iterator[Question]:
        """Yield the questions for the acronyms that a sentence introduces and the document goes on to use."""
        for short, long in names.acronym_pairs(sentence.text):
            if self.terms.times(short) >= _USED:
                yield long_form(short, long, self.language)

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
            last = name or ("" if is_entry(first.text) else last)
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
                return self.plausible[self.key(self._defining[at][-1][0].term)], n if n > 1 else 0
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
    def _defining(self) -> dict[int, list[tuple[Definition, float]]]:
        """Sentence -> the definitions chosen from it, each with how likely it is one."""
        out: dict[int, list[tuple[Definition, float]]] = defaultdict(list)
        for found in self.definitions.values():
            for at, definition, score in found:
                out[at].append((definition, score))
        return out

    def _named(self, at: int) -> list[str]:
        """Return the defined terms that a sentence names."""
        words = f" {self.key(self.sentences[at].text)} " if self.language == "zh" else ""
        if words:
            return [self.plausible[key] for key in self.definitions if key in words]
        tokens = features.words_of(self.sentences[at].text)
        ends = [self._end(token) in self._ends for token in tokens]
        found = []
        for size in (4, 3, 2, 1):
            for start in range(len(tokens) - size + 1):
                if not ends[start + size - 1]:
                    continue
                key = self.key(" ".join(tokens[start : start + size]))
                if key in self.definitions:
                    found.append(self.plausible[key])
        return found

    @cached_property
    def _ends(self) -> set[str]:
        """The last words of the keys of the defined terms: few words need to be looked up as names."""
        return {key.rpartition(" ")[2] for key in self.definitions}

    def _end(self, word: str) -> str:
        """Return the last word of a word's key."""
        if word not in self._word_ends:
            self._word_ends[word] = self.key(word).rpartition(" ")[2]
        return self._word_ends[word]

    def _subject(self, at: int) -> str:
        """Return the name that is the subject of a sentence; "" if there is none."""
        doc = self.docs[at]
        root = root_of(doc) if doc is not None else None
        subject = subject_of(root) if root is not None else None
        return name_of(subject) if subject is not None else ""

    def _add_statements(self, claims: _Claims) -> None:
        """Add the sentences that answer a good question about a term, and those that have one as their subject."""
        for at, (sentence, doc) in enumerate(zip(self.sentences, self.docs, strict=True)):
            for ask, about in self._good(at)[:1]:
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
        first = next(asks(sentence.text, doc, self.language), None)
        return KIND_OF_QUESTION[first.kind] if first is not None else ClaimKind.FACT

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
        out[0] += (Term(name=n, signal="named") for n in unexplained(self.plausible, self.definitions, self.terms))
        return out


def load() -> None:
    """Load the parser, the models and the words that reading an English document needs."""
    frequency("word", "en")
    for name in ("title", "definition", "card"):
        model(name)
    list(parse_all(["The parser is loaded."]))


def read(requests: Sequence[ExtractRequest]) -> list[ExtractReply]:
    """Return the reply to each segment of one document."""
    return Reading(requests).replies() if requests else []


def _possible(asked: Question, context: str, score: float, number: int) -> PossibleCard:
    return PossibleCard(
        kind=asked.kind,
        question=asked.question,
        answer=asked.answer,
        score=round(score, 3),
        form=asked.form,
        number=number,
        context=context_for(asked, context),
    )


_LONGEST_CONTEXT = 70  # characters


def context_for(asked: Question, context: str) -> str:
    """Return what a question's document is about; "" if the question says that or it would give the answer away."""
    answer = _stems(features.words_of(asked.answer)[:6])
    for part in (context, context.partition(": ")[2], context.partition(": ")[0]):
        words = set(features.words_of(part))
        if not part or len(part) > _LONGEST_CONTEXT or part[0].islower():  # "why it matters" names no subject
            continue
        if not _stems(words) & answer:
            said = {w.removesuffix("s") for w in features.words_of(asked.question)}
            return "" if {w.removesuffix("s") for w in words} <= said else part
    return ""


def _stems(words: Iterable[str]) -> set[str]:
    """Return the words of more than three letters without a plural's ending."""
    return {w.removesuffix("s") for w in words if len(w) > 3}
