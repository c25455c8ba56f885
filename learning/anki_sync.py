"""Cards and reviews of a vault and a running Anki, brought together: reviews come home, notes go there.

A note is known by its field CardId, whichever way it came into Anki. New ones go there as a package, so that they have
the GUIDs of `export anki`; where the add-on cannot take a package, one by one, and then Anki chooses the GUIDs. What a
human wrote into a note in Anki stays until the vault says something new.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from learning.anki import (
    BACK,
    FIELDS,
    FRONT,
    MODEL,
    STAMPS,
    STYLE,
    VAULT_TAG,
    AnkiNote,
    fields_digest,
    keep_stamps,
    notes_of,
    package,
    read_stamps,
    stamped,
    vault_tag,
)
from learning.anki_connect import AnkiConnect, AnkiNotReached, AnkiRefused
from learning.anki_made import Made, keep_made
from learning.anki_media import Media
from learning.anki_reviews import AnkiReview, dated, imports, known_origins
from learning.desk import Desk
from vault.diagnostic import Diagnostic
from vault.errors import Refused, WriteFailed
from vault.guard import Scope, sha256_hex
from vault.ids import CardId
from vault.log_event import Import
from vault.review_log import append

PUSHED = ".retain/anki-sync.json"
_PACKAGE = ".retain/anki-sync.apkg"  # for as long as Anki reads it
RETRACTED = "retain::retracted"
_OURS = "retain::"  # tags that begin so are ours; a human's own stay
_FEW, _MANY = 50, 500  # in one request: notes that are written, and what is only read
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """A note in Anki that has a CardId. `cards` are Anki's numbers of its cards, the first of which is ours."""

    id: int
    card: CardId
    fields: Mapping[str, str]
    tags: tuple[str, ...]
    cards: tuple[int, ...]

    @property
    def digest(self) -> str:
        """Says whether our fields are what we last took there."""
        return fields_digest(self.fields.get(name, "") for name in FIELDS)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done in Anki. `edited` differ because somebody edited them there: they stay. `retracted` are to be
    suspended, `twice` are cards that two notes show."""

    create: tuple[AnkiNote, ...] = ()
    update: tuple[tuple[Found, AnkiNote], ...] = ()
    retag: tuple[tuple[Found, AnkiNote], ...] = ()
    unchanged: tuple[AnkiNote, ...] = ()
    edited: tuple[CardId, ...] = ()
    retracted: tuple[Found, ...] = ()
    twice: tuple[CardId, ...] = ()


@dataclass(frozen=True, slots=True)
class Home:
    """The reviews that are new, how many of the others had come before, and what is odd about the rest."""

    new: tuple[Import, ...] = ()
    known: int = 0
    odd: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """What was done, or in a dry run would be. `failed` says of each note or picture why Anki would not take it."""

    plan: Plan
    home: Home
    media: int = 0
    failed: tuple[str, ...] = ()


def sync(desk: Desk, anki: AnkiConnect, *, dry_run: bool = False, newer: bool = False) -> Synced:
    """Brings every review of our cards home, then takes new and changed cards there; safe to repeat or to break off.

    With `newer`, the vault's words also replace what was edited in Anki; with `dry_run`, Anki is only read.
    Raises: AnkiNotReached, AnkiRefused; WriteFailed, Refused or LockHeld if the log cannot be written.
    """
    tag = vault_tag(desk.vault.settings.vault_id)
    found = _found(anki, desk.cards, tag)
    media, old = Media(desk.vault), desk.vault.read_bytes(PUSHED)
    pushed = read_pushed(old)
    retracted = {card for card in desk.cards if desk.state(card).retracted}
    notes, known = notes_of(desk, media), read_stamps(desk.vault.read_bytes(STAMPS))
    # What an export gave out counts as taken there, for cards that no sync has taken yet.
    given = {n.card: n.shown for n in notes if n.card in known and known[n.card].digest == n.digest}
    older = {card: stamp.shown for card, stamp in known.items()}
    plan = planned(notes, found, {} if newer else given | pushed, retracted, older)
    home = _home(desk, anki, found)
    if dry_run:
        return Synced(plan, home)
    if home.new:
        append(desk.vault.guard(Scope.LOG), *home.new)
    there = [*plan.create, *plan.unchanged, *(note for _, note in (*plan.update, *plan.retag))]
    stamps = known | stamped(there, known, desk.now)
    new = [replace(note, tags=(*note.tags, tag)) for note in plan.create]
    came: Container[CardId] = ()
    if new:
        data = package(desk.vault.settings.vault_id, new, stamps, media.files)
        if _package_taken(desk, anki, data):
            came = {one.card for one in _found(anki, desk.cards, tag)}
    sent, failed, made = _taken_there(anki, plan, [note for note in new if note.card not in came], media)
    if made:
        keep_made(desk.vault, made)
    keep_stamps(desk, stamps)
    _keep(desk, old, pushed | {note.card: note.shown for note in there})
    return Synced(plan, home, sent, tuple(failed))


def planned(
    notes: Iterable[AnkiNote],
    found: Iterable[Found],
    pushed: Mapping[CardId, str],
    retracted: Container[CardId] = (),
    older: Mapping[CardId, Collection[str]] | None = None,
) -> Plan:
    """What makes Anki's notes those of the vault. `pushed` has the digest of each card's fields as we took them there.

    Where Anki holds other words, though the vault says what it said then, somebody edited the note in Anki; unless
    they are those of an `older` export, and a newer one was never imported.
    """
    there: dict[CardId, list[Found]] = {}
    for one in found:
        there.setdefault(one.card, []).append(one)
    create, update, retag, edited, same = [], [], [], [], []
    for note in notes:
        ours = there.get(note.card)
        if ours is None:
            create.append(note)
            continue
        for one in ours:
            if one.digest != note.shown:
                stale = older is not None and one.digest in older.get(note.card, ())
                if pushed.get(note.card) == note.shown and not stale:
                    edited.append(note.card)
                else:
                    update.append((one, note))
            elif set(_tags(one, note)) != set(one.tags):
                retag.append((one, note))
            else:
                same.append(note)
    left = [one for card, ones in there.items() if card in retracted for one in ones if RETRACTED not in one.tags]
    twice = [card for card, ones in there.items() if len(ones) > 1]
    return Plan(
        tuple(create),
        tuple(update),
        tuple(retag),
        tuple(same),
        tuple(edited),
        retracted=tuple(left),
        twice=tuple(twice),
    )


def _tags(one: Found, note: AnkiNote) -> list[str]:
    """The tags that the note is to have: ours, and whatever a human put there."""
    return list(dict.fromkeys([*note.tags, *(tag for tag in one.tags if _stays(tag))]))


def _stays(tag: str) -> bool:
    return not tag.startswith(_OURS) or tag.startswith(VAULT_TAG)


# --- what Anki holds ------------------------------------------------------------------------------------------------


def _found(anki: AnkiConnect, cards: Container[CardId], tag: str) -> list[Found]:
    """The notes in Anki of the vault's cards, in the order in which they were made; none that another vault made."""
    numbers = anki.call("findNotes", query='"CardId:_*"')
    _check(isinstance(numbers, list) and all(type(n) is int for n in numbers), "findNotes", anki)
    found = []
    for some in _parts(sorted(set(numbers)), _MANY):
        told = anki.call("notesInfo", notes=list(some))
        _check(isinstance(told, list), "notesInfo", anki)
        found += [_note(one, anki) for one in told if one]  # nothing is said of a note that was deleted meanwhile
    return [one for one in found if one.card in cards and _whose(one) in ("", tag)]


def _whose(one: Found) -> str:
    return next((tag for tag in one.tags if tag.startswith(VAULT_TAG)), "")


def _note(told: Any, anki: AnkiConnect) -> Found:
    try:
        fields = {str(name): value["value"] for name, value in told["fields"].items()}
        note = Found(
            told["noteId"], CardId(fields["CardId"].strip()), fields, tuple(told["tags"]), tuple(told["cards"])
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise _no_answer("notesInfo", anki) from error
    texts, numbers = [*fields.values(), *note.tags], [note.id, *note.cards]
    _check(all(isinstance(t, str) for t in texts) and all(type(n) is int for n in numbers), "notesInfo", anki)
    return note


def _rows(anki: AnkiConnect, found: Sequence[Found]) -> Iterator[AnkiReview]:
    """Every row of Anki's review log that is of a card of ours."""
    ours = {one.cards[0]: one.card for one in found if one.cards}
    for some in _parts(sorted(ours), _MANY):
        told = anki.call("getReviewsOfCards", cards=list(some))
        _check(isinstance(told, dict), "getReviewsOfCards", anki)
        for number, reviews in told.items():
            card = ours.get(int(number)) if number.isdecimal() and number.isascii() else None
            _check(card is not None and isinstance(reviews, list), "getReviewsOfCards", anki)
            for row in reviews:
                yield _review(card, row, anki)


def _review(card: Any, row: Any, anki: AnkiConnect) -> AnkiReview:
    _check(isinstance(row, dict), "getReviewsOfCards", anki)
    numbers = [row.get(name) for name in ("id", "ease", "time", "type", "factor")]
    _check(all(type(n) is int for n in numbers), "getReviewsOfCards", anki)
    return AnkiReview(card, *numbers)


def _check(fits: bool, action: str, anki: AnkiConnect) -> None:
    if not fits:
        raise _no_answer(action, anki)


def _no_answer(action: str, anki: AnkiConnect) -> AnkiNotReached:
    what = f"what answers there is no AnkiConnect: its answer to `{action}` has another form"
    return AnkiNotReached(what, where=anki.shown, hint="update Anki and the add-on")


def _parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


# --- reviews come home ----------------------------------------------------------------------------------------------


def _home(desk: Desk, anki: AnkiConnect, found: Sequence[Found]) -> Home:
    """What is new in Anki's log of reviews, not yet written down."""
    rows, odd = dated(_rows(anki, found), desk.now)
    known = known_origins(desk.log.events)
    new = imports(rows, known, desk.vault.settings.vault_id, desk.scheduler.calendar.zone)
    return Home(tuple(new), sum(row.origin in known for row in rows), tuple(odd))


# --- notes go there -------------------------------------------------------------------------------------------------


def _package_taken(desk: Desk, anki: AnkiConnect, data: bytes) -> bool:
    """Whether Anki says that it took the package in: it may see no file of ours, or the add-on be older than Anki."""
    guard = desk.vault.guard(Scope.LOG)
    old = guard.read(_PACKAGE)
    guard.write(_PACKAGE, data, expect=None if old is None else sha256_hex(old))
    try:
        return anki.call("importPackage", path=str(desk.vault.root / _PACKAGE)) is True
    except AnkiRefused:
        return False
    finally:
        guard.remove(_PACKAGE, expect=sha256_hex(data))


def _taken_there(
    anki: AnkiConnect, plan: Plan, new: Sequence[AnkiNote], media: Media
) -> tuple[int, list[str], dict[CardId, Made]]:
    """Writes what was planned into Anki, with the notes `new` one by one: the number of pictures sent, what Anki would
    not take, and which notes it made."""
    failed: list[str] = []
    sent = _send_media(anki, media.files, failed) if new or plan.update else 0
    if new:
        _make_note_type(anki)
        for deck in dict.fromkeys("::".join(note.deck) for note in new):
            anki.call("createDeck", deck=deck)
    answers = _each(anki, "addNote", [(note.card, {"note": _new(note)}) for note in new], failed)
    made = {card: Made(number) for card, number in answers if type(number) is int}
    changed = [(note.card, {"note": {"id": one.id, "fields": _named(note)}}) for one, note in plan.update]
    _each(anki, "updateNoteFields", changed, failed)
    for one, note in (*plan.update, *plan.retag):
        _retag(anki, one, _tags(one, note))
    for one in plan.retracted:
        anki.call("suspend", cards=list(one.cards))
        _retag(anki, one, [*one.tags, RETRACTED])
    return sent, failed, made


def _each(
    anki: AnkiConnect, action: str, asked: Sequence[tuple[CardId, dict[str, Any]]], failed: list[str]
) -> list[tuple[CardId, Any]]:
    """(card, what Anki answered) wherever it did what was asked."""
    done = []
    for some in _parts(asked, _FEW):
        for (card, _), answer in zip(some, anki.each(action, [params for _, params in some]), strict=True):
            if isinstance(answer, AnkiRefused):
                failed.append(f"card {card}: {answer.what}")
            else:
                done.append((card, answer))
    return done


def _new(note: AnkiNote) -> dict[str, Any]:
    """A note as `addNote` wants it. Two cards may ask the same question: that makes them no doubles."""
    return {
        "deckName": "::".join(note.deck),
        "modelName": MODEL,
        "fields": _named(note),
        "tags": list(note.tags),
        "options": {"allowDuplicate": True},
    }


def _named(note: AnkiNote) -> dict[str, str]:
    return dict(zip(FIELDS, note.fields, strict=True))


def _retag(anki: AnkiConnect, one: Found, tags: Sequence[str]) -> None:
    for action, words in (
        ("removeTags", [tag for tag in one.tags if tag not in tags]),
        ("addTags", [tag for tag in tags if tag not in one.tags]),
    ):
        if words:
            anki.call(action, notes=[one.id], tags=" ".join(words))


def _make_note_type(anki: AnkiConnect) -> None:
    """Our note type, made where Anki has none. Raises: AnkiRefused if another one has its name."""
    names = anki.call("modelNames")
    _check(isinstance(names, list), "modelNames", anki)
    if MODEL not in names:
        templates = [{"Name": "Card", "Front": FRONT, "Back": BACK}]
        anki.call("createModel", modelName=MODEL, inOrderFields=list(FIELDS), css=STYLE, cardTemplates=templates)
        return
    there = anki.call("modelFieldNames", modelName=MODEL)
    _check(isinstance(there, list), "modelFieldNames", anki)
    if missing := [name for name in FIELDS if name not in there]:
        what = f"Anki's note type `{MODEL}` has no field {', '.join(missing)}"
        raise AnkiRefused(what, where=anki.shown, hint="give it that field again, or give that note type another name")


def _send_media(anki: AnkiConnect, files: Mapping[str, bytes], failed: list[str]) -> int:
    """Sends the pictures that Anki hasn't got. Their names say what is in them, so that no other file is replaced."""
    if not files:
        return 0
    there = anki.call("getMediaFilesNames", pattern="retain-*")
    _check(isinstance(there, list), "getMediaFilesNames", anki)
    missing = sorted(files.keys() - {name for name in there if isinstance(name, str)})
    for name in missing:
        try:
            anki.call("storeMediaFile", filename=name, data=base64.b64encode(files[name]).decode())
        except AnkiRefused as refused:
            failed.append(f"picture {name}: {refused.what}")
    return len(missing)


# --- what was taken there last time ---------------------------------------------------------------------------------


def read_pushed(data: bytes | None) -> dict[CardId, str]:
    """Card -> digest of its fields as they were taken to Anki; none where the file is gone or spoilt."""
    try:
        return {CardId(card): str(digest) for card, digest in json.loads(data or b"{}").items()}
    except (ValueError, AttributeError, RecursionError):
        return {}


def _keep(desk: Desk, old: bytes | None, pushed: Mapping[CardId, str]) -> None:
    data = json.dumps(pushed, indent=0, sort_keys=True).encode()
    with suppress(WriteFailed, Refused):  # without it the next time takes an edit made in Anki for an older text
        desk.vault.guard(Scope.LOG).write(PUSHED, data, expect=None if old is None else sha256_hex(old))
