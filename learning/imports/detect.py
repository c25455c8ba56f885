"""Which program wrote a file or folder, by what is in it."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

from learning.foreign import csv_table, hashcards, mnemosyne, mochi, obsidian_sr, remnote
from learning.foreign.deck_database import NAME as HASHCARDS_DATABASE
from learning.foreign.packages import Zip, open_zip
from learning.foreign.tree import Tree, read_head
from learning.formats.jsonl import KEYS
from vault.errors import UsageError
from vault.text.formatting import clean_line, plural

CSV, JSONL, MNEMOSYNE, MOCHI, REMNOTE = "csv", "jsonl", "mnemosyne", "mochi", "remnote"
FORMATS = (CSV, hashcards.HASHCARDS, JSONL, MNEMOSYNE, MOCHI, obsidian_sr.FORMAT, REMNOTE, hashcards.REPEATER)
_HEAD = 1 << 20  # bytes of a file that are looked at
_TEXTS = (".md", ".csv", ".tsv", ".tab", ".jsonl")
_ANKI = ("collection.anki2", "collection.anki21", "collection.anki21b")


@dataclass(frozen=True, slots=True)
class Detected:
    """The format, and by what it was recognized."""

    format: str
    reason: str
    others: str = ""  # files of the folder that look like another format


def detect(tree: Tree, package: Zip | None) -> Detected:
    """Return the format of what the user named. Raises: UsageError where nothing tells."""
    if package is not None:
        return _of_package(package)
    if tree.is_file:
        found = of_text(_text(read_head(tree.path, _HEAD)), tree.path.name)
        if found is None:
            raise _unknown(tree)
        return found
    if (tree.path / HASHCARDS_DATABASE).is_file():
        return Detected(hashcards.HASHCARDS, f"{HASHCARDS_DATABASE} is in the folder")
    counts: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for file in tree.files(_TEXTS):
        found = of_text(_text(read_head(file, _HEAD)), file.name)
        if found is not None:
            counts[found.format] += 1
            reasons.setdefault(found.format, f"{tree.shown(file)}: {found.reason}")
    if not counts:
        raise _unknown(tree)
    is_obsidian = obsidian_sr.FORMAT in counts and (tree.path / ".obsidian").is_dir()
    best = obsidian_sr.FORMAT if is_obsidian else max(counts, key=lambda name: counts[name])
    rest = ", ".join(f"{plural(n, 'file')} as {name}" for name, n in counts.most_common() if name != best)
    return Detected(best, f"{plural(counts[best], 'file')}, such as {reasons[best]}", rest)


def of_text(text: str, name: str) -> Detected | None:
    """Return the format of a text file, None where nothing tells."""
    start, suffix = text[:2_000].lstrip(), name.lower().rpartition(".")[2]
    if start.startswith("<") and ("<openSM2sync" in start or "<mnemosyne" in start):
        return Detected(MNEMOSYNE, "it is Mnemosyne XML")
    if start.startswith("{") and _is_own_line(text.partition("\n")[0]):
        return Detected(JSONL, "its lines are in the format of `retain export jsonl`")
    if suffix in ("csv", "tsv", "tab", "txt") and csv_table.looks_like(text):
        return Detected(CSV, "it is a table")
    if suffix not in ("md", "markdown", "txt"):
        return None
    if obsidian_sr.looks_like(text):
        return Detected(obsidian_sr.FORMAT, "it has a schedule (<!--SR:) or the tag #flashcards")
    if (program := hashcards.looks_like(text)) != "":
        what = "only cards with Q: and A:, or C:" if program == hashcards.HASHCARDS else "cards among other text"
        return Detected(program, f"it has {what}")
    if remnote.looks_like(text):
        return Detected(REMNOTE, "its lines contain RemNote markers, such as >>")
    return None


def _of_package(package: Zip) -> Detected:
    """Return the format of a zip file. Raises: UsageError."""
    if any(name in package.names for name in mochi.ENTRIES):
        return Detected(MOCHI, "it contains data.json or data.edn")
    if mnemosyne.ENTRY in package.names:
        return Detected(MNEMOSYNE, f"it contains {mnemosyne.ENTRY}")
    if any(name in package.names for name in _ANKI):
        raise UsageError("this is an Anki package", where=package.shown, hint="run `retain import anki FILE`")
    raise UsageError(
        "no cards in a known format were found in this zip file",
        where=package.shown,
        hint="unpack it, then give the path of the folder",
    )


def _text(data: bytes) -> str:
    """Return the beginning of a file as text; what is no UTF-8 is replaced, as it is only looked at."""
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16" if wide else "utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_own_line(line: str) -> bool:
    """Return whether a line is one of our own export."""
    with suppress(ValueError, RecursionError):
        found = json.loads(line)
        return isinstance(found, dict) and set(KEYS) <= found.keys()
    return False


def _unknown(tree: Tree) -> UsageError:
    """Return the error that nothing tells the format."""
    return UsageError(
        "no cards in a known format were found",
        where=clean_line(str(tree.path)),
        hint=f"specify the format: --format {'|'.join(FORMATS)}",
    )


def opened(tree: Tree) -> Zip | None:
    """Return the zip file that the user named; None for another file or a folder."""
    return open_zip(tree.path) if tree.is_file else None
