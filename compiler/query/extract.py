"""Answers without a model: the passages of the sources that answer a question, quoted, each with its place.

The passages that a search finds first are quoted; of a long one, the sentences in which the question's words stand. A
sentence that says what something is comes first where that is asked, and only passages with further words of the
question follow it; else a passage that has no further words may answer, in words of its own. Where no passage
has more than a small part of the question's words, the evidence is weak, and that is said. Whether a passage answers,
no count of words can tell: a question on the subject that the sources leave open has its words in them, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.index.entries import CODE, Entry, articles_citing, entries_of, page_of
from compiler.language.search_terms import FUNCTION_WORDS, query_words, terms
from compiler.query.follow_up import ASKS_WHAT_IS, NO_SUBJECT, Subject, content_words
from compiler.query.retrieve import claim_is_in
from compiler.search.search import Hit, Likeness, Results, Word, search, words_in
from compiler.sources.segments import passages as sentences
from vault.index.database import Database
from vault.text.formatting import fold

MOST = 3  # quotes of an answer
_LOOKED_AT = 8  # passages
_LOOKED_THROUGH = 60  # those that fit best may only use the word that another one defines, or be on another subject
_LONG = 900  # characters of a quote
_ENOUGH = 0.3  # of the question's weight, unknown words included, that a passage has to have, or evidence is weak
_ADDS = 0.05  # of the question's weight that a further quote has to bring
# What a question asks for, by how it begins, and the form of a sentence that says it.
_FORMS = (
    (r"how (?:many|much|long|old|far|fast|often|big|large|high|deep)|when|what year", r"\d"),
    (r"why|how come|what causes?", r"\b(?:because|since|due to|caused? by|so that|thus|as a result|in order to)\b"),
    (r"what|who|which|define", r"\b(?:is|are|was|were|means?|refers? to|called|known as|defined as)\b"),
)
_ASKED = [(re.compile(rf"(?:{ask})\b", re.IGNORECASE), re.compile(form)) for ask, form in _FORMS]
_DEFINES = 1.0  # of the question's weight, for a sentence that says what something is, where that is asked
_COPULA = re.compile(r"\b(?:is|are|was|were|means?|refers? to|ist|sind|war|waren|bedeutet)\b|[:–—]")
_MORE = 3  # words that may stand beside the subject before the verb of such a sentence
_SENTENCE = re.compile(r"[.!?:;。！？：；؟।]")
_BONUS = 0.3  # of the question's weight, for a sentence of the form that is asked for


@dataclass(frozen=True, slots=True)
class Quote:
    """A stretch of a source, `text`, from the passage that `hit` found; `has` are the numbers of the words in it."""

    text: str
    hit: Hit
    has: frozenset[int]


@dataclass(frozen=True, slots=True)
class Extract:
    """The quotes that answer a question, the best first; whether they are weak evidence; words that are nowhere."""

    quotes: tuple[Quote, ...]
    is_weak: bool
    unknown: tuple[str, ...]


def extract(
    database: Database, question: str, subject: Subject = NO_SUBJECT, likeness: Likeness | None = None
) -> Extract:
    """Return the quotes that answer a question; `subject` is what a follow-up may lack (`subject_of`).

    Passages that have what the question is about come before others, and lists of names last. `likeness` is as
    `search` takes it. Raises: IndexDamaged.
    """
    most = _LOOKED_THROUGH if ASKS_WHAT_IS.match(question) or subject.words else _LOOKED_AT
    results = search(database, " ".join([question, *subject.words]), ("passage",), most, likeness, is_prose=True)
    unknown = tuple(word for word in results.unknown if word not in subject.words)
    counted, has_to_have = _wanted(question, subject, results)

    def order(hit: Hit) -> tuple[bool, bool, float]:
        lacks = bool(has_to_have) and not has_to_have & _words_of(hit, results)
        return not _SENTENCE.search(hit.entry.text), lacks, -_defined_in(hit, question)

    hits = sorted(results.hits["passage"], key=order)[: _LOOKED_AT if subject.words else most]
    candidates = [quote for hit in hits if (quote := _quote(hit, question, results)) is not None]
    weights = [word.weight for word in results.words]
    total = sum(weights[n] for n in counted) or 1.0
    chosen: list[Quote] = []
    known: frozenset[int] = frozenset()
    is_defined = bool(hits) and _defined_in(hits[0], question) > 0
    for quote in candidates:
        gain = sum(weights[n] for n in quote.has & counted - known) / total
        if not chosen or (len(chosen) < MOST and (gain >= _ADDS or not is_defined)):
            chosen.append(quote)
            known |= quote.has
    return Extract(tuple(chosen), _share(chosen, results, counted, len(unknown)) < _ENOUGH, unknown)


def _wanted(question: str, subject: Subject, results: Results) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of the words that count, and of those of which a passage should have one.

    Of a follow-up, they are its own words, though no source has them; those of the earlier subject, too, where it
    points at that or has no others.
    """
    everything = frozenset(range(len(results.words)))
    about = frozenset(n for n in everything if results.words[n].text in subject.words)
    if not subject.words or subject.is_pointed_at or not content_words(question):
        return everything, about
    own = everything - about
    return own, own or about


def _share(quotes: Sequence[Quote], results: Results, counted: frozenset[int], unknown: int) -> float:
    """Return the largest share of the weight of the words that count that the passage of a quote has, 0 to 1.

    Each `unknown` word, which is in no text, weighs as much as the rarest that is.
    """
    weights = [word.weight for word in results.words]
    total = sum(weights[n] for n in counted) + max(weights, default=1.0) * unknown
    has = (sum(weights[n] for n in _words_of(quote.hit, results) & counted) for quote in quotes)
    return max(has, default=0.0) / (total or 1)


def _quote(hit: Hit, question: str, results: Results) -> Quote | None:
    """Return the part of a passage that answers: the best sentence, and its neighbours as far as there is room."""
    text, language = hit.entry.text, hit.entry.language
    spans = sentences(text)
    if not spans:
        return None
    found = [words_in(text[start:end], language, results.words) for start, end in spans]
    scores = [
        _score(text[a:b], language, has, question, results.words) for (a, b), has in zip(spans, found, strict=True)
    ]
    best = max(range(len(spans)), key=lambda n: (scores[n], -n))
    first = last = best
    while True:  # what stands before it says what "it" means; what stands after it, what follows
        before = spans[last][1] - spans[first - 1][0] if first else _LONG + 1
        after = spans[last + 1][1] - spans[first][0] if last + 1 < len(spans) else _LONG + 1
        if before <= _LONG and (first > best - 1 or after > _LONG):
            first -= 1
        elif after <= _LONG:
            last += 1
        else:
            break
    quoted = fold(text[spans[first][0] : spans[last][1]])
    return Quote(quoted, hit, frozenset().union(*found[first : last + 1]))


def _words_of(hit: Hit, results: Results) -> frozenset[int]:
    """Return the numbers of the words that a passage has."""
    return words_in(hit.entry.text, hit.entry.language, results.words)


def _defined_in(hit: Hit, question: str) -> float:
    """Return how surely a passage says what something is, where the question asks for that: 0 to 1; 0 of a listing."""
    if hit.entry.form == CODE:
        return 0.0
    text, language = hit.entry.text, hit.entry.language
    return max((_defines(text[start:end], language, question) for start, end in sentences(text)), default=0.0)


def _defines(text: str, language: str, question: str) -> float:
    """Return how surely a sentence says what something is, where the question asks for that: 0 to 1.

    Its subject comes before the verb; with fewer other words there, it is the more likely to be what is defined.
    """
    asked, verb = ASKS_WHAT_IS.match(question), _COPULA.search(text)
    if asked is None or verb is None:
        return 0.0
    subject, before = _content(asked[1], language), _content(text[: verb.start()], language)
    others = len(before) - len(subject)
    return 1 / (1 + others) if subject and set(before) >= set(subject) and others <= _MORE else 0.0


def _content(text: str, language: str) -> list[str]:
    """Return the terms of the words of a text that carry content."""
    return [term for word in query_words(text) if word not in FUNCTION_WORDS for term in terms(word, language)]


def _score(text: str, language: str, has: frozenset[int], question: str, words: Sequence[Word]) -> float:
    """Return how well a sentence answers: the weight of the words in it, and its form."""
    total = sum(word.weight for word in words) or 1.0
    score = sum(words[n].weight for n in has) / total + _DEFINES * _defines(text, language, question)
    form = next((form for ask, form in _ASKED if ask.match(question)), None)
    return score + (_BONUS if has and form is not None and form.search(text) else 0.0)


def articles_on(database: Database, quote: Quote) -> list[tuple[str, str]]:
    """Return (path, title) of the articles that cite a claim from the passage of a quote, the first ones first."""
    return articles_citing(database, {claim.ref for claim in _claims_in(database, quote.hit.entry)})


def page_on(database: Database, passage: Entry) -> str:
    """Return the path of the page of a passage's source, at the first claim from the passage; "" if it has no page."""
    page = page_of(database, passage.path)
    claim = next(iter(_claims_in(database, passage)), None)
    return f"{claim.path}#^c-{claim.ref}" if claim is not None else page.path if page is not None else ""


def _claims_in(database: Database, passage: Entry) -> list[Entry]:
    """Return the claims from a passage in order."""
    text = fold(passage.text)
    return [claim for claim in entries_of(database, "claim", passage.path) if claim_is_in(claim, text)]
