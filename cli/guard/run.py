"""`retain guard run`: a coding agent in a cage, and what becomes of what it wrote."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.agent_runs import _settle, settle_left_over
from cli.environment import here, now
from cli.guard.personal import NOT_KNOWN, is_unknown, way_out
from cli.options import opened, vault_option
from vault.errors import Refused, RetainError
from vault.files.folder import is_folder
from vault.files.paths import AGENT_FOLDERS, Scope

if TYPE_CHECKING:
    from compiler.agent_session import Run
    from vault.sandbox.capabilities import Level
    from vault.sandbox.sandbox import Cage
    from vault.vault import Vault

REFUSED = 125  # ours alone: every other exit code is the command's
_LEVELS = ("landlock", "bubblewrap", "full")
WEAKER = {
    "bubblewrap": "weaker than full: the kernel's second fence, behind the read-only file system, is missing",
    "landlock": "weaker than full: mode, owner, times and attributes of your files can be changed (in your vaults they "
    "are put back when the command ends), your other programs be seen, and folders that lead to hidden ones can't be "
    "listed",
}


class _Command(click.Command):
    """Ends with 125 where its own words don't fit together: 2 would be the agent's."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            output.usage(error)
            raise click.exceptions.Exit(REFUSED) from error


@click.command(cls=_Command, context_settings={"allow_interspersed_args": False})
@click.option("--rw", multiple=True, metavar="PATH", help="A file or folder that the agent may write, too.")
@click.option("--no-network", is_flag=True, help="No internet, which most agents need for their model.")
@click.option("--require", type=click.Choice(_LEVELS), help="Refuse to start behind anything weaker.")
@click.option("--env", "passed", multiple=True, metavar="NAME", help="A variable of the environment to pass on, too.")
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
    """Run a coding agent, or any program, that can write only what an agent may write.

    The whole file system is read-only to it, but for wiki/, output/, learning/flashcards/ and .retain/work/ of the
    vault, a temporary folder of its own, and what --rw adds. Your personal vault is empty to it. When it ends, what
    it wrote goes through the same checks as any page; what fails is moved to output/quarantine/.

    The folders in which Claude Code and Codex keep their settings stay read-only: --rw refuses them, and takes a
    folder for sessions in them, or a settings folder of the agent's own.

    The exit code is the command's (128 + n if signal n ended it; 127 not found, 126 can't be run), but 1 instead of 0
    where something that it destroyed could not be put back, or where the agent changed mode, owner, time or attributes
    of files that are not its own, which the level landlock cannot forbid. If retain refuses to start it, 125.

    \b
    Examples:
      retain guard run -- claude
      retain guard run --rw ~/.claude/projects -- claude
      retain guard run --rw ~/caged-codex --require full -- env CODEX_HOME=$HOME/caged-codex codex
      retain guard run --no-network -- bash
      retain guard run --env AWS_PROFILE -- claude -p "mend the links in wiki/"
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
        raise Refused("this is a cage already, and there is no cage in a cage", hint="run the command as it is")
    _check_names(passed)
    level, words = _level(require)
    from cli.guard.audit import before_agent
    from vault.sandbox.environment import scrubbed
    from vault.sandbox.sandbox import run_in_cage  # only now: on a system without cages it can't even be loaded

    added = tuple(Path(each).expanduser().absolute() for each in rw)
    cage = _cage(vault, added, level, network=network)
    begun: list[Run] = []
    losses = False

    def begin() -> None:
        settle_left_over(vault)
        _announce(cage, words)
        _warn_of_root(vault)
        before_agent(vault)
        begun.append(_begin(vault, command))
        _record_metadata(vault, begun[0], cage)

    try:
        code = run_in_cage(cage, command, cwd=here(), env=scrubbed(os.environ, passed), before=begin)
    finally:
        for each in begun:
            losses |= _settle(vault, each)
    return code or (output.FINDINGS if losses else output.DONE)


def _check_names(passed: tuple[str, ...]) -> None:
    from vault.sandbox.environment import is_name

    for name in passed:
        if not is_name(name):
            raise Refused("--env takes the name of a variable alone; its value is the one it has", where=name)


def _level(require: str | None) -> tuple[Level, tuple[str, ...]]:
    """The strongest level that works here, and why no stronger one does. Raises: Refused if that isn't enough."""
    from vault.sandbox.capabilities import Level, standing

    found = standing()
    why = "\n  ".join(found.words)
    if found.level is Level.NONE:
        hint = "keep your notes in a second vault (`retain init DIR --personal DIR2`), and use `retain guard audit`"
        raise Refused(f"no agent can be shut in here:\n  {why}", hint=hint)
    if require is not None and found.level < Level[require.upper()]:
        raise Refused(f"{require} was required, and what works here is {found.level}{why and ':'}\n  {why}".rstrip())
    return found.level, found.words


def _cage(vault: Vault, added: tuple[Path, ...], level: Level, *, network: bool) -> Cage:
    """The cage of an agent of this vault; folders that it is to write are made where they are missing."""
    from vault.config.user import config_folder, config_guard, personal_vaults, state_folder, state_guard
    from vault.sandbox.sandbox import Cage

    if is_unknown(vault):
        raise Refused(NOT_KNOWN, hint=way_out(vault))
    agents = vault.guard(Scope.AGENT)
    for folder in AGENT_FOLDERS:
        agents.makedirs(folder)
    state = state_folder(vault.settings.vault_id)
    if not is_folder(state):  # what isn't there can't be hidden
        state_guard(vault.settings.vault_id).makedirs("runs")
    with suppress(RetainError):  # where we can't make it, --rw must not reach there: see below
        config_guard().makedirs("")
    personal = vault.personal
    # Where other people's vaults, and copies of notes, can be learnt of; and the notes beside other vaults.
    others = [config_folder(), state.parent, *(each for each in personal_vaults().values() if each != personal)]
    hidden = tuple(dict.fromkeys(each for each in others if is_folder(each)))
    _check_the_way_to(tuple(each for each in others if each not in hidden), added)
    return Cage(
        vault.root,
        level,
        writable=tuple(vault.root / folder for folder in AGENT_FOLDERS),
        rw=added,
        personal=personal,
        hidden=hidden,
        network=network,
    )


def _check_the_way_to(unmounted: tuple[Path, ...], added: tuple[Path, ...]) -> None:
    """Raises Refused if an agent could lay something where a folder that is to be hidden belongs when it comes back."""
    from vault.files.paths import is_within

    for each in unmounted:
        for path in added:
            if is_within(each, path, on_disk=True):
                hint = "mount it or put it back, or name a smaller folder"
                raise Refused(f"--rw: {each}, which no agent may see, belongs there", where=str(path), hint=hint)


def _warn_of_root(vault: Vault) -> None:
    """One line where root starts the agent of somebody else, whose commands would stumble over files of root's."""
    owner = vault.root.stat().st_uid
    if os.geteuid() == 0 and owner != 0:
        output.say(
            f"  you are root, and this vault is user {owner}'s: what is made in it will be root's; start it as {owner}"
        )


def _announce(cage: Cage, words: tuple[str, ...]) -> None:
    """One line that says what holds; a weaker level is never silent."""
    from vault.sandbox import landlock
    from vault.sandbox.hosts import opened
    from vault.sandbox.processes import inherited

    level = str(cage.level)
    parts = {"full": "bubblewrap + Landlock ABI {}", "landlock": "Landlock ABI {}"}.get(level, "")
    how = f" ({parts.format(landlock.abi())})" if parts else ""
    folders = [f"{folder}/" for folder in AGENT_FOLDERS] + [str(each) for each in cage.rw]
    network = "on" if cage.network else "off"
    unseen = f"; cannot see {cage.personal}" if cage.personal else ""
    output.say(f"cage: {level}{how}, network {network}; may write {' '.join(folders)}{unseen}")
    for line in (*((WEAKER[level],) if level in WEAKER else ()), *words):
        output.say(f"  {line}")
    for path, host in opened(cage.rw).items():
        output.say(f"  YOU OPENED {path}: what it writes there, {host} may run or believe, with all your rights")
    closed = inherited()
    if closed:
        output.say(f"  open files that were handed down are closed to it: {', '.join(map(str, closed))}")


# --- before and after -----------------------------------------------------------------------------------------------


def _begin(vault: Vault, command: tuple[str, ...]) -> Run:
    from compiler.agent_session import begin

    return begin(vault, command, now())


def _record_metadata(vault: Vault, begun: Run, cage: Cage) -> None:
    """Modes, times and attributes before the run, at the level whose kernel lets an agent change them."""
    from vault.audit.metadata import record
    from vault.sandbox.capabilities import Level

    if cage.level is Level.LANDLOCK:
        record(vault, begun.id, cage.rw)
