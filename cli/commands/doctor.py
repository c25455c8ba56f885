"""`retain doctor`: proves what protects this vault here, and finds what looks wrong."""

from __future__ import annotations

import os
from typing import Any

import click

from cli import output
from cli.commands.health import Health, examined
from cli.environment import here, now
from cli.guard import personal
from cli.options import json_option, vault_option
from vault.errors import RetainError, VaultNotFound
from vault.vault import Vault, open_vault


@click.command()
@vault_option
@json_option
def doctor(vault_dir: str | None, as_json: bool) -> int:
    """Show what protects this vault here, and find what looks wrong.

    A process is started in the sandbox of agents. It tries to write in insights/, which must fail, and in wiki/, which
    must succeed. It works outside a vault as well, without that test. Exit code 1 if there are findings.

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
    """The vault, if there is one here, or what keeps it from being opened."""
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
    facts, guard = health.facts, health.facts["guard"]
    output.show(f"retain {facts['retain']}, Python {facts['python']}, {facts['system']}, schema {facts['schema']}")
    output.show(_guard_words(guard))
    for reason in guard["reasons"] if not guard["caged"] else ():
        output.show(f"  no stronger: {reason}")
    if guard["weaker"]:
        output.show(f"  {guard['weaker']}")
    output.show(f"reading documents: {_reading_words(guard)}")
    if guard["self_test"] is not None:
        result = "passed" if guard["self_test"] else "failed"
        output.show(f"self-test of the sandbox of agents (no write in insights/, a write in wiki/): {result}")
    if facts["vault"] is None:
        output.show("no vault here")
    else:
        _show_vault(facts["vault"])
    output.show(f"findings: {len(health.findings) or 'none'}")
    output.found(health.findings)


def _guard_words(guard: dict[str, Any]) -> str:
    if guard["caged"]:
        return "this is a cage: what holds it is told outside"
    parts = [f"Landlock ABI {guard['landlock_abi']}"] if guard["landlock_abi"] else []
    parts += ["filter of system calls"] if guard["filter"] else []
    parts += [f"bubblewrap {guard['bubblewrap']}"] if guard["bubblewrap"] else []
    return f"agents under `retain guard run`: level {guard['level']}" + (f" ({', '.join(parts)})" if parts else "")


def _reading_words(guard: dict[str, Any]) -> str:
    if not guard["landlock_abi"]:
        return "in a process with limits of memory and time, which this system can't shut in"
    held = f"Landlock ABI {guard['landlock_abi']}{', filter of system calls' if guard['filter'] else ''}"
    return f"in a process with limits of memory and time, that shuts itself in ({held})"


def _show_vault(vault: dict[str, Any]) -> None:
    output.show(f"vault {vault['name']}  {vault['root']}  schema {vault['schema']}")
    output.show(f"  {personal.personal_line(vault['personal'])}")
    for lock in vault["locks"]:
        age = "" if lock["age_s"] is None else f", for {lock['age_s']} s"
        output.show(f"  at work now: process {lock['pid']} on {lock['host']}, {lock['purpose']}{age}")
    git = vault["git"]
    if git["repository"]:
        output.show(f"  git repository; logs are {'' if git['union_merge'] else 'not '}merged line by line")
    if vault["leftovers"]:
        output.show(f"  left lying: {len(vault['leftovers'])} files of killed programs or of ones that sync folders")
