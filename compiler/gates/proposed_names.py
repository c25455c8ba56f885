"""The gate for names that a model proposes: the text that it was shown must have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.language import lexicon, names
from compiler.model.report import Rejection
from compiler.model.requests import Term
from vault.text.formatting import clean_line

_ABSENT = "the name does not stand in the text"
_PARTS = re.compile(r"[^\W_]+(?:['’.&+#][^\W_]+)*[+#]{0,2}")
_SQUEEZED = 8  # letters from which on it doesn't matter how a name parts its words
_MOST_WORDS = 8  # of what may still be looked for as one run


@dataclass(frozen=True, slots=True)
class SearchableText:
    """A text prepared for looking up names, whatever their case, plural, hyphens and spelling."""

    runs: str  # the words as keys have them, each between blanks
    plain: str  # the same with the endings they have
    squeezed: str

    @classmethod
    def of(cls, text: str) -> SearchableText:
        """Return the text prepared for looking up names."""
        lowered = [part.casefold() for part in _PARTS.findall(text.replace("-", " ").replace("–", " "))]
        keyed = [_folded(part) for part in lowered]
        return cls(f" {' '.join(keyed)} ", f" {' '.join(lowered)} ", "".join(lowered))

    def has(self, name: str) -> bool:
        """Return whether the text names it; False for a name without letter or digit."""
        parts = [p.casefold() for p in _PARTS.findall(names.bare(name).replace("-", " ").replace("–", " "))]
        if not parts or len(parts) > _MOST_WORDS:
            return False
        if f" {' '.join(map(_folded, parts))} " in self.runs or f" {' '.join(parts)} " in self.plain:
            return True
        bare = "".join(parts)
        return (len(bare) >= _SQUEEZED or not bare.isascii()) and bare in self.squeezed


def _folded(part: str) -> str:
    """Return one word in the form in which plural and spelling are equal."""
    return lexicon.singular(lexicon.american(part.replace(".", "")))


def terms_in(text: str, terms: Sequence[Term]) -> tuple[tuple[Term, ...], tuple[Rejection, ...]]:
    """Return the terms whose names are in `text`, with those of their aliases that are; and the rejections.

    An English name need not stand in a text of another language; one that can be no name is left out.
    """
    there = SearchableText.of(text)
    kept: list[Term] = []
    refused: list[Rejection] = []
    for term in terms:
        if not there.has(term.name):
            refused.append(_refused(term.name))
            continue
        aliases = tuple(alias for alias in term.aliases if there.has(alias))
        refused += [_refused(alias) for alias in term.aliases if alias not in aliases]
        english = english_of(term)
        same = (aliases, english) == (term.aliases, term.english)
        kept.append(term if same else term.model_copy(update={"aliases": aliases, "english": english}))
    return tuple(kept), tuple(refused)


def english_of(term: Term) -> str:
    """Return the term's English name without what is no part of a name; "" where it is none."""
    name = names.bare(clean_line(term.english))
    return name if names.could_name(name) else ""


def _refused(name: str) -> Rejection:
    """Return the rejection of a name that the text does not have."""
    return Rejection("term", _ABSENT, clean_line(name)[:200])
