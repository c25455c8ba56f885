"""The command `insight`: write a note of your own in your editor. It loads no engine and no parser."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from cli import output
from cli.environment import AT_ONCE_S, edit_file, editor_named, now
from cli.guard.personal import finding
from cli.options import opened, vault_json_options
from cli.shell import concept_names
from cli.workspace import render_if_stale
from learning.agenda.gap_decisions import decisions_of
from learning.cards.lookup import Subject, find_subject
from learning.pages.insight import (
    NotesFolder,
    copies_in,
    holds_words,
    is_queued,
    name_of,
    new_note,
    note_of,
    notes_folder,
    question_on,
    record,
)
from learning.pages.promotion import notes_in
from learning.pages.promotion_page import Item, parse_queue, question, waiting
from learning.store.near_copy import NearCopy
from vault.audit.watcher import confirm
from vault.errors import Refused, RetainError, UsageError
from vault.files.folder import sha256_hex
from vault.files.guard import Scope
from vault.layout import PROMOTION_QUEUE
from vault.log.entries import record_event
from vault.text.formatting import short_line
from vault.vault import Vault

SHOWN = 20  # lines of a list; near copies


@click.command()
@click.argument("concept", required=False, metavar="[CONCEPT]", shell_complete=concept_names)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List concepts that you could write your own note on, with questions.",
)
@click.option("--no-edit", is_flag=True, help="Create the note without an editor, and print its path.")
@vault_json_options
def insight(concept: str | None, listing: bool, no_edit: bool, vault_dir: str | None, as_json: bool) -> int:
    """Write your own note on CONCEPT (a title, alias, file name or id).

    Your editor ($VISUAL, else $EDITOR) opens a note with properties and a question, in your personal vault if you have
    one, or else in insights/. Agents cannot write there. Without CONCEPT, the note is on the first concept in
    output/promotion-queue.md. A graphical editor must wait until you close the note, like `code --wait`.

    \b
    Examples:
      retain insight
      retain insight --list
      retain insight "spacing effect"
      retain insight spacing-effect --no-edit
    """
    if as_json and not listing:
        raise UsageError("--json can be used only with --list", hint="`retain insight --list --json`")
    if not (listing or no_edit or sys.stdin.isatty()):
        raise UsageError("an editor needs a terminal", hint="`--no-edit` creates the note and prints its path")
    vault = opened(vault_dir)
    if listing:
        return _list(vault, as_json)
    items = _waiting(vault)
    subject = _subject(vault, concept, items)
    if subject is None:
        output.say("no concept is suggested for a note yet; `retain insight CONCEPT` opens a note on any concept")
        return output.DONE
    for unknown in finding(vault):
        raise Refused(unknown.message, where=unknown.path, hint=unknown.hint)
    note = _Note.on(vault, subject, items)
    return note.show_path() if no_edit else note.edit()


def _render(vault: Vault) -> None:
    """Render the promotion queue if it is stale; an error is only reported."""
    try:
        render_if_stale(vault)
    except RetainError as error:
        output.say(f"  {error}")


def _waiting(vault: Vault) -> list[Item]:
    """Return the promotion queue, updated first."""
    _render(vault)
    return list(waiting(parse_queue((vault.read_bytes(PROMOTION_QUEUE) or b"").decode("utf-8", "replace"))))


def _list(vault: Vault, as_json: bool) -> int:
    """Print the promotion queue and return the exit code."""
    items = _waiting(vault)
    if as_json:
        rows = [
            {
                "id": item.mark.rsplit("-", 1)[-1],
                "path": PROMOTION_QUEUE,
                "line": item.line,
                "reason": question(item.reason, item.title),
                "why": item.reason.value,
                "concept": item.title,
                "article": item.article,
            }
            for item in items
        ]
        output.show_json({"candidates": rows})
        return output.DONE
    output.show_first([f"{item.title}: {question(item.reason, item.title)}" for item in items], SHOWN)
    if not items:
        output.show("no concept is suggested for a note yet")
    return output.DONE


def _subject(vault: Vault, wanted: str | None, items: list[Item]) -> Subject | None:
    """Return the named concept, else the first of the queue; None if the queue is empty."""
    if wanted is None and items:
        wanted = items[0].article.rsplit("/", 1)[-1].removesuffix(".md") or items[0].title
    return find_subject(vault, wanted) if wanted is not None else None


@dataclass(slots=True)
class _Note:
    """A note of the user that is being written; `new` is its first text, None if the note existed before."""

    vault: Vault
    subject: Subject
    place: NotesFolder
    path: str
    new: bytes | None  # the first text of a new note
    queued: bool  # whether the concept is in the promotion queue

    @classmethod
    def on(cls, vault: Vault, subject: Subject, items: list[Item]) -> _Note:
        """Find the note on a concept or create it.

        Raises Refused, WriteFailed; EditedMeanwhile if the name was taken.
        """
        place = notes_folder(vault)
        path = note_of(place, subject, notes_in(decisions_of(vault)))
        queued = is_queued(subject, items)
        if path is not None:
            return cls(vault, subject, place, path, None, queued)
        path = place.path(name_of(subject))
        day = now().astimezone(vault.settings.zone).date()
        data = new_note(subject, question_on(subject, items), day).encode()
        place.guard.write(path, data, expect=None)
        return cls(vault, subject, place, path, data, queued)

    @property
    def shown(self) -> Path:
        return self.place.on_disk(self.path)

    def show_path(self) -> int:
        """Print the path of the note; record it if it holds text."""
        output.show(str(self.shown))
        self._record()
        return output.DONE

    def edit(self) -> int:
        """Open the editor and record what was written."""
        editor = editor_named()
        if not editor:
            output.say("no editor is set in VISUAL or EDITOR; the path of the note:")
            return self.show_path()
        try:
            closed = edit_file(editor, self.shown)
        except UsageError as error:
            self._remove_unchanged()
            error.hint = f"{error.hint}, or use --no-edit"
            raise
        if closed.at_once(AT_ONCE_S) and self._is_unchanged():
            again = f"`retain insight {shlex.quote(self.subject.stem)} --no-edit`"
            output.say(f"the editor returned at once without changes; the note was kept: {self.shown}")
            output.say(
                f"  after writing, {again} records the note; with an editor that waits (`code --wait`), this "
                "happens automatically"
            )
            self._confirm_in_audit()
        elif self._remove_unchanged():
            output.say("nothing written; the empty note was removed")
        else:
            self._record()
        return output.DONE

    def _is_unchanged(self) -> bool:
        return self.new is not None and self.place.guard.read(self.path) == self.new

    def _remove_unchanged(self) -> bool:
        """Delete the note if it is unchanged; return whether it was."""
        if self.new is None or not self._is_unchanged():
            return False
        self.place.guard.remove(self.path, expect=sha256_hex(self.new))
        return True

    def _record(self) -> None:
        """Record the note if it holds text, and report passages that nearly copy the wiki."""
        data = self.place.guard.read(self.path)
        if data is None:
            output.say(f"{self.shown} no longer exists; nothing recorded")
            return
        self._confirm_in_audit()
        text = data.decode("utf-8", "replace")
        if not holds_words(text):
            return
        if record(self.vault, self.place, self.subject, self.path, data, now()):
            if self.queued:
                record_event(self.vault.guard(Scope.LOG), "promotion", self.subject.title, now())
            output.say(f"note on {self.subject.title} recorded: {self.shown}")
            _render(self.vault)
        _report_copies(copies_in(self.vault, text))

    def _confirm_in_audit(self) -> None:
        try:
            confirm(self.vault, [self.shown], now())
        except RetainError as problem:
            output.say(f"  the file audit was not updated, and will report this note: {problem}")


def _report_copies(copies: list[NearCopy]) -> None:
    """Report passages that nearly copy the wiki, each with the wiki's text."""
    if not copies:
        return
    passages = "1 passage closely matches" if len(copies) == 1 else f"{len(copies)} passages closely match"
    output.say(f"{passages} the wiki; consider rephrasing:")
    for copy in copies[:SHOWN]:
        output.say(f"  yours, line {copy.line}:  {short_line(copy.yours, 200)}")
        output.say(f"    the wiki's:  {short_line(copy.theirs.text, 200)}  ({copy.theirs.path}:{copy.theirs.line})")
    if len(copies) > SHOWN:
        output.say(f"  and {len(copies) - SHOWN} more")
