"""A running job with its steps, time, cost and findings; then its result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from textual.content import Content
from textual.widgets import Static

from tui.models import work as strings
from tui.state import job_state
from tui.state.job_state import Finding, Stage, WorkState
from tui.text import content

_BAR = 24  # cells of a step's bar
_NAME = 26  # of its name
_NOUN = 10
_MOST = 30  # rows of a list; the command itself lists all


class WorkView(Static):
    """Shows the state of a job."""

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show(self, state: WorkState, now: datetime) -> None:
        rows = _running(state, now) if state.running else _over(state)
        self.update(Content("\n").join(rows))


def _running(state: WorkState, now: datetime) -> list[Content]:
    stages = [_stage(one, one is state.stage) for one in state.stages]
    rows = stages or [content.plain(strings.STARTING, content.DIM)]
    message = state.waits or state.path or state.note
    rows += [Content(""), content.line(message, content.DIM), Content("")]
    rows.append(content.plain(strings.time(state.seconds(now), state.seconds_left(now))))
    rows.append(content.plain(strings.cost(state), content.DIM))
    rows += _named(strings.FINDINGS, state.findings)
    end = strings.STOPPING if state.stopping else strings.ON_MEANWHILE
    return [*rows, Content(""), content.plain(end, "$text-warning" if state.stopping else content.DIM)]


def _stage(one: Stage, present: bool) -> Content:
    mark = ("✓ ", "$text-success") if one.over else ("▸ ", "$text-accent") if present else ("  ", "")
    name = content.plain(strings.stage(one).ljust(_NAME), "bold" if present else "" if one.over else content.DIM)
    filled = round(_BAR * one.done / one.of) if one.of else 0
    bar = (("━" * filled, "$primary"), ("─" * (_BAR - filled), "$foreground 20%"))
    return Content.assemble(mark, name, *bar, content.plain(f"  {strings.step(one)}", content.DIM))


def _over(state: WorkState) -> list[Content]:
    good = state.code == 0
    rows = [content.plain(strings.head(state), "bold $text-success" if good else "bold $text-warning")]
    if state.error is not None:
        rows += [Content(""), *_finding_row(state.error)]
    elif state.code not in (0, 1) and state.note and not state.stopping:
        rows += [Content(""), content.line(state.note)]
    made = strings.made(state)
    if made:
        rows.append(Content(""))
    rows += [Content.assemble(content.plain(noun.ljust(_NOUN), content.DIM), content.line(text)) for noun, text in made]
    if "cost" in state.result:
        rows.append(
            Content.assemble(content.plain("cost".ljust(_NOUN), content.DIM), content.plain(strings.cost(state)))
        )
    if state.name == "add":
        rows += _named(strings.WHERE_ADDED, job_state.paths(state.result, "added"))
        rows += _named(strings.KNOWN, job_state.paths(state.result, "unchanged"))
    rows += _named(strings.WHY_LEFT_OUT, [Finding(words) for words in strings.reasons(state)])
    rows += _named(strings.FAILURES, job_state.failures(state.result))
    rows += _named(strings.NOTICES, job_state.notices(state.result))
    if state.name == "add" and good:
        rows += [Content(""), content.plain(strings.ADDED_NEXT, content.DIM)]
    return rows


def _named(heading: str, findings: Sequence[Finding]) -> list[Content]:
    if not findings:
        return []
    left = len(findings) - _MOST
    head = Content.assemble((heading, "bold"), content.plain(f"  {len(findings):,}", content.DIM))
    rows = [row for one in findings[:_MOST] for row in _finding_row(one)]
    return [Content(""), head, *rows, *([content.plain(strings.more(left), content.DIM)] if left > 0 else [])]


def _finding_row(one: Finding) -> list[Content]:
    where = Content.assemble(content.line(one.where, content.DIM), ": ") if one.where else Content("")
    rows = [Content.assemble(where, content.line(one.what))]
    return [*rows, Content.assemble("  ", content.line(one.hint, content.DIM))] if one.hint else rows
