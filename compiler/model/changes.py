"""What a build changes, as values: claims, articles, cards and gaps."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class TouchedClaim:
    """A claim that changes: `words` are its quote, `was` its former one if that is other.

    Where somebody would be asked of the new words, a claim that seems to have changed counts as changed.
    """

    what: Literal["added", "changed", "retracted"]
    id: str
    path: str  # of the source
    words: str
    was: str = ""


@dataclass(frozen=True, slots=True)
class NewPassage:
    """Words of a source that a model would be asked about; "" for `words` is the whole segment."""

    path: str
    heading: str
    words: str


@dataclass(frozen=True, slots=True)
class TouchedArticle:
    """An article that changes; `proposed` if the user edited it. `asked` counts the claims to write about."""

    what: Literal["created", "updated", "removed", "proposed"]
    id: str
    path: str
    title: str
    gone: tuple[str, ...] = ()  # sentences
    new: tuple[str, ...] = ()
    asked: int = 0


@dataclass(frozen=True, slots=True)
class TouchedCard:
    """A card that changes; `asked` if that depends on what a model will answer."""

    what: Literal["created", "returned", "changed", "reworded", "suspended", "asked"]
    id: str
    path: str  # of its deck
    words: str  # its question
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TouchedGap:
    """A gap that changes; `asked` if that depends on what a model will answer."""

    what: Literal["opened", "changed", "closed", "asked"]
    id: str
    kind: str
    words: str
    reason: str


@dataclass(frozen=True, slots=True)
class Blast:
    """What a build would change. `unchanged` counts the files that stay as they are, byte for byte."""

    claims: tuple[TouchedClaim, ...] = ()
    passages: tuple[NewPassage, ...] = ()
    articles: tuple[TouchedArticle, ...] = ()
    cards: tuple[TouchedCard, ...] = ()
    gaps: tuple[TouchedGap, ...] = ()
    unchanged: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the changes as `--json` prints them."""
        return asdict(self)
