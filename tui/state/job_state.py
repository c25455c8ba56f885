"""The state of a job, folded from the untrusted JSON lines of its process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from vault.text.formatting import clean_line

MOST_FINDINGS = 5  # the last ones are kept
_LONGEST = 400  # characters of a word from the process
_STAGES = {  # what each kind of work goes through, in this order; others are added as they come
    "compile": ("source", "compose", "cards", "save"),
    "rebuild": ("source", "compose", "cards", "save"),
    "import": ("source", "reviews"),
    "export": ("export",),
    "optimize": ("fit",),
}
_COSTS = ("input_tokens", "output_tokens", "usd")


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a job: `done` of `of`; `of` is 0 before it has begun."""

    name: str
    done: int = 0
    of: int = 0
    began: datetime | None = None

    @property
    def over(self) -> bool:
        return self.of > 0 and self.done >= self.of


@dataclass(frozen=True, slots=True)
class Finding:
    """A message of a job: what, where, and a hint; the last two may be ""."""

    what: str
    where: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class WorkState:
    """One run of `retain WORDS`. `code` is its exit code, None while it runs; `result` is its JSON output.

    `stopping` if the user cancelled it; `cost` has tokens and dollars as far as they are known.
    """

    words: tuple[str, ...]
    began: datetime
    stages: tuple[Stage, ...] = ()
    path: str = ""
    waits: str = ""
    findings: tuple[Finding, ...] = ()
    note: str = ""
    error: Finding | None = None
    cost: Mapping[str, float] = field(default_factory=dict)
    stopping: bool = False
    code: int | None = None
    ended: datetime | None = None
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The command: `compile`, `import` ..."""
        return self.words[0] if self.words else ""

    @property
    def running(self) -> bool:
        return self.code is None

    @property
    def stage(self) -> Stage | None:
        """The current step: the last one that has begun."""
        return next((stage for stage in reversed(self.stages) if stage.began is not None), None)

    def seconds(self, now: datetime) -> float:
        """Return how long the job ran, or has been running at `now`."""
        return max(0.0, ((self.ended or now) - self.began).total_seconds())

    def seconds_left(self, now: datetime) -> float | None:
        """Estimate how long the current step will take; None if unknown."""
        stage = self.stage
        if not self.running or stage is None or stage.began is None or not 0 < stage.done < stage.of:
            return None
        spent = (now - stage.began).total_seconds()
        return spent * (stage.of - stage.done) / stage.done if spent > 0 else None


def begun(words: Sequence[str], at: datetime) -> WorkState:
    """Return the state of a job that has just been started."""
    stages = tuple(Stage(name) for name in _STAGES.get(words[0] if words else "", ()))
    return WorkState(tuple(words), at, stages)


def event_in(line: bytes) -> Mapping[str, Any] | None:
    """Parse one line of a job's stderr; None if it is not an event."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("event"), str) else None


def after(state: WorkState, event: Mapping[str, Any], at: datetime) -> WorkState:
    """Return the state after `event` at `at`; unknown events change nothing."""
    state = _with_cost(state, event)
    match event["event"]:
        case "note":
            return replace(state, note=_text(event, "words"))
        case "wait":
            return replace(state, waits=_text(event, "words"))
        case "error":
            return replace(state, error=Finding(_text(event, "what"), _text(event, "where"), _text(event, "hint")))
        case "finding":
            finding = Finding(_text(event, "reason"), _place(event), _text(event, "hint"))
            return replace(state, findings=(*state.findings, finding)[-MOST_FINDINGS:])
    done, of = event.get("done"), event.get("of")
    if not (_is_count(done) and _is_count(of)):
        return state
    assert isinstance(done, int)
    assert isinstance(of, int)
    return _stepped(state, _text(event, "event")[:40], min(done, of), of, _text(event, "path"), at)


def _stepped(state: WorkState, name: str, done: int, of: int, path: str, at: datetime) -> WorkState:
    names = [stage.name for stage in state.stages]
    if name not in names:
        if len(names) >= 12:
            return state
        return _stepped(replace(state, stages=(*state.stages, Stage(name))), name, done, of, path, at)
    stages = list(state.stages)
    old = stages[names.index(name)]
    stages[names.index(name)] = Stage(name, done, of, old.began or at)
    return replace(state, stages=tuple(stages), path=path, waits="")


def ended(state: WorkState, code: int, output: bytes, at: datetime) -> WorkState:
    """Return the state after the process ended with exit code `code` and printed `output`."""
    try:
        found = json.loads(output) if output.strip() else {}
    except (ValueError, RecursionError):
        found = {}
    result = found if isinstance(found, dict) else {}
    cost = result.get("cost")
    state = replace(state, code=code, ended=at, result=result, waits="")
    return _with_cost(state, cost) if isinstance(cost, dict) else state


def _with_cost(state: WorkState, event: Mapping[str, Any]) -> WorkState:
    new = {key: float(event[key]) for key in _COSTS if _is_number(event.get(key))}
    return replace(state, cost={**state.cost, **new}) if new else state


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**12


def _text(event: Mapping[str, Any], key: str) -> str:
    value = event.get(key)
    return clean_line(value)[:_LONGEST] if isinstance(value, str) else ""


def _place(event: Mapping[str, Any]) -> str:
    path, line = _text(event, "path"), event.get("line")
    return f"{path}:{line}" if path and _is_count(line) and line else path


def count(result: Mapping[str, Any], *keys: str) -> int:
    """Return the whole number at a path in a job's result; 0 if there is none."""
    value: Any = result
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if _is_count(value) else 0


def failures(result: Mapping[str, Any]) -> list[Finding]:
    """Return the failed files of a job's result."""
    return _findings(result, "failures", "refused", "failed", "problems")


def notices(result: Mapping[str, Any]) -> list[Finding]:
    """Return what a job noticed: text that could not be read, pictures that are not there, other files to import."""
    return [*_findings(result, "notices", "missing"), *paths(result, "remarks")]


def paths(result: Mapping[str, Any], key: str) -> list[Finding]:
    """Return the files that a job's result lists under `key`."""
    rows = result.get(key)
    named = [row for row in rows if isinstance(row, str)] if isinstance(rows, list) else []
    return [Finding(clean_line(row)[:_LONGEST]) for row in named]


def _findings(result: Mapping[str, Any], *keys: str) -> list[Finding]:
    lists = (rows for key in keys if isinstance(rows := result.get(key), list))
    rows = (row for rows in lists for row in rows if isinstance(row, dict))
    return [
        Finding(_text(row, "reason") or _text(row, "message"), _place(row) or _text(row, "card"), _text(row, "hint"))
        for row in rows
    ]
