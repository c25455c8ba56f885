"""The reading list as it stands now: what the last compile laid out, less what has been settled since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from learning.agenda.gap_decisions import read_agenda
from vault.ids import GapId
from vault.layout import READING_LIST
from vault.model.gaps import Gap
from vault.model.reading_list import Wanted, parse_reading_list
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Plan:
    """Subjects to read about, the most wanted first, and their gaps by id; `of` is how many are listed in all."""

    subjects: tuple[Wanted, ...]
    gaps: Mapping[GapId, Gap]

    @property
    def of(self) -> int:
        return len(self.subjects)


def read_plan(vault: Vault) -> Plan:
    """The plan from the files of the vault; nothing before the first compile. Raises: Damaged where one is no text."""
    gaps = {gap.id: gap for gap in read_agenda(vault) if gap.open}
    out = []
    for wanted in parse_reading_list(vault.read_text(READING_LIST) or ""):
        lacks = tuple(lack for lack in wanted.lacks if lack.gap in gaps)
        if lacks:
            out.append(replace(wanted, lacks=lacks))
    return Plan(tuple(out), gaps)
