"""What the commands say of the personal vault: to its human where it is, to an agent only that there is one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault.diagnostic import Diagnostic
from vault.files.folder import is_folder
from vault.vault import Vault

NOT_KNOWN = "where your own notes are is not known on this machine"


def is_unknown(vault: Vault) -> bool:
    """Whether the vault has no insights/, as one with a personal vault, and no personal vault is named for this user.

    Then nothing can be hidden from an agent: the settings are those of another user or machine, or are lost.
    """
    return vault.personal is None and not os.path.lexists(vault.root / "insights")


def way_out(vault: Vault) -> str:
    """What to do where it is not known."""
    return (
        f"`retain init {vault.root} --personal DIR` names their folder; if you have none, `mkdir {vault.root}/insights`"
    )


def finding(vault: Vault) -> list[Diagnostic]:
    """That it is not known, outside every sandbox."""
    if "RETAIN_CAGED" in os.environ or not is_unknown(vault):
        return []
    return [Diagnostic("insights", 0, "personal-unknown", NOT_KNOWN, way_out(vault))]


def left_behind(vault: Vault) -> list[Diagnostic]:
    """Notes that lie in insights/ still, which any agent can read, while the human's own are in a personal vault."""
    if "RETAIN_CAGED" in os.environ or vault.personal is None:
        return []
    count = sum(not entry.name.startswith(".") for entry in files_below([vault.root / "insights"], (".git",)))
    notes = "1 note" if count == 1 else f"{count} notes"
    message = f"{notes} in insights/ can still be read by agents; move {'it' if count == 1 else 'them'}"
    return [Diagnostic("insights", 0, "notes-readable", f"{message} to {vault.personal}")] if count else []


def files_below(tops: Iterable[Path], left_out: Collection[str]) -> Iterator[os.DirEntry[str]]:
    """What is no folder, below these; no link is followed, and what can't be listed is passed over."""
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


def told(vault: Vault) -> dict[str, Any] | None:
    """`path` and whether it can be reached; None where the notes are in insights/.

    Without a path it is not known, or this is inside a sandbox, where it is nobody's business.
    """
    if vault.personal is None:
        return {"path": None, "reachable": False} if is_unknown(vault) else None
    caged = "RETAIN_CAGED" in os.environ
    reachable = not caged and is_folder(vault.personal)
    return {"path": None if caged else str(vault.personal), "reachable": reachable}


def in_words(personal: dict[str, Any] | None) -> str:
    """One line on where the human's own notes are."""
    if personal is None:
        return "your own notes: insights/"
    if personal["path"] is None:
        here = (
            "a vault of their own, out of reach here" if "RETAIN_CAGED" in os.environ else "not known on this machine"
        )
        return f"your own notes: {here}"
    unreached = "" if personal["reachable"] else " (not reachable now: is a disk not mounted?)"
    return f"your own notes: {personal['path']}{unreached}"
