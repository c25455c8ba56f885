"""`retain guard hook`: what hosts ask before an agent acts. Politeness, not a barrier; in doubt it refuses."""

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

BLOCK = 2  # the one exit code at which Claude Code and Codex leave a tool call be
SECONDS = 20
_MOST = 8 << 20


@click.group()
def hook() -> None:
    """What the hooks of coding agents call; not for people."""


@hook.command("claude-code")
@vault_option
def claude_code(vault_dir: str | None) -> int:
    """Read a tool call as JSON on stdin; exit code 2, with words on stderr, where it must not be made."""
    return _judged(vault_dir)


@hook.command("codex")
@vault_option
def codex(vault_dir: str | None) -> int:
    """The same for Codex, whose hooks are given the same JSON."""
    return _judged(vault_dir)


def _judged(vault_dir: str | None) -> int:
    """0 to let the call through, 2 to block it. Any fault blocks: a hook that fails otherwise lets the call through."""
    try:
        with _in_time():
            fault = _fault(vault_dir)
    except BaseException as error:  # noqa: BLE001 (any other exit code would let the call through)
        fault = f"the call could not be checked ({type(error).__name__}: {error})"
    if fault is None:
        return output.DONE
    output.say(f"retain: blocked: {fault[:600]}")
    return BLOCK


@contextmanager
def _in_time() -> Iterator[None]:
    """Raises TimeoutError when the check takes too long: a host that has stopped waiting lets the call through."""
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

    data = sys.stdin.buffer.read(_MOST + 1)
    if len(data) > _MOST:
        return "the call is too large to be checked"
    call = json.loads(data)
    vault = open_vault(vault_dir, os.environ.get("RETAIN_VAULT"), here())
    return call_fault(call, territory_of(vault))


@click.command(hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
def let_commit_pass(words: tuple[str, ...]) -> int:
    """Do nothing: git hooks that an earlier `retain init --host` wrote call this, and must let commits pass."""
    return output.DONE


for _name in ("git-pre-commit", "git-commit-msg"):
    hook.add_command(let_commit_pass, _name)
