"""Clozes between plain marks, `==words==` and the like, as clozes with Anki's marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PATTERN = re.compile(
    r"(?P<open>[^\[\\]+)\[123(?P<after>[^\]]{1,4})\]answer\[(?P<before>[^\]]{1,4})hint\](?P<close>.+)"
)
_FOOTNOTES = re.compile(r"(?P<open>\S{1,4})answer(?P=open)\[\^\\\\\[hint\\\\\]\]\[\\\\\[\^123\\\\\]\]")


@dataclass(frozen=True, slots=True)
class ClozeMarks:
    """What begins and ends a deletion, what ends its number and begins its hint inside; `footnotes`: hint and number
    follow the deletion as `^[hint][^1]`.
    """

    start: str
    end: str
    after_number: str = ";;"
    before_hint: str = ";;"
    footnotes: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        """Return the pattern of a deletion: `seq`, `words` and `hint`."""
        start, end = re.escape(self.start), re.escape(self.end)
        if self.footnotes:
            return re.compile(rf"{start}(?P<words>.+?){end}(?:\^\[(?P<hint>[^\]]+)\])?(?:\[\^(?P<seq>\d+|[ash]+)\])?")
        seq = rf"(?:(?P<seq>\d+|[ash]+){re.escape(self.after_number)})?"
        hint = rf"(?:{re.escape(self.before_hint)}(?P<hint>.+?))?"
        return re.compile(rf"{start}{seq}(?P<words>.+?){hint}{end}")


HIGHLIGHT = ClozeMarks("==", "==")


def marks_of(pattern: str) -> ClozeMarks | None:
    """Return the marks of a pattern in the plugin's settings; None for one that is not understood."""
    found = _PATTERN.fullmatch(pattern)
    if found:
        return ClozeMarks(found["open"], found["close"], found["after"], found["before"])
    notes = _FOOTNOTES.fullmatch(pattern)
    return ClozeMarks(notes["open"], notes["open"], footnotes=True) if notes else None


def has_cloze(text: str, marks: Sequence[ClozeMarks]) -> bool:
    """Return whether the text hides words by one of the marks."""
    return any(each.regex.search(text) for each in marks)


def cloze_of(text: str, marks: Sequence[ClozeMarks]) -> tuple[str | None, str | None]:
    """Return (the text with Anki's marks, None); or (None, what is wrong with it).

    Deletions without numbers are a card each, in their order; those of one number are one card.
    """
    number = 0
    for each in marks:
        found = list(each.regex.finditer(text))
        if not found:
            continue
        sequences = [match["seq"] for match in found]
        if any(seq and not seq.isdigit() for seq in sequences):
            return None, "its deletions overlap (marked with a, s and h), which retain does not support"
        known = sorted({int(seq) for seq in sequences if seq})
        out, at = [], 0
        for match in found:
            number += 1
            shown = known.index(int(match["seq"])) + 1 if match["seq"] else number
            hint = f"::{match['hint']}" if match["hint"] else ""
            out += [text[at : match.start()], f"{{{{c{shown}::{match['words']}{hint}}}}}"]
            at = match.end()
        return "".join(out) + text[at:], None
    return None, "it hides no words"
