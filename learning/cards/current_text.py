"""The cards of a desk as their files have them now; files that have not changed are not read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from learning.cards.workspace import Desk
from learning.store.placed import Placed, concept_of, front_pauses
from vault.audit.agent_runs import held_back, judged_decks
from vault.errors import RetainError
from vault.ids import CardId
from vault.index import stamps
from vault.model.card import Deck, parse_deck


class CurrentCards:
    """Reads cards from their files. `problems` are errors of files that could not be shown."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.problems: list[RetainError] = []
        self._placed: dict[CardId, Placed] = {}  # cards found elsewhere, or with other words, than the desk has them
        self._read: dict[str, tuple[stamps.Stamp, str]] = {}  # decks as they stood when they were read last

    def card(self, id_: CardId) -> Placed | None:
        """Return the card as its file has it now; None if it is gone, paused, or in a file that cannot be read."""
        known = self._known(id_)
        vault = self.desk.vault
        try:
            text = self._text(known.deck.path) if known else None
            if known is not None and text == known.deck.text:
                return known
            held = held_back(vault)  # what an agent changed is shown when it was judged
            there = known is not None and text is not None and known.deck.path not in held
            decks = [parse_deck(text, known.deck.path)] if there and known and text is not None else []
            found = next(_with(id_, decks), None) or next(_with(id_, judged_decks(vault)), None)
        except RetainError as problem:
            self.problems.append(problem)
            return None
        if found is not None and front_pauses(found.deck.text.encode()):
            return None
        if found is not None:
            self._placed[id_] = found
        return found

    def read_ahead(self, cards: Iterable[CardId]) -> list[Placed]:
        """Read the decks of cards that may come next; return those cards that have not changed."""
        unchanged = []
        for id_ in cards:
            with suppress(RetainError):  # reported when the card's turn comes, should it last until then
                known = self._known(id_)
                if known is not None and self._text(known.deck.path) == known.deck.text:
                    unchanged.append(known)
        return unchanged

    def _known(self, id_: CardId) -> Placed | None:
        """Return the card as it was last read; None if it is in no deck."""
        return self._placed.get(id_) or self.desk.cards.get(id_)

    def _text(self, path: str) -> str | None:
        """Return the text of the deck at `path`, read again unless its stamp shows that it has not changed."""
        found = stamps.stamp(self.desk.vault.root, path)
        kept = self._read.get(path)
        if kept is not None and kept[0] == found != stamps.NONE:
            return kept[1]
        text = self.desk.vault.read_text(path)
        if text is not None:
            self._read[path] = stamps.cacheable_stamp(found), text
        return text


def _with(id_: CardId, decks: Iterable[Deck]) -> Iterator[Placed]:
    """Yield the card from those of `decks` that hold it."""
    for deck in decks:
        for card in deck.cards:
            if card.id == id_:
                yield Placed(id_, card, deck, concept_of(deck.path))
