"""Names that a document uses as if its reader knew them: specific terms that none of its sentences defines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping

from compiler.engines.extractive import features
from compiler.engines.extractive.frequency import frequency
from compiler.engines.extractive.selection import model
from compiler.engines.extractive.terms import Terms
from compiler.language import lexicon, names

_RARE = 2.8  # on the Zipf scale: a single word above it is one of general language
_RARE_ACRONYM = 3.6
_RARE_PART = 4.0  # the rarest word of a longer name
_COMMON = 6.0  # words of grammar, and those that are nearly that common ("other", "new")
_MOST_WORDS = 3
_SHORTEST, _SHORTEST_WORD = 2, 4  # characters of a part, of a single word
_USUAL = 2.5  # on the Zipf scale: a word that is in use
_PERSON = re.compile(r"(?:ist|maker|worker)s?$")
# Probabilities of being a title, for a single word and a longer name: higher than for a page, as no definition confirms
# the term.
_LIKELY, _LIKELY_PHRASE = 0.66, 0.6
_TIMES = 2  # that a document without a parser must name a word
_LATIN = re.compile(r"(?<![\w./@-])[A-Za-z][A-Za-z0-9]+(?:[ -][A-Z][A-Za-z0-9]+){0,2}(?![\w./@(-])")
_GERMAN = re.compile(r"(?<=[a-zäöüß,;] )[A-ZÄÖÜ][a-zäöüß]{8,}(?!\w)")
_GERMAN_ENDINGS = ("", "n", "s", "en", "es", "er", "ern", "e")
_HAN = re.compile(r"[\u4e00-\u9fff]{3,}")
_RARE_CHINESE = 3.2


def unexplained(plausible: Mapping[str, str], defined: Container[str], terms: Terms) -> Iterator[str]:
    """Yield the terms of a document that it names and does not define and that are no words of general language."""
    title = model("title")
    for key, name in plausible.items():
        if key in defined or not is_specific(name, terms.by_key[key].written, terms.language):
            continue
        likely = _LIKELY_PHRASE if " " in name else _LIKELY
        if title.probability(features.term_features(name, terms)) >= likely:
            yield name
    found = Counter(() if terms.is_parsed else _unparsed_names(terms.text, terms.language))
    yield from sorted(
        n for n, count in found.items() if count >= _TIMES and names.key(n, terms.language) not in defined
    )


def is_specific(name: str, written: Iterable[str], language: str) -> bool:
    """Return whether a name is that of a special subject: rare in general text, and of no person, place or product.

    `written` are the ways in which the document writes it. A name whose words all begin with a capital, wherever it
    is written, is a proper one, unless it has further capitals ("IPv6").
    """
    words = re.split(r"[ \-‐‑–]", name)
    if len(words) > _MOST_WORDS or any(len(w) < _SHORTEST or not w[0].isalpha() for w in words):
        return False
    if all(all(w[:1].isupper() and not names.is_acronym(w) for w in form.split()) for form in written):
        return False
    lowered = [w.lower() for w in words]
    forms = [{w, lexicon.singular(w), lexicon.american(w)} for w in lowered]
    zipf = [max(frequency(form, language, "large") for form in same) for same in forms]
    if len(words) > 1:
        return min(zipf) <= _RARE_PART and max(zipf) < _COMMON
    if names.is_acronym(name):
        return zipf[0] <= _RARE_ACRONYM
    return zipf[0] <= _RARE and len(name) > _SHORTEST_WORD and not _is_verb(lowered[0]) and not _PERSON.search(name)


def _is_verb(word: str) -> bool:
    """Return whether a word that a parser takes for a plural may be a verb: "secretes", as there is "secreted"."""
    base = word.removesuffix("s")
    return base != word and max(frequency(f"{base}ed", "en"), frequency(f"{base.removesuffix('e')}ed", "en")) >= _USUAL


def _is_usual_german(word: str) -> bool:
    """Return whether a word without an ending is one of general language."""
    return any(word.endswith(end) and frequency(word.removesuffix(end), "de") for end in _GERMAN_ENDINGS)


def _unparsed_names(text: str, language: str) -> Iterator[str]:
    """Yield the names in a text for which there is no parser: German compounds, foreign words in Chinese."""
    if language == "de":
        yield from (m[0] for m in _GERMAN.finditer(text) if not _is_usual_german(m[0].lower()))
    elif language == "zh":
        yield from (m[0] for m in _LATIN.finditer(text) if frequency(m[0].lower(), "en", "large") <= _RARE)
        import jieba.posseg

        for run in _HAN.findall(text):
            for pair in jieba.posseg.cut(run):
                if len(pair.word) > 2 and pair.flag[:1] == "n" and frequency(pair.word, "zh") <= _RARE_CHINESE:
                    yield pair.word
