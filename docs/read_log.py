"""Print each event of a vault's review log that counts, oldest first, one JSON object a line; see log.md.

usage: python read_log.py VAULT   (needs Python's standard library alone; damaged lines are named on stderr)
"""

import json
import re
import sys
import zlib
from pathlib import Path

TAIL = len(b',"crc":"01234567"}')
KNOWN = "review import undo suspend resume bury flag tag reschedule forget memory grade more params catch_up pause"


def is_whole(line):
    return line[-TAIL:] == b',"crc":"%08x"}' % zlib.crc32(line[:-TAIL])


def pieces(line):
    """Return the lines with a right checksum in `line`: itself, or those that ran together in it."""
    if is_whole(line):
        return [line]
    cut = (piece[: piece.rfind(b'"}') + 2] for piece in re.split(rb'(?=\{"v":)', line))
    return [piece for piece in cut if is_whole(piece)]


def read(vault):
    """Return the line of each event by its id, and the places of damaged lines."""
    lines, damaged = {}, []
    for path in sorted(Path(vault, "learning").glob("reviews*.jsonl")):
        for number, line in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
            line = line.removesuffix(b"\r")
            if line and not is_whole(line):
                damaged.append(f"{path}:{number}")
            for piece in pieces(line):
                event = json.loads(piece)
                if event["v"] > 1:
                    sys.exit(f"{path}:{number}: a later version of the format")
                if event["type"] in KNOWN.split():
                    lines[event["id"]] = min(piece, lines.get(event["id"], piece))
    return lines, damaged


def counting(lines):
    """Return the events that count, in order."""
    events = sorted(map(json.loads, lines.values()), key=lambda event: (event["at"], event["id"]))
    voided = set()
    for event in reversed(events):
        if event["type"] == "undo" and event["id"] not in voided:
            voided.add(event["voids"])
    return [event for event in events if event["type"] != "undo" and event["id"] not in voided]


if __name__ == "__main__":
    found, bad = read(sys.argv[1])
    for place in bad:
        print(f"{place}: damaged, skipped", file=sys.stderr)
    for each in counting(found):
        print(json.dumps(each))
