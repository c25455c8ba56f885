"""RECONCILE: which pairs of claims cannot both hold."""

from __future__ import annotations

import re

from compiler.protocol.check import NUMBERED, UNMARKED
from compiler.protocol.faults import Fault
from compiler.protocol.replies import PairVerdict, ReconcileReply, ReconcileWord
from compiler.protocol.requests import ReconcileRequest, Side
from vault.text.formatting import clean_line

_LINE = re.compile(NUMBERED + r"(CONFLICT|REPORTED|CHANGED|NONE)\b\**:?\s*(.*)$", re.IGNORECASE)
_NONE = re.compile(r"^\W*none(?:\s+of\s+(?:them|these))?\W*$", re.IGNORECASE)
_WORDS: dict[str, ReconcileWord] = {
    "CONFLICT": "conflict",
    "REPORTED": "reported",
    "CHANGED": "changed",
    "NONE": "none",
}


def render(request: ReconcileRequest) -> str:
    """Return the request as text, without the instructions of its type."""
    out = []
    for n, pair in enumerate(request.pairs, 1):
        out += [f"{n}. [{clean_line(pair.about)}]", f"   a: {_side(pair.a)}", f"   b: {_side(pair.b)}"]
    return "\n".join(out)


def _side(side: Side) -> str:
    published = f", {side.published}" if side.published else ""
    return f"“{clean_line(side.words)}” ({clean_line(side.source)}{published})"


def parse(request: ReconcileRequest, text: str) -> tuple[ReconcileReply, list[Fault]]:
    """Return a verdict on every pair, and the faults of the answer; what it does not name can both hold."""
    faults: list[Fault] = []
    found: dict[int, PairVerdict] = {}
    recognized = False
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.match(line)
        if match is None:
            if _NONE.match(line):
                recognized = True
            elif not UNMARKED.match(line):
                hint = "write `3 CONFLICT the point`, or only NONE"
                faults.append(Fault(number, line, "the line is not a verdict on a pair", hint))
            continue
        n = int(match[1])
        if not 1 <= n <= len(request.pairs):
            faults.append(Fault(number, line, f"there is no pair {n}", f"the pairs are 1 to {len(request.pairs)}"))
            continue
        recognized = True
        found[n - 1] = PairVerdict(
            pair=request.pairs[n - 1].key, verdict=_WORDS[match[2].upper()], why=clean_line(match[3])[:500]
        )
    if not recognized:
        faults.append(
            Fault(
                0,
                "",
                "the answer does not contain a verdict on any pair",
                "if no pair is contradictory, write only `NONE`",
            )
        )
        return ReconcileReply(verdicts=()), faults
    verdicts = (found.get(n) or PairVerdict(pair=p.key, verdict="none") for n, p in enumerate(request.pairs))
    return ReconcileReply(verdicts=tuple(verdicts)), faults
