"""Findings of a check: collected, never raised."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """A finding. `line` is 1-based, 0 for the whole file; `code` is a stable name in kebab-case."""

    path: str
    line: int
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}" + (f" ({self.hint})" if self.hint else "")

    def as_json(self) -> dict[str, object]:
        return asdict(self)
