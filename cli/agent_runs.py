"""Finish the run of a coding agent: restore metadata, check what it wrote, report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli import output
from cli.environment import now
from vault.audit.agent_runs import SETTLED_BY
from vault.errors import RetainError
from vault.text.formatting import plural

if TYPE_CHECKING:
    from compiler.agent_session import Outcome, Run
    from vault.vault import Vault


_SHOWN = 12  # lines on the screen; the report has all


def finish_interrupted_runs(vault: Vault) -> None:
    """Finish the runs of agents that were killed."""
    from compiler.agent_session import open_runs

    try:
        left = open_runs(vault)
    except RetainError as error:  # the command goes on, unless it refuses by itself
        output.failed(error)
        return
    for run in left:
        output.say(f"checking the changes of an earlier agent run: {run}")
        finish_run(vault, run)


def finish_run(vault: Vault, run: Run) -> bool:
    """Check what the agent wrote and report it; return whether it changed metadata or something is lost."""
    from compiler.agent_session import settle

    metadata = _restore_metadata(vault, run)
    for line in metadata:
        output.say(line)
    try:
        outcome = settle(vault, run, now(), output.say)
    except RetainError as error:
        output.failed(error)
        output.say(f"  what the agent wrote has not been checked yet; {SETTLED_BY}")
        return bool(metadata)
    _report(outcome, untouched=not metadata)
    return bool(metadata or outcome.lost)


def _restore_metadata(vault: Vault, run: Run) -> list[str]:
    """Restore modes, times and attributes that the agent changed outside its folders; return a report in lines."""
    from vault.audit.metadata import put_back

    try:
        changes = put_back(vault, run.id)
    except (RetainError, OSError, ValueError, TypeError) as error:
        return [f"cannot check whether the agent changed permissions, timestamps or attributes of your files: {error}"]
    if not changes:
        return []
    files = plural(len(changes), "file") + " or folder" + ("s" if len(changes) > 1 else "")
    more = [f"  and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    return [
        f"the agent changed the permissions, owner, timestamps or attributes of {files} that it was not "
        "allowed to change; restored:",
        *(f"  {line}" for line in changes[:_SHOWN]),
        *more,
    ]


def _report(outcome: Outcome, *, untouched: bool) -> None:
    kept, back = len(outcome.kept), len(outcome.restored)
    failed = len({each.path for each in outcome.quarantined})
    if not (kept or failed or back or outcome.findings):
        if untouched:
            output.say("the agent changed nothing in the vault")
        return
    quarantined = f", quarantined {failed} in output/quarantine/" if failed else ""
    reverted = f", reverted {back}" if back else ""
    unsupported = len(outcome.unsupported)
    marked = f", marked {plural(unsupported, 'sentence')} as unsupported" if unsupported else ""
    output.say(f"changes by the agent: kept {plural(kept, 'file')}{marked}{quarantined}{reverted}")
    lines = [f"{each.path}{f':{each.line}' if each.line else ''}: {each.why}" for each in outcome.quarantined]
    lines += [f"{each.path}: {each.why}; reverted" for each in outcome.restored]
    lines += [str(each) for each in outcome.findings]
    lines += [f"{each.path}:{each.line}: kept without evidence: {each.why}" for each in outcome.unsupported]
    for line in lines[:_SHOWN]:
        output.say(f"  {line}")
    if len(lines) > _SHOWN:
        output.say(f"  and {len(lines) - _SHOWN} more")
    if outcome.report:
        output.say(f"  full report: {outcome.report}")
