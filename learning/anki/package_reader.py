"""An Anki package read by a confined process: every reply is checked, and its size is limited.

What reads a package may have been taken over by it. So numbers, lengths and counts are limited here once more, and what
comes is text that is as untrusted as the package itself.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from learning.anki.archive import MAX_MEDIUM, MAX_TOTAL
from learning.anki.note_types import MOST_COMPARED
from learning.anki.read_package import MAX_CARDS, MAX_FIELD, MAX_NOTES, MAX_REVIEWS, AnkiRow
from learning.anki.read_presets import MAX_PARAMETERS, MAX_PRESETS
from learning.anki.render import LARGEST, MAX_FILES
from learning.anki.worker import MAX_MADE
from vault.errors import Unreadable, WorkerFailed
from vault.sandbox.child import Child
from vault.text.formatting import clean_line

_MAX_REPLY = 16 * 1024**2  # bytes
_MAX_DECKS = 100_000

T = TypeVar("T")
Short = Annotated[str, msgspec.Meta(max_length=1_000)]
Side = Annotated[str, msgspec.Meta(max_length=LARGEST)]
Field = Annotated[str, msgspec.Meta(max_length=MAX_FIELD)]
Names = Annotated[tuple[Short, ...], msgspec.Meta(max_length=MAX_FILES)]
Tags = Annotated[tuple[Short, ...], msgspec.Meta(max_length=4_096)]
Few = Annotated[tuple[Short, ...], msgspec.Meta(max_length=20)]


class Identity(msgspec.Struct, array_like=True, frozen=True):
    """What shows whose note it is: `card` is the CardId in it, `tags` those that name a vault."""

    id: int
    guid: Short
    card: Short
    tags: Few


class PackageCard(msgspec.Struct, frozen=True):
    """One card. `answered` is the Unix second of its last answer in Anki, -1 without one; the rest is as Anki has it.

    Of the vault's own note: `ord`, whether its type has one card alone (`is_single`), and with its first card the first
    `fields` and the `tags`. Of another: whether it `is_made`; the `reasons` say what it had to do without, or else why
    it is not.
    """

    id: int
    note: int
    mod: int
    type: int
    queue: int
    answered: int
    note_mod: int
    flag: int = 0
    due: int = 0
    is_own: bool = False
    ord: int = 0
    is_single: bool = False
    fields: Annotated[tuple[Field, ...], msgspec.Meta(max_length=MOST_COMPARED)] | None = None
    guid: Short = ""
    note_type: Short = ""
    reasons: Few = ()
    too_large: Short = ""
    lost: Short = ""
    is_made: bool = False
    key: Short = ""
    deck: Short = ""
    tags: Tags = ()
    question: Side = ""
    answer: Side = ""
    names: Names = ()
    rtl: tuple[Literal["question", "answer"], ...] = ()


class _Problem(msgspec.Struct, frozen=True):
    """A reply that names what is wrong with the package."""

    what: Short
    hint: Short = ""


class _Part(msgspec.Struct, frozen=True):
    """A part of a list."""

    unreadable: _Problem | None = None
    done: bool = True


class _Head(_Part, frozen=True):
    """The reply to opening a package."""

    container: Short = ""
    notes: int = 0
    cards: int = 0
    reviews: int = 0
    media: int = 0
    created: int = 0
    minutes_west: int | None = None


class _Decks(_Part, frozen=True):
    """The reply with the decks."""

    items: tuple[tuple[int, Short], ...] = ()


class _Identities(_Part, frozen=True):
    """A part of the notes' identities."""

    items: tuple[Identity, ...] = ()


class _Cards(_Part, frozen=True):
    """A part of the cards."""

    items: tuple[PackageCard, ...] = ()


class _Rows(_Part, frozen=True):
    """A part of the review log."""

    items: tuple[AnkiRow, ...] = ()


class PackagePreset(msgspec.Struct, array_like=True, frozen=True):
    """A preset, as `learning.anki.read_presets.AnkiPreset`."""

    name: Short
    cards: int
    parameters: Annotated[tuple[float, ...], msgspec.Meta(max_length=MAX_PARAMETERS)]
    retention: float | None
    numbers: bool


class _Presets(_Part, frozen=True):
    """The reply with the presets."""

    items: tuple[PackagePreset, ...] = ()


class _Bytes(_Part, frozen=True):
    """A part of a file."""

    items: tuple[str, ...] = ()


Part = TypeVar("Part", bound=_Part)
Ask = Callable[[dict[str, Any], Callable[[bytes], Any]], Any]  # a request, and the decoder of its reply


@dataclass(slots=True)
class Package:
    """The package at `path`, of which `ask` answers. Lists are read while they are asked for, one at a time.

    Everything here raises Unreadable for a fault of the package, and WorkerFailed where its reader broke its limits.
    """

    path: Path
    ask: Ask
    container: str = ""
    notes: int = 0
    cards: int = 0
    reviews: int = 0
    media: int = 0
    created: int = 0
    minutes_west: int | None = None

    def open(self) -> None:
        """Open the package. Raises: Unreadable, WorkerFailed."""
        head = self._reply({"op": "open"}, _Head)
        self.container, self.media = head.container, head.media
        self.notes, self.cards, self.reviews = head.notes, head.cards, head.reviews
        self.created, self.minutes_west = head.created, head.minutes_west

    def decks(self) -> dict[int, str]:
        """Return the names of the decks by number."""
        return dict(_at_most(_MAX_DECKS, self._listed({"op": "decks"}, _Decks)))

    def presets(self, decks: Sequence[int] | None) -> list[PackagePreset]:
        """Return the presets with FSRS parameters that `decks` (None: all) use."""
        return list(_at_most(MAX_PRESETS, self._listed({"op": "presets", "decks": decks}, _Presets)))

    def identities(self, prefix: str) -> Iterator[Identity]:
        """Yield the identity of every note, in order of their numbers; `prefix` begins the tags that name a vault."""
        return _at_most(MAX_NOTES, self._listed({"op": "notes", "prefix": prefix}, _Identities))

    def made_cards(
        self, decks: Sequence[int] | None, own: Sequence[int], left_out: Sequence[int]
    ) -> Iterator[PackageCard]:
        """Yield the cards in `decks` (None: all), in order of their notes, without those of notes in `left_out`."""
        asked = {"op": "cards", "decks": decks, "own": own, "left_out": left_out}
        left = MAX_MADE + 2 * LARGEST
        for card in _at_most(MAX_CARDS, self._listed(asked, _Cards)):
            left -= len(card.question) + len(card.answer) + sum(map(len, (*card.names, *card.tags)))
            if left < 0:
                raise WorkerFailed("the package has more text than is allowed")
            yield card

    def rows(self) -> Iterator[AnkiRow]:
        """Yield Anki's log of reviews, oldest first."""
        return _at_most(MAX_REVIEWS, self._listed({"op": "reviews"}, _Rows))

    def media_files(self, wanted: frozenset[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (name, bytes) of each picture or sound that is `wanted` and there; no bytes of one damaged or too
        large.
        """
        left = MAX_TOTAL
        for name in sorted(wanted):
            data, is_here = bytearray(), False
            for part in self._listed({"op": "file", "name": name}, _Bytes):
                is_here = True
                data += base64.b64decode(part, validate=True)
                if len(data) > min(left, MAX_MEDIUM):
                    raise WorkerFailed("a file in the package is larger than allowed")
            left -= len(data)
            if is_here:
                yield name, bytes(data)

    def _listed(self, message: dict[str, Any], type_: Any) -> Iterator[Any]:
        """Yield the items of a list, part by part."""
        part = self._reply(message, type_)
        while not part.done:
            yield from part.items
            part = self._reply({"op": "more"}, type_)

    def _reply(self, message: dict[str, Any], type_: type[Part]) -> Part:
        """Return the checked reply to a request."""
        reply: Part = self.ask(message, msgspec.json.Decoder(type_).decode)
        if reply.unreadable is not None:
            what, hint = (clean_line(text) for text in (reply.unreadable.what, reply.unreadable.hint))
            raise Unreadable(what, where=clean_line(str(self.path)), hint=hint)
        return reply


def _at_most(most: int, items: Iterator[T]) -> Iterator[T]:
    """Yield the items. Raises: WorkerFailed if there are more than `most`."""
    for number, item in enumerate(items):
        if number >= most:
            raise WorkerFailed("the package exceeds the size limits for an import")
        yield item


@contextmanager
def open_package(path: Path) -> Iterator[Package]:
    """Return the package at `path`, read by a process of its own. Raises: Unreadable, WorkerFailed."""
    program = ("-m", "learning.anki.worker", str(path.absolute()))
    hint = "the rest was not imported: import one deck at a time with --deck, or export less from Anki"
    with Child(program, reading="reading the package", hint=hint, max_reply=_MAX_REPLY) as child:
        package = Package(path, child.exchange)
        package.open()
        yield package
