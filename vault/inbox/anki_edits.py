"""Inbox questions about cards that were edited both here and in Anki: which words count?

A sync records them in `learning/anki/notes.jsonl` as `conflict` events, with the words in Anki, and changes neither
side until the user has decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from vault.errors import EditedMeanwhile, Refused
from vault.ids import digest12, vault_digest
from vault.inbox.events import Choice, current_decisions
from vault.inbox.items import Change, Item, View
from vault.log import ledger
from vault.log.ledger import Event
from vault.model.card import Card, parse_deck, splice_words
from vault.model.markdown import unescape
from vault.text.formatting import clean, clean_line
from vault.vault import Vault

KIND = "anki"
_CONFLICT = b'"conflict"'  # in each event of a conflict


class AnkiEdits:
    """Cards edited on both sides: accepted, the text from Anki replaces the text here; kept or rejected, the next sync
    sends the text from here.
    """

    kinds: tuple[str, ...] = (KIND,)
    messages: Mapping[Choice, str] = MappingProxyType(
        {
            Choice.ACCEPT: "the card now has the text from Anki",
            Choice.KEEP: "the card was not changed; the next `retain sync anki` sends its text",
            Choice.REJECT: "the card was not changed; the next `retain sync anki` sends its text",
        }
    )

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterator[Item]:
        settled = decided_edits(decided)
        for event in open_conflicts(vault):
            card = _card_of(vault, event)
            if card is not None and (event["card"], event["fields"]) not in settled:
                yield _item(event, card)

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        if choice is not Choice.ACCEPT:
            return ()
        event = next((e for e in open_conflicts(vault) if str(e["card"]) == _card_id(item)), None)
        card = _card_of(vault, event) if event is not None else None
        if event is None or card is None or _item(event, card).state != item.state:
            hint = "look at it again: `retain inbox`"
            raise EditedMeanwhile("it was edited while you decided; the edit was kept", where=item.about, hint=hint)
        if card.variant or event.get("several"):
            hint = "edit the card, then keep it"
            raise Refused(
                "changes to cloze notes and to notes with several cards cannot be imported from Anki",
                where=item.about,
                hint=hint,
            )
        path = str(event["path"])
        before = vault.read_bytes(path) or b""
        question, answer = _words(event)
        after = splice_words(before.decode(), card, question, answer)
        read = [each for each in parse_deck(after, path).cards if each.id == card.id]
        if [(each.question, each.answer) for each in read] != [(question, answer)]:
            hint = "edit the card, then keep it"
            raise Refused("the text in Anki cannot be written as a card", where=item.about, hint=hint)
        return [Change(path, before, after.encode())]

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        return {"card": _card_id(item), "fields": item.digest}


def open_conflicts(vault: Vault) -> list[Event]:
    """Return the last conflict of each card that no sync has found settled, in order of the cards."""
    data = vault.read_bytes(ledger.NOTES) or b""
    if _CONFLICT not in data:
        return []
    last: dict[str, Event] = {}
    for event in ledger.ordered(ledger.decode(data, ledger.NOTES)[0]):
        if event["type"] == "conflict" and event.get("vault") == vault_digest(vault.settings.vault_id):
            last[str(event.get("card"))] = event
    return [last[card] for card in sorted(last) if last[card].get("fields") and _is_whole(last[card])]


def decided_edits(decided: Sequence[Event]) -> set[tuple[str, str]]:
    """Return the decided pairs of card and digest of the words in Anki."""
    events = [event for event in current_decisions(decided) if event.get("of") == KIND]
    return {(str(event.get("card")), str(event.get("fields"))) for event in events}


def _is_whole(event: Event) -> bool:
    return all(isinstance(event.get(key), str) for key in ("card", "fields", "path", "front", "back"))


def _card_of(vault: Vault, event: Event) -> Card | None:
    """Return the card of a conflict; None if it is no longer in that deck."""
    deck = vault.deck(str(event["path"]))
    return next((card for card in deck.cards if card.id == event["card"]), None) if deck is not None else None


def _words(event: Event) -> tuple[str, str]:
    """Return question and answer as they are in Anki."""
    return clean(str(event["front"])).strip(), clean(str(event["back"])).strip()


def _item(event: Event, card: Card) -> Item:
    front, back = _words(event)
    asked = clean_line(unescape(card.question))[:100]
    mine = f"Q: {card.question}\nA: {card.answer}\n"
    view = View(asked, mine, f"Q: {front}\nA: {back}\n")
    about = f"{asked} ({event['card']})"
    note = "edited here and in Anki: use the text from Anki (accept) or the text in the vault (keep)?"
    return Item(KIND, "", about, str(event["at"]), str(event["fields"]), digest12(mine), (view,), "", note)


def _card_id(item: Item) -> str:
    """Return the id of the card that an item is about."""
    return item.about[:-1].rpartition("(")[2]
