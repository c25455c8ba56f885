"""`retain guard status`: the sandbox level, the last scan and unfinished runs. Fast: it reads no file of the vault."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.guard.personal import finding, personal_json, personal_line
from cli.options import json_option, opened, vault_option
from compiler.agent_session import unsettled
from vault.audit.agent_runs import SETTLED_BY, at_work, run_json
from vault.audit.blobs import Copies
from vault.audit.state import KnownFiles
from vault.errors import RetainError
from vault.files.write_scopes import AGENT_FOLDERS
from vault.log.ledger import minute_of
from vault.sandbox.capabilities import sandbox_support
from vault.text.formatting import plural
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.audit.agent_runs import Run

QUARANTINE = "output/quarantine"


@click.command()
@vault_option
@json_option
def status(vault_dir: str | None, as_json: bool) -> int:
    """Show the sandbox level, the folders that agents can write to, and the last file audit.

    An agent run whose record is damaged is listed with a hint, and the exit code is 1.

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
    """Return the unfinished runs, and the errors of damaged records; nothing inside a sandbox."""
    if "RETAIN_CAGED" in os.environ or not at_work(vault):
        return [], []

    return unsettled(vault)


def _facts(vault: Vault, runs: list[Run], broken: list[RetainError]) -> dict[str, Any]:
    support = sandbox_support()
    return {
        "level": str(support.level),
        "not_stronger": list(support.reasons),
        "vault": {"root": str(vault.root), "personal": personal_json(vault)},
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
    """Return time, files and unconfirmed changes of the last scan of the user's files; None if there was none."""
    try:
        with Copies.open(vault.settings.vault_id) as copies:
            last = KnownFiles(copies.database).last_scan()
    except RetainError as error:
        output.say(f"  {error}")
        return None
    return None if last is None else {"at": last.at, "files": last.files, "changes": last.changes}


def _quarantined(vault: Vault) -> int:
    """Return the number of files of agents in quarantine."""
    total = 0
    for _, folders, names in os.walk(vault.root / QUARANTINE):
        folders[:] = [name for name in folders if not name.startswith(".")]
        total += sum(not name.startswith(".") and name != "report.md" for name in names)
    return total


def _show(vault: Vault, facts: dict[str, Any]) -> None:
    output.show(f"sandbox level: {facts['level']}")
    for words in facts["not_stronger"]:
        output.show(f"  stronger sandbox unavailable: {words}")
    output.show(f"agents can write to these folders of {vault.root}: {', '.join(facts['agents_may_write'])}")
    output.show(personal_line(facts["vault"]["personal"]))
    last = facts["last_look"]
    if "RETAIN_CAGED" in os.environ:
        output.show("file audit: not available inside the sandbox")
    elif last is None:
        output.show("your files: not scanned yet; `retain guard audit` records them and stores a copy of each")
    else:
        day = minute_of(last["at"], vault.settings.zone)
        changes = f"; {plural(last['changes'], 'change')} not accepted" if last["changes"] else ""
        output.show(f"your files: {last['files']}, last scanned on {day}{changes}")
    for run in facts["runs"]:
        started = minute_of(run["at"], vault.settings.zone)
        what = "running" if run["may_live"] else f"ended, changes not checked yet; {SETTLED_BY}"
        output.show(f"agent: {' '.join(run['command'])}, started {started}, {what}")
    for each in facts["broken_runs"]:
        output.show(f"agent: run {each['id'] or each['path']} has a damaged record")
    if facts["quarantined"]:
        output.show(f"{plural(facts['quarantined'], 'file')} by agents in {QUARANTINE}/")
