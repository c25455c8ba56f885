"""What a check finds: gathered, never raised."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """One finding. `line` is 1-based, 0 where the file as a whole is meant; `code` is a stable kebab-case name."""

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
