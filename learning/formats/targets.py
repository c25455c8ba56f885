"""Which files an earlier export wrote: only those are replaced unasked."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from learning.cards.workspace import Desk
from learning.store.placed import Placed

MARK = b"retain"  # the comment of the zip that `export anki` writes; what Anki exports has none
_HEAD = 1 << 20  # bytes, in which the first line of a table or of JSON ends


def exported(desk: Desk) -> list[Placed]:
    """Return the cards of an export: those that are not retracted."""
    return [placed for id_, placed in desk.cards.items() if not desk.state(id_).retracted]


def by_concept(cards: Iterable[Placed]) -> dict[str, list[Placed]]:
    """Return the cards of each concept, in their order."""
    found: dict[str, list[Placed]] = {}
    for placed in cards:
        found.setdefault(placed.concept, []).append(placed)
    return found


def is_package(path: Path) -> bool:
    """Return whether it is a package that `export anki` wrote, and not one that Anki made of the same cards."""

    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment == MARK
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def is_table(columns: Iterable[str]) -> Callable[[Path], bool]:
    """Return the test whether a file is a table that begins with these columns."""
    head = ",".join(columns).encode()
    return lambda path: _first_line(path).removeprefix(b"\xef\xbb\xbf") == head


def is_jsonl(keys: Iterable[str]) -> Callable[[Path], bool]:
    """Return the test whether a file begins with a JSON object that has these keys."""
    wanted = set(keys)

    def asked(path: Path) -> bool:
        try:
            found = json.loads(_first_line(path))
        except (ValueError, RecursionError):
            return False
        return isinstance(found, dict) and wanted <= found.keys()

    return asked


def _first_line(path: Path) -> bytes:
    """Return the first line of a file."""
    with path.open("rb") as file:
        return file.readline(_HEAD).rstrip(b"\r\n")
