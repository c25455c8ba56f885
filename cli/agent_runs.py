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


_SHOWN = 12  # findings on the screen; all are in the report that is named


def settle_left_over(vault: Vault) -> None:
    """The work of an agent whose run was killed."""
    from compiler.agent_session import open_runs

    try:
        left = open_runs(vault)
    except RetainError as error:  # the command goes on; one that must know by itself refuses
        output.failed(error)
        return
    for each in left:
        output.say(f"the work of an agent was not settled yet: {each}")
        _settle(vault, each)


def _settle(vault: Vault, begun: Run) -> bool:
    """Decide about what the agent wrote; return whether it changed metadata, or something is lost."""
    from compiler.agent_session import settle

    metadata = _put_metadata_back(vault, begun)
    for line in metadata:
        output.say(line)
    try:
        settled = settle(vault, begun, now(), output.say)
    except RetainError as error:
        output.failed(error)
        output.say(f"  what the agent wrote is not settled yet; {SETTLED_BY}")
        return bool(metadata)
    _tell(settled, untouched=not metadata)
    return bool(metadata or settled.lost)


def _put_metadata_back(vault: Vault, begun: Run) -> list[str]:
    """What the agent changed of modes, times and attributes outside its folders, a line each; as before by now."""
    from vault.audit.metadata import put_back

    try:
        found = put_back(vault, begun.id)
    except (RetainError, OSError, ValueError, TypeError) as error:
        return [f"whether the agent changed modes, times or attributes of your files cannot be told: {error}"]
    if not found:
        return []
    files = plural(len(found), "file") + " or folder" + ("s" if len(found) > 1 else "")
    more = [f"  and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return [
        f"the agent changed mode, owner, time or attributes of {files} that it must not change; they are put back:",
        *(f"  {line}" for line in found[:_SHOWN]),
        *more,
    ]


def _tell(settled: Outcome, *, untouched: bool) -> None:
    kept, back = len(settled.kept), len(settled.restored)
    failed = len({each.path for each in settled.quarantined})
    if not (kept or failed or back or settled.findings):
        if untouched:
            output.say("the agent left the vault as it was")
        return
    aside = f", {failed} moved to output/quarantine/" if failed else ""
    restored = f", {back} as before" if back else ""
    unsupported = len(settled.unsupported)
    marked = f", {plural(unsupported, 'sentence')} without evidence" if unsupported else ""
    output.say(f"of the agent's work {kept} {'is' if kept == 1 else 'are'} kept{marked}{aside}{restored}")
    lines = [f"{each.path}{f':{each.line}' if each.line else ''}: {each.why}" for each in settled.quarantined]
    lines += [f"{each.path}: {each.why}; as it was before" for each in settled.restored]
    lines += [str(each) for each in settled.findings]
    lines += [f"{each.path}:{each.line}: kept without evidence: {each.why}" for each in settled.unsupported]
    for line in lines[:_SHOWN]:
        output.say(f"  {line}")
    if len(lines) > _SHOWN:
        output.say(f"  and {len(lines) - _SHOWN} more")
    if settled.report:
        output.say(f"  all of it, with reasons: {settled.report}")
