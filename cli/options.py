"""What commands share: their options, opening the vault, and what must be done before a command."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from cli import agent_runs, output
from cli.agent_commands import AGENT_COMMANDS, may_run
from cli.environment import here, is_sandboxed
from cli.log_watch import watch_end, watched
from vault.audit.agent_runs import at_work
from vault.errors import Refused, VaultNotFound, WriteFailed
from vault.files.guard import Scope
from vault.log.older_files import move_older_files
from vault.vault import Vault, open_vault, vault_root

F = TypeVar("F", bound=Callable[..., Any])


# They let the shell complete names, of files and folders or of folders alone.
complete_files = click.Path().shell_complete
complete_folders = click.Path(file_okay=False).shell_complete

vault_option = click.option(
    "--vault", "vault_dir", metavar="DIR", shell_complete=complete_folders, help="The vault to use."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would change; write nothing.")
progress_option = click.option(
    "--progress", type=click.Choice(["jsonl", "none"]), help="Print progress as JSON lines on stderr, or turn it off."
)


class FiniteRange(click.FloatRange):
    """A number in a range: "nan", which is in every range, and "inf" are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


def combine(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return one decorator that adds all these options to a command, in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


vault_json_options = combine(vault_option, json_option)


def opened(vault_dir: str | None, *, thorough: bool = False) -> Vault:
    """Return the vault that `--vault`, RETAIN_VAULT or the working directory names.

    Reports what its settings lack and what its logs have lost; with `thorough`, these are read for that.
    """
    vault = open_vault(vault_dir or vault_before_command(), os.environ.get("RETAIN_VAULT"), here())
    vault = watched(vault, thorough=thorough)
    output.found(vault.notices)
    return vault


def opened_to_write(vault_dir: str | None, *, dry_run: bool = False) -> Vault:
    """Return the vault as `opened` does; unless it is a dry run, finalize the run of an agent that was killed, and move
    what an older version left.
    """
    vault = opened(vault_dir)
    if not dry_run:
        finish_interrupted_runs(vault)
        move_older(vault)
        watch_end(vault)
    return vault


def move_older(vault: Vault) -> None:
    """Move what an older version kept in `.retain/`; where nothing can be written, it is read there."""
    with suppress(WriteFailed, Refused):
        if moved := move_older_files(vault.guard(Scope.LOG), vault.settings.vault_id):
            output.say(f"moved from .retain/ to {' and '.join(sorted({*moved.values()}))}; commit them to git")


def option_for(root: Path) -> list[str]:
    """Return the words `--vault DIR` for a command about the vault at `root`; none if it is found here without them."""
    with suppress(VaultNotFound):
        if vault_root(None, os.environ.get("RETAIN_VAULT"), here()) == root:
            return []
    return ["--vault", str(root)]


def vault_before_command() -> str | None:
    """Return DIR of `retain --vault DIR COMMAND`; None if there is no command line, or no such option."""
    context = click.get_current_context(silent=True)
    return context.find_root().obj if context is not None else None


def check_sandboxed(arguments: Sequence[str]) -> None:
    """Raise Refused if this runs in the sandbox of `retain guard run` and an agent may not give these arguments.

    This only explains. The kernel enforces it: nothing in the sandbox can write ledgers, log or settings.
    """
    if not is_sandboxed() or any(pair == ("guard", "run") for pair in itertools.pairwise(arguments)):
        return  # `guard run` refuses by itself, with an exit code of its own
    if not may_run(arguments):
        name = " ".join(["retain", *(word for word in arguments if not word.startswith("-"))][:2])
        raise Refused(
            f"`{name}` is not allowed inside the sandbox; allowed: {', '.join(AGENT_COMMANDS)}",
            hint="ask the user to run it outside the sandbox",
        )


def finish_interrupted_runs(vault: Vault) -> None:
    """Finalize the run of an agent that was killed: until then nobody knows which changes are the agent's."""
    if at_work(vault) and not is_sandboxed():
        agent_runs.finish_interrupted_runs(vault)
