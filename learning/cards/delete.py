"""Deleting cards: their blocks leave the decks, and `ledger/edits.jsonl` records them, so that they can be put back.

All cards of a block go together, as the cards of a note do in Anki. The review log keeps what happened to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from learning.cards.edit import found_card
from vault.audit.agent_runs import refuse_beside_agents
from vault.errors import NotFound, Refused
from vault.files.folder import sha256_hex
from vault.files.guard import Scope
from vault.ids import CardId
from vault.log import ledger
from vault.model.card import Card, CardKind, Deck, append_block, parse_deck
from vault.process.signals import unbroken
from vault.text.formatting import clean_line
from vault.vault import Vault

_PASTE = "its text is in ledger/edits.jsonl"


@dataclass(frozen=True, slots=True)
class Cut:
    """One block that was deleted: its text with the blank lines after it, and where it was.

    `rest` is the SHA-256 of the deck without it: if the deck is still that, the block goes back to its very place.
    """

    cards: tuple[CardId, ...]
    path: str
    text: str
    place: int
    kind: CardKind | None
    rest: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """What one deletion removed, in the order of removal."""

    cuts: tuple[Cut, ...]

    @property
    def cards(self) -> tuple[CardId, ...]:
        """Return the cards that were deleted, siblings in the same blocks included."""
        return tuple(card for cut in self.cuts for card in cut.cards)


def delete_cards(vault: Vault, ids: Iterable[str], now: datetime) -> Deleted:
    """Remove the blocks of these cards from their decks. Raises: NotFound before any is removed; Refused while an
    agent works; WriteFailed.
    """
    refuse_beside_agents(vault)
    blocks: dict[tuple[str, int], Card] = {}
    for id_ in ids:
        deck, card = found_card(vault, id_)
        blocks.setdefault((deck.path, card.start), card)
    return delete_blocks(vault, blocks, now)


def delete_blocks(vault: Vault, blocks: Mapping[tuple[str, int], Card], now: datetime) -> Deleted:
    """Remove the blocks that begin at these places (path and offset) from their decks, each with a card that it holds.

    Raises: Refused where a deck was changed since; WriteFailed.
    """
    cuts: list[Cut] = []
    for path in sorted({path for path, _ in blocks}):
        found = vault.deck(path)
        starts = {start: card.id for (place, start), card in blocks.items() if place == path}
        if found is None or starts.items() - {(card.start, card.id) for card in found.cards}:
            raise Refused("the deck was changed in the meantime", where=path, hint="try again")
        mine, rest = [], found
        for start in sorted(starts, reverse=True):  # from the end, so that places stay right
            cut, text = _without(rest, start)
            mine.append(cut)
            rest = replace(rest, text=text)
        with unbroken():  # the deck and its record
            vault.guard(Scope.LOG).write(path, rest.text.encode(), expect=sha256_hex(found.text.encode()))
            cuts += mine
            _record(vault, ledger.DELETE, mine, now)
    return Deleted(tuple(cuts))


def _without(deck: Deck, start: int) -> tuple[Cut, str]:
    """Return the block that begins there, cut out of the deck, and the rest of the text."""
    cards = [card for card in deck.cards if card.start == start]
    after = deck.text[cards[0].end :]
    stop = len(deck.text) - len(after.lstrip("\r\n"))
    rest = deck.text[:start] + deck.text[stop:]
    ids = tuple(card.id for card in cards if card.id is not None)
    cut = deck.text[start:stop]
    return Cut(ids, deck.path, cut, start, cards[0].kind, sha256_hex(rest.encode())), rest


def restore_cards(vault: Vault, deleted: Deleted, now: datetime) -> tuple[CardId, ...]:
    """Put deleted blocks back; return the cards of those that are. One whose cards are in a deck again is left out.

    Raises: Refused while an agent works, or for a deck that is no longer read as its cards; WriteFailed.
    """
    refuse_beside_agents(vault)
    restored: list[CardId] = []
    for cut in reversed(deleted.cuts):
        deck = vault.deck(cut.path) or Deck(cut.path, "", ())
        if {c.id for c in deck.cards}.intersection(cut.cards):
            continue
        is_same = sha256_hex(deck.text.encode()) == cut.rest
        text = deck.text[: cut.place] + cut.text + deck.text[cut.place :] if is_same else ""
        text = text or append_block(deck.text, cut.path, cut.text.rstrip("\r\n"), cut.kind)
        back = parse_deck(text, cut.path)
        if [c.id for c in back.cards if c.id in cut.cards] != list(cut.cards):
            raise Refused("the deck has changed: the card cannot be put back where it was", where=cut.path, hint=_PASTE)
        with unbroken():
            expect = sha256_hex(deck.text.encode()) if deck.text else None
            vault.guard(Scope.LOG).write(cut.path, text.encode(), expect=expect)
            _record(vault, ledger.RESTORE, [cut], now)
        restored += cut.cards
    return tuple(restored)


def last_deletion(vault: Vault, id_: str) -> Deleted:
    """Return the latest deletion of that card. Raises: NotFound."""
    events, _ = vault.ledger_events(ledger.EDITS)
    for event in reversed(ledger.ordered(e for e in events if e.get("type") == ledger.DELETE)):
        with suppress(KeyError, ValueError, TypeError):
            if id_ in ledger.strings(event["cards"]):
                return Deleted((_cut_in(event),))
    raise NotFound(f"no deletion of card {clean_line(id_)} is recorded in this vault", hint="look for it in git")


def _cut_in(event: ledger.Event) -> Cut:
    """Return the block that an event records. Raises: KeyError, ValueError or TypeError for an invalid one."""
    kind = CardKind(event["kind"]) if event["kind"] else None
    cards = tuple(map(CardId, ledger.strings(event["cards"])))
    return Cut(cards, str(event["path"]), str(event["text"]), int(event["place"]), kind, str(event["rest"]))


def _record(vault: Vault, type_: str, cuts: Iterable[Cut], now: datetime) -> None:
    """Append what was deleted or put back to the ledger."""
    at = ledger.after(vault.ledger_events(ledger.EDITS)[0], now)
    lines = []
    for cut in cuts:
        event = {"v": 1, "type": type_, "card": cut.cards[0], "cards": list(cut.cards), "path": cut.path}
        if type_ == ledger.DELETE:
            kind = cut.kind.value if cut.kind else ""
            event |= {"text": cut.text, "place": cut.place, "kind": kind, "rest": cut.rest}
        lines.append(ledger.encode(event | {"at": at}))
    vault.guard(Scope.LOG).append(ledger.EDITS, b"".join(lines))
