"""The user's note on a concept: where it is, what a new one holds, what the ledger records of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from learning.agenda.gap_decisions import decisions_of
from learning.cards.lookup import Subject
from learning.pages.promotion import Reason, insight_event, mark_of, notes_in
from learning.pages.promotion_page import Item, question
from learning.store.near_copy import NearCopy, NoteWords, Passage, near_copies
from vault.errors import Refused
from vault.files.folder import is_folder, sha256_hex
from vault.files.guard import Guard, Scope
from vault.files.write_scopes import writable
from vault.ids import slug
from vault.layout import CONCEPTS, FLASHCARDS, SUMMARIES, TOPICS
from vault.log import ledger
from vault.log.ledger import Event
from vault.model.article import sentences
from vault.model.card import parse_deck
from vault.model.frontmatter import body_of, read_properties, render_note
from vault.model.markdown import escape, unescape
from vault.model.summary import parse_summary, prose_of
from vault.text.formatting import clean_line
from vault.vault import Vault

INSIGHTS = "insights"
_HEAD = 2048  # bytes of a note in which its properties are looked for


@dataclass(frozen=True, slots=True)
class NotesFolder:
    """Where the user's notes are: a folder of the vault, or the personal vault itself (`folder` is "")."""

    guard: Guard
    folder: str

    @property
    def personal(self) -> bool:
        """Return whether it is the personal vault."""
        return not self.folder

    def path(self, name: str) -> str:
        """Return the path of the note with that name."""
        return f"{self.folder}/{name}" if self.folder else name

    def on_disk(self, path: str) -> Path:
        """Return the path of a note on disk."""
        return self.guard.root / path


def notes_folder(vault: Vault) -> NotesFolder:
    """Return the personal vault if there is one, else insights/. Raises: Refused if the personal vault is missing."""
    if vault.personal is None:
        return NotesFolder(vault.guard(Scope.INSIGHT), INSIGHTS)
    if not is_folder(vault.personal):
        hint = "check that its disk is mounted; nothing was written"
        raise Refused("the personal vault was not found", where=str(vault.personal), hint=hint)
    return NotesFolder(vault.guard(Scope.PERSONAL), "")


def note_of(place: NotesFolder, subject: Subject, recorded: Mapping[str, Event]) -> str | None:
    """Return the path of the user's note on a concept, wherever in the folder it was moved; None if there is none.

    It is known by what the ledger says, by its name, or by its property `concept`.
    """
    usual = place.path(name_of(subject))
    event = recorded.get(subject.concept, {})
    noted = str(event.get("note", "")) if bool(event.get("personal")) is place.personal else ""
    for path in (noted if noted.endswith(".md") else "", usual):
        if path and _is_there(place, path):
            return path
    files = sorted(_notes(place))
    names = {noted.rsplit("/", 1)[-1], name_of(subject)} - {""}
    moved = next((path for path in files if path.rsplit("/", 1)[-1] in names), None)
    return moved or next((path for path in files if _is_on(place, path, subject)), None)


def _is_there(place: NotesFolder, path: str) -> bool:
    """Return whether a path is inside the folder and has a file: an untrusted ledger may name any."""
    with suppress(Refused):
        writable(path, place.guard.scope)
        return place.guard.exists(path)
    return False


def _notes(place: NotesFolder) -> Iterator[str]:
    """Yield the notes of the folder, at any depth, without hidden files and links."""
    top = str(place.on_disk(place.folder))
    for folder, below, names in os.walk(top):
        below[:] = [name for name in below if not name.startswith(".")]
        here = os.path.relpath(folder, place.guard.root)
        for name in names:
            if name.endswith(".md") and not name.startswith("."):
                yield name if here == "." else f"{here.replace(os.sep, '/')}/{name}"


def _is_on(place: NotesFolder, path: str, subject: Subject) -> bool:
    """Return whether the note names the concept."""
    try:
        with place.on_disk(path).open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    if subject.concept.encode() not in head:
        return False
    properties = read_properties(head.decode("utf-8", "replace"))
    return properties.text("type") == "insight" and properties.text("concept") == subject.concept


def name_of(subject: Subject) -> str:
    """Return the file name of a new note on the concept."""
    return f"{slug(subject.stem)}.md"


def question_on(subject: Subject, items: Iterable[Item]) -> str:
    """Return a question on a concept: the first that the promotion queue has, else the plainest."""
    asked = {item.mark: item.reason for item in items}
    marks = (mark_of(reason, subject.concept) for reason in Reason)
    reason = next((asked[mark] for mark in marks if mark in asked), Reason.STABLE)
    return question(reason, subject.title)


def is_queued(subject: Subject, items: Iterable[Item]) -> bool:
    """Return whether the promotion queue has the concept, for any reason."""
    return not {item.mark for item in items}.isdisjoint(mark_of(reason, subject.concept) for reason in Reason)


def new_note(subject: Subject, asked: str, day: date) -> str:
    """Return a note that holds properties and the question, and nothing more."""
    properties = {"type": "insight", "concept": subject.concept, "created": day.isoformat()}
    return render_note(properties, f"\n> [!question] {escape(clean_line(asked))}\n\n")


def holds_words(text: str) -> bool:
    """Return whether a note holds anything but properties, quotations and headings."""
    lines = (line.strip() for line in body_of(text).split("\n"))
    return any(line and not line.startswith((">", "#")) for line in lines)


def record(vault: Vault, place: NotesFolder, subject: Subject, path: str, data: bytes, at: datetime) -> bool:
    """Record in the ledger that the user wrote the note; return False if it is recorded already as it is.

    Raises: WriteFailed, Refused.
    """
    decided = decisions_of(vault)
    event = insight_event(
        subject.concept, path, ledger.after(decided, at), sha256=sha256_hex(data), personal=place.personal
    )
    last = notes_in(decided).get(subject.concept, {})
    if not place.personal and {**last, "at": ""} == {**event, "at": ""}:
        return False
    vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event))
    return True


# --- the wiki, to be held against a note ------------------------------------------------------------------------------


def copies_in(vault: Vault, note: str) -> list[NearCopy]:
    """Return what in a note nearly copies the articles, summaries or cards of the wiki, by line.

    A file that cannot be read is passed over: this is a warning, not a proof.
    """
    words = NoteWords(note)
    return near_copies(words, (passage for path, text in _pages(vault, words) for passage in passages(path, text)))


def _pages(vault: Vault, words: NoteWords) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the pages that have a run of words in common with the note."""
    for folder in (CONCEPTS, TOPICS, SUMMARIES, FLASHCARDS):
        for path in vault.paths(folder, ".md"):
            with suppress(Refused):
                text = (vault.read_bytes(path) or b"").decode("utf-8", "replace")
                if words.may_share(text):
                    yield path, text


def passages(path: str, text: str) -> Iterator[Passage]:
    """Yield the sentences of a page of the wiki, the claims of a summary, or the questions and answers of a deck."""
    if path.startswith(f"{FLASHCARDS}/"):
        for card in parse_deck(text, path).cards:
            for words in (card.question, card.answer):
                yield Passage(path, card.line, unescape(words))
        return
    if path.startswith(f"{SUMMARIES}/"):
        for located in parse_summary(text, path).claims:
            yield Passage(path, located.line, located.claim.words)
            yield Passage(path, located.line, located.claim.quote)
        text = prose_of(text)
    for sentence in sentences(text):
        yield Passage(path, sentence.line, sentence.text)
