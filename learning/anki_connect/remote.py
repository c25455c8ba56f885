"""What a running Anki holds of the vault's cards, read through AnkiConnect and checked."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from learning.anki.export_package import VAULT_TAG, fields_digest
from learning.anki.marks import FLAGS
from learning.anki.note_types import CARD_ID, fields_among
from learning.anki.reviews import AnkiReview
from learning.anki_connect.client import AnkiConnect, AnkiNotReached, AnkiRefused
from vault.ids import CardId

_OURS = '"CardId:_*"'  # finds the notes that have a CardId
_MANY = 500  # in one request that only reads
_LARGEST = 1 << 63
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """A note in Anki that has a CardId. `cards` are Anki's numbers of its cards; `ours` are our cards by these numbers:
    the first alone, unless the note is of several.
    """

    id: int
    card: CardId
    fields: Mapping[str, str]
    tags: tuple[str, ...]
    cards: tuple[int, ...]
    ours: Mapping[int, CardId] = field(default_factory=dict)

    @property
    def is_single(self) -> bool:
        """Return whether it is a note of one card with question and answer: those of both ways have two."""
        return "Question" in self.fields and len(self.cards) == 1

    @property
    def digest(self) -> str:
        """Return the digest of the fields, by which they are compared with what was last sent."""
        return fields_digest(self.fields.get(name, "") for name in fields_among(self.fields))


@dataclass(frozen=True, slots=True)
class Suspension:
    """Whether Anki's card is suspended, and when it was last changed there, in Unix seconds."""

    number: int
    mod: int
    is_suspended: bool


@dataclass(frozen=True, slots=True)
class CardFacts:
    """A card's number in Anki, the number of its queue and when it is due there: by Anki's count of days, or else."""

    id: int
    queue: int
    due: int


def found_notes(
    anki: AnkiConnect, cards: Container[CardId], tag: str, several: Mapping[CardId, Mapping[int, CardId]]
) -> list[Found]:
    """Return the notes in Anki of the vault's cards, in the order of creation; none of another vault, whose tag is not
    `tag`. AnkiConnect gives no GUIDs, so the field CardId identifies them. `several` are the cards of notes that have
    more than one, by their numbers there.
    """
    numbers = anki.call("findNotes", query=_OURS)
    check(isinstance(numbers, list) and all(map(_is_number, numbers)), "findNotes", anki)
    found = [note for some in parts(sorted(set(numbers)), _MANY) for note in _details(anki, some)]
    mine = [one for one in found if (one.card in cards or one.card in several) and _whose(one) in ("", tag)]
    places = _ords(anki, [number for one in mine if one.card in several for number in one.cards])
    return [replace(one, ours=_our_cards(one, several, places)) for one in mine]


def _our_cards(
    one: Found, several: Mapping[CardId, Mapping[int, CardId]], places: Mapping[int, int]
) -> dict[int, CardId]:
    """Return our cards of a note by Anki's numbers; `places` are their numbers within their notes."""
    if one.card not in several:
        return dict.fromkeys(one.cards[:1], one.card) if "Text" not in one.fields else {}
    cards = several[one.card]
    if one.is_single and one.card in cards.values():
        return dict.fromkeys(one.cards, one.card)  # sent before the note had several
    return {number: cards[places[number]] for number in one.cards if places.get(number) in cards}


def _ords(anki: AnkiConnect, cards: Sequence[int]) -> dict[int, int]:
    """Return each card's number within its note, from 0; a card that was deleted meanwhile is left out."""
    found: dict[int, int] = {}
    for some in parts(cards, _MANY):
        reply = anki.call("cardsInfo", cards=list(some))
        check(isinstance(reply, list) and all(isinstance(each, dict) for each in reply), "cardsInfo", anki)
        for each in filter(None, reply):
            number, place = each.get("cardId"), each.get("ord")
            check(number in some and type(place) is int, "cardsInfo", anki)
            found[number] = place
    return found


def _details(anki: AnkiConnect, asked: Sequence[int]) -> list[Found]:
    """Return the notes with these numbers."""
    reply = anki.call("notesInfo", notes=list(asked))
    check(isinstance(reply, list), "notesInfo", anki)
    notes = [_note(one, anki) for one in reply if one]  # nothing is said of a note that was deleted meanwhile
    numbers = {note.id for note in notes}
    check(len(numbers) == len(notes) and numbers <= set(asked), "notesInfo", anki)
    return notes


def _whose(one: Found) -> str:
    """Return the card of a note."""
    return next((tag for tag in one.tags if tag.startswith(VAULT_TAG)), "")


def _note(reply: Any, anki: AnkiConnect) -> Found:
    """Return a note as AnkiConnect describes it. Raises: AnkiNotReached for an invalid one."""
    try:
        fields = {str(name): value["value"] for name, value in reply["fields"].items()}
        note = Found(
            reply["noteId"], CardId(fields[CARD_ID].strip()), fields, tuple(reply["tags"]), tuple(reply["cards"])
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise no_answer("notesInfo", anki) from error
    texts, numbers = [*fields.values(), *note.tags], [note.id, *note.cards]
    check(all(isinstance(t, str) for t in texts) and all(map(_is_number, numbers)), "notesInfo", anki)
    return note


def _is_number(value: object) -> bool:
    """Return whether it can be one of Anki's numbers."""
    return type(value) is int and abs(value) < _LARGEST


def card_numbers(anki: AnkiConnect, query: str) -> list[int]:
    """Return the numbers of the cards that a search in Anki finds."""
    reply = anki.call("findCards", query=query)
    check(isinstance(reply, list) and all(map(_is_number, reply)), "findCards", anki)
    return list(reply)


def card_facts(anki: AnkiConnect, cards: Sequence[int]) -> list[CardFacts]:
    """Return when the cards are due, without those that were deleted meanwhile."""
    found: list[CardFacts] = []
    for some in parts(cards, _MANY):
        reply = anki.call("cardsInfo", cards=list(some))
        check(isinstance(reply, list) and all(isinstance(each, dict) for each in reply), "cardsInfo", anki)
        for each in filter(None, reply):
            numbers = [each.get(name) for name in ("cardId", "queue", "due")]
            check(all(map(_is_number, numbers)), "cardsInfo", anki)
            found.append(CardFacts(*numbers))
    return found


def flagged_cards(anki: AnkiConnect) -> dict[int, int]:
    """Return the flag, from 1 on, of each card with a CardId that has one."""
    numbers = range(1, len(FLAGS) + 1)
    asked: list[tuple[str, dict[str, Any]]] = [("findCards", {"query": f"{_OURS} flag:{n}"}) for n in numbers]
    found: dict[int, int] = {}
    for flag, reply in zip(numbers, anki.each(asked), strict=True):
        if not isinstance(reply, AnkiRefused):  # a version of Anki that does not know that flag
            check(isinstance(reply, list) and all(map(_is_number, reply)), "findCards", anki)
            found |= dict.fromkeys(reply, flag)
    return found


def buried_cards(anki: AnkiConnect) -> frozenset[int]:
    """Return the cards with a CardId that are buried."""
    return frozenset(card_numbers(anki, f"{_OURS} is:buried"))


def reviews(anki: AnkiConnect, found: Sequence[Found]) -> Iterator[tuple[int, AnkiReview]]:
    """Yield every row of Anki's review log that is of a card of ours, with the card's number there."""
    ours = {number: card for one in found for number, card in one.ours.items()}
    for some in parts(sorted(ours), _MANY):
        reply = anki.call("getReviewsOfCards", cards=list(some))
        check(isinstance(reply, dict), "getReviewsOfCards", anki)
        asked = {str(number): ours[number] for number in some}
        for number, rows in reply.items():
            card = asked.get(number)
            check(card is not None and isinstance(rows, list), "getReviewsOfCards", anki)
            for row in rows:
                yield int(number), _review(card, row, anki)


def _review(card: Any, row: Any, anki: AnkiConnect) -> AnkiReview:
    """Return a row of the review log. Raises: AnkiNotReached for an invalid one."""
    check(isinstance(row, dict), "getReviewsOfCards", anki)
    numbers = [row.get(name) for name in ("id", "ease", "time", "type", "factor")]
    check(all(type(n) is int for n in numbers), "getReviewsOfCards", anki)
    return AnkiReview(card, *numbers)


def suspensions(anki: AnkiConnect, cards: Sequence[int]) -> list[Suspension | None]:
    """Return whether each of the cards is suspended in Anki; None for one that was deleted, and for all where the
    add-on is too old.
    """
    found: list[Suspension | None] = []
    for some in parts(cards, _MANY):
        suspended, mods = anki.each([(action, {"cards": list(some)}) for action in ("areSuspended", "cardsModTime")])
        if isinstance(suspended, AnkiRefused) or isinstance(mods, AnkiRefused):
            return [None] * len(cards)
        check(isinstance(suspended, list) and len(suspended) == len(some), "areSuspended", anki)
        check(isinstance(mods, list) and len(mods) == len(some), "cardsModTime", anki)
        found += map(partial(_suspension, anki), some, suspended, mods)
    return found


def _suspension(anki: AnkiConnect, number: int, is_suspended: object, reply: object) -> Suspension | None:
    """Return whether a card is suspended; None for one that was deleted."""
    if is_suspended is None or reply == {}:
        return None
    check(isinstance(is_suspended, bool), "areSuspended", anki)
    fits = isinstance(reply, dict) and reply.get("cardId") == number and _is_number(reply.get("mod"))
    check(fits, "cardsModTime", anki)
    return Suspension(number, reply["mod"], bool(is_suspended))  # type: ignore[index]


def check(fits: bool, action: str, anki: AnkiConnect) -> None:
    """Raise AnkiNotReached unless the result of the action has the right form."""
    if not fits:
        raise no_answer(action, anki)


def no_answer(action: str, anki: AnkiConnect) -> AnkiNotReached:
    """Return the error of an action without a valid result."""
    what = f"the program at that address is not AnkiConnect: unexpected response to `{action}`"
    return AnkiNotReached(what, where=anki.shown, hint="update Anki and the add-on")


def parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in parts of `size`."""
    return (items[start : start + size] for start in range(0, len(items), size))
