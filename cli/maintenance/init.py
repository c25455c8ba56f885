"""The command `init`: create a vault."""

from __future__ import annotations

import os
import secrets
import shlex
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from cli import output
from cli.environment import now
from cli.guard.audit import first_look
from cli.guard.personal import notes_in_vault
from cli.hosts.host_config import write_host_files
from cli.maintenance.adoption import BESIDE, Adoption, preview, survey, survey_again
from cli.options import opened, progress_option
from templates import read
from vault.config.notes import NoteRules
from vault.config.personal import check_no_personal, checked_apart
from vault.config.settings import FILE, Settings, render_settings
from vault.config.user import personal_vault, set_personal_vault
from vault.errors import GitFailed, Refused, UsageError
from vault.files.folder import is_folder, named
from vault.files.guard import Guard, Scope
from vault.git import git, is_installed, is_repository, repository_around
from vault.ids import ulid
from vault.toml_edit import change_notes
from vault.vault import open_vault

KINDS = ("articles", "papers", "repos", "datasets", "images")
FOLDERS = (
    *(f"raw/{kind}" for kind in KINDS),
    *("wiki/concepts", "wiki/topics", "wiki/summaries"),
    *("output/reports", "output/slides", "output/figures", "output/proposals", "output/quarantine"),
    *("learning/flashcards", "ledger/replies", "insights"),
)


@click.command()
@click.argument("directory", metavar="DIR")
@click.option("--personal", metavar="DIR2", help="Keep your own notes in this folder, which no agent can read.")
@click.option("--adopt", is_flag=True, help="Add the vault to a folder that already contains notes.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATH",
    help="With --adopt: exclude this folder, file or pattern from the sources.",
)
@click.option(
    "--exclude-tag", "exclude_tags", multiple=True, metavar="TAG", help="With --adopt: skip notes with this tag."
)
@click.option("--dry-run", is_flag=True, help="With --adopt: show what would become a source, and write nothing.")
@click.option("--no-git", is_flag=True, help="Do not create a git repository.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    type=click.Choice(["claude-code", "codex"]),
    help="Write settings and hooks for this coding agent; can be used on an existing vault.",
)
@click.option("--print", "show", is_flag=True, help="With --host, print the files instead of writing them.")
@progress_option
def init(
    directory: str,
    personal: str | None,
    adopt: bool,
    exclude: tuple[str, ...],
    exclude_tags: tuple[str, ...],
    dry_run: bool,
    no_git: bool,
    hosts: tuple[str, ...],
    show: bool,
    progress: str | None,
) -> int | None:
    """Create a vault in DIR.

    With --personal, your notes are kept in DIR2 instead of DIR/insights/. The path is saved in your user settings on
    this machine; for an existing vault, give --personal again on each machine.

    With --adopt, the notes in DIR are used as sources where they are: they are read, but never copied or changed. The
    [notes] table in retain.toml selects them. Templates, insights/ and notes tagged as private are excluded. If DIR
    already has folders with names that the vault needs (for example, a wiki compiled by another tool), the vault is
    created in DIR/retain.

    \b
    Examples:
      retain init my-vault
      retain init ~/know --personal ~/notes     keep your notes where no agent can read them
      retain init ~/notes --adopt --dry-run     show what an Obsidian vault contains
      retain init ~/notes --adopt --exclude Daily --exclude-tag journal
      retain init ~/know --host claude-code --host codex     set up two coding agents
    """
    root = _checked_directory(directory)
    if (exclude or exclude_tags or dry_run) and not adopt:
        raise UsageError(
            "--exclude, --exclude-tag and --dry-run can be used only with --adopt", hint="retain init DIR --adopt"
        )
    if show and not hosts:
        raise UsageError("--print can be used only with --host", hint="retain init DIR --host claude-code --print")
    if show:
        return _hosts(root, hosts, show=True)
    found = _survey(root, exclude, exclude_tags) if adopt and is_folder(root) and _is_not_empty(root) else None
    if found is not None:
        root = found.root
        if named(root / FILE) is not None and personal is None and not hosts:
            return _adopt_again(found, dry_run=dry_run)
        if found.notes and not _is_agreed(found, dry_run=dry_run):
            return None
    if dry_run:
        output.say("no notes to use as sources; nothing was written")
        return None
    is_vault = named(root / FILE) is not None
    if is_vault and (personal is not None or hosts):
        if personal is not None:
            _add_personal(root, personal)
        return _hosts(root, hosts, show=False) if hosts else None
    if is_vault:
        raise Refused(
            "this folder is already a vault",
            where=str(root / FILE),
            hint="run `retain status` there to see what it contains",
        )
    there = named(root) is not None
    if there and not is_folder(root):
        raise UsageError("not a folder", where=str(root))
    if there and _is_not_empty(root) and not adopt:
        raise Refused(
            "the folder is not empty",
            where=str(root),
            hint="--adopt adds the vault; no existing file is changed; --adopt --dry-run shows what it finds",
        )
    guard = Guard(root.resolve(), Scope.INIT)
    at = now()
    settings = Settings(
        vault_id=ulid(int(at.timestamp() * 1000), secrets.token_bytes(10)),
        name=root.resolve().name,
        timezone=_local_zone(),
        notes=found.rules if found is not None and found.notes else NoteRules(),
    )
    personal_root = _checked_personal(root.resolve(), personal, settings.vault_id)
    for folder in FOLDERS:
        if personal_root is None or folder != "insights":
            guard.makedirs(folder)
    files = {"AGENTS.md": read("AGENTS.md"), ".gitignore": read("gitignore"), ".gitattributes": read("gitattributes")}
    existing = [name for name, text in files.items() if not _write_if_missing(guard, name, text)]
    if personal_root is not None:
        _save_personal(personal_root, settings.vault_id)
    guard.write(FILE, render_settings(settings).encode(), expect=None)  # last: what has it is a vault, whole
    output.say(f"vault created in {root} (time zone {settings.timezone}, study days begin at {settings.rollover}:00)")
    if personal_root is not None:
        output.say(f"  personal vault: {personal_root}")
    _start_audit(root)
    for name in existing:
        output.say(f"  {name} already exists and was not changed; see the documentation for what retain would write")
    if not no_git and is_installed():
        _start_repository(root)
    code = _hosts(root, hosts, show=False) if hosts else None
    add = "" if settings.notes.folders else "retain add FILES && "
    output.say(f"next: cd {root} && {add}retain compile")
    return code


def _survey(root: Path, exclude: tuple[str, ...], exclude_tags: tuple[str, ...]) -> Adoption:
    """Return what is in a folder of notes, for a new vault or the one that it has."""
    folder = root.resolve()
    vault = next((each for each in (folder, folder / BESIDE) if named(each / FILE) is not None), None)
    with output.Counter() as counter:
        if vault is not None:
            return survey_again(opened(str(vault)), folder, exclude, exclude_tags, counter)
        return survey(folder, exclude, exclude_tags, counter)


def _is_agreed(found: Adoption, *, dry_run: bool) -> bool:
    """Show what would become a source; return whether the vault is to be made. Raises: Refused if the user says no."""
    for line in preview(found):
        output.say(line)
    if dry_run:
        output.say("nothing was written")
        return False
    if output.ask(f"Add a vault in {found.root}, with these as sources?") is False:
        raise Refused("nothing was written", hint="to exclude more, use --exclude FOLDER or --exclude-tag TAG")
    return True


def _adopt_again(found: Adoption, *, dry_run: bool) -> int | None:
    """Show what a vault takes of its notes; write the rules if it has none yet, or others are wanted."""
    vault = opened(str(found.root))
    changes = found.rules != vault.settings.notes
    if not changes or dry_run:
        for line in preview(found):
            output.say(line)
        output.say("nothing was written" if changes else "these are already its sources; nothing was written")
        return None
    if not _is_agreed(found, dry_run=False):
        return None
    change_notes(vault, found.rules)
    output.say(f"next: cd {found.root} && retain compile")
    return None


def _checked_directory(directory: str) -> Path:
    """Return the directory as a path. Raises UsageError if it is relative to a working directory that is gone."""
    root = Path(directory).expanduser()
    try:
        Path.cwd()
    except FileNotFoundError as error:
        if not root.is_absolute():
            hint = "change to a folder that exists, with `cd`"
            raise UsageError("the working directory no longer exists", where=directory, hint=hint) from error
    return root


def _is_not_empty(folder: Path) -> bool:
    """Return whether the folder holds something. Raises UsageError if it cannot be listed."""
    try:
        return any(folder.iterdir())
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        hint = "check its owner and permissions"
        raise UsageError(f"cannot be listed: {reason}", where=str(folder), hint=hint) from error


def _hosts(root: Path, hosts: tuple[str, ...], *, show: bool) -> int:
    return write_host_files(root.resolve(), list(dict.fromkeys(hosts)), show=show)


def _checked_personal(root: Path, personal: str | None, vault_id: str) -> Path | None:
    """Return the place of the personal vault, None if none was given. Raises Refused for a wrong place."""
    check_no_personal(root)
    return None if personal is None else checked_apart(root, Path(personal), vault_id)


def _save_personal(personal_root: Path, vault_id: str) -> None:
    """Save the path of the personal vault in the user's settings; create the folder if it is missing."""
    if personal_vault(vault_id) in (None, personal_root):  # else the next line refuses
        Guard(personal_root, Scope.INIT).makedirs("")
    set_personal_vault(vault_id, personal_root)


def _add_personal(root: Path, personal: str) -> None:
    """Set the personal vault of an existing vault, for this user on this machine."""
    vault = opened(str(root))
    personal_root = _checked_personal(vault.root, personal, vault.settings.vault_id)
    assert personal_root is not None
    _save_personal(personal_root, vault.settings.vault_id)
    output.say(f"personal vault of {vault.settings.name} on this machine: {personal_root}")
    _start_audit(root)


def _start_audit(root: Path) -> None:
    """Record the user's files before any agent runs, and report notes that an agent could read."""
    vault = open_vault(str(root), None, root)
    first_look(vault, only_at_once=True)
    output.found(notes_in_vault(vault))


def _write_if_missing(guard: object, name: str, text: str) -> bool:
    """Write a file unless it exists; return whether the file has this text now."""
    assert isinstance(guard, Guard)
    if guard.exists(name):
        return guard.read(name) == text.encode()
    return guard.write(name, text.encode(), expect=None)


def _start_repository(root: Path) -> None:
    """Create a git repository; inside another one, say which that is instead."""
    if is_repository(root):
        top = repository_around(root)
        if top is not None:
            output.say(
                f"  the vault is in the git repository {top}, so its files belong to that one; for a repository of its "
                f"own: git -C {shlex.quote(str(root))} init"
            )
        return
    try:
        git(root, "init", "--quiet")
    except GitFailed as error:  # the vault is whole without it
        output.failed(error)
        return
    output.say("  git repository created")


def _local_zone() -> str:
    """Return the IANA name of this machine's time zone, else "UTC"."""
    link = os.path.realpath("/etc/localtime")
    for name in (
        os.environ.get("TZ", "").lstrip(":"),
        link.partition("zoneinfo/")[2],
        _first_line(Path("/etc/timezone")),
    ):
        try:
            if name:
                return str(ZoneInfo(name))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").split("\n")[0].strip()
    except (OSError, UnicodeDecodeError):
        return ""
