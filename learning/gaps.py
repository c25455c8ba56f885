"""The human's decisions on the reading agenda: into the ledger first, then shown in `learning/gaps.md`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from vault import ledger
from vault.agenda import Gap, GapKind, GapStatus, parse_agenda, render_agenda
from vault.clean import clean_line
from vault.errors import EditedMeanwhile, NotFound, UsageError
from vault.guard import Scope, sha256_hex
from vault.ids import GapId
from vault.ledger import Event
from vault.store import GAPS, Vault

NEAR = 3  # gaps that are named where an id fits none
_TRIES = 5  # a compile or an editor may save the agenda just then


class Decision(StrEnum):
    RESOLVE = "resolve"  # it is settled
    IGNORE = "ignore"  # not wanted
    PLAN = "plan"  # will be read
    REOPEN = "reopen"  # takes the others back


_STATUS = {
    Decision.RESOLVE: GapStatus.RESOLVED,
    Decision.IGNORE: GapStatus.IGNORED,
    Decision.PLAN: GapStatus.PLANNED,
    Decision.REOPEN: GapStatus.OPEN,
}


def read_agenda(vault: Vault) -> list[Gap]:
    """The gaps of the agenda in its order, the most pressing of a kind first; none before the first compile.

    Raises: Damaged where the file is no text.
    """
    return parse_agenda(vault.read_text(GAPS) or "")


def open_by_kind(gaps: Iterable[Gap]) -> dict[GapKind, list[Gap]]:
    """The open gaps of each kind, in their order; a kind without any has an empty list."""
    found: dict[GapKind, list[Gap]] = {kind: [] for kind in GapKind}
    for gap in gaps:
        if gap.open:
            found[gap.kind].append(gap)
    return found


def decide(vault: Vault, gap_id: str, decision: Decision, at: datetime, *, via: str = "cli") -> Gap:
    """The gap after the decision, which is in the ledger and in the agenda's file when this returns.

    `gap_id` may be the first characters of an id, with `^g-` before it or not, as long as they fit one gap alone.
    Raises: NotFound; UsageError if it is so already, or the wiki fills the gap; WriteFailed or Refused from the guard.
    A decision that reached the ledger stands even if the file could not be written: the next compile shows it.
    """
    gap = find(read_agenda(vault), gap_id)
    _check(gap, decision)
    events, _ = vault.ledger_events(ledger.DECISIONS)
    event: Event = {"v": 1, "type": "gap", "gap": gap.id, "decision": decision.value}
    event |= {"at": ledger.instant(_after(events, gap.id, at)), "via": via}
    vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event))
    decided = replace(gap, status=_STATUS[decision], ticked=False)
    _show(vault, decided)
    return decided


def find_all(vault: Vault, gap_ids: Iterable[str], decision: Decision) -> list[Gap]:
    """The gaps of all the ids, each once. Raises as `decide` does, for any of them; so far nothing is decided."""
    gaps = read_agenda(vault)
    found = {gap.id: gap for gap in (find(gaps, gap_id) for gap_id in gap_ids)}
    for gap in found.values():
        _check(gap, decision)
    return list(found.values())


def find(gaps: Sequence[Gap], gap_id: str) -> Gap:
    """The one gap whose id begins so. Raises: NotFound, which names those that may be meant."""
    wanted = gap_id.strip().removeprefix("^").removeprefix("g-").lower()
    found = [gap for gap in gaps if wanted and gap.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} gaps begin with that id" if found else "no gap has that id"
    near = [f"{gap.id} ({gap.what[:40]}: {gap.missing[:60]})" for gap in (found or _near(gaps, wanted))[:NEAR]]
    hint = f"perhaps {' or '.join(near)}; " if near else ""
    raise NotFound(what, where=clean_line(gap_id)[:40], hint=f"{hint}`retain gaps` lists them")


def _near(gaps: Sequence[Gap], wanted: str) -> list[Gap]:
    """Open gaps whose id is nearly this one, or whose subject it names."""
    from difflib import get_close_matches

    still_open = [gap for gap in gaps if gap.open]
    alike = get_close_matches(wanted, [gap.id for gap in still_open], NEAR, 0.75)
    if len(wanted) < 10:
        starts = get_close_matches(wanted, [gap.id[: len(wanted)] for gap in still_open], NEAR, 0.75)
        alike += [gap.id for gap in still_open if gap.id[: len(wanted)] in starts]
    return [g for g in still_open if g.id in alike] or [
        g for g in still_open if len(wanted) > 2 and wanted in g.what.lower()
    ]


def _check(gap: Gap, decision: Decision) -> None:
    if gap.status is GapStatus.FILLED:
        raise UsageError("the wiki fills this gap now", where=f"{GAPS}:{gap.line}", hint="there is nothing to decide")
    if gap.status is _STATUS[decision]:
        raise UsageError(f"this gap is {gap.status} already", where=f"{GAPS}:{gap.line}")


def _after(events: Iterable[Event], gap_id: GapId, at: datetime) -> datetime:
    """`at`, or a millisecond after the gap's latest decision should the clock have gone back: the last word counts."""
    latest = at
    for event in events:
        if event.get("gap") != gap_id:
            continue
        try:
            latest = max(latest, ledger.parse_instant(str(event.get("at"))) + timedelta(milliseconds=1))
        except (ValueError, OverflowError):
            continue  # a line of another's making
    return latest


def _show(vault: Vault, decided: Gap) -> None:
    """The agenda's file with the gap as it now is; whoever saved the file meanwhile keeps what they wrote."""
    guard = vault.guard(Scope.LOG)
    for attempt in range(_TRIES):
        data = guard.read(GAPS)
        gaps = parse_agenda((data or b"").decode("utf-8", "replace"))
        now = [replace(g, status=decided.status, ticked=False) if g.id == decided.id else g for g in gaps]
        try:
            guard.write(GAPS, render_agenda(now).encode(), expect=None if data is None else sha256_hex(data))
        except EditedMeanwhile:
            if attempt == _TRIES - 1:
                raise
        else:
            return
