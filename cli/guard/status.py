"""`retain guard status`: what is guarded here, how well, and since when. Fast: no file of the vault is read."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.guard.personal import finding, in_words, told
from cli.options import json_option, opened, vault_option
from vault.audit.agent_runs import SETTLED_BY
from vault.errors import RetainError
from vault.files.paths import AGENT_FOLDERS
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.audit.agent_runs import Run

QUARANTINE = "output/quarantine"


@click.command()
@vault_option
@json_option
def status(vault_dir: str | None, as_json: bool) -> int:
    """How well an agent can be shut in here, what it may write, and what is known of your own files.

    A run of an agent whose note is damaged, so that it can't be settled, is named with what to do; exit code 1.

    \b
    Examples:
      retain guard status
      retain guard status --json
    """
    vault = opened(vault_dir)
    runs, broken = _runs(vault)
    facts = _facts(vault, runs, broken)
    if as_json:
        output.show_json(facts)
    else:
        _show(vault, facts)
    output.found(finding(vault))
    for error in broken:
        output.say(f"  {error}")
    return output.FINDINGS if broken else output.DONE


def _runs(vault: Vault) -> tuple[list[Run], list[RetainError]]:
    """The runs that are not settled, and what is wrong with those that can't be; a sandbox shows nothing of them."""
    from vault.audit.agent_runs import at_work

    if "RETAIN_CAGED" in os.environ or not at_work(vault):
        return [], []
    from compiler.agent_session import unsettled

    return unsettled(vault)


def _facts(vault: Vault, runs: list[Run], broken: list[RetainError]) -> dict[str, Any]:
    from vault.audit.agent_runs import run_json
    from vault.sandbox.capabilities import sandbox_support

    support = sandbox_support()
    return {
        "level": str(support.level),
        "not_stronger": list(support.reasons),
        "vault": {"root": str(vault.root), "personal": told(vault)},
        "agents_may_write": list(AGENT_FOLDERS),
        "last_look": None if "RETAIN_CAGED" in os.environ else _last_look(vault),
        "runs": [run_json(run) | {"may_live": run.may_live} for run in runs],
        "broken_runs": [_as_json(error) for error in broken],
        "quarantined": _quarantined(vault),
    }


def _as_json(error: RetainError) -> dict[str, Any]:
    id_ = Path(error.where).stem if error.where.endswith(".json") else ""
    return {"id": id_, "path": error.where, "line": 0, "reason": error.what, "hint": error.hint}


def _last_look(vault: Vault) -> dict[str, Any] | None:
    """When the human's files were looked at, how many they were, how many changes nobody confirmed; None if never."""
    from vault.audit.blobs import Copies
    from vault.audit.state import KnownFiles

    try:
        with Copies.open(vault.settings.vault_id) as copies:
            last = KnownFiles(copies.database).last_scan()
    except RetainError as error:
        output.say(f"  {error}")
        return None
    return None if last is None else {"at": last.at, "files": last.files, "changes": last.changes}


def _quarantined(vault: Vault) -> int:
    """How many files of agents lie in quarantine."""
    total = 0
    for _, folders, names in os.walk(vault.root / QUARANTINE):
        folders[:] = [name for name in folders if not name.startswith(".")]
        total += sum(not name.startswith(".") and name != "report.md" for name in names)
    return total


def _show(vault: Vault, facts: dict[str, Any]) -> None:
    output.show(f"an agent in the sandbox here: level {facts['level']}")
    for words in facts["not_stronger"]:
        output.show(f"  no stronger: {words}")
    output.show(f"it may write in {vault.root}: {', '.join(facts['agents_may_write'])}")
    output.show(in_words(facts["vault"]["personal"]))
    last = facts["last_look"]
    if "RETAIN_CAGED" in os.environ:
        output.show("your files: what is known of them is out of reach here")
    elif last is None:
        output.show("your files: never looked at; `retain guard audit` takes them down, with a copy of each")
    else:
        day = datetime.fromisoformat(last["at"]).astimezone(vault.settings.zone).strftime("%Y-%m-%d %H:%M")
        changes = f"; {output.number(last['changes'], 'change')} that nobody has confirmed" if last["changes"] else ""
        output.show(f"your files: {last['files']}, last looked at on {day}{changes}")
    for run in facts["runs"]:
        what = "at work" if run["may_live"] else f"ended without being settled; {SETTLED_BY}"
        output.show(f"agent: {' '.join(run['command'])}, started {run['at']}, {what}")
    for each in facts["broken_runs"]:
        output.show(f"agent: a run that can't be settled, {each['id'] or each['path']}")
    if facts["quarantined"]:
        output.show(f"{output.number(facts['quarantined'], 'file')} of agents in {QUARANTINE}/")
