"""`retain doctor`: proves what protects this vault here, and finds what looks wrong."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cli import personal, report
from cli.health import Health, examined
from cli.opening import here, json_option, now, vault_option
from vault.errors import Refused, RetainError, VaultNotFound
from vault.store import Vault, open_vault

if TYPE_CHECKING:
    from cli.agent_files import AgentFile

_SHOWN = 20


@click.command()
@click.option("--accept-agent-files", is_flag=True, help="Take down the files found for agents as known to you.")
@vault_option
@json_option
def doctor(accept_agent_files: bool, vault_dir: str | None, as_json: bool) -> int:
    """Show what protects this vault here, and find what looks wrong.

    A process is started in the sandbox of agents. It tries to write in insights/, which must fail, and in wiki/, which
    must succeed. It works outside a vault as well, without that test. Exit code 1 if there are findings.

    \b
    Examples:
      retain doctor
      retain doctor --json
      retain doctor --accept-agent-files     after you have read the files it names
    """
    vault, broken = _vault(vault_dir)
    if accept_agent_files and (vault is None or "RETAIN_CAGED" in os.environ):
        raise Refused("files for agents are accepted by the human, in a vault and outside every cage")
    health = examined(vault, now())
    if broken is not None:
        health.find(broken.where or "retain.toml", "vault", broken.what, broken.hint)
    files = _agent_files(health, vault, accepting=accept_agent_files, may_ask=not as_json)
    if as_json:
        findings = [each.as_json() for each in health.findings]
        report.show_json(health.facts | {"agent_files": [f.as_json() for f in files], "findings": findings})
    else:
        _show(health, files)
    return report.FINDINGS if health.findings else report.DONE


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


def _agent_files(health: Health, vault: Vault | None, *, accepting: bool, may_ask: bool) -> list[AgentFile]:
    """Files in the vault that speak to agents; those that the human doesn't know yet are asked about once."""
    if vault is None:
        return []
    from cli import agent_files

    files = agent_files.found(vault)
    new = [file for file in files if not file.accepted]
    if new and (accepting or (may_ask and _asked(new))):
        agent_files.accept(vault, new)
        files, new = [replace(file, accepted=True) for file in files], []
    for file in new:
        what = f"{file.why} (SHA-256 {file.sha256[:16]}), and you have not accepted it"
        health.find(file.path, "agent-file", what, "read it; then `retain doctor --accept-agent-files`")
    return files


def _asked(files: list[AgentFile]) -> bool:
    if "RETAIN_CAGED" in os.environ or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    report.say("These files speak to agents, editors or git as soon as one works in this vault:")
    for file in files[:_SHOWN]:
        report.say(f"  {file.path}: {file.why} ({file.size} bytes, SHA-256 {file.sha256[:16]})")
    if len(files) > _SHOWN:
        report.say(f"  and {len(files) - _SHOWN} more, too many to ask about: --json lists all")
        return False
    return click.confirm("Have you read them, and may they stay?", default=False, err=True)


# --- in words -------------------------------------------------------------------------------------------------------


def _show(health: Health, files: list[AgentFile]) -> None:
    facts, guard = health.facts, health.facts["guard"]
    report.show(f"retain {facts['retain']}, Python {facts['python']}, {facts['system']}, schema {facts['schema']}")
    report.show(_guard_words(guard))
    for reason in guard["reasons"] if not guard["caged"] else ():
        report.show(f"  no stronger: {reason}")
    report.show(f"reading documents: {_reading_words(guard)}")
    if guard["self_test"] is not None:
        result = "passed" if guard["self_test"] else "failed"
        report.show(f"self-test of the sandbox of agents (no write in insights/, a write in wiki/): {result}")
    if facts["vault"] is None:
        report.show("no vault here")
    else:
        _show_vault(facts["vault"])
    if files:
        report.show(f"files that speak to agents: {len(files)}, {sum(f.accepted for f in files)} accepted by you")
    report.show(f"findings: {len(health.findings) or 'none'}")
    report.found(health.findings)


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
    report.show(f"vault {vault['name']}  {vault['root']}  schema {vault['schema']}")
    report.show(f"  {personal.in_words(vault['personal'])}")
    for lock in vault["locks"]:
        age = "" if lock["age_s"] is None else f", for {lock['age_s']} s"
        report.show(f"  at work now: process {lock['pid']} on {lock['host']}, {lock['purpose']}{age}")
    git = vault["git"]
    if git["repository"]:
        report.show(f"  git repository; logs are {'' if git['union_merge'] else 'not '}merged line by line")
    if vault["leftovers"]:
        report.show(f"  left lying: {len(vault['leftovers'])} files of killed programs or of ones that sync folders")
