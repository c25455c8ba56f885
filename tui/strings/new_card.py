"""The words of the screens that make a card and show what is known of one."""

from __future__ import annotations

from tui.strings.review import ANSWER as ANSWER
from tui.strings.review import CLOZE_TEXT as CLOZE_TEXT
from tui.strings.review import QUESTION as QUESTION
from vault.text.formatting import plural

TITLE = "New card"
TYPE, KIND, DECK, TAGS, SOURCE = "Type", "Kind of question", "Deck", "Tags", "Source"
BASIC, BOTH_WAYS, CLOZE = "Basic", "Reversed", "Cloze"
NO_KIND = "none"
DECK_HINT = "My cards"
TAGS_HINT = "optional, separated by spaces"
SOURCE_HINT = "optional: a file, a web address, a claim, or any text"
NOT_SAVED = "The card is not added yet. Press ctrl+s to add the card, or esc again to discard it."
INFO, RATINGS, NO_RATINGS = "Card info", "Ratings", "No ratings yet."
READING = "reading the vault …"


def added(cards: int, deck: str, *, is_new_deck: bool, alike: bool) -> str:
    """`2 cards added to German, a new deck. Press u in Browse to undo.`"""
    new = ", a new deck" if is_new_deck else ""
    like = " The deck already has a card with the same question." if alike else ""
    return f"{plural(cards, 'card')} added to {deck}{new}. Press u in Browse to undo.{like}"
