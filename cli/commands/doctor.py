"""The command `doctor`: show what protects the vault, and check it for problems."""

from __future__ import annotations

import os
from typing import Any

import click

from cli import output
from cli.commands.health import Health, examined
from cli.environment import here, now
from cli.guard import personal
from cli.options import vault_json_options
from vault.errors import RetainError, VaultNotFound
from vault.text.formatting import plural
from vault.vault import Vault, open_vault


@click.command()
@vault_json_options
def doctor(vault_dir: str | None, as_json: bool) -> int:
    """Show what protects this vault, and check it for problems.

    In a vault, a process in the agents' sandbox tries to write in insights/, which must fail, and in wiki/, which must
    succeed. Exit code 1 if there are findings.

    \b
    Examples:
      retain doctor
      retain doctor --json
    """
    vault, broken = _vault(vault_dir)
    health = examined(vault, now())
    if broken is not None:
        health.find(broken.where or "retain.toml", "vault", broken.what, broken.hint)
    if as_json:
        findings = [each.as_json() for each in health.findings]
        output.show_json(health.facts | {"findings": findings})
    else:
        _show(health)
    return output.FINDINGS if health.findings else output.DONE


def _vault(vault_dir: str | None) -> tuple[Vault | None, RetainError | None]:
    """Return (vault, None), or (None, the error that keeps it from being opened), or (None, None) without a vault."""
    given = vault_dir or click.get_current_context().find_root().obj
    named = os.environ.get("RETAIN_VAULT")
    try:
        return open_vault(given, named, here()), None
    except VaultNotFound:
        if given or named:
            raise
        return None, None
    except RetainError as error:
        return None, error


# --- in words -------------------------------------------------------------------------------------------------------


def _show(health: Health) -> None:
    """Print facts and findings as text."""
    facts, guard = health.facts, health.facts["guard"]
    output.show(f"retain {facts['retain']}, Python {facts['python']}, {facts['system']}, schema {facts['schema']}")
    output.show(_sandbox_text(guard))
    for reason in guard["reasons"] if not guard["caged"] else ():
        output.show(f"  stronger sandbox unavailable: {reason}")
    if guard["weaker"]:
        output.show(f"  {guard['weaker']}")
    output.show(f"document readers: {_readers_text(guard)}")
    if guard["self_test"] is not None:
        result = "passed" if guard["self_test"] else "failed"
        output.show(f"self-test of the agent sandbox (no write in insights/, a write in wiki/): {result}")
    if facts["vault"] is None:
        output.show("no vault here")
    else:
        _show_vault(facts["vault"])
    output.show(f"findings: {len(health.findings) or 'none'}")
    output.found(health.findings)


def _sandbox_text(guard: dict[str, Any]) -> str:
    """Return a line on the sandbox for agents."""
    if guard["caged"]:
        return "running inside a sandbox; run `retain doctor` outside for details"
    parts = [f"Landlock ABI {guard['landlock_abi']}"] if guard["landlock_abi"] else []
    parts += ["system call filter"] if guard["filter"] else []
    parts += [f"bubblewrap {guard['bubblewrap']}"] if guard["bubblewrap"] else []
    return f"agent sandbox (`retain guard run`): level {guard['level']}" + (f" ({', '.join(parts)})" if parts else "")


def _readers_text(guard: dict[str, Any]) -> str:
    if not guard["landlock_abi"]:
        return "a process with memory and time limits, without a sandbox (this system has none)"
    held = f"Landlock ABI {guard['landlock_abi']}{', system call filter' if guard['filter'] else ''}"
    return f"a sandboxed process with memory and time limits ({held})"


def _show_vault(vault: dict[str, Any]) -> None:
    """Print the facts on the vault."""
    output.show(f"vault {vault['name']}  {vault['root']}  schema {vault['schema']}")
    output.show(f"  {personal.personal_line(vault['personal'])}")
    for lock in vault["locks"]:
        age = "" if lock["age_s"] is None else f", for {lock['age_s']} s"
        output.show(f"  running: process {lock['pid']} on {lock['host']}, {lock['purpose']}{age}")
    git = vault["git"]
    if git["repository"]:
        output.show(f"  git repository; logs are {'' if git['union_merge'] else 'not '}merged line by line")
    if vault["leftovers"]:
        output.show(f"  {plural(len(vault['leftovers']), 'leftover temporary or sync-conflict file')}")
