"""The settings of Obsidian's plugin Spaced Repetition that tell what is a card."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from learning.foreign.highlights import HIGHLIGHT, ClozeMarks, has_cloze, marks_of
from learning.foreign.tree import Tree
from vault.errors import UsageError

_PATH = ".obsidian/plugins/obsidian-spaced-repetition/data.json"
_NAMES = {
    "::": "singleLineCardSeparator",
    ":::": "singleLineReversedCardSeparator",
    "?": "multilineCardSeparator",
    "??": "multilineReversedCardSeparator",
}
_SWITCHES = {
    "convertBoldTextToClozes": "**[123;;]answer[;;hint]**",
    "convertCurlyBracketsToClozes": "{{[123;;]answer[;;hint]}}",
}


@dataclass(frozen=True, slots=True)
class SrSettings:
    """Which tags mark notes with cards, and what separates their sides; by default the plugin's own."""

    tags: tuple[str, ...] = ("#flashcards",)
    review_tags: tuple[str, ...] = ("#review",)
    folders_are_decks: bool = False
    separators: dict[str, str] = field(default_factory=lambda: {name: name for name in _NAMES})
    end_marker: str = ""
    clozes: tuple[ClozeMarks, ...] = (HIGHLIGHT,)

    @classmethod
    def of(cls, tree: Tree) -> SrSettings:
        """Return the settings in the Obsidian vault that holds `tree`; the plugin's own where there are none."""
        data = tree.above(_PATH)
        try:
            found = json.loads(data or b"{}")
            settings = found.get("settings", {})
        except (ValueError, AttributeError, RecursionError):
            return cls()
        return cls._from(settings) if isinstance(settings, dict) else cls()

    @classmethod
    def _from(cls, settings: dict[str, Any]) -> SrSettings:
        plain = cls()
        separators = {kind: _word(settings.get(name)) or kind for kind, name in _NAMES.items()}
        return cls(
            _words(settings.get("flashcardTags")) or plain.tags,
            _words(settings.get("tagsToReview")) or plain.review_tags,
            settings.get("convertFoldersToDecks") is True,
            separators,
            _word(settings.get("multilineCardEndMarker")),
            _clozes(settings),
        )

    def with_separators(self, given: Sequence[str]) -> SrSettings:
        """Return the settings with these separators, in the plugin's order. Raises: UsageError unless they are four."""
        if not given:
            return self
        if len(given) != len(_NAMES) or not all(given):
            hint = (
                "one line, one line (both directions), separate lines, separate lines (both directions): '::,:::,?,??'"
            )
            raise UsageError("the Spaced Repetition plugin has four separators", where="--separators", hint=hint)
        return replace(self, separators=dict(zip(_NAMES, given, strict=True)))

    def separators_in(self, line: str) -> bool:
        """Return whether the line may be part of a card, so that a tag in it is the card's own."""
        return self.inline_kind(line) != "" or line.startswith("<!--SR:")

    def inline_kind(self, line: str) -> str:
        """Return ":::" or "::" for a line that is a card; "" for another. The longer separator goes first."""
        kinds = sorted((":::", "::"), key=lambda kind: -len(self.separators[kind]))
        return next((kind for kind in kinds if _has_marker(line, self.separators[kind])), "")

    def has_cloze(self, line: str) -> bool:
        """Return whether the line hides words."""
        return has_cloze(line, self.clozes)


def _clozes(settings: dict[str, Any]) -> tuple[ClozeMarks, ...]:
    """Return the marks of clozes that are switched on."""
    patterns = settings.get("clozePatterns")
    if isinstance(patterns, list):
        return tuple(filter(None, map(marks_of, _words(patterns))))
    on = [] if settings.get("convertHighlightsToClozes") is False else ["==[123;;]answer[;;hint]=="]
    on += [pattern for name, pattern in _SWITCHES.items() if settings.get(name) is True]
    return tuple(filter(None, map(marks_of, on)))


def _word(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= 40 else ""


def _words(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(_word, value))) if isinstance(value, list) else ()


def _has_marker(line: str, marker: str) -> bool:
    """Return whether the marker is in the line, and not between backticks."""
    at = line.find(marker)
    if at < 0:
        return False
    before, after = (len(re.findall("`", part)) for part in (line[:at], line[at + len(marker) :]))
    return not (before % 2 and after % 2)
