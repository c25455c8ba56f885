"""What `retain add` says of files that are in the vault already: they are not copied."""

from __future__ import annotations

import os
from pathlib import Path

from compiler.sources.inventory import scan_sources
from compiler.sources.notes import facts_of, is_note
from vault.errors import UsageError
from vault.vault import Vault


def sources_in_place(vault: Vault, given: str) -> list[str] | None:
    """Return the paths of the sources that a file or folder is or holds already; None if it is elsewhere.

    Raises: UsageError, with what to do, for one among the notes or in the vault that is no source.
    """
    path = os.path.relpath(Path(given).expanduser().resolve(), vault.root).replace(os.sep, "/")
    rules = vault.notes
    if path.split("/")[0] == ".." and not rules.enters(path):
        return None
    below = "" if path == "." and rules.folders else f"{path}/"
    found = [f.path for f in scan_sources(vault.root, rules).files if f.path == path or f.path.startswith(below)]
    found = [each for each in found if not _is_left_out(vault, each)]
    if found:
        return found
    if rules.covers(path):
        what = "already in the vault, but excluded by a tag or by `learning: false`, or because it contains no text"
        raise UsageError(what, where=given, hint="the tags are in `exclude_tags` of [notes] in retain.toml")
    if rules.folders:
        what, hint = "already in the vault, but not a source", "the [notes] table in retain.toml says what is excluded"
    else:
        what = "already in the vault"
        hint = f"`retain init {vault.root} --adopt` uses the notes there as sources without copying them"
    raise UsageError(what, where=given, hint=hint)


def _is_left_out(vault: Vault, path: str) -> bool:
    data = vault.read_bytes(path) if is_note(vault.notes, path) else None
    return data is not None and facts_of(data).is_left_out(vault.notes)
