"""The words of the screens that make a card and show what is known of one."""

from __future__ import annotations

from tui.strings.review import ANSWER as ANSWER
from tui.strings.review import CLOZE_TEXT as CLOZE_TEXT
from tui.strings.review import QUESTION as QUESTION
from vault.text.formatting import plural

TITLE = "New card"
TYPE, KIND, DECK, TAGS, SOURCE = "Type", "Kind", "Deck", "Tags", "Source"
BASIC, BOTH_WAYS, CLOZE = "Basic", "Both ways", "Cloze"
NO_KIND = "none"
DECK_HINT = "My cards"
TAGS_HINT = "optional, separated by spaces"
SOURCE_HINT = "optional: a file, an address, a claim, or words"
NOT_SAVED = "Not added: ctrl+s adds the card, esc again discards it."
INFO, RATINGS, NO_RATINGS = "Card info", "Ratings", "No ratings yet."
READING = "reading the vault …"


def added(cards: int, deck: str, *, is_new_deck: bool, alike: bool) -> str:
    """`2 cards added to German, a new deck. u in Browse undoes it.`"""
    new = ", a new deck" if is_new_deck else ""
    like = " A card there asks the same." if alike else ""
    return f"{plural(cards, 'card')} added to {deck}{new}. u in Browse undoes it.{like}"
