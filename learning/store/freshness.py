"""Whether the review page, the promotion queue and the agenda still show what the files say, by file stamps alone."""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from learning.store.index import with_index
from vault.files.folder import sha256_hex
from vault.index.facts import fact, set_fact
from vault.index.stamps import INODE, Listing, listing, stamps_digest
from vault.vault import Vault

_FACT = "pages"
_VERSION = 4  # of the pages: when it grows, they are rendered again
_PAGES = ("learning/_review.md", "output/promotion-queue.md")
_AGENDA = "learning/gaps.md"  # a page, too; but a vault without gaps may have none
_FILES = ("retain.toml", "ledger/ids.jsonl", "ledger/decisions.jsonl", "wiki/_graph.md")
_FOLDERS = ("wiki/concepts", "ledger/replies")  # only which files there are
_DECKS = "learning/flashcards"
_LOGS = "learning"


@dataclass(frozen=True, slots=True)
class PageStamp:
    """The stamps of the pages and of all that they are made of: a line "path size ctime inode" for each, one for all
    decks.
    """

    inputs: tuple[str, ...]
    pages: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Return a digest that changes with any of the stamps."""
        text = "\n".join([str(_VERSION), *self.inputs, *self.pages])
        return sha256_hex(text.encode("utf-8", "surrogateescape"))

    def is_current(self, vault: Vault) -> bool:
        """Return whether the pages are as the last rendering left them."""
        if not all(self.pages[: len(_PAGES)]):
            return False
        return with_index(vault, lambda index: fact(index, _FACT)) == self.digest


def look(root: Path, known: Mapping[str, str] | None = None, decks: Listing | None = None) -> PageStamp:
    """Return the stamps as they are now; a file that is not there has none.

    There are many decks: a caller that has just read their stamps passes them as `known` ("size ctime inode" by path)
    or `decks`.
    """
    found = [_stamp(root, path) for path in (*_FILES, *_FOLDERS)]
    found += sorted(_listed(root, _LOGS, "reviews", ".jsonl"))
    found.append(_stamp_of_listing(root, decks) if known is None else _stamp_of_known(known))
    return PageStamp(tuple(found), _stamps_of_pages(root))


def _stamps_of_pages(root: Path) -> tuple[str, ...]:
    """Return the stamps of the pages themselves."""
    return tuple(_stamp(root, page) for page in (*_PAGES, _AGENDA))


def _stamp_of_listing(root: Path, decks: Listing | None) -> str:
    """Return one line for the decks, from a listing of their folder."""
    try:
        found = listing(root, _DECKS) if decks is None else decks
    except OSError:  # then nothing is right
        return f"{_DECKS}\0{time.time_ns()}"
    return f"{_DECKS}\0{found.digest('.md')}"


def _stamp_of_known(known: Mapping[str, str]) -> str:
    """Return the line that `_stamp_of_listing` gives for the same folder, from stamps by path."""

    start = len(_DECKS) + 1
    paths = [path for path in known if path.startswith(_DECKS) and path.endswith(".md") and "/" not in path[start:]]
    paths.sort()
    numbers = array("q", [int(number) for path in paths for number in known[path].split()])
    return f"{_DECKS}\0{stamps_digest([path[start:] for path in paths], numbers)}"


def _stamp(root: Path, path: str) -> str:
    """Return the line of one path; "" if there is no such file."""
    try:
        return _line(path, (root / path).lstat())
    except OSError:
        return ""


def _line(path: str, status: os.stat_result) -> str:
    """Return the line of a path with this status."""
    return f"{path}\0{status.st_size} {status.st_ctime_ns} {status.st_ino & INODE}"


def _listed(root: Path, folder: str, start: str, end: str) -> Iterator[str]:
    """Yield the lines of the files in a folder whose names have this start and end."""
    try:
        entries = os.scandir(root / folder)
    except OSError:
        return
    with entries:
        for entry in entries:
            name = entry.name
            if (
                name.startswith(start)
                and name.endswith(end)
                and name[0] != "."
                and entry.is_file(follow_symlinks=False)
            ):
                try:
                    yield _line(f"{folder}/{entry.name}", entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue  # gone since it was listed


def remember(vault: Vault, seen: PageStamp) -> None:
    """Remember that the pages as they are now were made of what `seen` describes."""
    made = PageStamp(seen.inputs, _stamps_of_pages(vault.root)).digest
    with_index(vault, lambda index: set_fact(index, _FACT, made))
