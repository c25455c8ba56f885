"""Cards that are exported, as the blocks that they are in: siblings of one block go out together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from learning.store.placed import Placed
from vault.model.card import REVERSED, split_quote
from vault.model.cloze import parts_of


@dataclass(frozen=True, slots=True)
class Deletion:
    """A piece of a cloze text: plain words, or (with a number) words that a card hides."""

    words: str
    number: int = 0
    hint: str = ""


def blocks_of(cards: Iterable[Placed]) -> list[list[Placed]]:
    """Return the cards of each block, in their order."""
    found: dict[tuple[str, str, int], list[Placed]] = {}
    for n, placed in enumerate(cards):
        block = (placed.card.note, 0) if placed.card.note is not None else ("", n)
        found.setdefault((placed.deck.path, *block), []).append(placed)
    return list(found.values())


def both_ways(block: list[Placed]) -> bool:
    """Return whether the block is a question with its answer, and the same the other way round."""
    return [placed.card.variant for placed in block] == ["", REVERSED]


def cloze_pieces(block: list[Placed]) -> list[Deletion] | None:
    """Return the text of a cloze in pieces, of which those are hidden that a card of `block` asks for; None for a block
    that is no cloze, or one whose deletions are in each other or of several numbers.

    Cards that are not in `block` hide nothing: their words are plain.
    """
    if not block[0].card.is_cloze:
        return None
    text, extra = split_quote(block[0].card.block_words[0])
    asked = {int(placed.card.variant[1:]) for placed in block}
    pieces = [Deletion(words, number if number in asked else 0, hint) for words, number, hint in parts_of(text) or ()]
    if {piece.number for piece in pieces} - {0} != asked:
        return None
    return [*pieces, Deletion(extra)] if extra else pieces
