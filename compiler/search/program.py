"""A search program that the user installed, such as qmd, whose hits count beside those of the index.

It is started as `qmd search -n 20 --json -- QUERY` and prints a list of {"file": ..., "snippet": ...}, the best first.
It has an index of its own, of the folders that the user gave it: a hit counts if a file of the vault has that name,
whatever its suffix, and most of the words of the snippet. What the program prints is only compared, never shown.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from compiler.engines.command.program import environment_of, run
from compiler.index.entries import entries_in
from compiler.search.search import RANKED_BESIDE
from vault.index.database import Database
from vault.text.formatting import clean_line

TIME_LIMIT_S = 10.0
_MOST = 20  # hits
_SAME = 0.6  # of the words of a snippet, that the text has in which it is found
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"@@[^\n]*\n")  # how qmd says where in a file a snippet is
_VARIABLES = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "INDEX_PATH")


def ranked_by_program(
    program: Sequence[str], progress: Callable[[dict[str, Any]], None], database: Database, query: str
) -> dict[str, list[int]]:
    """Return the numbers of entries that the program finds, by their kinds, the best first.

    Where it fails, that is reported by `progress`, and nothing is found.
    """
    try:
        hits = _hits(program, query)
    except (OSError, ValueError, RecursionError) as error:  # the last for lists in lists
        why = clean_line(str(error))[:200]
        words = f"the search program {clean_line(program[0])} failed: {why}; used the built-in search instead"
        progress({"event": "wait", "done": 0, "of": 1, "words": words})
        return {}
    found: dict[str, list[int]] = defaultdict(list)
    paths = _paths_by_name(database)
    for file, snippet in hits:
        match = _entry_of(database, paths, file, snippet)
        if match is not None and match[1] not in found[match[0]]:
            found[match[0]].append(match[1])
    return found


def _hits(program: Sequence[str], query: str) -> list[tuple[str, str]]:
    """Return files and snippets as the program prints them. Raises: OSError, ValueError."""
    arguments = [*program, "-n", str(_MOST), "--json", "--", query.replace("\0", " ")]
    ran = run(arguments, "", environment_of(os.environ, _VARIABLES), time_limit=TIME_LIMIT_S)
    if ran.fault or ran.code:
        last = ran.errors.decode(errors="replace").strip().rpartition("\n")[2]
        raise ValueError(ran.fault or last or f"it exited with code {ran.code}")
    rows = json.loads(ran.output.strip() or b"[]")
    if not isinstance(rows, list):
        raise ValueError("it did not print a list of results")
    return list(_well_formed(rows[:_MOST]))


def _well_formed(rows: Sequence[object]) -> Iterator[tuple[str, str]]:
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("file"), str) and isinstance(row.get("snippet"), str):
            yield row["file"], row["snippet"]


def _entry_of(
    database: Database, paths: Mapping[str, Sequence[str]], file: str, snippet: str
) -> tuple[str, int] | None:
    """Return kind and number of the entry in which a snippet of a file is; None if it is in none of that name."""
    wanted = _words(_PLACE.sub("", snippet))
    best, most = None, _SAME * max(1, len(wanted))
    for path in paths.get(_plain(file), ()):
        for number, kind, text in entries_in(database, path, tuple(RANKED_BESIDE)):
            same = len(wanted & _words(text))
            if same >= most:
                best, most = (kind, number), same + 0.5
    return best


def _paths_by_name(database: Database) -> Mapping[str, Sequence[str]]:
    """Return the files in the index by their plain names."""
    found: dict[str, list[str]] = defaultdict(list)
    for (path,) in database.rows("SELECT path FROM searched ORDER BY path"):
        found[_plain(str(path))].append(str(path))
    return found


def _plain(path: str) -> str:
    """Return a file's name as programs have it that make a link of it: in small letters, without signs and suffix."""
    return "-".join(_WORD.findall(PurePosixPath(path).stem.lower()))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
