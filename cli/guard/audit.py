"""`retain guard audit`: what changed in the human's folders behind their back; restored, accepted, undone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.environment import here, now
from cli.guard.personal import files_below, left_behind
from cli.options import json_option, opened, vault_option
from vault.errors import Damaged, NotFound, RetainError, UsageError
from vault.files.folder import is_folder

if TYPE_CHECKING:
    from vault.audit.changes import Change
    from vault.audit.scanner import Key, Seen
    from vault.audit.watcher import Found, Outcome, Watch
    from vault.vault import Vault

_AT_ONCE = (2_000, 100 << 20)  # files and bytes that a first look takes in a second or two


def before_agent(vault: Vault) -> None:
    """What belongs before any agent's run: that the audit has begun, and that no note is readable without a word."""
    first_look(vault)
    output.found(left_behind(vault))


def first_look(vault: Vault, *, only_at_once: bool = False) -> bool:
    """Takes down the human's files, with copies, if they, or the personal vault, never were; whether it did so now.

    An audit that was never begun protects nothing. With `only_at_once` what would take long is left, and said. A look
    that fails is told and stops nothing: the sandbox holds without it.
    """
    from vault.audit.watcher import Watch

    try:
        with Watch.open(vault) as watch:
            if not _is_to_begin(watch):
                return False
            if _is_large(vault):
                if only_at_once:
                    output.say("  your files are many: say `retain guard audit` once, so that it can watch over them")
                    return False
                output.say("  the first look at your files, with a copy of each: this once, it may take a while")
            found = watch.take(now(), quick=True)
    except RetainError as error:
        output.say(f"  the audit of your files has not begun: {error}")
        return False
    if found.files:
        files = output.number(found.files, "file")
        output.say(
            f"  {files} of yours taken down, with copies: `retain guard audit` says what changes behind your back"
        )
    return True


def _is_to_begin(watch: Watch) -> bool:
    from vault.audit.scanner import PERSONAL, Key

    if watch.known.last_look() is None:
        return True
    personal = watch.vault.personal
    return personal is not None and is_folder(personal) and Key(PERSONAL, "") not in watch.known.roots()


def _is_large(vault: Vault) -> bool:
    from vault.audit.scanner import LEFT_OUT, roots_of

    size = 0
    for count, entry in enumerate(files_below((root.folder for root in roots_of(vault)), LEFT_OUT), 1):
        with suppress(OSError):
            size += entry.stat(follow_symlinks=False).st_size
        if count > _AT_ONCE[0] or size > _AT_ONCE[1]:
            return True
    return False


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--restore", is_flag=True, help="Put files back as they were; PATH names which.")
@click.option("--accept", is_flag=True, help="Say that it was you; PATH names which.")
@click.option("--undo", is_flag=True, help="Take back the last --restore.")
@click.option("--diff", is_flag=True, help="Show line by line what changed.")
@click.option("--force", is_flag=True, help="Take folders that cannot be reached for emptied.")
@click.option("--quick", is_flag=True, help="Do not read files whose size, times and inode are as they were.")
@vault_option
@json_option
def audit(
    paths: tuple[str, ...], force: bool, quick: bool, vault_dir: str | None, as_json: bool, **actions: bool
) -> int:
    """What changed, appeared, vanished or moved in your folders since the last look.

    Your folders are insights/, raw/ and the personal vault. The first time, all is taken down and a copy of every file
    is kept outside the vault. From then on each change is listed until you say that it was yours (--accept) or have it
    put back (--restore). A file that appeared stays unless you name it. What a restore replaces is kept, too (--undo).

    Exit code 1: something changed, or cannot be reached.

    \b
    Examples:
      retain guard audit
      retain guard audit --diff insights/memory.md
      retain guard audit --restore insights/memory.md
      retain guard audit --accept
    """
    action = _only(actions)
    if action == "undo" and paths:
        raise UsageError("--undo takes back the whole last restore, so it goes without PATH")
    vault = opened(vault_dir)

    def run() -> int:
        with Watch.open(vault) as watch:
            return _run(watch, paths, action, force, quick, as_json)

    from vault.audit.watcher import Watch

    try:
        return run()
    except Damaged as error:
        if not _began_anew(vault, error):
            raise
        return run()


def _only(actions: dict[str, bool]) -> str | None:
    """The one thing to do; None to tell what changed. Raises: UsageError for several, of which one undoes the other."""
    asked = [name for name, given in actions.items() if given]
    if len(asked) > 1:
        words = " and ".join(f"--{name}" for name in asked)
        raise UsageError(f"{words} don't go together", hint="say one of them; PATH names the files it is for")
    return asked[0] if asked else None


def _run(watch: Watch, paths: tuple[str, ...], action: str | None, force: bool, quick: bool, as_json: bool) -> int:
    vault, at = watch.vault, now()
    outcome = watch.undo(at) if action == "undo" else None
    found = watch.take(at, quick=quick, force=force)
    picked = _picked(vault, found, paths)
    if action == "accept":
        outcome = watch.accept(picked, at)
    elif action == "restore":
        outcome = watch.restore([c for c in picked if not _appeared(c) or _is_named(vault, c, paths)], at)
    elif action == "diff" and picked and not as_json:
        return _show_differences(watch, picked)
    told = _Told(vault, found, picked, action if outcome is not None else None, outcome)
    if action == "diff":
        told.differences = {change.key: _difference(watch, change) for change in picked}
    (told.as_json if as_json else told.as_text)()
    return output.DONE if told.is_well else output.FINDINGS


def _began_anew(vault: Vault, error: Damaged) -> bool:
    """Whether it was the database that is damaged: then a new one has taken its place, and that was said."""
    from vault.audit.database import newest, start_anew

    if error.where != str(newest(vault.settings.vault_id)):
        return False
    output.say(f"  {error.where}: {error.what}")
    old, new = start_anew(vault.settings.vault_id)
    output.say(f"  it stays as {old.name}, and {new.name} is new: your files count as unchanged from now on")
    output.say("  what changed before that is in git or in your own backup, if you have one")
    return True


def _appeared(change: Change) -> bool:
    return change.was is None


def _picked(vault: Vault, found: Found, paths: Sequence[str]) -> list[Change]:
    """The changes that were named; all if none was. Raises: NotFound for a name that no change has."""
    if not paths:
        return list(found.changes)
    picked: list[Change] = []
    for path in paths:
        keys = _keys(vault, path)
        of = [c for c in found.changes if any(_covers(named, key) for named in keys for key in c.keys)]
        if not of:
            raise NotFound("nothing changed there since the last look", where=path)
        picked += (change for change in of if change not in picked)
    return picked


def _is_named(vault: Vault, change: Change, paths: Sequence[str]) -> bool:
    """Whether the very file was named, and not only a folder above it."""
    return any(change.key in _keys(vault, path) for path in paths)


def _keys(vault: Vault, path: str) -> list[Key]:
    """What a PATH can mean: a path in the vault, one from the working directory, or one as the audit shows it."""
    from vault.audit.watcher import key_of

    plain = os.path.normpath(path)
    keys = [] if os.path.isabs(plain) else [key_of(vault, plain)]  # noqa: PTH117 (a text, not yet a path)
    with suppress(NotFound):
        keys.append(key_of(vault, Path(os.path.normpath(here() / path))))
    return keys


def _covers(named: Key, key: Key) -> bool:
    from vault.audit.scanner import shown

    if named.place != key.place:
        return False
    below = key.path == named.path or not named.path or key.path.startswith(f"{named.path}/")
    return below or shown(key) == shown(named)


class _Told:
    """What the command says, as text or as JSON."""

    def __init__(
        self, vault: Vault, found: Found, picked: Sequence[Change], action: str | None, outcome: Outcome | None
    ) -> None:
        self.vault, self.found, self.picked, self.action, self.outcome = vault, found, picked, action, outcome
        self.done = frozenset(outcome.done) if outcome is not None else frozenset()
        self.left = [c for c in found.changes if not self.done.intersection(c.keys) or action == "undo"]
        self.differences: dict[Key, str] = {}

    @property
    def is_well(self) -> bool:
        failed = self.outcome is not None and self.outcome.left
        return not (self.left or self.found.unreachable or self.found.look.unread or failed)

    def name(self, key: Key) -> str:
        from vault.audit.scanner import shown

        return shown(key, self.vault.personal)

    def as_text(self) -> None:
        found = self.found
        for key, why in found.unreachable.items():
            output.show(f"not reachable  {self.name(key)}  {why}")
        for key, why in found.look.unread.items():
            output.show(f"unread    {self.name(key)}  {why}")
        if self.outcome is None or self.action == "undo":
            self._show_changes(self.picked)
        else:
            gone = {c.key for c in self.picked if c.was is None or c.origin is not None}
            for key in self.outcome.done:
                verb = "accepted" if self.action == "accept" else "removed" if key in gone else "restored"
                output.show(f"{verb:<9} {self.name(key)}")
            self._show_changes(self.left)
        if self.outcome is not None:
            self._say_outcome(self.outcome)
        for note in found.look.notes:
            output.say(f"  {note}")
        self._say_end()

    def _show_changes(self, changes: Sequence[Change]) -> None:
        for change in changes:
            output.show(f"{change.what:<9} {self.name(change.key)}  {self._detail(change)}")

    def _say_outcome(self, outcome: Outcome) -> None:
        if self.action == "undo":
            for key in outcome.done:
                output.show(f"brought back {self.name(key)}")
        for line in outcome.told:
            output.say(f"  {line}")
        for key, why in outcome.left:
            output.say(f"  {self.name(key)}: left as it is: {why}")

    def _say_end(self) -> None:
        found = self.found
        for key in found.begun if not found.first else ():
            output.say(f"  first look at {self.name(key)}: a copy of each file is kept outside it")
        files, changes = output.number(found.files, "file"), output.number(len(self.left), "change")
        if found.first:
            output.say(f"first look: {files} taken down, with a copy of each outside the vault")
        elif self.is_well:
            assert found.last is not None
            output.say(f"{files}, all as they are known; the look before was on {self._day(found.last.at)}")
        elif self.left:
            ways = "--diff shows, --restore puts back, --accept says that it was you"
            output.say(f"{changes} that nobody has confirmed: {ways}")
        if found.unreachable:
            output.say("what cannot be reached is not taken for deleted; --force does so, if you know that it is")

    def _detail(self, change: Change) -> str:
        was, now = change.was, change.now
        day = f" on {self._day(change.good)}" if change.good else ""
        if was is None:
            return f"{_size(now)}; not there{day}"
        if change.origin is not None:
            return f"was {self.name(change.origin)}{day}"
        if now is None:
            return f"{_size(was)}; there{day}"
        if change.what == "mode":
            return f"{now.mode:04o}; {was.mode:04o}{day}"
        return f"{_size(now)}; {_size(was)}{day}"

    def _day(self, instant: str) -> str:
        at = datetime.fromisoformat(instant).astimezone(self.vault.settings.zone)
        return at.strftime("%Y-%m-%d %H:%M")

    def as_json(self) -> None:
        found, outcome = self.found, self.outcome
        done = [self.name(key) for key in outcome.done] if outcome is not None else []
        last = found.last
        output.show_json(
            {
                "first": found.first,
                "last_look": {"at": last.at, "files": last.files, "changes": last.changes} if last else None,
                "files": found.files,
                "changes": [self._change_json(change) for change in self.picked],
                "unconfirmed": len(self.left),
                "unreachable": [self._finding("unreachable", k, why) for k, why in found.unreachable.items()],
                "unread": [self._finding("unread", k, why) for k, why in found.look.unread.items()],
                "notes": found.look.notes,
                "accepted": done if self.action == "accept" else [],
                "restored": done if self.action == "restore" else [],
                "undone": done if self.action == "undo" else [],
                "left": [self._finding("left", k, why) for k, why in outcome.left] if outcome is not None else [],
                "gave_way": outcome.told if outcome is not None else [],
            }
        )

    def _change_json(self, change: Change) -> dict[str, Any]:
        diff = {"diff": self.differences[change.key]} if change.key in self.differences else {}
        return self._finding(str(change.what), change.key, self._detail(change)) | {
            "kind": str(change.what),
            "place": change.key.place,
            "from": self.name(change.origin) if change.origin is not None else None,
            "size": change.now.size if change.now is not None else None,
            "size_before": change.was.size if change.was is not None else None,
            "seen": change.good or None,
            **diff,
        }

    def _finding(self, id_: str, key: Key, reason: str) -> dict[str, Any]:
        return {"id": id_, "path": self.name(key), "line": 0, "reason": reason}


def _size(seen: Seen | None) -> str:
    """How large a file is, or what else stands there."""
    if seen is None:
        return ""
    if seen.kind != "file":
        return {"link": "a link", "folder": "a folder"}.get(seen.kind, "no file")
    return f"{seen.size} bytes" if seen.size < 10_000 else f"{seen.size / 1_000:,.0f} kB"


def _difference(watch: Watch, change: Change) -> str:
    from cli.guard.diff import difference

    return "".join(f"{line}\n" for line in difference(watch, change))


def _show_differences(watch: Watch, picked: Sequence[Change]) -> int:
    from cli.guard.diff import difference

    for change in picked:
        for line in difference(watch, change):
            output.show(line)
    return output.FINDINGS if picked else output.DONE
