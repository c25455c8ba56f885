"""FSRS parameters and desired retention in the presets of an Anki package: judged, and adopted if the user asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from learning.anki.package_reader import PackagePreset
from learning.cards.workspace import Desk
from learning.memory.fsrs import Fsrs6, Parameters
from learning.memory.model import filled_parameters
from vault.config.settings import RETENTION
from vault.errors import UsageError
from vault.log.events import Params
from vault.text.formatting import clean_line
from vault.toml_edit import change_vault

_ALIKE = 1e-4  # Anki keeps 32 bits of each parameter


@dataclass(slots=True)
class Preset:
    """A preset in a package that has parameters of FSRS, for `cards` cards.

    `state` is "offered", "in use", "adopted", or "invalid" with the `problem`; `retention` is None if none is stated.
    """

    name: str
    cards: int
    parameters: Parameters
    retention: float | None
    state: str = "offered"
    problem: str = ""


def judged(rows: Iterable[PackagePreset], desk: Desk) -> list[Preset]:
    """Return the presets in a package; the later ones of one name get a number that makes it no other's."""
    found = [_judged(clean_line(row.name)[:100] or "unnamed", row, desk) for row in rows]
    taken = {preset.name for preset in found}
    last: Counter[str] = Counter()
    for preset in found:
        name, label = preset.name, preset.name
        last[name] += 1
        while last[name] > 1 and (label := f"{name} ({last[name]})") in taken:
            last[name] += 1
        taken.add(label)
        preset.name = label
    return found


def _judged(name: str, row: PackagePreset, desk: Desk) -> Preset:
    """Return the preset, filled up to the parameters of FSRS-6 as Anki does with those of earlier versions."""
    preset = Preset(name, row.cards, (), row.retention)
    try:
        preset.parameters = filled_parameters(row.parameters)
        Fsrs6(preset.parameters)
    except ValueError as error:
        preset.problem = str(error)
    if not row.numbers:
        preset.problem = "a parameter or the desired retention is not a number"
    elif row.retention is not None and not RETENTION[0] <= row.retention <= RETENTION[1]:
        preset.problem = f"the desired retention is {row.retention:g}, not between {RETENTION[0]} and {RETENTION[1]}"
    if preset.problem:
        preset.state = "invalid"
    elif _is_in_use(preset, desk):
        preset.state = "in use"
    return preset


def _is_in_use(preset: Preset, desk: Desk) -> bool:
    """Return whether the vault schedules by the same parameters and retention."""
    pairs = list(zip(preset.parameters, desk.scheduler.parameters, strict=True))
    pairs.append((preset.retention or desk.scheduler.rules.retention, desk.scheduler.rules.retention))
    return all(abs(theirs - ours) < _ALIKE for theirs, ours in pairs)


def chosen(presets: Iterable[Preset], name: str) -> Preset:
    """Return the preset of that name. Raises: UsageError; also for one that is invalid."""
    names = []
    for preset in presets:
        if preset.name == name:
            if preset.problem:
                raise UsageError(f"preset {name!r} cannot be adopted: {preset.problem}", hint="nothing was imported")
            return preset
        names.append(preset.name)
    hint = f"presets with FSRS parameters in it: {', '.join(names[:20]) or 'none'}"
    raise UsageError(f"the package has no preset named {clean_line(name)[:100]!r} with FSRS parameters", hint=hint)


def adopt(preset: Preset, desk: Desk, *, dry_run: bool) -> None:
    """Schedule by the preset from now on: its retention goes into `retain.toml`, its parameters into the log.

    Raises: UsageError, Damaged, Refused, EditedMeanwhile, WriteFailed.
    """
    if preset.state == "in use":
        return
    preset.state = "adopted"
    if dry_run:
        return
    if preset.retention is not None and preset.retention != desk.vault.settings.retention:
        change_vault(desk.vault, "retention", preset.retention)
    writer = desk.writer("cli")
    reason = f'from the Anki preset "{preset.name}"'
    writer.write(Params(writer.stamp(desk.now), preset.parameters, None, reason))
