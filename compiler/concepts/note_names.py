"""The names that notes in place give: their own, and those of notes that they link to and nobody has written."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from compiler.model.requests import Term
from compiler.sources.notes import NoteFacts, note_name
from vault.config.notes import ABOVE
from vault.vault import Vault

MANY = 2  # notes that link to what is not there: a single link may be a slip


def note_terms(vault: Vault, notes: Mapping[str, NoteFacts], titles: Mapping[str, str]) -> dict[str, tuple[Term, ...]]:
    """Return by the path of each note with a title the names that it gives.

    The name of its file, its title and its aliases are one name; they make no concept by themselves. What several notes
    link to and no file has as its name is a name without explanation.
    """
    if not notes:
        return {}
    links = Counter(name for facts in notes.values() for name in facts.links)
    written = {name.casefold() for name in _file_names(vault)}
    written |= {alias.casefold() for facts in notes.values() for alias in facts.aliases}
    missing = {name for name, count in links.items() if count >= MANY and name.casefold() not in written}
    return {
        path: (
            Term(name=note_name(path), aliases=facts.aliases, signal="note"),
            *((Term(name=titles[path], aliases=facts.aliases, signal="note"),) if facts.aliases else ()),
            *(Term(name=name, signal="named") for name in facts.links if name in missing and _is_word(name)),
        )
        for path, facts in notes.items()
        if path in titles
    }


def _file_names(vault: Vault) -> Iterator[str]:
    """Yield the names of all files in the folder that holds the notes, left out or not, without `.md`."""
    folders = vault.settings.notes.folders
    top = vault.root.parent if any(f == ABOVE or f.startswith("../") for f in folders) else vault.root
    for _, below, names in os.walk(top):
        below[:] = [name for name in below if not name.startswith(".")]
        yield from (Path(name).stem for name in names)


def _is_word(name: str) -> bool:
    """Return whether a name is more than a date or a number."""
    return sum(c.isalpha() for c in name) * 2 > len(name)
