"""Before and after an agent: record how its folders are, and decide about what it left in them.

A run is recorded before the agent is started and finished when it has ended. What was decided is recorded, too, before
the first byte of the vault changes, so that finishing that is killed ends as finishing that was not.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from compiler.agents.apply import apply
from compiler.agents.manifest import WORK, Manifest, look, take_manifest, write_state
from compiler.agents.plan import Outcome, Plan
from compiler.agents.record import files_of_agents
from vault.audit.agent_runs import (
    Run,
    all_runs,
    cleaned,
    notes,
    read_record,
    refuse_beside_agents,
    run_in,
    run_json,
    unreadable,
)
from vault.audit.blobs import LARGEST, Copies
from vault.config.user import state_guard
from vault.diagnostic import Diagnostic
from vault.errors import Damaged, Refused, RetainError
from vault.files.empty_folder import empty
from vault.files.guard import sha256_hex
from vault.ids import ulid
from vault.locks import lock
from vault.log import ledger
from vault.process.identity import this_process
from vault.vault import Vault

__all__ = ["Outcome", "Run", "begin", "open_runs", "settle", "unsettled"]

Say = Callable[[str], None]


def begin(vault: Vault, command: Sequence[str], at: datetime) -> Run:
    """Record what is in the agent's folders, before it is started.

    Raises: LockHeld while a compile runs; Refused while another run is not settled; WriteFailed.
    """
    with lock(vault.root, "publish", purpose="starting an agent"):
        refuse_beside_agents(vault)
        id_ = ulid(int(at.timestamp() * 1000), secrets.token_bytes(10))
        run = Run(id_, ledger.instant(at), cleaned(command), this_process())
        with Copies.open(vault.settings.vault_id) as copies:
            manifest = take_manifest(vault, copies)
        _refuse_too_large(vault, manifest)
        write_state(vault, run.path, {"v": 2, "run": run_json(run), "manifest": manifest.as_json(), "plan": None})
    return run


def _refuse_too_large(vault: Vault, manifest: Manifest) -> None:
    """Raises Refused for a file of the user's of which no copy is kept: an agent could destroy it."""
    large = {(path, mark.sha256) for path, mark in manifest.files.items() if mark.size > LARGEST}
    for path, _ in sorted(large - files_of_agents(vault) if large else ()):
        what = f"larger than {LARGEST >> 20} MiB: an agent's changes to it could not be undone"
        raise Refused(
            what, where=path, hint="move it out of the folders that an agent may write to, then run the command again"
        )


def settle(vault: Vault, run: Run, at: datetime, say: Say = lambda _: None) -> Outcome:
    """Decide about what the agent of `run` left, and do what follows: keep, quarantine, put back.

    `say` gets a line for the screen on replies to work orders. A run that is settled already gives an empty outcome.
    Raises: LockHeld; Damaged; Refused where a folder cannot be looked into; WriteFailed. After any of these it can be
    settled again, with the same end.
    """
    with lock(vault.root, "publish", purpose="checking an agent's changes"):
        record = read_record(vault.settings.vault_id, run.id)
        if record is None:
            return Outcome(run.id, run.program)
        with Copies.open(vault.settings.vault_id) as copies:
            plan = _plan(vault, record, copies, at)
            found = apply(plan, vault, copies, at.astimezone(vault.settings.zone).date())
        outcome = plan.outcome
        outcome.findings += found
        if _take_replies(vault, run, at, say, outcome.findings):
            with suppress(RetainError):  # where something else is in its place, the next run says so
                empty(vault.root, WORK, forbidden=vault.kept_out())
        guard = state_guard(vault.settings.vault_id)
        if (data := guard.read(run.path)) is not None:
            guard.remove(run.path, expect=sha256_hex(data))
    return outcome


def _take_replies(vault: Vault, run: Run, at: datetime, say: Say, found: list[Diagnostic]) -> bool:
    """Return whether the agent's replies to work orders could be judged; those that pass are in the journal then."""
    from compiler.orders.apply import finalize_staged  # loads the pipeline, which no start of an agent needs

    try:
        taken = finalize_staged(vault, run.id, at)
    except RetainError as error:
        hint = f"{error.hint or 'fix this'}; they will be checked when the next `retain guard run` ends"
        what = f"the agent's replies to work orders could not be stored yet: {error.what}"
        found.append(Diagnostic(error.where or f"{WORK}/replies", 0, "replies-wait", what, hint))
        return False
    if taken.kept:
        count = "1 reply" if taken.kept == 1 else f"{taken.kept} replies"
        say(f"{count} to work orders stored; when no work order is open, run `retain compile --engine agent`")
    found += taken.refused
    return True


def open_runs(vault: Vault) -> list[Run]:
    """Return the runs whose process is gone and whose work is not settled: they were killed. Raises: Damaged."""
    return [run for run in all_runs(vault) if not run.may_live]


def unsettled(vault: Vault) -> tuple[list[Run], list[RetainError]]:
    """Return (the runs that can be settled once they have ended, why each of the others can't), oldest first."""
    runs: list[Run] = []
    broken: list[RetainError] = []
    try:
        names = notes(vault)
    except Damaged as error:
        return [], [error]
    for name in names:
        try:
            record = read_record(vault.settings.vault_id, name)
            if record is not None:
                _recorded(vault, record)
                runs.append(run_in(record))
        except RetainError as error:
            broken.append(error)
    return runs, broken


def _recorded(vault: Vault, record: dict[str, Any]) -> Plan | Manifest:
    """Return the plan of a run, or, if nothing was decided yet, how the folders were before it. Raises: Damaged."""
    try:
        if isinstance(record.get("plan"), dict):
            return Plan.from_json(record["plan"])
        return Manifest.from_json(record["manifest"])
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise unreadable(state_guard(vault.settings.vault_id).root / run_in(record).path) from error


def _plan(vault: Vault, record: dict[str, Any], copies: Copies, at: datetime) -> Plan:
    """Return the plan that was recorded, or a new one, which is recorded now."""
    run, before = run_in(record), _recorded(vault, record)
    if isinstance(before, Plan):
        return before
    after, left = look(vault, before)
    if after == before:
        return Plan(Outcome(run.id, run.program))  # most runs: a look at the folders is all they cost
    from compiler.agents.baseline import Baseline  # these load the gates, which no start of an agent needs
    from compiler.agents.judge import Judge

    baseline = Baseline(vault, before, copies)
    pages: list[ledger.Event] = [{"at": page.at} for page in baseline.kept.values()]  # the later run's page is to win
    builds = vault.ledger_events(ledger.BUILDS)[0]
    instant = ledger.after([*baseline.id_events, *baseline.decided, *builds, *pages], at)
    plan = Judge(run, before, after, left, baseline, instant).plan_for_run()
    copies.put_all(plan.new.values())
    write_state(vault, run.path, record | {"plan": plan.as_json()})
    return plan
