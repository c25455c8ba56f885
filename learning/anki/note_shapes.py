"""What note the cards of a block, or of one imported Anki note, make in Anki: its type, words and cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from learning.anki.cloze_cards import cloze_text
from learning.anki.note_types import BASIC, BOTH_WAYS, CLOZE, MOST_SIBLINGS, SIBLINGS, NoteType
from learning.cards.workspace import Desk
from learning.store.placed import Placed
from learning.store.siblings import cards_imported
from vault.ids import CardId
from vault.model.card import REVERSED, split_quote


@dataclass(frozen=True, slots=True)
class Shape:
    """What a note is: its type, the words of its first fields in Markdown, its cards by their numbers in Anki, and
    `below` what is shown with each answer alone; `rtl` tells which of the words came as text from right to left.
    """

    type: NoteType
    words: tuple[str, ...]
    cards: tuple[tuple[int, CardId], ...]
    below: str = ""
    rtl: tuple[bool, ...] = (False, False)


class ImportedNotes:
    """The Anki notes that were imported, each named by the card that was imported first: so its name, and with it
    its GUID, stays, whatever cards it gains or loses later.

    Cards that the user has put into one block with others are siblings by their block instead.
    """

    def __init__(self, desk: Desk) -> None:
        blocks = {placed.card.note for placed in desk.cards.values() if placed.card.variant}
        self.cards: dict[CardId, dict[int, CardId]] = {}
        self._names: dict[CardId, tuple[CardId, int]] = {}
        imported = cards_imported(desk.vault)
        self.rtl = imported.rtl
        for cards in imported.notes:
            apart = {number: card for number, card in cards.items() if card not in blocks}
            if apart:
                name = next(iter(apart.values()))
                self.cards[name] = apart
                self._names |= {card: (name, number) for number, card in apart.items()}

    def name_of(self, card: CardId) -> CardId | None:
        """Return the name of the card's note; None if it was not imported."""
        return self._names[card][0] if card in self._names else None

    def shapes(self, name: CardId, cards: Sequence[Placed]) -> list[Shape]:
        """Return the notes that `cards` of the note make: one, unless they are too many and no cloze."""
        by_number = {self._names[placed.id][1]: placed for placed in cards}
        numbered = sorted(by_number.items())
        ids = tuple((number, placed.id) for number, placed in numbered)
        sides = {number + 1: (placed.card.question, placed.card.answer) for number, placed in numbered}
        rtl = {number + 1: self._rtl(placed.id) for number, placed in numbered}
        if (cloze := cloze_text(sides)) is not None:
            return [Shape(CLOZE, cloze[:1], ids, cloze[1], rtl[ids[0][0] + 1][:1])]
        if len(self.cards[name]) == 1 or numbered[-1][0] >= MOST_SIBLINGS:
            return [
                Shape(BASIC, sides[number + 1], ((0, placed.id),), rtl=rtl[number + 1]) for number, placed in numbered
            ]
        if list(sides) == [1, 2] and sides[1] == sides[2][::-1]:
            return [Shape(BOTH_WAYS, sides[1], ids, rtl=rtl[1])]
        numbers, blank = range(1, MOST_SIBLINGS + 1), (False, False)
        words = tuple(word for number in numbers for word in sides.get(number, ("", "")))
        flags = tuple(flag for number in numbers for flag in rtl.get(number, blank))
        return [Shape(SIBLINGS, words, ids, rtl=flags)]

    def _rtl(self, card: CardId) -> tuple[bool, bool]:
        """Return whether question and answer came as text from right to left."""
        sides = self.rtl.get(card, ())
        return "question" in sides, "answer" in sides


def shape_of_block(cards: Sequence[Placed]) -> Shape:
    """Return what the note of a block is."""
    card = cards[0].card
    question, answer = card.block_words
    numbered = tuple((ord_of(each), each.id) for each in cards)
    if answer is None:
        text, below = split_quote(question)
        return Shape(CLOZE, (text,), numbered, below)
    if any(each.card.variant == REVERSED for each in cards):
        # What is shown on the front of one card must not name the source, which may tell.
        answer, below = split_quote(answer)
        return Shape(BOTH_WAYS, (question, answer), numbered, below)
    return Shape(BASIC, (question, answer), numbered)


def ord_of(placed: Placed) -> int:
    """Return the number of a card among those of its note in Anki."""
    variant = placed.card.variant
    return int(variant[1:]) - 1 if placed.card.is_cloze else int(variant == REVERSED)


def cards_of_notes(desk: Desk) -> dict[CardId, dict[int, CardId]]:
    """Return for each note with several cards, or with another than the first, its cards by their numbers in Anki."""
    found: dict[CardId, dict[int, CardId]] = {}
    for id_, placed in desk.cards.items():
        if placed.card.variant:
            found.setdefault(placed.card.note or id_, {})[ord_of(placed)] = id_
    for note in found.keys() & desk.cards.keys():
        if not desk.cards[note].card.variant:
            found[note][0] = note
    return _imported_cards(desk) | found


def by_any_card(notes: Mapping[CardId, Mapping[int, CardId]]) -> dict[CardId, Mapping[int, CardId]]:
    """Return `notes` (see `cards_of_notes`) also by each other card: an export may have named the note by that one,
    before a merge with the imports of another machine.
    """
    by_card: dict[CardId, Mapping[int, CardId]] = {
        card: {**cards, 0: card} for cards in notes.values() for card in cards.values()
    }
    return by_card | dict(notes)


def _imported_cards(desk: Desk) -> dict[CardId, dict[int, CardId]]:
    """Return the cards of each note of imported siblings by their numbers in Anki. Its name is also the card 0: that of
    a note of its own, as an older export had it.
    """
    several = ImportedNotes(desk).cards.items()
    return {name: {0: name, **cards} for name, cards in several if list(cards) != [0]}
