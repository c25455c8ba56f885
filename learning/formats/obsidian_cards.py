"""Count the cards and schedules that Obsidian's plugin Spaced Repetition has in notes."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from vault.model.frontmatter import read_properties

SETTINGS = ".obsidian/plugins/obsidian-spaced-repetition/data.json"
_MOST_BYTES = 1 << 20  # of the plugin's settings, which hold its log, too
_SIGNS = (
    ("singleLineCardSeparator", "::"),
    ("singleLineReversedCardSeparator", ":::"),
    ("multilineCardSeparator", "?"),
    ("multilineReversedCardSeparator", "??"),
)
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`|\$[^$\n]+\$")
_COMMENT = re.compile(r"<!--SR:(![^>\n]{1,2000})-->")
_HIGHLIGHT = re.compile(r"==(?=\S)[^=\n]+(?<=\S)==")


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """The plugin's settings: which notes have cards, and what separates the sides of one."""

    tags: tuple[str, ...] = ("flashcards",)  # case folded, without #
    single: str = "::"
    single_both: str = ":::"
    several: str = "?"
    several_both: str = "??"
    highlights: bool = True
    every_folder: bool = False  # each folder is a deck, whatever the tags

    @classmethod
    def of(cls, folder: Path) -> PluginSettings:
        """Return the settings in a vault of Obsidian; the plugin's defaults if there are none."""
        try:
            with (folder / SETTINGS).open("rb") as file:
                found = json.loads(file.read(_MOST_BYTES)).get("settings", {})
            signs = [str(found.get(name) or sign) for name, sign in _SIGNS]
            tags = tuple(str(tag).removeprefix("#").casefold() for tag in found.get("flashcardTags", ["#flashcards"]))
            marks, folders = found.get("convertHighlightsToClozes", True), found.get("convertFoldersToDecks", False)
        except (OSError, ValueError, AttributeError, TypeError, RecursionError):
            return cls()
        return cls(tags, signs[0], signs[1], signs[2], signs[3], bool(marks), bool(folders))


@dataclass(frozen=True, slots=True)
class FoundCards:
    """The number of cards, of those with a schedule, of notes that hold them, and of notes with a date of review."""

    cards: int = 0
    scheduled: int = 0
    notes: int = 0
    reviewed_notes: int = 0

    def __add__(self, other: FoundCards) -> FoundCards:
        return FoundCards(
            self.cards + other.cards,
            self.scheduled + other.scheduled,
            self.notes + other.notes,
            self.reviewed_notes + other.reviewed_notes,
        )


def cards_in(text: str, tags: Collection[str], settings: PluginSettings) -> FoundCards:
    """Return what a note with these tags (case folded, without #) holds."""
    properties = read_properties(text)
    reviewed = int("sr-due" in properties.values)
    body = text[properties.body :]
    scheduled = sum(found[1].count("!") for found in _COMMENT.finditer(body))
    tagged = any(tag == t or tag.startswith(f"{t}/") for tag in tags for t in settings.tags)
    if not (tagged or scheduled or settings.every_folder):
        return FoundCards(reviewed_notes=reviewed)
    plain = _CODE.sub(" ", _FENCED.sub("\n\n", _COMMENT.sub("", body)))
    count = sum(_count(block.splitlines(), settings) for block in re.split(r"\n[ \t]*\n", plain))
    count = max(count, scheduled)
    return FoundCards(count, scheduled, int(count > 0), reviewed)


def _count(lines: list[str], settings: PluginSettings) -> int:
    """Return the cards in a paragraph."""
    count = 0
    for number, line in enumerate(lines):
        alone, inside = line.strip(), 0 < number < len(lines) - 1
        if inside and alone in (settings.several, settings.several_both):
            return count + (2 if alone == settings.several_both else 1)  # all of the paragraph is one card
        if settings.single_both in line:
            count += 2
        elif settings.single in line:
            count += 1
        elif settings.highlights:
            count += len(_HIGHLIGHT.findall(line))
    return count
