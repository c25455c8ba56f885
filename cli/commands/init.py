"""Commands that make a vault and say what it holds: init, status."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, progress_option, vault_option
from vault.config.settings import FILE
from vault.errors import GitFailed, Refused, UsageError
from vault.git import git, is_installed
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
@click.option("--personal", metavar="DIR2", help="A vault of your own beside it, which no agent can read.")
@click.option("--adopt", is_flag=True, help="Lay the vault over a folder that already holds notes.")
@click.option("--no-git", is_flag=True, help="Do not make it a git repository.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    type=click.Choice(["claude-code", "codex"]),
    help="Settings and hooks for this coding agent; also for a vault that is there already.",
)
@click.option("--print", "show", is_flag=True, help="With --host: show the files instead of writing them.")
@progress_option
def init(
    directory: str,
    personal: str | None,
    adopt: bool,
    no_git: bool,
    hosts: tuple[str, ...],
    show: bool,
    progress: str | None,
) -> int | None:
    """Make a new vault in DIR.

    With --personal your own notes live in DIR2, and DIR has no insights/. Where DIR2 is stays in your own settings,
    on this machine; for a vault that is there already, say --personal again on each machine.

    \b
    Examples:
      retain init my-vault
      retain init ~/know --personal ~/notes     your notes apart, which no agent can read
      retain init ~/notes --adopt     add the layer to an existing Obsidian vault
      retain init ~/know --host claude-code --host codex     ask these agents to keep out of what is yours
    """
    from templates import read
    from vault.config.settings import Settings, render_settings
    from vault.files.folder import is_folder, named
    from vault.files.guard import Guard, Scope
    from vault.ids import ulid

    root = _given(directory)
    if show and not hosts:
        raise UsageError("--print goes with --host", hint="retain init DIR --host claude-code --print")
    if show:
        return _hosts(root, hosts, show=True)
    founded = named(root / FILE) is not None
    if founded and (personal is not None or hosts):
        if personal is not None:
            _join(root, personal)
        return _hosts(root, hosts, show=False) if hosts else None
    if founded:
        raise Refused("this is a vault already", where=str(root / FILE), hint="open it with `retain status`")
    there = named(root) is not None
    if there and not is_folder(root):
        raise UsageError("not a folder", where=str(root))
    if there and _holds_anything(root) and not adopt:
        raise Refused(
            "the folder is not empty",
            where=str(root),
            hint="--adopt lays the vault over what is there; no file is changed",
        )
    guard = Guard(root.resolve(), Scope.INIT)
    at = now()
    settings = Settings(
        vault_id=ulid(int(at.timestamp() * 1000), secrets.token_bytes(10)),
        name=root.resolve().name,
        timezone=_local_zone(),
    )
    own = _checked(root.resolve(), personal, settings.vault_id)
    for folder in FOLDERS:
        if own is None or folder != "insights":
            guard.makedirs(folder)
    files = {"AGENTS.md": read("AGENTS.md"), ".gitignore": read("gitignore"), ".gitattributes": read("gitattributes")}
    kept = [name for name, text in files.items() if not _lay(guard, name, text)]
    if own is not None:
        _name_personal(own, settings.vault_id)
    guard.write(FILE, render_settings(settings).encode(), expect=None)  # last: what has it is a vault, whole
    output.say(f"a new vault in {root} (study days in {settings.timezone}, from {settings.rollover}:00)")
    if own is not None:
        output.say(f"  your own notes live in {own}")
    _begin_the_audit(root)
    for name in kept:
        output.say(f"  {name} was there and stays as it is; the one retain would write is in its documentation")
    if not no_git and is_installed() and not _in_git(root):
        _start_repository(root)
    code = _hosts(root, hosts, show=False) if hosts else None
    output.say(f"next: cd {root} && retain add FILES && retain compile")
    return code


def _given(directory: str) -> Path:
    """Raises: UsageError for a name that counts from a working directory that is gone."""
    root = Path(directory).expanduser()
    try:
        Path.cwd()
    except FileNotFoundError as error:
        if not root.is_absolute():
            hint = "go to one that is there, with `cd`"
            raise UsageError("the working directory is gone", where=directory, hint=hint) from error
    return root


def _holds_anything(folder: Path) -> bool:
    """Raises: UsageError for a folder that cannot be listed."""
    try:
        return any(folder.iterdir())
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        hint = "look at its owner and mode"
        raise UsageError(f"what it holds cannot be told: {reason}", where=str(folder), hint=hint) from error


def _hosts(root: Path, hosts: tuple[str, ...], *, show: bool) -> int:
    from cli.hosts.host_config import write_host_files

    return write_host_files(root.resolve(), list(dict.fromkeys(hosts)), show=show)


def _checked(root: Path, personal: str | None, vault_id: str) -> Path | None:
    """Where the personal vault is to be; None if none was asked for. Raises: Refused for a place of either."""
    from vault.config.personal import check_no_personal, checked_apart

    check_no_personal(root)
    return None if personal is None else checked_apart(root, Path(personal), vault_id)


def _name_personal(own: Path, vault_id: str) -> None:
    """Takes down where the personal vault is, after making the folder if it is not there; nothing in it is touched."""
    from vault.config.user import personal_vault, set_personal_vault
    from vault.files.guard import Guard, Scope

    if personal_vault(vault_id) in (None, own):  # else the next line refuses
        Guard(own, Scope.INIT).makedirs("")
    set_personal_vault(vault_id, own)


def _join(root: Path, personal: str) -> None:
    """Names the personal vault of a vault that is there already, for this user on this machine."""
    vault = opened(str(root))
    own = _checked(vault.root, personal, vault.settings.vault_id)
    assert own is not None
    _name_personal(own, vault.settings.vault_id)
    output.say(f"the personal vault of {vault.settings.name} is {own}, on this machine; no file of the vault changed")
    _begin_the_audit(root)


def _begin_the_audit(root: Path) -> None:
    """Takes down what is the human's while nobody else was there, and names what an agent could read of it."""
    from cli.guard.audit import first_look
    from cli.guard.personal import notes_in_vault

    vault = open_vault(str(root), None, root)
    first_look(vault, only_at_once=True)
    output.found(notes_in_vault(vault))


def _lay(guard: object, name: str, text: str) -> bool:
    """Whether `name` was written; a file that is there already is the human's."""
    from vault.files.guard import Guard

    assert isinstance(guard, Guard)
    if guard.exists(name):
        return guard.read(name) == text.encode()
    return guard.write(name, text.encode(), expect=None)


def _start_repository(root: Path) -> None:
    try:
        git(root, "init", "--quiet")
    except GitFailed as error:  # the vault is whole without it
        output.failed(error)
        return
    output.say("  it is a git repository; commit whenever you like")


def _in_git(root: Path) -> bool:
    try:
        git(root, "rev-parse", "--git-dir")
    except GitFailed:
        return False
    return True


def _local_zone() -> str:
    """The IANA name of this machine's time zone; "UTC" where it cannot be told."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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


@click.command()
@click.option("--cost", is_flag=True, help="What models took instead: by run, source, article and model.")
@vault_option
@json_option
def status(cost: bool, vault_dir: str | None, as_json: bool) -> None:
    """What the vault holds: sources, wiki, cards, what is due, what is missing.

    \b
    Examples:
      retain status
      retain status --cost
    """
    from cli.commands.status import counted
    from cli.guard.personal import finding, notes_in_vault, personal_line

    vault = opened(vault_dir)
    if cost:
        from cli.commands.costs import status as status_of_costs

        status_of_costs(vault, as_json)
        return
    facts, diagnostics = counted(vault, now())
    diagnostics += [*finding(vault), *notes_in_vault(vault)]
    if as_json:
        output.show_json(facts)
    else:
        gaps = facts["gaps"]
        assert isinstance(gaps, dict)
        output.show(f"{vault.settings.name}  {vault.root}  schema {facts['schema']}")
        output.show(personal_line(facts["vault"]["personal"]))
        nouns = ("sources", "summaries", "concepts", "topics", "claims")
        output.show(", ".join(f"{facts[noun]} {noun}" for noun in nouns))
        output.show(f"{facts['cards']} cards: {facts['due']} due, {facts['new']} new")
        for held in facts["locks"]:
            output.show(
                f"at work now: process {held['pid']} on {held['host']}, {held['purpose']} since {held['since']}"
            )
        agent = facts["agent"]
        if any(agent.values()):
            waits = f"; {agent['open_runs']} not settled yet" if agent["open_runs"] else ""
            output.show(f"with an agent's text: {output.number(agent['pages'], 'page')}{waits}")
        output.show("gaps: " + ", ".join(f"{n} {kind}" for kind, n in gaps.items()))
        if facts["inbox"]:
            output.show(f"{facts['inbox']} in the inbox: `retain inbox` lists what waits for your word")
        if facts["promotion"]:
            output.show(
                f"{facts['promotion']} in output/promotion-queue.md: `retain insight` opens a note on the first"
            )
    output.found(diagnostics)
