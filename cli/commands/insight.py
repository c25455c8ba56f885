"""`retain insight`: the human's own editor on a note of the human's own. No engine, no parser and no jail is near."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import output
from cli.editor import AT_ONCE_S, edit_file, editor_named
from cli.environment import now
from cli.guard.personal import finding
from cli.options import json_option, opened, vault_option
from vault.errors import Refused, RetainError, UsageError

if TYPE_CHECKING:
    from learning.cards.lookup import Subject
    from learning.pages.insight import NotesFolder
    from learning.pages.promotion_page import Item
    from learning.store.near_copy import NearCopy
    from vault.vault import Vault

SHOWN = 20  # lines of a list; near copies


@click.command()
@click.argument("concept", required=False, metavar="[CONCEPT]")
@click.option("--list", "listing", is_flag=True, help="The concepts that are ripe for a thought, and their questions.")
@click.option("--no-edit", is_flag=True, help="Open no editor: make the note if there is none, and print its path.")
@vault_option
@json_option
def insight(concept: str | None, listing: bool, no_edit: bool, vault_dir: str | None, as_json: bool) -> int:
    """Write a note of your own on CONCEPT: a title, an alias, a file's name or an id.

    Your editor ($VISUAL, else $EDITOR) opens on a note that holds only properties and a question, in your personal
    vault if you have one, else in insights/. No agent writes there. Without CONCEPT, it is the first of
    output/promotion-queue.md. An editor with windows of its own must wait until you close the note: `code --wait`.

    \b
    Examples:
      retain insight
      retain insight --list
      retain insight "spacing effect"
      retain insight spacing-effect --no-edit
    """
    if as_json and not listing:
        raise UsageError("--json goes with --list", hint="`retain insight --list --json`")
    if not (listing or no_edit or sys.stdin.isatty()):
        raise UsageError("an editor needs a terminal", hint="`--no-edit` makes the note and prints its path")
    vault = opened(vault_dir)
    if listing:
        return _list(vault, as_json)
    items = _waiting(vault)
    subject = _subject(vault, concept, items)
    if subject is None:
        output.say("no concept is ripe for a thought yet; `retain insight CONCEPT` opens a note on any")
        return output.DONE
    for unknown in finding(vault):
        raise Refused(unknown.message, where=unknown.path, hint=unknown.hint)
    desk = _Writing.on(vault, subject, items)
    return desk.laid() if no_edit else desk.edited()


def _waiting(vault: Vault) -> list[Item]:
    """The queue as it is now; the page is rendered first if anything has happened since."""
    from cli.review_pages import render_if_stale
    from learning.pages.promotion_page import parse_queue, waiting
    from vault.layout import PROMOTION_QUEUE

    try:
        render_if_stale(vault)
    except RetainError as problem:
        output.say(f"  {problem}")
    return list(waiting(parse_queue((vault.read_bytes(PROMOTION_QUEUE) or b"").decode("utf-8", "replace"))))


def _list(vault: Vault, as_json: bool) -> int:
    from learning.pages.promotion_page import question
    from vault.layout import PROMOTION_QUEUE

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
    for item in items[:SHOWN]:
        output.show(f"{item.title}: {question(item.reason, item.title)}")
    if len(items) > SHOWN:
        output.show(f"and {len(items) - SHOWN} more (--json lists all)")
    if not items:
        output.show("no concept is ripe for a thought yet")
    return output.DONE


def _subject(vault: Vault, wanted: str | None, items: list[Item]) -> Subject | None:
    """The concept that was named, else the first of the queue; None where nothing waits."""
    from learning.cards.lookup import find_subject

    if wanted is None and items:
        wanted = items[0].article.rsplit("/", 1)[-1].removesuffix(".md") or items[0].title
    return find_subject(vault, wanted) if wanted is not None else None


@dataclass(slots=True)
class _Writing:
    """One note on the human's desk: laid there if there was none, then written in, then taken down."""

    vault: Vault
    subject: Subject
    place: NotesFolder
    path: str
    new: bytes | None  # what the note was laid down with, None for one that was there

    @classmethod
    def on(cls, vault: Vault, subject: Subject, items: list[Item]) -> _Writing:
        """Raises: Refused, WriteFailed; EditedMeanwhile if another file took the name just then."""
        from learning.agenda.gap_decisions import decisions_of
        from learning.pages.insight import name_of, new_note, note_of, notes_folder, question_on
        from learning.pages.promotion import notes_in

        place = notes_folder(vault)
        path = note_of(place, subject, notes_in(decisions_of(vault)))
        if path is not None:
            return cls(vault, subject, place, path, None)
        path = place.path(name_of(subject))
        day = now().astimezone(vault.settings.zone).date()
        data = new_note(subject, question_on(subject, items), day).encode()
        place.guard.write(path, data, expect=None)
        return cls(vault, subject, place, path, data)

    @property
    def shown(self) -> Path:
        return self.place.on_disk(self.path)

    def laid(self) -> int:
        """Prints where the note is; one with words in it is taken down as if it had just been written."""
        output.show(str(self.shown))
        self._take_down()
        return output.DONE

    def edited(self) -> int:
        """Opens the editor and takes down what was written."""
        editor = editor_named()
        if not editor:
            output.say("no editor is set in VISUAL or EDITOR; the note is")
            return self.laid()
        try:
            closed = edit_file(editor, self.shown)
        except UsageError as error:
            self._take_back()
            error.hint = f"{error.hint}, or say --no-edit"
            raise
        if closed.at_once(AT_ONCE_S) and self._is_as_laid():
            again = f"`retain insight {shlex.quote(self.subject.stem)} --no-edit`"
            output.say(f"the editor came back at once, and nothing is written yet; the note stays: {self.shown}")
            output.say(
                f"  when you have written, {again} records it; an editor that waits (`code --wait`) spares you that"
            )
            self._tell_the_audit()
        elif self._take_back():
            output.say("nothing was written; the empty note is gone again")
        else:
            self._take_down()
        return output.DONE

    def _is_as_laid(self) -> bool:
        return self.new is not None and self.place.guard.read(self.path) == self.new

    def _take_back(self) -> bool:
        """Removes a note that is still exactly as it was laid down; whether it was."""
        from vault.files.folder import sha256_hex

        if self.new is None or not self._is_as_laid():
            return False
        self.place.guard.remove(self.path, expect=sha256_hex(self.new))
        return True

    def _take_down(self) -> None:
        """Records the note if the human wrote in it, tells the audit, and shows what nearly copies the wiki."""
        from learning.pages.insight import copies_in, holds_words, record

        data = self.place.guard.read(self.path)
        if data is None:
            output.say(f"{self.shown} is not there any more; nothing was recorded")
            return
        self._tell_the_audit()
        text = data.decode("utf-8", "replace")
        if not holds_words(text):
            return
        if record(self.vault, self.place, self.subject, self.path, data, now()):
            output.say(f"recorded: a note of your own on {self.subject.title}, {self.shown}")
            self._render_queue()
        _warn(copies_in(self.vault, text))

    def _tell_the_audit(self) -> None:
        from vault.audit.watcher import confirm

        try:
            confirm(self.vault, [self.shown], now())
        except RetainError as problem:
            output.say(f"  the audit of your files could not be told, and will name this note: {problem}")

    def _render_queue(self) -> None:
        from cli.review_pages import render_if_stale

        try:
            render_if_stale(self.vault)
        except RetainError as problem:
            output.say(f"  {problem}")


def _warn(copies: list[NearCopy]) -> None:
    """Shows the lines that nearly copy the wiki, each with the wiki's own below it: a warning, and no more."""
    if not copies:
        return
    lines = "one passage is" if len(copies) == 1 else f"{len(copies)} passages are"
    output.say(f"{lines} nearly the wiki's words; a thought that is yours has words that are yours:")
    for copy in copies[:SHOWN]:
        output.say(f"  yours, line {copy.line}:  {_shortened(copy.yours)}")
        output.say(f"    the wiki's:  {_shortened(copy.theirs.text)}  ({copy.theirs.path}:{copy.theirs.line})")
    if len(copies) > SHOWN:
        output.say(f"  and {len(copies) - SHOWN} more")


def _shortened(text: str) -> str:
    from vault.text.sanitize import clean_line

    line = clean_line(text)
    return line if len(line) <= 200 else line[:199] + "…"
