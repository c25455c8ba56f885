"""Names of temporary files, which show whether a file left by a killed process is ours or an edit of the user.

While two names are exchanged, an edit saved in that moment has our temporary name. So that name holds the digests of
our bytes and of those they replace, and the file's own name.
"""

from __future__ import annotations

import os
import re

from vault.files.folder import sha256_hex
from vault.files.write_scopes import TEMP_PREFIX

_DIGITS = 12
_NAME_BYTES = 80  # some encrypted disks have room for 143 in all
_MARKED = re.compile(rf"{re.escape(TEMP_PREFIX)}[0-9a-f]{{12}}-([0-9a-f]{{12}})-([0-9a-f]{{12}})-(.+)", re.DOTALL)


def temporary_name() -> str:
    """Return a new name for a file that nobody but us ever writes."""
    return TEMP_PREFIX + os.urandom(8).hex()  # as `secrets` would, without the time it takes to load


def marked_name(name: str, *, ours: bytes, expect: str | None) -> str:
    """Return a new name for a file that may come to hold the user's edit of `name`.

    The name holds digests of `ours`, the bytes to be written, and of what they replace (`expect`; None: nothing).
    """
    stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
    while stem and len((stem + dot + ending).encode()) > _NAME_BYTES:
        stem = stem[:-1]
    shortened = stem + dot + ending if stem else "file"
    return f"{TEMP_PREFIX}{os.urandom(6).hex()}-{_digest(ours)}-{(expect or _digest(b''))[:_DIGITS]}-{shortened}"


def edited_file(name: str, data: bytes) -> str | None:
    """Return the name of the file of which `data`, found under the temporary `name`, is an edit; None if it is none."""
    found = _MARKED.fullmatch(name)
    return found[3] if found and data and _digest(data) not in (found[1], found[2]) else None


def replaced_file(name: str) -> str | None:
    """Return the name of the file that the temporary `name` replaces: "" if it was cut, None for one without a mark."""
    found = _MARKED.fullmatch(name)
    if found is None:
        return None
    return found[3] if len(found[3].encode()) < _NAME_BYTES - 4 else ""  # a cut leaves at most one character of room


def _digest(data: bytes) -> str:
    return sha256_hex(data)[:_DIGITS]
