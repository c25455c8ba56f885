"""A card and the deck that it is in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vault.ids import ID, CardId
from vault.layout import CONCEPTS
from vault.model.card import Card, Deck
from vault.model.markdown import unescape
from vault.text.formatting import clean_line

_PAUSED = re.compile(rb"^learning:[ \t]*(?:false|no|off)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_CONCEPT = re.compile(rf'^(?:  )?concept: "?({ID.pattern})"?$', re.MULTILINE)
_FRONT_END = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Placed:
    """A card and its deck. `concept` is the deck's stem, which the concept's article shares."""

    id: CardId
    card: Card
    deck: Deck
    concept: str

    @property
    def title(self) -> str:
        """The concept's name in plain words."""
        return clean_line(unescape(self.deck.title))

    @property
    def kind(self) -> str:
        """Return the kind of question; "" if the card names none."""
        return self.card.kind.value if self.card.kind else ""

    @property
    def article(self) -> str:
        """Return the vault path of the concept's article."""
        return article_of(self.concept)


def article_of(concept: str) -> str:
    """Return the vault path of a concept's article, whether there is one or not."""
    return f"{CONCEPTS}/{concept}.md"


def concept_of(path: str) -> str:
    """Return the concept of the deck at `path`: its stem."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def concept_named(deck: Deck) -> str:
    """Return the id that a deck names as its concept, without parsing YAML where the machine wrote it."""
    found = _CONCEPT.search(deck.text, 0, max(deck.text.find("\n---", 3), 0))
    return found[1] if found else deck.properties.text("concept")


def front_pauses(data: bytes) -> bool:
    """Return whether the front matter of a deck or an article says `learning: false`."""
    end = _FRONT_END.search(data, 4) if data.startswith(b"---") else None
    return end is not None and _PAUSED.search(data, 0, end.start()) is not None
