"""`retain guard audit`: unconfirmed changes in the user's folders; restore, accept or undo them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.environment import here, now
from cli.guard.diff import difference
from cli.guard.personal import files_below, notes_in_vault
from cli.options import json_option, opened, vault_option
from vault.audit.database import newest, replace_damaged
from vault.audit.scanner import LEFT_OUT, PERSONAL, Key, roots_of, shown
from vault.audit.watcher import Audit, key_of
from vault.errors import Damaged, NotFound, RetainError, UsageError
from vault.files.folder import is_folder
from vault.log.ledger import minute_of
from vault.text.formatting import plural

if TYPE_CHECKING:
    from vault.audit.changes import Change
    from vault.audit.scanner import FileState, Key
    from vault.audit.watcher import Audit, AuditReport, Outcome
    from vault.vault import Vault

_QUICK = (2_000, 100 << 20)  # files and bytes that a first scan reads in a second or two


def before_agent(vault: Vault) -> None:
    """Begin the audit if it has not begun, and warn of notes that an agent could read."""
    first_look(vault)
    output.found(notes_in_vault(vault))


def first_look(vault: Vault, *, only_at_once: bool = False) -> bool:
    """Record the user's files, with copies, if they or the personal vault never were; return whether it did so.

    With `only_at_once`, a scan that would take long is skipped with a message. A failed scan is reported and stops
    nothing: the sandbox does not need it.
    """
    try:
        with Audit.open(vault) as watch:
            if not _is_to_begin(watch):
                return False
            if _is_large(vault):
                if only_at_once:
                    output.say("  you have many files: run `retain guard audit` once to start the file audit")
                    return False
                output.say("  first scan of your files, with a copy of each: this may take a while")
            report = watch.scan(now(), quick=True)
    except RetainError as error:
        output.say(f"  the file audit could not start: {error}")
        return False
    if report.files:
        files = plural(report.files, "file")
        output.say(f"  Recorded {files} with backups; run `retain guard audit` to see changes.")
    return True


def _is_to_begin(watch: Audit) -> bool:
    if watch.known.last_scan() is None:
        return True
    personal = watch.vault.personal
    return personal is not None and is_folder(personal) and Key(PERSONAL, "") not in watch.known.roots()


def _is_large(vault: Vault) -> bool:
    size = 0
    for count, entry in enumerate(files_below((root.folder for root in roots_of(vault)), LEFT_OUT), 1):
        with suppress(OSError):
            size += entry.stat(follow_symlinks=False).st_size
        if count > _QUICK[0] or size > _QUICK[1]:
            return True
    return False


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--restore", is_flag=True, help="Restore files (optionally only PATH).")
@click.option("--accept", is_flag=True, help="Accept changes as yours (optionally only PATH).")
@click.option("--undo", is_flag=True, help="Undo the last --restore.")
@click.option("--diff", is_flag=True, help="Show the changes line by line.")
@click.option("--force", is_flag=True, help="Treat unreadable folders as empty.")
@click.option("--quick", is_flag=True, help="Skip files with unchanged size, times and inode.")
@vault_option
@json_option
def audit(
    paths: tuple[str, ...], force: bool, quick: bool, vault_dir: str | None, as_json: bool, **actions: bool
) -> int:
    """List files that were changed, added, deleted or moved in your folders.

    Your folders are insights/, raw/ and the personal vault. The first scan records all files, and stores a copy of each
    outside the vault. From then on, each change is listed until you accept it as yours (--accept) or restore the file
    (--restore). New files are not removed unless you specify them. Files that a restore replaces are also backed up
    (--undo).

    Exits with code 1 if something changed or cannot be read.

    \b
    Examples:
      retain guard audit
      retain guard audit --diff insights/memory.md
      retain guard audit --restore insights/memory.md
      retain guard audit --accept
    """
    action = _only(actions)
    if action == "undo" and paths:
        raise UsageError("--undo undoes the entire last restore; it takes no PATH")
    vault = opened(vault_dir)

    def run() -> int:
        with Audit.open(vault) as watch:
            return _run(watch, paths, action, force, quick, as_json)

    try:
        return run()
    except Damaged as error:
        if not _replace_database(vault, error):
            raise
        return run()


def _only(actions: dict[str, bool]) -> str | None:
    """Return the chosen action; None to list changes. Raises: UsageError for several."""
    asked = [name for name, given in actions.items() if given]
    if len(asked) > 1:
        words = " and ".join(f"--{name}" for name in asked)
        raise UsageError(f"{words} are mutually exclusive", hint="give only one of them; PATH selects the files")
    return asked[0] if asked else None


def _run(watch: Audit, paths: tuple[str, ...], action: str | None, force: bool, quick: bool, as_json: bool) -> int:
    vault, at = watch.vault, now()
    outcome = watch.undo(at) if action == "undo" else None
    report = watch.scan(at, quick=quick, force=force)
    selected = _selected(vault, report, paths)
    if action == "accept":
        outcome = watch.accept(selected, at)
    elif action == "restore":
        outcome = watch.restore([c for c in selected if not _appeared(c) or _is_named(vault, c, paths)], at)
    elif action == "diff" and selected and not as_json:
        return _show_differences(watch, selected)
    result = _Result(vault, report, selected, action if outcome is not None else None, outcome)
    if action == "diff":
        result.differences = {change.key: _difference(watch, change) for change in selected}
    (result.as_json if as_json else result.as_text)()
    return output.DONE if result.is_clean else output.FINDINGS


def _replace_database(vault: Vault, error: Damaged) -> bool:
    """Return whether it was the database that is damaged; then create a new one and report it."""
    if error.where != str(newest(vault.settings.vault_id)):
        return False
    output.say(f"  {error.where}: {error.what}")
    old, new = replace_damaged(vault.settings.vault_id)
    output.say(f"  kept it as {old.name} and started {new.name}; the current state of your files is the new baseline")
    output.say("  for earlier changes, see git or your own backup, if you have one")
    return True


def _appeared(change: Change) -> bool:
    return change.was is None


def _selected(vault: Vault, report: AuditReport, paths: Sequence[str]) -> list[Change]:
    """Return the changes at the paths; all without paths. Raises: NotFound for a path without a change."""
    if not paths:
        return list(report.changes)
    selected: dict[Change, None] = {}
    for path in paths:
        keys = _keys(vault, path)
        matches = [change for change in report.changes if _touches(change, keys)]
        if not matches:
            raise NotFound("nothing has changed there since the last scan", where=path)
        selected |= dict.fromkeys(matches)
    return list(selected)


def _touches(change: Change, keys: Sequence[Key]) -> bool:
    return any(_covers(key, changed) for key in keys for changed in change.keys)


def _is_named(vault: Vault, change: Change, paths: Sequence[str]) -> bool:
    """Return whether the file itself was named, and not only a folder above it."""
    return any(change.key in _keys(vault, path) for path in paths)


def _keys(vault: Vault, path: str) -> list[Key]:
    """Return the keys that PATH can mean: relative to the vault or the working directory, or as the audit shows it."""
    plain = os.path.normpath(path)
    keys = [] if os.path.isabs(plain) else [key_of(vault, plain)]  # noqa: PTH117 (a text, not yet a path)
    with suppress(NotFound):
        keys.append(key_of(vault, Path(os.path.normpath(here() / path))))
    return keys


def _covers(named: Key, key: Key) -> bool:
    if named.place != key.place:
        return False
    below = key.path == named.path or not named.path or key.path.startswith(f"{named.path}/")
    return below or shown(key) == shown(named)


class _Result:
    """The result of the command, to show as text or as JSON."""

    def __init__(
        self, vault: Vault, report: AuditReport, selected: Sequence[Change], action: str | None, outcome: Outcome | None
    ) -> None:
        self.vault, self.report, self.selected, self.action, self.outcome = vault, report, selected, action, outcome
        self.done = frozenset(outcome.done) if outcome is not None else frozenset()
        self.left = [c for c in report.changes if not self.done.intersection(c.keys) or action == "undo"]
        self.differences: dict[Key, str] = {}

    @property
    def is_clean(self) -> bool:
        failed = self.outcome is not None and self.outcome.left
        return not (self.left or self.report.unreachable or self.report.scan.unread or failed)

    def name(self, key: Key) -> str:
        return shown(key, self.vault.personal)

    def as_text(self) -> None:
        report = self.report
        for key, why in report.unreachable.items():
            output.show(f"unavailable  {self.name(key)}  {why}")
        for key, why in report.scan.unread.items():
            output.show(f"unread    {self.name(key)}  {why}")
        if self.outcome is None or self.action == "undo":
            self._show_changes(self.selected)
        else:
            gone = {c.key for c in self.selected if c.was is None or c.origin is not None}
            for key in self.outcome.done:
                verb = "accepted" if self.action == "accept" else "removed" if key in gone else "restored"
                output.show(f"{verb:<9} {self.name(key)}")
            self._show_changes(self.left)
        if self.outcome is not None:
            self._say_outcome(self.outcome)
        for note in report.scan.notes:
            output.say(f"  {note}")
        self._say_end()

    def _show_changes(self, changes: Sequence[Change]) -> None:
        for change in changes:
            output.show(f"{change.what:<9} {self.name(change.key)}  {self._detail(change)}")

    def _say_outcome(self, outcome: Outcome) -> None:
        if self.action == "undo":
            for key in outcome.done:
                output.show(f"restored {self.name(key)}")
        for line in outcome.messages:
            output.say(f"  {line}")
        for key, why in outcome.left:
            output.say(f"  {self.name(key)}: unchanged: {why}")

    def _say_end(self) -> None:
        report = self.report
        for key in report.begun if not report.first else ():
            output.say(f"  first scan of {self.name(key)}: a copy of each file was stored outside it")
        files, changes = plural(report.files, "file"), plural(len(self.left), "change")
        if report.first:
            output.say(f"Baseline created: {files} backed up.")
        elif self.is_clean:
            assert report.last is not None
            output.say(f"No changes in {files} since {self._day(report.last.at)}.")
        elif self.left:
            output.say(f"{changes} not accepted yet: --diff shows them, --restore undoes them, --accept accepts them")
        if report.unreachable:
            output.say("Unreadable folders do not count as deleted; --force treats them as deleted.")

    def _detail(self, change: Change) -> str:
        was, now = change.was, change.now
        day = f" on {self._day(change.good)}" if change.good else ""
        if was is None:
            return f"{_size(now)}; absent{day}"
        if change.origin is not None:
            return f"was {self.name(change.origin)}{day}"
        if now is None:
            return f"{_size(was)}; present{day}"
        if change.what == "mode":
            return f"{now.mode:04o}; {was.mode:04o}{day}"
        return f"{_size(now)}; {_size(was)}{day}"

    def _day(self, instant: str) -> str:
        return minute_of(instant, self.vault.settings.zone)

    def as_json(self) -> None:
        report, outcome = self.report, self.outcome
        done = [self.name(key) for key in outcome.done] if outcome is not None else []
        last = report.last
        output.show_json(
            {
                "first": report.first,
                "last_look": {"at": last.at, "files": last.files, "changes": last.changes} if last else None,
                "files": report.files,
                "changes": [self._change_json(change) for change in self.selected],
                "unconfirmed": len(self.left),
                "unreachable": [self._finding("unreachable", k, why) for k, why in report.unreachable.items()],
                "unread": [self._finding("unread", k, why) for k, why in report.scan.unread.items()],
                "notes": report.scan.notes,
                "accepted": done if self.action == "accept" else [],
                "restored": done if self.action == "restore" else [],
                "undone": done if self.action == "undo" else [],
                "left": [self._finding("left", k, why) for k, why in outcome.left] if outcome is not None else [],
                "gave_way": outcome.messages if outcome is not None else [],
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


def _size(seen: FileState | None) -> str:
    """Return the size of a file, or what else is there."""
    if seen is None:
        return ""
    if seen.kind != "file":
        return {"link": "a link", "folder": "a folder"}.get(seen.kind, "no such file")
    return f"{seen.size} bytes" if seen.size < 10_000 else f"{seen.size / 1_000:,.0f} kB"


def _difference(watch: Audit, change: Change) -> str:
    return "".join(f"{line}\n" for line in difference(watch, change))


def _show_differences(watch: Audit, selected: Sequence[Change]) -> int:
    for change in selected:
        for line in difference(watch, change):
            output.show(line)
    return output.FINDINGS if selected else output.DONE
