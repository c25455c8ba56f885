"""CHECK: a second reader says which sentences and cards go further than the words they cite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from compiler.protocol.citations import CLASH, Shown, clash_in
from compiler.protocol.documents import lines_of
from compiler.protocol.faults import Fault
from compiler.protocol.plain_text import plain_words
from compiler.protocol.replies import CheckReply, CheckVerdict, Clash
from compiler.protocol.requests import CheckItem, CheckRequest
from vault.ids import digest12
from vault.text.formatting import clean_line, fold

NUMBERED = r"^[\s>*(\[-]*(?:(?:item|pair)\s+)?#?(\d{1,4})[\s.:)\]*–-]+"  # 2. or 2) or (2) or Item 2: or #2
UNMARKED = re.compile(r"\s*(?:$|```|===|---|#+\s)")  # what may stand around an answer and says nothing
_NAMED = re.compile(r"^\W*(?:item\s*)?#?(\d{1,4})\b\W*(.*)$", re.IGNORECASE)
_EMPTY_CELL = re.compile(r"(?<!\S)–(?!\S)")
_LINE = re.compile(NUMBERED + r"(OK|FIX|DROP)\b\**:?\s*(.*)$", re.IGNORECASE)
_ALL_RIGHT = re.compile(r"^\W*(?:(?:all\s+)?ok|ok\s+for\s+all)\W*$", re.IGNORECASE)
_QUESTION, _ANSWER = re.compile(r"\s*Q:"), re.compile(r"\bA:")
_MOST = 2_000  # characters of better words
_MARKS = {"derived": " (derived)", "computed": " (computed)"}


def item_key(text: str, answer: str, quotes: Sequence[str], mark: str = "") -> str:
    """Return the key of a sentence or card with its mark and evidence: a verdict holds for these words alone."""
    said = fold(_EMPTY_CELL.sub(" ", text.replace("|", " ")))  # cells, which a page separates in its own way
    return digest12("\x1f".join((mark, said, fold(answer), *sorted({fold(q) for q in quotes}))))


def render(request: CheckRequest) -> str:
    """Return the request as text, without the instructions of its type."""
    out = [*lines_of(request.documents), "=== ITEMS"]
    for about, items in groupby(enumerate(request.items, 1), key=lambda each: each[1].about):
        out += [f"# {clean_line(about)}", *(_line(n, item) for n, item in items)]
    return "\n".join(out)


def _line(number: int, item: CheckItem) -> str:
    said = f"Q: {clean_line(item.text)} A: {clean_line(item.answer)}" if item.answer else clean_line(item.text)
    return f"{number}. {said}{_MARKS.get(item.mark, '')} [{'; '.join(_places(item.places))}]"


def _places(places: Sequence[str]) -> Iterator[str]:
    """Yield places with the letters of one passage together: `2:17b,c`."""
    for label, run in groupby(places, key=lambda place: place.rstrip("abcdefghijklmnopqrstuvwxyz")):
        yield label + ",".join(place[len(label) :] for place in run)


def parse(request: CheckRequest, text: str) -> tuple[CheckReply, list[Fault]]:
    """Return a verdict on every item, and the faults of the answer; what it does not name is right.

    An answer that names no item and is not OK alone says nothing of any.
    """
    faults: list[Fault] = []
    found: dict[int, CheckVerdict] = {}
    clashes: list[Clash] = []
    shown = Shown(request.documents)
    recognized = False
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.match(line)
        if match is None:
            if clash := CLASH.match(line):
                noticed, wrong = clash_in(shown, number, clash[1])
                clashes += [noticed] if noticed is not None else []
                faults += wrong
                recognized = recognized or noticed is not None
            elif _ALL_RIGHT.match(line):
                recognized = True
            elif not UNMARKED.match(line):
                hint = "write `12 FIX sentence`, `12 DROP why`, or only OK"
                faults.append(Fault(number, line, "the line is not a verdict on an item", hint))
                named = _NAMED.match(line)
                if named and 1 <= int(named[1]) <= len(request.items):  # who names an item has something against it
                    key = request.items[int(named[1]) - 1].key
                    why = clean_line(named[2])[:500]
                    found.setdefault(int(named[1]) - 1, CheckVerdict(item=key, verdict="drop", why=why))
            continue
        n = int(match[1])
        if not 1 <= n <= len(request.items):
            faults.append(Fault(number, line, f"there is no item {n}", f"the items are 1 to {len(request.items)}"))
            continue
        recognized = True
        verdict = _verdict(request.items[n - 1], match[2].upper(), match[3])
        if verdict is None:
            faults.append(
                Fault(number, line, "FIX needs the corrected text", "write FIX sentence, or FIX Q: ... A: ...")
            )
            verdict = CheckVerdict(
                item=request.items[n - 1].key, verdict="drop", why="marked as wrong, but without a correction"
            )
        found[n - 1] = verdict
    if not recognized:
        faults.append(
            Fault(0, "", "the answer does not contain a verdict on any item", "if all items are right, write only `OK`")
        )
        return CheckReply(verdicts=()), faults
    verdicts = (found.get(n) or CheckVerdict(item=i.key, verdict="ok") for n, i in enumerate(request.items))
    return CheckReply(verdicts=tuple(verdicts), clashes=tuple(clashes)), faults


def _verdict(item: CheckItem, word: str, rest: str) -> CheckVerdict | None:
    if word == "OK":
        return CheckVerdict(item=item.key, verdict="ok")
    if word == "DROP":
        return CheckVerdict(item=item.key, verdict="drop", why=clean_line(rest)[:500])
    if item.answer:
        asked = _QUESTION.match(rest)
        answered = _ANSWER.search(rest, asked.end()) if asked else None
        if asked is None or answered is None:
            return None
        question = plain_words(rest[asked.end() : answered.start()])[:_MOST]
        answer = plain_words(rest[answered.end() :])[:_MOST]
        return CheckVerdict(item=item.key, verdict="fix", text=question, answer=answer) if question and answer else None
    words = plain_words(re.sub(r"\[(?:derived |computed )?\d+:\d+.*$", "", rest))[:_MOST]
    return CheckVerdict(item=item.key, verdict="fix", text=words) if any(c.isalnum() for c in words) else None
