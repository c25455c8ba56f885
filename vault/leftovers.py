"""What a killed process left behind, told by its name: what may go, and what may be the only copy of an edit.

While two names are exchanged, what a human saved in that very moment stands under our temporary name. So that name
says what we were about: the digests of our bytes and of those they were to replace, and the file's own name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from vault.conflict import beside
from vault.folder import sha256_hex
from vault.safe_path import TEMP_PREFIX

_DIGITS = 12
_NOTHING = "0" * _DIGITS
_NAME_BYTES = 80  # some encrypted disks have room for 143 in all
_MARKED = re.compile(rf"{re.escape(TEMP_PREFIX)}[0-9a-f]{{12}}-([0-9a-f]{{12}})-([0-9a-f]{{12}})([-+])(.+)", re.DOTALL)
_VERSIONS = 999


def temporary_name() -> str:
    """A new name for a file that nobody but us ever writes."""
    return TEMP_PREFIX + os.urandom(8).hex()  # what `secrets` would give, less the loading of it


def marked_name(name: str, *, ours: bytes | None, expect: str | None) -> str:
    """A new name for a file that may come to hold a human's edit of `name`.

    `ours` are the bytes to be written, `expect` the SHA-256 of those that they are to replace.
    """
    written = _NOTHING if ours is None else sha256_hex(ours)[:_DIGITS]
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    cut = stem
    while len((cut + dot + ending).encode()) > _NAME_BYTES and cut:
        cut = cut[:-1]
    kept = cut + dot + ending if cut else "file"
    sign = "-" if kept == name else "+"
    return f"{TEMP_PREFIX}{os.urandom(6).hex()}-{written}-{(expect or _NOTHING)[:_DIGITS]}{sign}{kept}"


@dataclass(frozen=True, slots=True)
class Mark:
    """What a marked name says. `name` is the file's own, `whole` unless it was too long to be kept so."""

    ours: str
    expected: str
    name: str
    whole: bool

    def may_go(self, data: bytes) -> bool:
        """Whether `data` is no edit of anybody's: what we were writing, what it was to replace, or nothing."""
        return not data or sha256_hex(data)[:_DIGITS] in (self.ours, self.expected)

    def is_ours(self, data: bytes) -> bool:
        return sha256_hex(data)[:_DIGITS] == self.ours

    @property
    def claimed(self) -> bool:
        """Whether we were about to make a new file: an empty one of its name was then perhaps set there by us."""
        return self.whole and self.expected == _NOTHING

    @property
    def taken_away(self) -> bool:
        """Whether the file had been taken away, to be deleted: its name may be free."""
        return self.whole and self.ours == _NOTHING

    def names(self, on: date) -> Iterator[str]:
        """The names under which an edit found here may stand, in order; the first that is free is taken."""
        if self.taken_away:
            yield self.name
        for number in range(1, _VERSIONS + 1):
            yield beside(self.name, on, number)


def mark_of(name: str) -> Mark | None:
    """What a temporary name says; None for one that only ever held our own bytes."""
    found = _MARKED.fullmatch(name)
    return Mark(found[1], found[2], found[4], found[3] == "-") if found else None
