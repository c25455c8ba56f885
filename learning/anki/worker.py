"""The process that reads an Anki package: zip, database, templates and HTML are parsed here, and nothing is written.

Started as `python -I -m learning.anki.worker FILE`. A request names an "op" and begins a list; "more" gives its next
part: {"items": [...], "done": true or false}. `learning.anki.package_reader` asks, and checks the replies.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from learning.anki.archive import MAX_MEDIUM
from learning.anki.note_types import MOST_COMPARED
from learning.anki.read_package import AnkiCard, AnkiNote, Collection, faults_of, open_collection
from learning.anki.render import deck_name, render
from vault.errors import Unreadable
from vault.ids import ID
from vault.sandbox.child_main import Answer, serve

SECONDS = 900  # of processor time for a whole package; one of 1,000,000 reviews takes 20
MEMORY = 3 << 29  # bytes of address space: the largest collection twice, as SQLite copies it, and half as much again
MAX_MADE = 256 * 1024**2  # characters of all cards that a package makes
_PART = 1 << 19  # characters, about, of one part of a list
_ROWS = 5_000  # reviews or notes in one part


class Session:
    """Answers requests about one package. `path` is opened by the first of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._collection: Collection | None = None
        self._parts: Iterator[list[Any]] = iter(())

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to a request."""
        try:
            if self._collection is None:
                self._collection = open_collection(self._path)
            with faults_of(self._collection.archive):
                return self._answered(self._collection, message)
        except MemoryError:
            return {"unreadable": {"what": "reading it needs more memory than is allowed for a package", "hint": ""}}
        except Unreadable as error:
            return {"unreadable": {"what": error.what, "hint": error.hint or ""}}

    def _answered(self, collection: Collection, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply of an open collection."""
        match message["op"]:
            case "open":
                counts = dict(zip(("notes", "cards", "reviews"), collection.counts, strict=True))
                facts = {"created": collection.created, "minutes_west": collection.minutes_west}
                return {"container": collection.archive.collection, **counts, **facts, "media": len(collection.media)}
            case "decks":
                self._parts = _lots([i, name[:500]] for i, name in collection.decks.items())
            case "presets":
                self._parts = _lots([name[:500], *rest] for name, *rest in collection.presets(message["decks"]))
            case "notes":
                self._parts = _lots(_identity(note, message["prefix"]) for note in collection.notes())
            case "cards":
                self._parts = _by_size(_cards(collection, message))
            case "reviews":
                self._parts = _lots(collection.reviews())
            case "file":
                self._parts = _file(collection, message["name"])
        part = next(self._parts, None)
        return {"items": part or [], "done": part is None}

    def close(self) -> None:
        """Close the package."""
        if self._collection is not None:
            self._collection.close()


def _lots(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield the items in parts."""
    items = iter(items)
    return iter(lambda: list(islice(items, _ROWS)), [])


def _by_size(items: Iterable[tuple[dict[str, Any], int]]) -> Iterator[list[Any]]:
    """Yield parts of (item, its size in characters)."""
    part: list[Any] = []
    size = 0
    for item, characters in items:
        part.append(item)
        size += characters
        if size > _PART or len(part) >= _ROWS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _identity(note: AnkiNote, prefix: str) -> list[Any]:
    """Return what shows whose note it is: its GUID, the id in its last field, CardId, and tags with `prefix`."""
    said = next((v.strip() for v in reversed(note.values) if ID.fullmatch(v.strip())), "")
    return [note.id, note.guid, said, [tag[:60] for tag in note.tags if tag.startswith(prefix)][:5]]


def _cards(collection: Collection, message: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield (card, characters) of every card in the decks: fields if it is the vault's own, else a rendered card; none
    of notes that are left out.
    """
    decks = None if message["decks"] is None else set(message["decks"])
    own, left_out = set(message["own"]), set(message["left_out"])
    left, last = MAX_MADE, None
    for card, note in collection.cards_with_notes():
        if note.id in left_out or (decks is not None and card.deck not in decks):
            continue
        facts: dict[str, Any] = {
            "id": card.id,
            "note": note.id,
            "mod": card.mod,
            "type": card.type,
            "queue": card.queue,
            "answered": collection.answered.get(card.id, -1),
            "flag": card.flags & 7,
            "due": card.due,
            "note_mod": note.mod,
        }
        if note.id in own:
            facts |= {"is_own": True, "ord": card.ord, "is_single": _is_single(collection, note)}
            if note.id != last:
                facts |= {"fields": list(note.values[:MOST_COMPARED]), "tags": list(note.tags)}
        elif left > 0:
            facts |= _made(collection, card, note)
            left -= _characters(facts)
        else:
            reason = f"the package has over {MAX_MADE >> 20} MiB of cards: import one deck at a time with --deck"
            facts |= {"note_type": _type_name(collection, note), "reasons": [reason]}
        last = note.id
        yield facts, _characters(facts)


def _characters(facts: Mapping[str, Any]) -> int:
    """Return the size of a card in characters."""
    texts = [*facts.get("fields", ()), *facts.get("names", ()), *facts.get("tags", ()), *facts.get("reasons", ())]
    texts += [str(facts.get(name, "")) for name in ("question", "answer", "deck", "key")]
    return sum(map(len, texts)) + 200


def _is_single(collection: Collection, note: AnkiNote) -> bool:
    """Return whether notes of the note's type have one card."""
    type_ = collection.types.get(note.type)
    return type_ is not None and not type_.cloze and len(type_.templates) == 1


def _type_name(collection: Collection, note: AnkiNote) -> str:
    """Return the name of the note's type."""
    type_ = collection.types.get(note.type)
    return type_.name[:200] if type_ else "unknown"


def _made(collection: Collection, card: AnkiCard, note: AnkiNote) -> dict[str, Any]:
    """Return the rendered card of a foreign note."""
    deck = deck_name(collection.decks.get(card.deck, "Default"))
    made = render(card, note, collection.types.get(note.type), deck)
    reasons = [made.fault] if made.fault else sorted(made.not_understood)
    facts = {"guid": note.guid, "note_type": _type_name(collection, note), "reasons": reasons}
    if made.fault:
        return facts | {"too_large": made.fault if made.too_large else "", "names": made.names, "lost": made.lost}
    words = {"question": made.question, "answer": made.answer, "names": made.names, "rtl": made.rtl}
    return facts | words | {"is_made": True, "key": f"anki:{card.ord}:{note.guid}", "deck": deck, "tags": made.tags}


def _file(collection: Collection, name: str) -> Iterator[list[str]]:
    """Yield the bytes of a picture or sound in parts, as base64, the first of them empty; only that of one that is
    damaged or too large, and nothing of one that is not there.
    """
    entry = collection.media.get(name)
    if entry is None:
        return
    yield [""]
    try:
        data = collection.archive.read(entry, MAX_MEDIUM)
    except Unreadable:
        return
    for start in range(0, len(data), 3 * _PART):
        yield [base64.b64encode(data[start : start + 3 * _PART]).decode()]


def main() -> None:
    """Answer requests on standard input until it ends."""
    path = Path(sys.argv[1])

    def prepare() -> Answer:
        return Session(path).answer

    serve(prepare, readable=path, seconds=SECONDS, renewed=False, memory=MEMORY)


if __name__ == "__main__":
    main()
