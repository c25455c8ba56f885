"""What a document's structure and words say of each noun phrase that could be a term of its subject."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from compiler.engines.extractive.frequency import frequency
from compiler.engines.extractive.phrases import NOUNS, SUBJECTS, name_of
from compiler.engines.extractive.sentence import Sentence
from compiler.language import names
from compiler.model.requests import ExtractRequest

if TYPE_CHECKING:
    from spacy.tokens import Doc

_NUMBERED = re.compile(
    r"^(?:(?:chapter|section|part|lecture|lesson|unit|week|module|kapitel|teil|abschnitt|appendix)\s+)?[\divxlc]+(?:\.\d+)*[.:)]?\s+(?=\S)",
    re.I,
)
_ENTRY = re.compile(r"[^\W\d_][^.:!?。：]{1,50}(?::|：|\s[–—-])\s*\S")
_FAIR_SHARE = 3  # a third
_STRUCTURE = ("heading", "title", "emphasis", "link", "term", "code")


@dataclass(slots=True)
class Term:
    """What a document says of one name: how it is written, how often, in what places of the structure."""

    written: Counter[str] = field(default_factory=Counter)
    count: int = 0
    subjects: int = 0  # sentences of which it is the subject
    sections: set[tuple[str, ...]] = field(default_factory=set)
    first: int = -1  # the sentence that names it first, counted from 0
    inside: int = 0  # how often it stands inside a longer name
    articles: Counter[str] = field(default_factory=Counter)  # "a", "an": how often it is written with each
    marks: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Terms:
    """The terms of one document by key, and its long forms of acronyms."""

    language: str
    title: str
    sentences: int = 0
    sections: set[tuple[str, ...]] = field(default_factory=set)
    by_key: dict[str, Term] = field(default_factory=dict)
    long_forms: dict[str, str] = field(default_factory=dict)  # acronym -> long form as it is written
    proper: dict[str, set[tuple[str, ...]]] = field(default_factory=lambda: defaultdict(set))  # name -> its sections
    entries: Counter[tuple[str, ...]] = field(default_factory=Counter)  # section -> paragraphs that open with a name
    text: str = ""
    is_parsed: bool = True  # else names are counted in the text
    _counts: dict[str, int] = field(default_factory=dict)  # name -> how often the text has it

    def article(self, name: str) -> str:
        """Return "a" or "an" if the document writes a name with it in a fair share of places, else ""."""
        term = self.get(name)
        word, times = max(((n, word) for word, n in term.articles.items()), default=(0, ""))[::-1]
        return word if times * _FAIR_SHARE >= term.count else ""

    def best(self, name: str) -> str:
        """Return a name as it is written inside a sentence: with a small letter first if the document has it so."""
        small = name[:1].lower() + name[1:]
        return small if small in self.get(name).written else name

    def get(self, name: str) -> Term:
        """Return what is known of a name; an empty record if nothing is."""
        found = self.by_key.get(names.key(name, self.language)) or Term()
        return found if self.is_parsed or not name else replace(found, count=self.times(name))

    def times(self, words: str) -> int:
        """Return how often the text has these words."""
        if words not in self._counts:
            self._counts[words] = self.text.count(words)
        return self._counts[words]


_LEAST_SECTIONS = 4  # that name a document's subject


def context_of(terms: Terms) -> str:
    """Return what a document is about, as the line above a question: "CouchDB: Compaction".

    That is its title, after the proper name that most of its sections say, if that is not in the title.
    """
    title = heading_name(terms.title)
    count, name = max(((len(said), name) for name, said in terms.proper.items()), default=(0, ""))
    most = count >= max(_LEAST_SECTIONS, len(terms.sections) / 2)
    often = most and len(name) > 3 and frequency(name.lower(), "en") < 3.5
    return f"{name}: {title}" if often and name.lower() not in title.lower() else title


def is_entry(text: str) -> bool:
    """Return whether a paragraph opens with a name that it is about: "Term: text", "Term - text"."""
    return bool(_ENTRY.match(text))


def heading_name(heading: str) -> str:
    """Return a heading without its number."""
    return _NUMBERED.sub("", heading).strip(" :.–—-")


def terms_of(requests: Sequence[ExtractRequest], parsed: Iterable[tuple[Sentence, Doc | None]], language: str) -> Terms:
    """Return the terms of a document."""
    out = Terms(language, requests[0].title if requests else "")
    for number, (sentence, doc) in enumerate(parsed):
        out.sentences += 1
        out.entries[sentence.headings] += sentence.position == 0 and is_entry(sentence.text)
        for short, long in names.acronym_pairs(sentence.text):
            out.long_forms.setdefault(short, long)
        out.sections.add(sentence.headings)
        for token in doc or ():
            if token.pos_ == "PROPN" and token.is_alpha:
                out.proper[token.text].add(sentence.headings)
        for token in doc or ():
            if token.pos_ not in NOUNS or token.dep_ == "compound":
                continue
            name = name_of(token)
            if not name or len(name) > 80:
                continue
            term = out.by_key.setdefault(names.key(name, language), Term())
            term.written[name] += 1
            term.first = number if term.first < 0 else term.first
            term.count += 1
            term.subjects += token.dep_ in SUBJECTS
            term.sections.add(sentence.headings)
            term.articles.update(c.lower_ for c in token.lefts if c.lower_ in ("a", "an"))
            words = name.split()
            for at in range(1, len(words)):
                inner = out.by_key.setdefault(names.key(" ".join(words[at:]), language), Term())
                inner.inside += 1
    out.text = "\n\n".join(r.text for r in requests)
    out.is_parsed = any(term.count for term in out.by_key.values())
    _count_marks(out, requests)
    return out


def _count_marks(out: Terms, requests: Sequence[ExtractRequest]) -> None:
    """Record the names that headings, emphasis, links and glossaries give."""
    seen: set[tuple[str, ...]] = set()
    for request in requests:
        if request.headings not in seen:
            seen.add(request.headings)
            for heading in request.headings[-1:]:
                _mark(out, heading_name(heading), "heading")
        for span in request.marks:
            if span.kind in _STRUCTURE and span.kind != "heading" and span.end - span.start <= 80:
                _mark(out, request.text[span.start : span.end].strip(" *:.,"), span.kind)
    _mark(out, heading_name(out.title), "title")


def _mark(out: Terms, name: str, kind: str) -> None:
    if name and len(name.split()) <= 6:
        out.by_key.setdefault(names.key(name, out.language), Term()).marks[kind] += 1
