"""Lines of a deck that are cards of another program, but not in the format of this vault: they are reported."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from vault.diagnostic import Diagnostic

CODE = "card-of-another-program"
_SR, _HASHCARDS = "Obsidian's Spaced Repetition plugin", "hashcards or repeater"
_INLINE = re.compile(r"(?!\s*(?:[|>#]|%%|https?:))[^`\n]*[^\s:`][^`\n]*?:{2,3}(?!:)[^`\n]*[^\s:`]")
_HIGHLIGHT = re.compile(r"==[^=\s][^=]*==")
_ALONE = ("?", "??")
_SCHEDULE = "<!--SR:!"
_BRACKETS = re.compile(r"C:.*(?<![!\\])\[[^\[\]]+\](?!\()")


@dataclass(slots=True)
class ForeignCards:
    """Collects such lines of one deck: by program the first line, how many, and what shows it."""

    path: str
    _found: dict[str, list[int]] = field(default_factory=dict)
    _signs: dict[str, str] = field(default_factory=dict)

    def outside(self, line: str, number: int) -> None:
        """Look at a line that is in no card and no fence."""
        if _SCHEDULE in line:
            self._note(_SR, _SCHEDULE + "...-->", number)
        elif line.strip() in _ALONE:
            self._note(_SR, f"a line `{line.strip()}`", number)
        elif "::" in line and _INLINE.fullmatch(line.strip()):
            self._note(_SR, "`front::back`", number)
        elif "==" in line and _HIGHLIGHT.search(line):
            self._note(_SR, "`==words==`", number)

    def inside(self, line: str, number: int) -> None:
        """Look at a line that became part of a card."""
        if _SCHEDULE in line:
            self._note(_SR, _SCHEDULE + "...-->", number)
        elif line.startswith("C:") and _BRACKETS.match(line):
            self._note(_HASHCARDS, "`C: a text with [words]`", number)

    def _note(self, program: str, sign: str, number: int) -> None:
        self._found.setdefault(program, []).append(number)
        self._signs.setdefault(program, sign)

    def diagnostics(self) -> list[Diagnostic]:
        """Return one diagnostic for each program."""
        found = []
        for program, lines in self._found.items():
            sign = self._signs[program]
            several = (
                f"{len(lines)} lines look like cards for {program} ({sign}), but are not cards in this vault's format"
            )
            one = f"this looks like a card for {program} ({sign}), but is not a card in this vault's format"
            what = several if len(lines) > 1 else one
            hint = (
                "move it to a separate file; `retain import cards FILE` then imports it as cards, with their schedules"
            )
            found.append(Diagnostic(self.path, lines[0], CODE, what, hint))
        return found
