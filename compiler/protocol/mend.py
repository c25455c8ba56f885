"""The second turn of a conversation: what is wrong with an answer, and the corrected lines put in."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from compiler.protocol.faults import Fault
from compiler.protocol.forms import is_usable, parse
from compiler.protocol.replies import Reply
from compiler.protocol.requests import Request

MOST = 40  # faults that are listed
_CORRECTED = re.compile(r"^[\s>*-]*LINE\s+(\d{1,6})\**\s*:\s?(.*)$")
_AGAIN = (
    "The answer is not in the requested form. Send the whole answer again, using only lines in the forms given"
    " at the beginning, with nothing before or after them."
)


def mend_request(request: Request, text: str) -> str:
    """Return the message that asks to correct an answer; "" if nothing is wrong with it."""
    reply, faults = parse(request, text)
    if not is_usable(request, reply):
        return _AGAIN
    lines = [f for f in faults if f.line]
    if not lines:
        return ""
    listed = "\n".join(f"LINE {f.line}: {f.words}\n  {f.why}{f' ({f.hint})' if f.hint else ''}" for f in lines[:MOST])
    return (
        "Some lines of your answer cannot be used. For each, send the corrected line as `LINE 12: the whole line`, with"
        " its citation; `LINE 12:` with nothing after it removes the line. Send nothing else.\n\n" + listed
    )


def patched(text: str, correction: str) -> str:
    """Return an answer with the lines of a correction in place of its own; a correction in another form replaces it."""
    lines = text.replace("\r\n", "\n").split("\n")
    put: dict[int, list[str]] = {}
    current = 0
    for line in correction.replace("\r\n", "\n").split("\n"):
        match = _CORRECTED.match(line)
        if match:
            current = int(match[1])
            put[current] = [match[2]]
        elif current and line.strip() and not line.startswith("```"):
            put[current].append(line.strip())
    return "\n".join(" ".join(put.get(n, [line])) for n, line in enumerate(lines, 1)) if put else correction


def best(request: Request, text: str, correction: str) -> tuple[Reply, Sequence[Fault]]:
    """Return the better of an answer and its corrected form: the usable one with fewer faults that says no less."""
    first, faults = parse(request, text)
    second, others = parse(request, patched(text, correction))
    if not is_usable(request, second):
        return first, faults
    before, after = (len(json.dumps(r.as_brief_json() | {"covers": ()}, ensure_ascii=False)) for r in (first, second))
    lost = after < before // 2  # only the lines at fault came, without their numbers
    return (first, faults) if is_usable(request, first) and (lost or len(others) > len(faults)) else (second, others)
