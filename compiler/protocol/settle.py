"""SETTLE: names of the whole collection joined, pages and lines told apart, concepts grouped; by numbers."""

from __future__ import annotations

import re

from compiler.protocol.faults import Fault
from compiler.protocol.replies import Cluster, SettleReply
from compiler.protocol.requests import NameLine, SettleRequest
from vault.text.formatting import clean_line, normal, truncate

_LINE = re.compile(r"^[\s>*-]*(SAME|LINE|PAGE|CLUSTER)\b\**:?\s*(.*)$")
_NUMBERS = re.compile(r"\d+")
_MOST_IN_CLUSTER = 8
_DIGITS = 6  # of a number that can be a name's
_LONGEST = 90  # characters of what a name is


def render(request: SettleRequest) -> str:
    """Return the request as text, without the instructions of its type."""
    return "\n".join(_row(n, name) for n, name in enumerate(request.names, 1))


def _row(number: int, name: NameLine) -> str:
    """Return the line of one name."""
    aliases = f" ({'; '.join(name.aliases)})" if name.aliases else ""
    kind = "page" if name.page else "line"
    documents = ", ".join(map(str, name.documents)) or "-"
    line = f": {truncate(name.line, _LONGEST)}" if name.line else ""
    return f"{number}{'' if name.settled else '*'} {name.title}{aliases} | {kind}, {name.passages} in {documents}{line}"


def parse(request: SettleRequest, text: str) -> tuple[SettleReply, list[Fault]]:
    """Return what an answer decides about the names, and its faults."""
    titles = [name.title for name in request.names]
    faults: list[Fault] = []
    same: list[tuple[str, str]] = []
    lines: list[str] = []
    pages: list[str] = []
    clusters: list[Cluster] = []

    def named(number: int, words: str) -> list[str]:
        found = []
        for digits in _NUMBERS.findall(words):
            n = int(digits) if len(digits) <= _DIGITS else 0
            if 1 <= n <= len(titles):
                found.append(titles[n - 1])
            else:
                hint = f"the names are 1 to {len(titles)}"
                faults.append(Fault(number, words, f"there is no name {truncate(digits, _DIGITS)}", hint))
        return list(dict.fromkeys(found))

    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.match(line)
        if match is None:
            continue
        kind, words = match[1], match[2]
        if kind == "CLUSTER":
            topic, colon, rest = words.rpartition(":")
            members = named(number, rest if colon else words)
            topic = clean_line(normal(topic)).strip('*"“” ')[:200] if colon else ""
            if members:
                clusters += [
                    Cluster(topic=topic, titles=tuple(members[n : n + _MOST_IN_CLUSTER]))
                    for n in range(0, len(members), _MOST_IN_CLUSTER)
                ]
            continue
        found = named(number, words)
        if kind == "SAME" and len(found) < 2:
            faults.append(Fault(number, line.strip(), "SAME needs two names", "write SAME 3 = 17"))
        elif kind == "SAME":
            same += [(found[0], other) for other in found[1:]]
        else:
            (lines if kind == "LINE" else pages).extend(found)
    if not (clusters or same or lines or pages or faults) and any(n.page and not n.settled for n in request.names):
        faults.append(Fault(0, "", "the answer does not group any names", "write CLUSTER topic: 1, 4, 9"))
    return (
        SettleReply(
            covers=tuple(titles), same=tuple(same), lines=tuple(lines), pages=tuple(pages), clusters=tuple(clusters)
        ),
        faults,
    )
