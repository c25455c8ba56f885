"""The lines of an AsciiDoc document after its comments, attributes, conditions and inclusions are taken out."""

from __future__ import annotations

import re

from vault.model.source import Problem
from vault.text.formatting import clean_line

MAX_PROBLEMS = 20
COMMENT = "\0"  # stands for a comment of one line, which ends no paragraph; no document holds this character
_ATTRIBUTE = re.compile(r":(!?)([A-Za-z0-9_][\w-]{0,80})(!?):(?:[ \t]+(.*))?[ \t]*")
_CONDITION = re.compile(r"(ifdef|ifndef|ifeval|endif)::([^\[\s]{0,200})\[(.*)\][ \t]*")
_INCLUDE = re.compile(r"include::([^\[\]]{1,300})\[.*\][ \t]*")
_VERBATIM = re.compile(r"-{4,}|\.{4,}|\+{4,}|`{3,}[\w+#-]*")


def fence_of(line: str) -> str:
    """Return the line that closes a block which this one opens: backticks, without the language behind them."""
    return "`" * (len(line) - len(line.lstrip("`"))) or line


class Preprocessor:
    """Blank lines stand where something was taken out, so that line numbers stay; `attributes` are filled in."""

    def __init__(self, lines: list[str], attributes: dict[str, str]) -> None:
        self.problems: list[Problem] = []
        self.lines: list[str] = []
        self._attributes = attributes
        self._skipped: list[bool] = []  # of the open conditions: whether what they hold is left out
        self._verbatim = ""
        self._comment = ""
        self._continued = ""  # name of an attribute whose value goes on in the next line
        for number, line in enumerate(lines, 1):
            self.lines.append(self._kept(line, number))

    def _kept(self, line: str, number: int) -> str:
        """Return what is left of one line."""
        stripped = line.rstrip()
        if self._comment:
            if stripped == self._comment:
                self._comment = ""
            return ""
        condition = _CONDITION.fullmatch(line)
        if condition is not None:
            return self._condition(condition, number)
        if any(self._skipped):
            return ""
        included = _INCLUDE.fullmatch(line)
        if included is not None:
            file = clean_line(included[1])
            self._problem("include", f"{file} is a separate file that was not read: add it as well", number, file)
            return ""
        if self._continued:
            return self._continue(stripped)
        if _VERBATIM.fullmatch(stripped):
            fence = fence_of(stripped)
            if not self._verbatim:
                self._verbatim = fence
            elif self._verbatim == fence:
                self._verbatim = ""
            return line
        if self._verbatim:
            return line
        if stripped.startswith("////") and not stripped.strip("/"):
            self._comment = stripped
            return ""
        if stripped.startswith("//") and not stripped.startswith("///"):
            return COMMENT
        found = _ATTRIBUTE.fullmatch(line)
        return self._attribute(found) if found is not None else line

    def _problem(self, kind: str, message: str, line: int, file: str = "") -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(f"asciidoc-{kind}", message, line, file))

    def _attribute(self, found: re.Match[str]) -> str:
        """Set or unset an attribute."""
        name, value = found[2].lower(), (found[4] or "").strip()
        if found[1] or found[3]:
            self._attributes.pop(name, None)
            return ""
        goes_on = value.endswith("\\")
        self._attributes[name] = value[:-1].rstrip().removesuffix(" +")[:2_000] if goes_on else value[:2_000]
        self._continued = name if goes_on else ""
        return ""

    def _continue(self, line: str) -> str:
        """Add a line to the value of an attribute."""
        goes_on = line.endswith("\\")
        words = f"{self._attributes[self._continued]} {line.rstrip(chr(92)).strip()}"
        self._attributes[self._continued] = words.strip()[:2_000]
        if not goes_on:
            self._continued = ""
        return ""

    def _condition(self, found: re.Match[str], number: int) -> str:
        """Open, close or apply a condition."""
        kind, names, content = found[1], found[2], found[3]
        if kind == "endif":
            if self._skipped:
                self._skipped.pop()
            return ""
        if kind == "ifeval":
            self._problem("condition", "text that depends on a computed condition was left out", number)
            self._skipped.append(True)
            return ""
        known = [name.lower() in self._attributes for name in re.split(r"[,+]", names)]
        holds = (any(known) if "," in names else all(known)) == (kind == "ifdef")
        if content:
            return content if holds and not any(self._skipped) else ""
        self._skipped.append(not holds)
        return ""
