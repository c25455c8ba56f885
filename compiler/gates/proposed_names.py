"""Looking up the names that a model proposes in the text that it was shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.language import lexicon, names

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
