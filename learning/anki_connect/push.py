"""Changes in a running Anki: notes, pictures and tags are sent in batches, and one refusal stops none of the others.

New notes go as a package, so that they have the GUIDs of the export; where the add-on takes none, one by one.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from learning.anki.export_package import AnkiNote
from learning.anki.import_package import Reported
from learning.anki.note_types import NoteType
from learning.anki_connect.client import AnkiConnect, AnkiRefused
from learning.anki_connect.remote import Found, check, parts
from vault.files.guard import Scope, sha256_hex
from vault.ids import CardId
from vault.vault import Vault

RETRACTED = "retain::retracted"
_PACKAGE = ".retain/anki-sync.apkg"  # for as long as Anki reads it
_FEW = 50  # changes in one request
Progress = Callable[[int, int], None]
Job = tuple[CardId, str, dict[str, Any]]  # whose card it is, the action of AnkiConnect and its parameters


@dataclass(slots=True)
class SyncResults:
    """What was done in Anki so far. `created` are the numbers of notes whose GUIDs Anki chose, `written` cards whose
    words it took, `media` the number of files sent, `failed` what Anki refused: of a card, or of a file with `id` "".
    """

    created: dict[CardId, int] = field(default_factory=dict)
    written: set[CardId] = field(default_factory=set)
    media: int = 0
    failed: list[Reported] = field(default_factory=list)

    @property
    def refused(self) -> set[str]:
        """Return the cards of which Anki refused something."""
        return {each.id for each in self.failed}


@dataclass(frozen=True, slots=True)
class Tagged:
    """The tags that a note is to have, in place of its present ones."""

    note: Found
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class ToDo:
    """What is to be changed in Anki: notes created, fields written, tags set, cards suspended and resumed."""

    new: Sequence[AnkiNote] = ()
    fields: Sequence[tuple[Found, AnkiNote]] = ()
    tags: Sequence[Tagged] = ()
    suspended: Sequence[Found] = ()
    resumed: Sequence[Found] = ()


def import_in_anki(vault: Vault, anki: AnkiConnect, data: bytes) -> bool:
    """Return whether Anki reports that it imported the package: it may not see our files, or the add-on may be older
    than Anki.
    """
    guard = vault.guard(Scope.LOG)
    guard.update(_PACKAGE, lambda _: data)
    try:
        return anki.call("importPackage", path=str(vault.root / _PACKAGE)) is True
    except AnkiRefused:
        return False
    finally:
        guard.remove(_PACKAGE, expect=sha256_hex(data))


def do(
    anki: AnkiConnect, todo: ToDo, media: Mapping[str, bytes], results: SyncResults, progress: Progress | None
) -> None:
    """Make all changes; `results` collects their results, also where the connection breaks.

    Raises: AnkiNotReached; AnkiRefused if notes cannot be made because another note type has the name of ours.
    """
    if todo.new or todo.fields:
        _send_media(anki, media, results)
    for type_ in dict.fromkeys(note.type for note in todo.new):
        _make_note_type(anki, type_)
    last = [job for one in todo.suspended for job in _retagging(Tagged(one, [*one.tags, RETRACTED]))]
    jobs = _jobs(todo)
    whole = len(jobs) + len(last)
    _run(anki, jobs, results, progress, 0, whole)
    # Only a card that is suspended is tagged as such: the tag says that no later sync has to do it.
    refused = results.refused
    _run(anki, [job for job in last if job[0] not in refused], results, progress, len(jobs), whole)


def _jobs(todo: ToDo) -> list[Job]:
    """Return the requests for all changes."""
    nobody = CardId("")
    jobs: list[Job] = [
        (nobody, "createDeck", {"deck": deck}) for deck in dict.fromkeys("::".join(n.deck) for n in todo.new)
    ]
    jobs += [(note.card, "addNote", {"note": _new(note)}) for note in todo.new]
    jobs += [(n.card, "updateNoteFields", {"note": {"id": one.id, "fields": _named(n)}}) for one, n in todo.fields]
    jobs += [(one.card, "unsuspend", {"cards": list(one.cards)}) for one in todo.resumed]
    jobs += [job for each in todo.tags for job in _retagging(each)]
    jobs += [(one.card, "suspend", {"cards": list(one.cards)}) for one in todo.suspended]
    return jobs


def _run(
    anki: AnkiConnect, jobs: Sequence[Job], results: SyncResults, progress: Progress | None, before: int, whole: int
) -> None:
    """Send the requests in batches."""
    done = before
    for some in parts(jobs, _FEW):
        answers = anki.each([(action, params) for _, action, params in some])
        for (card, action, _), answer in zip(some, answers, strict=True):
            if isinstance(answer, AnkiRefused):
                results.failed.append(Reported(card, answer.what))
                continue
            if action in ("addNote", "updateNoteFields"):
                results.written.add(card)
            if action == "addNote" and type(answer) is int:
                results.created[card] = answer
        done += len(some)
        if progress is not None:
            progress(done, whole)


def _retagging(each: Tagged) -> list[Job]:
    """Return the requests that replace a note's tags."""
    one = each.note
    changes = (
        ("removeTags", [tag for tag in one.tags if tag not in each.tags]),
        ("addTags", [tag for tag in each.tags if tag not in one.tags]),
    )
    return [(one.card, action, {"notes": [one.id], "tags": " ".join(words)}) for action, words in changes if words]


def _new(note: AnkiNote) -> dict[str, Any]:
    """Return a note as `addNote` takes it. Two cards may ask the same question: they are no duplicates."""
    return {
        "deckName": "::".join(note.deck),
        "modelName": note.type.name,
        "fields": _named(note),
        "tags": list(note.tags),
        "options": {"allowDuplicate": True},
    }


def _named(note: AnkiNote) -> dict[str, str]:
    """Return the fields of a note by name."""
    return dict(zip(note.type.fields, note.fields, strict=True))


def _make_note_type(anki: AnkiConnect, type_: NoteType) -> None:
    """Create a note type of ours where Anki lacks it. Raises: AnkiRefused if another one has its name."""
    names = anki.call("modelNames")
    check(isinstance(names, list), "modelNames", anki)
    if type_.name not in names:
        templates = [{"Name": each.name, "Front": each.front, "Back": each.back} for each in type_.templates]
        made = {"modelName": type_.name, "inOrderFields": list(type_.fields), "css": type_.style}
        anki.call("createModel", **made, cardTemplates=templates, **({"isCloze": True} if type_.is_cloze else {}))
        return
    there = anki.call("modelFieldNames", modelName=type_.name)
    check(isinstance(there, list), "modelFieldNames", anki)
    if missing := [name for name in type_.fields if name not in there]:
        what = f"Anki's note type `{type_.name}` has no field {', '.join(missing)}"
        raise AnkiRefused(what, where=anki.shown, hint="add the field back, or rename that note type")


def _send_media(anki: AnkiConnect, files: Mapping[str, bytes], results: SyncResults) -> None:
    """Send the files that Anki lacks. Their names hold a digest, so that no other file is replaced."""
    if not files:
        return
    there = anki.call("getMediaFilesNames", pattern="retain-*")
    check(isinstance(there, list), "getMediaFilesNames", anki)
    for name in sorted(files.keys() - {name for name in there if isinstance(name, str)}):
        try:
            anki.call("storeMediaFile", filename=name, data=base64.b64encode(files[name]).decode())
            results.media += 1
        except AnkiRefused as refused:
            results.failed.append(Reported("", f"file {name}: {refused.what}"))
