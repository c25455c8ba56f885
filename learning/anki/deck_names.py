"""Names of decks and tags in Anki."""

from __future__ import annotations

import re
from collections.abc import Sequence

from learning.store.placed import Placed
from learning.store.siblings import DECK, OWN_DECK, is_imported
from vault.model.card import Deck
from vault.text.formatting import clean_line

DECK_TREES = ("topic", "concept", "one")  # what has a deck of its own in Anki


def tag_word(word: str) -> str:
    """Return a word as an Anki tag: without white space, which would divide it."""
    return re.sub(r"[^\w:/+.#-]+", "-", clean_line(word)).strip(":-")


def decks_below(placed: Placed, tags: Sequence[str], decks: str) -> list[str]:
    """Return the names of a card's decks below the vault's own, outermost first."""
    if decks == "one":
        return []
    topic = _decks_there(placed.deck, tags) or ["concepts"]
    concept = deck_name(placed.title) if decks == "concept" and not is_imported(placed.deck) else ""
    return [*topic, concept] if concept else topic


def _decks_there(deck: Deck, tags: Sequence[str]) -> list[str]:
    """Return the deck names below the vault's own: those that an imported deck had in Anki, that of the user's own
    deck, else the file's first tag.
    """
    given = deck.properties.text(DECK if is_imported(deck) else OWN_DECK)
    names = given.split("::") if given else tags[:1]
    return list(filter(None, map(deck_name, names)))


def deck_name(name: str) -> str:
    """Return a deck's name without Anki's separator."""
    return re.sub(r":{2,}|[\"\x1f]", " ", clean_line(name)).strip(" :")[:60]
