"""Export of decks as an Anki package. The only module that imports `genanki`.

A card keeps its GUID for ever, so that importing a newer package updates its note and leaves its schedule alone. Anki
takes a note in only if it is newer than its own; so each note carries the instant at which its content was first
exported, and an edit always comes later than that.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
import unicodedata
import zipfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from learning.anki.deck_names import DECK_TREES, deck_name, decks_below, tag_word
from learning.anki.export_schedule import Schedule, schedule_of, write_schedule
from learning.anki.field_html import NameOf, directed, field, field_of_words, inert
from learning.anki.media import Media
from learning.anki.note_log import NoteRecord, read_notes, record
from learning.anki.note_shapes import ImportedNotes, Shape, shape_of_block
from learning.anki.note_types import BASIC, CLOZE, NoteType
from learning.anki.tags import user_tags
from learning.cards.workspace import Desk
from learning.formats.targets import MARK, is_package
from learning.store.placed import Placed
from vault.errors import Refused, WriteFailed
from vault.evidence.evidence import Evidence, EvidenceReader
from vault.files.exports import export_file
from vault.ids import CardId, vault_digest
from vault.log.ledger import Event, note_event
from vault.log.review_log import unix_ms
from vault.model.cloze import with_marks
from vault.text.formatting import clean_line

VAULT_TAG = "retain::vault::"
_MODEL_MOD = 1_763_900_000  # Unix seconds; raise it with each change of fields, templates or style
# The columns that are no parameter: to be synced, no checksum (Anki makes it), no flags, no data; a card is new.
_NOTE = "INSERT INTO notes VALUES (?, ?, ?, ?, -1, ?, ?, ?, 0, 0, '')"
_CARD = "INSERT INTO cards VALUES (?, ?, ?, ?, ?, -1, 0, 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, '')"
_MARKS = re.compile("[\ue010-\ue013]")  # stand for those of deletions while Markdown is read
_LEVEL = 3  # of deflate: a third quicker than the usual 6, and a tenth larger
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the date in a zip that says nothing


@dataclass(frozen=True, slots=True)
class AnkiNote:
    """The cards of a block, or of an imported note, as a note in Anki. `fields` are HTML, `deck` the names of nested
    decks, outermost first.

    `card` is the first id of the block, which names the note; `several` as `cards`, where it is not that card alone,
    and `homes` their decks where they differ.
    """

    card: CardId
    guid: str
    deck: tuple[str, ...]
    fields: tuple[str, ...]
    tags: tuple[str, ...]
    type: NoteType = BASIC
    several: tuple[tuple[int, CardId], ...] = ()
    homes: tuple[tuple[str, ...], ...] = ()

    @property
    def decks(self) -> tuple[tuple[str, ...], ...]:
        """Return the deck of each card."""
        return self.homes or (self.deck,) * len(self.cards)

    @property
    def cards(self) -> tuple[tuple[int, CardId], ...]:
        """Return the cards, each with its number among those of the note in Anki."""
        return self.several or ((0, self.card),)

    @property
    def shown(self) -> str:
        """Return the digest of the fields, by which they are compared with Anki's (see `fields_digest`)."""
        return fields_digest(self.fields)

    @property
    def digest(self) -> str:
        """Return a digest of all that Anki shows of the note."""
        return hashlib.sha256("\x1f".join([*self.fields, *self.tags]).encode()).hexdigest()[:16]


def fields_digest(values: Iterable[str]) -> str:
    """Return the digest of our fields in their order; Anki composes letters and marks (NFC), which is no change."""
    words = unicodedata.normalize("NFC", "\x1f".join(values))
    return hashlib.sha256(words.encode(errors="replace")).hexdigest()[:16]


def guid_of(vault_id: str, card: CardId) -> str:
    """Return the note's GUID, which stays the same whatever becomes of the card's words."""
    import genanki

    return str(genanki.guid_for(vault_id, card))


def vault_tag(vault_id: str) -> str:
    """Return the tag that names the vault of a note whose GUID Anki chose, as `sync` creates it."""
    return f"{VAULT_TAG}{vault_digest(vault_id)}"


def notes_of(
    desk: Desk,
    media: Media | None = None,
    left_out: Container[CardId] = (),
    known: Mapping[CardId, NoteRecord] | None = None,
    decks: str = DECK_TREES[0],
) -> list[AnkiNote]:
    """Return a note for every block of cards but retracted ones and those in `left_out`, in the order of the decks;
    the pictures they show are added to `media`. GUIDs that Anki chose are `known`; `decks` is one of DECK_TREES.
    """
    settings = desk.vault.settings
    reader = EvidenceReader(desk.vault)
    imported = ImportedNotes(desk)
    tags: dict[str, tuple[str, ...]] = {}
    blocks: dict[CardId, list[Placed]] = {}
    for id_, placed in desk.cards.items():
        if id_ not in left_out and not desk.state(id_).retracted:
            blocks.setdefault(imported.name_of(id_) or placed.card.note or id_, []).append(placed)

    def tags_of(placed: Placed) -> tuple[str, ...]:
        return tags.setdefault(placed.deck.path, placed.deck.properties.texts("tags"))

    def deck_of(placed: Placed) -> tuple[str, ...]:
        return ("retain", deck_name(settings.name) or "vault", *decks_below(placed, tags_of(placed), decks))

    notes = []
    for note, cards, shape in _shaped(blocks, imported):
        placed = cards[0]
        own, deck = tags_of(placed), deck_of(placed)
        ours = [
            f"retain::concept::{tag_word(placed.concept)}",
            *([f"retain::kind::{placed.kind}"] if placed.kind else []),
        ]
        marks = (tag for each in cards for tag in desk.state(each.id).tags)
        words = dict.fromkeys([*ours, *filter(None, map(tag_word, (*own, *marks)))])
        theirs = known[note].guid if known and note in known else ""
        guid = theirs or guid_of(settings.vault_id, note)
        fields = _fields(note, placed, shape, reader.of(placed.card.support), media.name_of if media else None)
        several = shape.cards if shape.cards != ((0, note),) else ()
        homes = tuple(map(deck_of, cards))
        homes = homes if len(set(homes)) > 1 else ()
        notes.append(AnkiNote(note, guid, deck, fields, tuple(words), shape.type, several, homes))
    return notes


def _shaped(
    blocks: Mapping[CardId, list[Placed]], imported: ImportedNotes
) -> Iterator[tuple[CardId, list[Placed], Shape]]:
    """Yield the name of each note, its cards, and what it is; an imported note can make several."""
    for note, cards in blocks.items():
        if note not in imported.cards:
            yield note, cards, shape_of_block(cards)
            continue
        by_id = {placed.id: placed for placed in cards}
        shapes = imported.shapes(note, cards)
        for shape in shapes:
            own = [by_id[card] for _, card in shape.cards]
            yield (note if len(shapes) == 1 and shape.type is not BASIC else own[0].id), own, shape


def _fields(
    note: CardId, placed: Placed, shape: Shape, evidence: Sequence[Evidence], name_of: NameOf | None
) -> tuple[str, ...]:
    """Return the fields of a note as HTML."""
    quotes = [field_of_words(e.claim.quote) for e in evidence if e.claim is not None]
    sources = list(dict.fromkeys(map(_source, evidence)))
    sources += [field(re.sub(r"(?m)^> ?", "", shape.below), name_of)] if shape.below.strip() else []
    about = (placed.kind.capitalize(), inert(placed.title), "<br>".join(quotes), "; ".join(sources), note)
    if shape.type is CLOZE:
        return (directed(cloze_field(shape.words[0], name_of), rtl=shape.rtl[0]), *about)
    sides = (_side(words, number % 2 == 0, name_of) for number, words in enumerate(shape.words))
    return (*(directed(side, rtl=rtl) for side, rtl in zip(sides, shape.rtl, strict=True)), *about)


def _source(evidence: Evidence) -> str:
    """Return the HTML that names a source, a link where it is on the web."""
    place = inert(clean_line(evidence.place))
    return f'<a href="{inert(evidence.address)}">{place}</a>' if evidence.address else place


def _side(words: str, is_question: bool, name_of: NameOf | None) -> str:
    """Return the HTML of a side; not blank for a question that is there, as Anki makes no card of one that is."""
    shown = field(words, name_of)
    return shown or (inert(clean_line(words)) or "?" if is_question and words else "")


def cloze_field(text: str, name_of: NameOf | None) -> str:
    """Return the HTML of a text whose deletions act in Anki, as nothing else in it does."""
    html = field(with_marks(_MARKS.sub("", text), "\ue010{}\ue011", "\ue012", "\ue013"), name_of)
    html = re.sub("\ue010([0-9,]+)\ue011", r"{{c\1::", html)
    return html.replace("\ue012", "::").replace("\ue013", "}}")


def modified(
    notes: Iterable[AnkiNote], known: Mapping[CardId, NoteRecord], now: datetime, *, fresh: bool = False
) -> dict[CardId, int]:
    """Return since which Unix second each note says what it says: as known while that stays, else `now` and later than
    before; with `fresh` for every note. A note that was changed in Anki since, and here by its tags alone, is older
    than the one there: the package must not replace words that were edited in Anki.
    """
    seconds: dict[CardId, int] = {}
    second = max(1, unix_ms(now) // 1000)
    for note in notes:
        old = known.get(note.card, NoteRecord())
        if old.modified and old.digest == note.digest and not fresh:
            seconds[note.card] = old.modified
        elif old.imported >= old.modified > 0 and old.fields == note.shown and not fresh:
            seconds[note.card] = min(old.imported, max(old.modified + 1, old.imported - 1))
        else:
            seconds[note.card] = max(second, old.modified + 1)
    return seconds


def given_out(
    vault_id: str,
    notes: Iterable[AnkiNote],
    seconds: Mapping[CardId, int],
    known: Mapping[CardId, NoteRecord],
    *,
    synced: bool = False,
) -> Iterator[Event]:
    """Yield the events of notes that a package or a sync gave out, unless they are known."""
    for note in notes:
        second, old = seconds[note.card], known.get(note.card, NoteRecord())
        if second > old.modified or (synced and old.synced != {note.shown}):
            facts = {"note": note.digest, "fields": note.shown}
            tags = sorted(user_tags(note.tags).values())
            more = {"tags": tags} if tags else {}
            yield note_event(vault_id, "sync" if synced else "export", note.card, second, **facts, **more)


def package(
    vault_id: str,
    notes: Sequence[AnkiNote],
    seconds: Mapping[CardId, int],
    media: Mapping[str, bytes] | None = None,
    schedule: Callable[[Mapping[CardId, int]], Schedule] | None = None,
) -> bytes:
    """Return the bytes of an .apkg. `seconds` are when notes were modified; `media` maps names of pictures to their
    bytes; `schedule` makes the schedule of the cards with these numbers, without it all are new.
    """
    named = dict.fromkeys(deck for note in notes for deck in note.decks)
    decks = {deck: _deck_id(vault_id, deck) for deck in named}
    return _zipped(_database(decks, notes, seconds, schedule), media or {})


def _deck_id(vault_id: str, deck: tuple[str, ...]) -> int:
    """Return Anki's number of a deck, which depends on vault and name alone."""
    digest = hashlib.sha256("\x1f".join((vault_id, *deck)).encode()).digest()
    return (1 << 30) + int.from_bytes(digest[:4], "big") % (1 << 30)  # Anki's own are milliseconds, far above


def _database(
    decks: Mapping[tuple[str, ...], int],
    notes: Sequence[AnkiNote],
    seconds: Mapping[CardId, int],
    schedule: Callable[[Mapping[CardId, int]], Schedule] | None,
) -> bytes:
    """Return the collection: genanki's note type and decks, with notes and cards written in bulk."""
    import genanki

    made = [genanki.Deck(number, "::".join(deck)) for deck, number in decks.items()]
    for type_ in dict.fromkeys(note.type for note in notes):
        made[0].add_model(_model(type_))
    connection = sqlite3.connect(":memory:")
    try:
        cursor = connection.cursor()
        genanki.Package(made).write_to_db(cursor, _MODEL_MOD, iter(()))
        numbers = _numbers(notes, seconds)
        cursor.executemany(_NOTE, (_note_row(note, numbers[note.cards[0][1]], seconds[note.card]) for note in notes))
        for place, note in enumerate(notes):
            number = numbers[note.cards[0][1]]
            for (ord_, card), deck in zip(note.cards, note.decks, strict=True):
                cursor.execute(_CARD, (numbers[card], number, decks[deck], ord_, seconds[note.card], place))
        if schedule is not None:
            write_schedule(cursor, schedule(numbers))
        connection.commit()
        return connection.serialize()
    finally:
        connection.close()


def _model(type_: NoteType) -> Any:
    """Return the note type as genanki writes it."""
    import genanki

    return genanki.Model(
        type_.id,
        type_.name,
        fields=[{"name": name} for name in type_.fields],
        templates=[{"name": each.name, "qfmt": each.front, "afmt": each.back} for each in type_.templates],
        css=type_.style,
        model_type=genanki.Model.CLOZE if type_.is_cloze else genanki.Model.FRONT_BACK,
    )


def _numbers(notes: Iterable[AnkiNote], seconds: Mapping[CardId, int]) -> dict[CardId, int]:
    """Return a number for each card, about the Unix millisecond of its words; that of its first card is the note's.
    Anki gives it another one if it is taken, and knows notes that it has by their GUIDs.
    """
    numbers: dict[CardId, int] = {}
    last = 0
    for note in sorted(notes, key=lambda note: seconds[note.card]):
        for _, card in note.cards:
            numbers[card] = last = max(seconds[note.card] * 1000, last + 1)
    return numbers


def _note_row(note: AnkiNote, number: int, second: int) -> tuple[object, ...]:
    """Return number, GUID, note type, modification, tags, fields and the field that Anki sorts by."""
    return (
        number,
        note.guid,
        note.type.id,
        second,
        f" {' '.join(note.tags)} ",
        "\x1f".join(note.fields),
        note.fields[0],
    )


def _zipped(database: bytes, media: Mapping[str, bytes]) -> bytes:
    """Return the zip of the package."""
    names = sorted(media)
    listed = json.dumps({str(number): name for number, name in enumerate(names)}).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        pictures = ((str(number), media[name]) for number, name in enumerate(names))
        archive.comment = MARK
        for name, data in (("collection.anki2", database), ("media", listed), *pictures):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=_LEVEL)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class Exported:
    """The number of notes in a package; cards that an earlier one held and that were retracted since, as no package can
    remove a note in Anki; and cards that would be there twice, as a sync created notes of unknown GUIDs.

    `incomplete` are imported notes with fewer cards than they came with, as some were deleted or retired here, and
    `divided` those of which each card is a note of its own; each by its first card.
    """

    notes: int
    retracted: tuple[CardId, ...] = ()
    doubled: tuple[CardId, ...] = ()
    incomplete: tuple[CardId, ...] = ()
    divided: tuple[CardId, ...] = ()


def export_anki(
    desk: Desk,
    path: Path,
    *,
    fresh: bool = False,
    scheduled: bool = False,
    decks: str = DECK_TREES[0],
    left_out: Container[CardId] = (),
    force: bool = False,
) -> Exported:
    """Write the package to `path`.

    With `fresh`, every note is newer than whatever Anki holds: for one that took an older package after a newer. With
    `scheduled`, reviews, memory states, due dates and a preset are in it.
    Raises: Refused, also for a file that no such export wrote, but with `force`; WriteFailed.
    """
    media, known, vault_id = Media(desk.vault), read_notes(desk.vault), desk.vault.settings.vault_id
    notes = notes_of(desk, media, left_out, known, decks)
    seconds = modified(notes, known, desk.now, fresh=fresh)
    replaces = (lambda _: True) if force else is_package
    with export_file(path, forbidden=desk.vault.kept_out(), replaces=replaces) as temporary:
        schedule = partial(schedule_of, desk) if scheduled else None
        temporary.write_bytes(package(vault_id, notes, seconds, media.files, schedule))
    with suppress(WriteFailed, Refused):  # of a vault that cannot be written: the next export makes every note newer
        record(desk.vault, given_out(vault_id, notes, seconds, known))
    written = {note.card for note in notes}
    there = [(card, known[card]) for card in desk.cards if card in known]
    imported = ImportedNotes(desk).cards
    count = {note.card: len(note.cards) for note in notes}
    divided = {name for name, cards in imported.items() if sum(card in count for card in cards.values()) > 1}
    return Exported(
        len(notes),
        tuple(card for card, one in there if one.modified and desk.state(card).retracted and card not in written),
        tuple(card for card, one in there if one.lacks_guid),
        tuple(n for n, cards in imported.items() if n not in divided and count.get(n, len(cards)) < len(cards)),
        tuple(name for name in imported if name in divided),
    )
