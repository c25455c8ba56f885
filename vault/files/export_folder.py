"""An export of many files into a folder of the human's: what is already there is never overwritten unasked.

A list in the folder, `.retain-export.json`, says which files an export laid there and with which bytes. Only such a
file is replaced or taken away by the next export, and only while it holds what was laid there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from vault.errors import Damaged, Refused
from vault.files.folder import Folder
from vault.files.guard import export_bytes, make_export_folder, sha256_hex, take_export_away

LIST = ".retain-export.json"
_SHOWN = 3
Laid = dict[str, list[str]]  # name -> SHA-256 of what may be found there: two while an export is under way


def export_folder(path: Path, files: Mapping[str, bytes], *, kind: str, forbidden: Iterable[Path] = ()) -> int:
    """Makes `path` hold `files` (name -> bytes) beside what else is there; gives how many files changed.

    Broken off, it is ended by the next one. Raises: Refused, with nothing touched, where a file of that name is not one
    that such an export laid there, or was edited since; WriteFailed.
    """
    forbidden = tuple(forbidden)
    make_export_folder(path, forbidden=forbidden)
    folder = Folder(Path(os.path.realpath(path)))
    laid = _read(folder, path, kind)
    found = {name: _digest(folder, name) for name in {*files, *laid}}
    digests = {name: sha256_hex(data) for name, data in files.items()}
    foreign = [name for name, have in found.items() if have not in (None, digests.get(name), *laid.get(name, ()))]
    if foreign:
        raise _not_ours(path, sorted(foreign), edited=all(name in laid for name in foreign))
    change = [name for name in files if found[name] != digests[name]]
    gone = [name for name in laid if name not in files and found[name] is not None]
    final: Laid = {name: [digest] for name, digest in digests.items()}
    under_way: Laid = {name: sorted({*laid.get(name, ()), *final.get(name, ())}) for name in {*laid, *final}}
    if change or gone:
        export_bytes(path / LIST, _rendered(under_way, kind), forbidden=forbidden)
    for name in change:
        export_bytes(path / name, files[name], forbidden=forbidden)
    for name in gone:
        take_export_away(path / name, expect=found[name] or "", forbidden=forbidden)
    if laid != final:
        export_bytes(path / LIST, _rendered(final, kind), forbidden=forbidden)
    return len(change) + len(gone)


def _digest(folder: Folder, name: str) -> str | None:
    data = folder.read(name)
    return None if data is None else sha256_hex(data)


def _rendered(laid: Laid, kind: str) -> bytes:
    return (json.dumps({"export": kind, "files": laid}, indent=1, sort_keys=True) + "\n").encode()


def _read(folder: Folder, path: Path, kind: str) -> Laid:
    """What earlier exports laid there. Raises: Refused where they were of another kind; Damaged."""
    data = folder.read(LIST)
    if data is None:
        return {}
    where, hint = str(path / LIST), "move the folder away, or export to another one"
    try:
        found = json.loads(data)
        laid = {name: [str(d) for d in digests] for name, digests in found["files"].items() if _is_name(name)}
        was = str(found["export"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged("unreadable list of exported files", where=where, hint=hint) from error
    if was != kind:
        raise Refused("this folder holds another kind of export", where=where, hint=hint)
    return laid


def _is_name(name: str) -> bool:
    """Whether it is a file right in the folder: the list is a file like any other, and anybody may have written it."""
    return name not in ("", ".", "..", LIST) and "/" not in name and "\0" not in name


def _not_ours(path: Path, names: list[str], *, edited: bool) -> Refused:
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    what = "edited since it was exported" if edited else "not written by an export"
    return Refused(f"{what}: {shown}", where=str(path), hint="move it away, or export to another folder")
