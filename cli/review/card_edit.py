"""The command `card edit`: get the new text of a card from options, a file or the editor."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cli import output
from cli.environment import edit_file, editor_named, now
from learning.cards.edit import Edited, Words, edit_card, form_of, last_edit, restore, words_in, words_of
from vault.errors import Refused, RetainError, UsageError
from vault.files.exports import remove_form, write_form
from vault.model.card import Card
from vault.vault import Vault

T = TypeVar("T")
_HELP = "<!-- Save and close to change card {}. Without changes, the card is not edited. -->\n\n"
_MOST = 1 << 20  # bytes of a form


def edited(
    vault: Vault, card: Card, question: str | None, answer: str | None, source: str | None, *, back: bool
) -> Edited | None:
    """Save the edit given by options, file or editor, or with `back` undo the last one; None if the editor made none.

    Raises as `edit_card` does; UsageError without a way to get the text.
    """
    before = words_of(card)
    if back:
        return restore(vault, last_edit(vault, str(card.id)), now())

    def save(words: Words) -> Edited:
        return edit_card(vault, str(card.id), words.question, words.answer, now(), expect=before)

    return with_new_words(before, question, answer, source, save, str(card.id), f"retain card edit {card.id}")


def with_new_words(
    before: Words,
    question: str | None,
    answer: str | None,
    source: str | None,
    save: Callable[[Words], T],
    id_: str,
    command: str,
    form_help: str = "",
) -> T | None:
    """Return what `save` makes of the words that options, a file or the editor give; None if the editor made none.

    `command` applies a text that could not be saved; `form_help` is written above the form. Raises as `save` does;
    UsageError without a way to get the text.
    """
    if source is not None:
        return save(words_in(_read(source)))
    if question is None and answer is None:
        return _in_editor(before, save, id_, command, form_help or _HELP.format(id_))
    if answer is not None and before.answer is None:
        raise UsageError(
            "a cloze card has no separate answer; leave out --answer", hint="give its whole text with --question"
        )
    return save(Words(before.question if question is None else question, before.answer if answer is None else answer))


def _read(source: str) -> str:
    try:
        data = sys.stdin.buffer.read(_MOST) if source == "-" else Path(source).read_bytes()
        return data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("cannot be read as text", where=source, hint="give a UTF-8 file with Q: and A:") from error


def _in_editor(before: Words, save: Callable[[Words], T], id_: str, command: str, form_help: str) -> T | None:
    """Open the card in the user's editor and save the edit; a refused text stays in its file."""
    editor = editor_named()
    if not editor or not sys.stdin.isatty():
        what = "no editor is set in VISUAL or EDITOR" if not editor else "an editor needs a terminal"
        raise UsageError(what, hint="give --question and --answer, or --from FILE")
    form = write_form(f"card-{id_}.md", form_help + form_of(before))
    keep = True
    try:
        closed = edit_file(editor, form)
        if closed.code:
            raise Refused("the editor failed; nothing was changed")
        words = words_in(form.read_text(encoding="utf-8"))
        if words == before and closed.at_once():
            _report_open_editor(form, command)
            return None
        done = save(words)
        keep = False
        return done
    except (RetainError, OSError, UnicodeDecodeError, KeyboardInterrupt) as error:
        if _is_unchanged(form, before):
            keep = False
            raise
        way = f"your text is in {form}; `{command} --from {form}` applies it"
        if isinstance(error, KeyboardInterrupt):
            output.say(way)
            raise
        if isinstance(error, RetainError):
            error.hint = f"{error.hint}; {way}" if error.hint else way
            raise
        hint = f"save it as UTF-8; {way}"
        raise Refused("the text is not UTF-8", where=str(form), hint=hint) from error
    finally:
        if not keep:
            remove_form(form)


def _is_unchanged(form: Path, before: Words) -> bool:
    """Return whether the form is unchanged."""
    try:
        return words_in(form.read_text(encoding="utf-8")) == before
    except (OSError, ValueError, RetainError):
        return False


def _report_open_editor(form: Path, command: str) -> None:
    """Report that the editor returned at once, and how to apply the text later."""
    output.say("the editor returned at once without changes; use an editor that waits (`code --wait`)")
    output.say(f"  after you save the file, `{command} --from {form}` applies your text")


def report_edit(done: Edited, *, as_json: bool) -> None:
    """Print the result of an edit."""
    if as_json:
        said = [{"question": words.question, "answer": words.answer} for words in (done.before, done.after)]
        head = {"id": done.card, "path": done.path, "changed": done.changed}
        output.show_json({**head, "before": said[0], "after": said[1]})
    elif done.changed:
        output.show(f"{done.card}: edited in {done.path}; `retain card edit {done.card} --restore` undoes this")
    else:
        output.show(f"{done.card}: no changes")
