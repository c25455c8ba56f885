"""`retain guard run`: a coding agent in a sandbox, and what becomes of what it wrote."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.agent_runs import finish_interrupted_runs, finish_run
from cli.environment import here, now
from cli.guard.personal import NOT_KNOWN, hint, is_unknown
from cli.options import opened, vault_option
from vault.errors import Refused, RetainError
from vault.files.folder import is_folder
from vault.files.write_scopes import AGENT_FOLDERS, Scope

if TYPE_CHECKING:
    from compiler.agent_session import Run
    from vault.sandbox.capabilities import Level
    from vault.sandbox.sandbox import Sandbox
    from vault.vault import Vault

REFUSED = 125  # every other exit code is the command's
_LEVELS = ("landlock", "bubblewrap", "full")
WEAKER = {
    "bubblewrap": "weaker than full: there is no second layer of protection besides the read-only file system",
    "landlock": "weaker than full: the program can change permissions, owner, timestamps and attributes of your "
    "files (in your "
    "vaults, they are restored when the command ends), can see your other programs, and cannot list the parent "
    "folders of hidden ones",
}


class _Command(click.Command):
    """A command that exits with 125 for a usage error, as 2 would be taken for the agent's exit code."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            output.usage(error)
            raise click.exceptions.Exit(REFUSED) from error


@click.command(cls=_Command, context_settings={"allow_interspersed_args": False})
@click.option("--rw", multiple=True, metavar="PATH", help="Let the agent also write to this file or folder.")
@click.option("--no-network", is_flag=True, help="Block network access (most agents need it for their model).")
@click.option("--require", type=click.Choice(_LEVELS), help="Refuse to start in a weaker sandbox than this.")
@click.option(
    "--env", "passed", multiple=True, metavar="NAME", help="Also pass this environment variable to the program."
)
@vault_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    rw: tuple[str, ...],
    no_network: bool,
    require: str | None,
    passed: tuple[str, ...],
    vault_dir: str | None,
    command: tuple[str, ...],
) -> int:
    """Run a coding agent, or any program, in a sandbox that lets it write only to the agents' folders.

    For the program, the file system is read-only, except for wiki/, output/, learning/flashcards/ and .retain/work/ in
    the vault, a temporary folder, and paths added by --rw. Your personal vault is hidden. When the program ends,
    everything it wrote is checked like any page; files that fail the check are moved to output/quarantine/.

    The settings folders of Claude Code and Codex stay read-only, and --rw refuses them; give a sessions folder inside
    them, or a separate settings folder.

    Exit code: that of the command (128 + n if signal n ended it; 127 if it was not found, 126 if it cannot be run); 1
    instead of 0 if something that the program destroyed could not be restored, or if it changed the permissions, owner,
    timestamps or attributes of other files (the level landlock cannot prevent that); 125 if retain refuses to start it.

    \b
    Examples:
      retain guard run -- claude
      retain guard run --rw ~/.claude/projects -- claude
      retain guard run --rw ~/sandboxed --require full -- env CODEX_HOME=$HOME/sandboxed codex
      retain guard run --no-network -- bash
      retain guard run --env AWS_PROFILE -- claude -p "fix the links in wiki/"
    """
    try:
        return _run(opened(vault_dir), command, rw, passed, network=not no_network, require=require)
    except RetainError as error:
        output.failed(error)
        return REFUSED


def _run(
    vault: Vault,
    command: tuple[str, ...],
    rw: tuple[str, ...],
    passed: tuple[str, ...],
    *,
    network: bool,
    require: str | None,
) -> int:
    if "RETAIN_CAGED" in os.environ:
        raise Refused("this process is already in a sandbox", hint="run the command directly")
    _check_names(passed)
    level, reasons = _level(require)
    from cli.guard.audit import before_agent
    from vault.sandbox.environment import filtered_environment
    from vault.sandbox.sandbox import run_in_sandbox  # can't be loaded on a system without sandboxes

    added = tuple(Path(each).expanduser().absolute() for each in rw)
    sandbox = _sandbox(vault, added, level, network=network)
    begun: list[Run] = []
    losses = False

    def begin() -> None:
        finish_interrupted_runs(vault)
        _announce(sandbox, reasons)
        _warn_of_root(vault)
        before_agent(vault)
        begun.append(_begin(vault, command))
        _record_metadata(vault, begun[0], sandbox)

    try:
        code = run_in_sandbox(sandbox, command, cwd=here(), env=filtered_environment(os.environ, passed), before=begin)
    finally:
        for each in begun:
            losses |= finish_run(vault, each)
    return code or (output.FINDINGS if losses else output.DONE)


def _check_names(passed: tuple[str, ...]) -> None:
    from vault.sandbox.environment import is_name

    for name in passed:
        if not is_name(name):
            raise Refused("--env takes only the name of a variable, without a value", where=name)


def _level(require: str | None) -> tuple[Level, tuple[str, ...]]:
    """Return the strongest level that works here, and why no stronger one does. Raises: Refused if it is too weak."""
    from vault.sandbox.capabilities import Level, sandbox_support

    support = sandbox_support()
    why = "\n  ".join(support.reasons)
    if support.level is Level.NONE:
        hint = "keep your notes in a second vault (`retain init DIR --personal DIR2`), and use `retain guard audit`"
        raise Refused(f"no sandbox is available here:\n  {why}", hint=hint)
    if require is not None and support.level < Level[require.upper()]:
        raise Refused(
            f"{require} was required, but only {support.level} is available here{why and ':'}\n  {why}".rstrip()
        )
    return support.level, support.reasons


def _sandbox(vault: Vault, added: tuple[Path, ...], level: Level, *, network: bool) -> Sandbox:
    """Return the sandbox of an agent of this vault. Missing folders that it may write are created. Raises: Refused."""
    from vault.config.user import config_folder, config_guard, personal_vaults, state_folder, state_guard
    from vault.sandbox.sandbox import Sandbox

    if is_unknown(vault):
        raise Refused(NOT_KNOWN, hint=hint(vault))
    agents = vault.guard(Scope.AGENT)
    for folder in AGENT_FOLDERS:
        agents.makedirs(folder)
    state = state_folder(vault.settings.vault_id)
    if not is_folder(state):  # only what exists can be hidden
        state_guard(vault.settings.vault_id).makedirs("runs")
    with suppress(RetainError):  # --rw must not cover a folder that can't be created
        config_guard().makedirs("")
    personal = vault.personal
    # They hold the paths of other vaults, copies of notes, and the personal vaults of other vaults.
    others = [config_folder(), state.parent, *(each for each in personal_vaults().values() if each != personal)]
    hidden = tuple(dict.fromkeys(each for each in others if is_folder(each)))
    _reject_writable_mount_points(tuple(each for each in others if each not in hidden), added)
    return Sandbox(
        vault.root,
        level,
        writable=tuple(vault.root / folder for folder in AGENT_FOLDERS),
        rw=added,
        personal=personal,
        hidden=hidden,
        network=network,
    )


def _reject_writable_mount_points(missing: tuple[Path, ...], extra_writable: tuple[Path, ...]) -> None:
    """Raise Refused if --rw covers the path of a private folder that is currently not mounted."""
    from vault.files.write_scopes import is_within

    for folder in missing:
        for path in extra_writable:
            if is_within(folder, path):
                hint = "mount or restore it, or specify a folder that does not contain it"
                raise Refused(
                    f"--rw: this folder contains {folder}, which agents must not see", where=str(path), hint=hint
                )


def _warn_of_root(vault: Vault) -> None:
    """Warn when root starts an agent in another user's vault, as new files would belong to root."""
    owner = vault.root.stat().st_uid
    if os.geteuid() == 0 and owner != 0:
        output.say(
            f"  you are root and this vault belongs to user {owner}: new files will belong to root; run retain "
            f"as {owner}"
        )


def _announce(sandbox: Sandbox, reasons: tuple[str, ...]) -> None:
    """Report the sandbox's level and what the agent may write; a weaker level says why."""
    from vault.sandbox import landlock
    from vault.sandbox.hosts import opened
    from vault.sandbox.processes import inherited

    level = str(sandbox.level)
    parts = {"full": "bubblewrap + Landlock ABI {}", "landlock": "Landlock ABI {}"}.get(level, "")
    how = f" ({parts.format(landlock.abi())})" if parts else ""
    folders = [f"{folder}/" for folder in AGENT_FOLDERS] + [str(each) for each in sandbox.rw]
    network = "on" if sandbox.network else "off"
    unseen = f"; {sandbox.personal} is hidden" if sandbox.personal else ""
    output.say(f"sandbox: {level}{how}, network {network}; can write to {' '.join(folders)}{unseen}")
    for line in (*((WEAKER[level],) if level in WEAKER else ()), *reasons):
        output.say(f"  {line}")
    for path, host in opened(sandbox.rw).items():
        output.say(f"  Warning: {path} is writable; {host} may run or trust its contents later")
    closed = inherited()
    if closed:
        output.say(f"  closed inherited file descriptors: {', '.join(map(str, closed))}")


def _begin(vault: Vault, command: tuple[str, ...]) -> Run:
    from compiler.agent_session import begin

    return begin(vault, command, now())


def _record_metadata(vault: Vault, begun: Run, sandbox: Sandbox) -> None:
    """Record modes, times and attributes before the run, at the level that lets an agent change them."""
    from vault.audit.metadata import record
    from vault.sandbox.capabilities import Level

    if sandbox.level is Level.LANDLOCK:
        record(vault, begun.id, sandbox.rw)
