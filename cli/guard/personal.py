"""Messages about the personal vault: its path for the user; for an agent, only that there is one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault.diagnostic import Diagnostic
from vault.files.folder import is_folder
from vault.vault import Vault

NOT_KNOWN = "the folder of your personal vault is not known on this machine"


def is_unknown(vault: Vault) -> bool:
    """Return whether the vault has no insights/, as one with a personal vault, but the user's settings name none.

    Then nothing can be hidden from an agent: the settings belong to another user or machine, or are lost.
    """
    return vault.personal is None and not os.path.lexists(vault.root / "insights")


def hint(vault: Vault) -> str:
    """Return what to do if the personal vault is not known."""
    return (
        f"run `retain init {vault.root} --personal DIR` to set the folder for your notes; if you have none, "
        f"`mkdir {vault.root}/insights`"
    )


def finding(vault: Vault) -> list[Diagnostic]:
    """Return a diagnostic if the personal vault is not known; none inside a sandbox."""
    if "RETAIN_CAGED" in os.environ or not is_unknown(vault):
        return []
    return [Diagnostic("insights", 0, "personal-unknown", NOT_KNOWN, hint(vault))]


def notes_in_vault(vault: Vault) -> list[Diagnostic]:
    """Return a diagnostic for notes in insights/, which any agent can read, although there is a personal vault."""
    if "RETAIN_CAGED" in os.environ or vault.personal is None:
        return []
    count = sum(not entry.name.startswith(".") for entry in files_below([vault.root / "insights"], (".git",)))
    notes = "1 note" if count == 1 else f"{count} notes"
    message = f"agents can still read {notes} in insights/; move {'it' if count == 1 else 'them'}"
    return [Diagnostic("insights", 0, "notes-readable", f"{message} to {vault.personal}")] if count else []


def files_below(tops: Iterable[Path], left_out: Collection[str]) -> Iterator[os.DirEntry[str]]:
    """Yield the entries below `tops` that are no folders; links are not followed, unreadable folders skipped."""
    waiting = [str(top) for top in tops if not os.path.islink(top)]  # noqa: PTH114 (never raises)
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as scan:
            for entry in scan:
                if entry.name in left_out:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield entry


def personal_json(vault: Vault) -> dict[str, Any] | None:
    """Return `path` and whether it is reachable; None if the notes are in insights/.

    `path` is None if it is not known, or inside a sandbox.
    """
    if vault.personal is None:
        return {"path": None, "reachable": False} if is_unknown(vault) else None
    caged = "RETAIN_CAGED" in os.environ
    reachable = not caged and is_folder(vault.personal)
    return {"path": None if caged else str(vault.personal), "reachable": reachable}


def personal_line(personal: dict[str, Any] | None) -> str:
    """Return one line about where the user's notes are."""
    if personal is None:
        return "your own notes: insights/"
    if personal["path"] is None:
        here = (
            "a personal vault, not available in the sandbox"
            if "RETAIN_CAGED" in os.environ
            else "not known on this machine"
        )
        return f"your own notes: {here}"
    unreached = "" if personal["reachable"] else " (unavailable; is its disk mounted?)"
    return f"your own notes: {personal['path']}{unreached}"
