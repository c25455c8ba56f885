"""`retain guard hook`: checks a tool call of a coding agent for its host; in doubt it refuses. Not a barrier."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from cli import output
from cli.environment import here
from cli.options import vault_option

BLOCK = 2  # the only exit code that makes Claude Code and Codex block a tool call
SECONDS = 20
_MAX_BYTES = 8 << 20


@click.group()
def hook() -> None:
    """Check tool calls; called by hooks of coding agents."""


@hook.command("claude-code")
@vault_option
def claude_code(vault_dir: str | None) -> int:
    """Check a tool call (JSON on stdin); exit code 2, with a message on stderr, blocks it."""
    return _check(vault_dir)


@hook.command("codex")
@vault_option
def codex(vault_dir: str | None) -> int:
    """Check a tool call of Codex, whose hooks get the same JSON."""
    return _check(vault_dir)


def _check(vault_dir: str | None) -> int:
    """Return 0 to allow the call, 2 to block it. Any error blocks, as another exit code would allow the call."""
    try:
        with _time_limit():
            fault = _fault(vault_dir)
    except BaseException as error:  # noqa: BLE001 (any other exit code would let the call through)
        fault = f"the tool call could not be checked ({type(error).__name__}: {error})"
    if fault is None:
        return output.DONE
    output.say(f"retain: blocked: {fault[:600]}")
    return BLOCK


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise TimeoutError when the check takes too long: a host that has stopped waiting allows the call."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def over(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _fault(vault_dir: str | None) -> str | None:
    import json

    from cli.guard.ownership import territory_of
    from cli.hosts.tool_call import call_fault
    from vault.vault import open_vault

    data = sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        return "the tool call is too large to check"
    call = json.loads(data)
    vault = open_vault(vault_dir, os.environ.get("RETAIN_VAULT"), here())
    return call_fault(call, territory_of(vault))


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
def let_commit_pass(words: tuple[str, ...]) -> int:
    """Do nothing; kept because git hooks written by earlier versions of `retain init --host` call it."""
    return output.DONE


for _name in ("git-pre-commit", "git-commit-msg"):
    hook.add_command(let_commit_pass, _name)
