"""What `retain guard run` does around an agent: takes down how things stand, and settles what the agent left.

A run is taken down before the agent is started and settled when it has ended; what was decided is taken down, too,
before the first byte of the vault changes, so that a settling that is killed ends as one that was not.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from compiler.agent_manifest import WORK, Manifest, look, take_manifest, write_state
from compiler.agent_plan import Plan, Settled
from compiler.agent_settling import Hands, carry_out
from vault import ledger
from vault.agent_run import (
    Run,
    all_runs,
    cleaned,
    notes,
    read_record,
    refuse_beside_agents,
    run_in,
    run_json,
    stuck,
    unreadable,
)
from vault.copies import LARGEST, Copies
from vault.diagnostic import Diagnostic
from vault.emptying import empty
from vault.errors import Damaged, Refused, RetainError
from vault.guard import sha256_hex
from vault.ids import ulid
from vault.locks import lock
from vault.process import this_process
from vault.store import Vault
from vault.user import state_guard

__all__ = ["Run", "Settled", "begin", "looked_at", "open_runs", "settle"]

REPLIES = f"{WORK}/replies"
_MANY = 500  # files, from which on what is going on is told, as it takes its time
Tell = Callable[[str], None]


def begin(vault: Vault, command: Sequence[str], at: datetime) -> Run:
    """Take down what stands in the agent's folders, before it is started.

    Raises: LockHeld while a compile runs; Refused while another run is not settled; WriteFailed.
    """
    with lock(vault.root, "publish", purpose="starting an agent"):
        refuse_beside_agents(vault)
        run = Run(
            ulid(int(at.timestamp() * 1000), secrets.token_bytes(10)),
            ledger.instant(at),
            cleaned(command),
            this_process(),
        )
        with Copies.open(vault.settings.vault_id) as copies:
            manifest = take_manifest(vault, copies)
        _refuse_too_large(vault, manifest)
        write_state(vault, run.path, {"v": 1, "run": run_json(run), "manifest": manifest.as_json(), "plan": None})
    return run


def _refuse_too_large(vault: Vault, manifest: Manifest) -> None:
    """Raises Refused for a file of the human's of which no copy is kept: an agent could destroy it."""
    large = [path for path, mark in manifest.files.items() if mark.stamp[0] > LARGEST]
    if not large:
        return
    from compiler.agent_record import files_of_agents

    theirs = files_of_agents(vault)
    for path in large:
        if (path, manifest.files[path].sha256) not in theirs:
            hint = "move it out of the folders that an agent may write, then run it again"
            raise Refused(
                f"more than {LARGEST >> 20} MiB: what an agent did to it could not be undone", where=path, hint=hint
            )


def settle(vault: Vault, run: Run, at: datetime, tell: Tell = lambda _: None) -> Settled:
    """Judge what the agent of `run` left, and do what follows: keep, set aside, put back.

    `tell` gets a line for the screen where that will take long.

    A run that is settled already gives an empty answer. Raises: LockHeld; Damaged; Refused where a folder cannot be
    looked into; WriteFailed. After any of these it can be settled again, with the same end.
    """
    with lock(vault.root, "publish", purpose="settling an agent's work"):
        record = read_record(vault.settings.vault_id, run.id)
        if record is None:
            return Settled(run.id, run.program)
        with Copies.open(vault.settings.vault_id) as copies:
            plan = _plan(vault, record, copies, at, tell)
            steps = len(plan.puts) + len(plan.backs) + len(plan.drops) + len(plan.clears)
            if steps >= _MANY:
                tell(f"setting aside and putting back takes {steps:,} steps: it can be stopped, and goes on next time")
            found = carry_out(plan, Hands.of(vault, copies.get), at.astimezone(vault.settings.zone).date())
        judged = _take_replies(vault, run, at, tell, found)
        with suppress(RetainError):  # where something else stands in its place, the next run says so
            if judged:
                empty(vault.root, WORK, forbidden=vault.kept_out())
        _forget(vault, run)
    return plan.settled(found)


def _take_replies(vault: Vault, run: Run, at: datetime, tell: Tell, found: list[Diagnostic]) -> bool:
    """Whether the agent's replies to work orders could be judged; those that pass are in the journal then."""
    from compiler.order_settling import settle_staged

    try:
        taken = settle_staged(vault, run.id, at)
    except RetainError as error:
        hint = f"{error.hint or 'set that right'}; they are judged when the next `retain guard run` ends"
        what = f"the agent's replies to work orders wait: {error.what}"
        found.append(Diagnostic(error.where or REPLIES, 0, "replies-wait", what, hint))
        return False
    if taken.kept:
        count = "1 reply" if taken.kept == 1 else f"{taken.kept} replies"
        tell(f"{count} to work orders kept; when none is open, `retain compile --engine agent` publishes")
    found += taken.refused
    return True


def open_runs(vault: Vault) -> list[Run]:
    """The runs whose process is gone and whose work is not settled: they were killed. Raises: Damaged."""
    return [run for run in all_runs(vault) if not run.may_live]


def looked_at(vault: Vault) -> tuple[list[Run], list[RetainError]]:
    """(the runs that can be settled once they have ended, why each of the others can't), oldest first."""
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
                _taken_down(vault, record)
                runs.append(run_in(record))
        except RetainError as error:
            broken.append(error)
    return runs, broken


def _taken_down(vault: Vault, record: dict[str, Any], copies: Copies | None = None) -> Plan | Manifest:
    """The plan of a run, or where nothing was decided yet how things stood before it. Raises: Damaged."""
    run = run_in(record)
    note = state_guard(vault.settings.vault_id).root / run.path
    try:
        if not isinstance(record.get("plan"), dict):
            return Manifest.from_json(record["manifest"])
        if copies is None:
            with Copies.open(vault.settings.vault_id) as opened:
                return _plan_in(run, record, opened, note)
        return _plan_in(run, record, copies, note)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise unreadable(note) from error


def _plan_in(run: Run, record: dict[str, Any], copies: Copies, note: Path) -> Plan:
    def bytes_of(digest: str) -> bytes:
        data = copies.get(digest)
        if data is None:
            raise stuck(note, "what was to be put back is gone from the copies")
        return data

    return Plan.from_json(run.id, record["plan"], bytes_of)


def _plan(vault: Vault, record: dict[str, Any], copies: Copies, at: datetime, tell: Tell) -> Plan:
    """The plan that was taken down, or a new one, which is taken down now."""
    run, before = run_in(record), _taken_down(vault, record, copies)
    if isinstance(before, Plan):
        return before
    after, left = look(vault, before)
    if after == before:
        return Plan(run.id, run.program)  # most runs: a look at the folders is all they cost
    if len(left) >= _MANY:
        tell(f"checking {len(left):,} files that the agent made or changed")
    from compiler.agent_judge import Judge
    from compiler.agent_world import World

    world = World(vault, before, copies)
    pages: list[ledger.Event] = [{"at": page.at} for page in world.kept.values()]  # the later run's page is to win
    instant = ledger.after([*world.id_events, *world.decided, *world.builds, *pages], at)
    plan = Judge(run, before, after, left, world, instant, copies.has).judged()
    copies.put_all(plan.blocks())
    write_state(vault, run.path, record | {"plan": plan.as_json()})
    return plan


def _forget(vault: Vault, run: Run) -> None:
    guard = state_guard(vault.settings.vault_id)
    data = guard.read(run.path)
    if data is not None:
        guard.remove(run.path, expect=sha256_hex(data))
