"""What is wrong with a part of an answer, said so that its author can correct it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from vault.text.formatting import short_line

SHOWN = 160  # characters of somebody's words in a fault


@dataclass(frozen=True, slots=True)
class Fault:
    """`line` is the 1-based line of the answer, 0 if it is about what is missing; `words` are those at fault."""

    line: int
    words: str
    why: str
    hint: str = ""

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def __str__(self) -> str:
        """Return the fault as a message of one line."""
        where = f"line {self.line}: " if self.line else ""
        words = f"“{short_line(self.words, SHOWN)}”: " if self.words else ""
        return f"{where}{words}{self.why}" + (f" ({self.hint})" if self.hint else "")
