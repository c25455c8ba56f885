"""The user's decisions on the reading agenda: recorded in the ledger, then shown in `learning/gaps.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum

from vault.errors import EditedMeanwhile, NotFound, UsageError
from vault.files.guard import Scope, sha256_hex
from vault.ids import GapId
from vault.layout import GAPS, READING_LIST
from vault.log import ledger
from vault.log.ledger import Event
from vault.model.gaps import Gap, GapKind, GapStatus, parse_agenda, render_agenda
from vault.model.reading_list import Wanted, parse_reading_list
from vault.text.formatting import clean_line
from vault.vault import Vault

NEAR = 3  # gaps that are named where an id fits none
_TRIES = 5  # a compile or an editor may save the agenda just then


class Decision(StrEnum):
    """What a user decides on a gap."""

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
_OPEN = (GapStatus.OPEN, GapStatus.PLANNED)


def read_agenda(vault: Vault) -> list[Gap]:
    """Return the gaps of the agenda in its order, the most pressing of a kind first; none before the first compile.

    Raises: Damaged where the file is no text.
    """
    return parse_agenda(vault.read_text(GAPS) or "")


def open_by_kind(gaps: Iterable[Gap]) -> dict[GapKind, list[Gap]]:
    """Return the open gaps of each kind, in their order; a kind without any has an empty list."""
    found: dict[GapKind, list[Gap]] = {kind: [] for kind in GapKind}
    for gap in gaps:
        if gap.open:
            found[gap.kind].append(gap)
    return found


def decide(vault: Vault, gap_id: str, decision: Decision, at: datetime, *, via: str = "cli") -> Gap:
    """Record a decision in the ledger and the agenda's file; return the gap after it.

    `gap_id` may be the first characters of an id, with `^g-` before it or not, as long as they fit one gap alone.
    Raises: NotFound; UsageError if it is so already, or the wiki fills the gap; WriteFailed or Refused from the guard.
    A decision that reached the ledger stands even if the file could not be written: the next compile shows it.
    """
    gaps = read_agenda(vault)
    gap = find(gaps, gap_id)
    _check(gap, decision)
    events, _ = vault.ledger_events(ledger.DECISIONS)
    event: Event = {"v": 1, "type": "gap", "gap": gap.id, "decision": decision.value}
    if gap.open and _STATUS[decision] not in _OPEN:
        event["below"] = _above(gaps, gap)  # where it comes back to, should it be opened again
    event |= {"at": ledger.instant(_after(events, gap.id, at)), "via": via}
    vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(event))
    decided = replace(gap, status=_STATUS[decision], ticked=False)
    _show(vault, decided, None if gap.open else _place(events, gap.id))
    return decided


def find_all(vault: Vault, gap_ids: Iterable[str], decision: Decision) -> list[Gap]:
    """Return the gaps of all the ids, each once, before anything is decided. Raises as `decide` does, for any of
    them.
    """
    gaps = read_agenda(vault)
    found = {gap.id: gap for gap in (find(gaps, gap_id) for gap_id in gap_ids)}
    for gap in found.values():
        _check(gap, decision)
    return list(found.values())


def find(gaps: Sequence[Gap], gap_id: str) -> Gap:
    """Return the one gap whose id begins with `gap_id`. Raises: NotFound, which suggests similar ones."""
    wanted = gap_id.strip().removeprefix("^").removeprefix("g-").lower()
    found = [gap for gap in gaps if wanted and gap.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    what = (
        f"{len(found)} gaps have ids that start with that: type more of the id"
        if found
        else "there is no gap with that id"
    )
    near = [f"{gap.id} ({gap.what[:40]}: {gap.missing[:60]})" for gap in (found or _near(gaps, wanted))[:NEAR]]
    hint = f"perhaps {' or '.join(near)}; " if near else ""
    raise NotFound(what, where=clean_line(gap_id)[:40], hint=f"{hint}`retain gaps` lists them")


def _near(gaps: Sequence[Gap], wanted: str) -> list[Gap]:
    """Return open gaps whose id is nearly this one, or whose subject it names."""

    still_open = [gap for gap in gaps if gap.open]
    alike = get_close_matches(wanted, [gap.id for gap in still_open], NEAR, 0.75)
    if len(wanted) < 10:
        starts = get_close_matches(wanted, [gap.id[: len(wanted)] for gap in still_open], NEAR, 0.75)
        alike += [gap.id for gap in still_open if gap.id[: len(wanted)] in starts]
    return [g for g in still_open if g.id in alike] or [
        g for g in still_open if len(wanted) > 2 and wanted in g.what.lower()
    ]


def _check(gap: Gap, decision: Decision) -> None:
    """Raise UsageError where the decision does not apply to the gap."""
    if gap.status is GapStatus.FILLED:
        raise UsageError("the wiki now fills this gap", where=f"{GAPS}:{gap.line}", hint="there is nothing to decide")
    if gap.status is _STATUS[decision]:
        raise UsageError(f"this gap is already {gap.status}", where=f"{GAPS}:{gap.line}")


def _after(events: Iterable[Event], gap_id: GapId, at: datetime) -> datetime:
    """Return `at`, or a millisecond after the gap's latest decision should the clock have gone back."""
    latest = at
    for event in events:
        if event.get("gap") != gap_id:
            continue
        try:
            latest = max(latest, ledger.parse_instant(str(event.get("at"))) + timedelta(milliseconds=1))
        except (ValueError, OverflowError):
            continue  # a line of another's making
    return latest


def _above(gaps: Sequence[Gap], gap: Gap) -> str:
    """Return the id of the open gap of its kind that is above it; "" for the first."""
    alike = [each.id for each in gaps if each.open and each.kind is gap.kind]
    at = alike.index(gap.id)
    return alike[at - 1] if at else ""


def _place(events: Iterable[Event], gap_id: GapId) -> str | None:
    """Return the gap below which it was when it was last open; "" where it was the first, None where that is
    unknown.
    """
    known = [event["below"] for event in events if event.get("gap") == gap_id and "below" in event]
    return known[-1] if known and isinstance(known[-1], str) else None


def _placed(gaps: list[Gap], gap: Gap, below: str) -> list[Gap]:
    """Return the gaps with one moved below another of its kind, or, where that is not open, before all of them."""
    rest = [each for each in gaps if each.id != gap.id]
    above = [n for n, each in enumerate(rest) if each.id == below and each.open and each.kind is gap.kind]
    at = above[0] + 1 if above else 0
    return [*rest[:at], gap, *rest[at:]]


def _show(vault: Vault, decided: Gap, below: str | None) -> None:
    """Write the agenda's file with the gap as it now is; an edit made meanwhile stays.

    A gap that is opened again comes back `below` the one that it stood below, if that is known.
    """
    guard = vault.guard(Scope.LOG)
    for attempt in range(_TRIES):
        data = guard.read(GAPS)
        gaps = parse_agenda((data or b"").decode("utf-8", "replace"))
        now = [replace(g, status=decided.status, ticked=False) if g.id == decided.id else g for g in gaps]
        if decided.open and below is not None:
            now = _placed(now, decided, below)
        try:
            guard.write(GAPS, render_agenda(now).encode(), expect=None if data is None else sha256_hex(data))
        except EditedMeanwhile:
            if attempt == _TRIES - 1:
                raise
        else:
            return


def decisions_of(vault: Vault) -> list[Event]:
    """Return the events of `ledger/decisions.jsonl`, in order."""
    return ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])


@dataclass(frozen=True, slots=True)
class Plan:
    """The reading list: subjects to read about, the most wanted first, and their gaps by id."""

    subjects: tuple[Wanted, ...]
    gaps: Mapping[GapId, Gap]

    @property
    def of(self) -> int:
        """Return how many subjects are listed."""
        return len(self.subjects)


def read_plan(vault: Vault) -> Plan:
    """Return the reading list of the vault without what was decided since; empty before the first compile. Raises:
    Damaged.
    """
    gaps = {gap.id: gap for gap in read_agenda(vault) if gap.open}
    out = []
    for wanted in parse_reading_list(vault.read_text(READING_LIST) or ""):
        lacks = tuple(lack for lack in wanted.lacks if lack.gap in gaps)
        if lacks:
            out.append(replace(wanted, lacks=lacks))
    return Plan(tuple(out), gaps)
