"""What all commands share: opening the vault they were pointed at, and the options that every listing has."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from cli import output
from cli.environment import here
from vault.errors import Refused
from vault.vault import Vault, open_vault

F = TypeVar("F", bound=Callable[..., Any])


def vault_option(command: F) -> F:
    """`--vault DIR` on the command itself, as well as before it."""
    import click  # in these alone: the app opens a vault without it

    return click.option("--vault", "vault_dir", metavar="DIR", help="The vault to work on.")(command)


def progress_option(command: F) -> F:
    import click

    words = "Print progress as JSON lines on stderr, or not at all."
    return click.option("--progress", type=click.Choice(["jsonl", "none"]), help=words)(command)


def json_option(command: F) -> F:
    import click

    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)


def opened(vault_dir: str | None) -> Vault:
    """The vault that `--vault`, RETAIN_VAULT or the working directory names; what is odd about it is said."""
    vault = open_vault(vault_dir or _given_before_the_command(), os.environ.get("RETAIN_VAULT"), here())
    output.found(vault.notices)
    return vault


def _given_before_the_command() -> str | None:
    """What `retain --vault DIR COMMAND` names; None where no command line was read."""
    click = sys.modules.get("click")
    context = click.get_current_context(silent=True) if click is not None else None
    return context.find_root().obj if context is not None else None


def check_caged(arguments: Sequence[str]) -> None:
    """Raises Refused where this runs in the cage of `retain guard run` and `arguments` are not an agent's to give.

    Only words: what holds an agent is the kernel, which lets nothing in the cage write ledgers, log or settings.
    """
    if "RETAIN_CAGED" not in os.environ:
        return
    from cli.agent_commands import AGENT_COMMANDS, may_run

    if any(pair == ("guard", "run") for pair in itertools.pairwise(arguments)):
        return  # it refuses by itself, with the exit code that is its own
    if not may_run(arguments):
        name = " ".join(["retain", *(word for word in arguments if not word.startswith("-"))][:2])
        raise Refused(
            f"`{name}` is not allowed inside the sandbox; allowed: {', '.join(AGENT_COMMANDS)}",
            hint="ask the user to run it outside the sandbox",
        )


def settle_left_over(vault: Vault) -> None:
    """Judge first what an agent left whose run was killed: until then nobody could say what in the vault is whose."""
    from vault.audit.agent_runs import at_work

    if at_work(vault) and "RETAIN_CAGED" not in os.environ:
        from cli import agent_runs

        agent_runs.settle_left_over(vault)
