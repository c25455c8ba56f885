"""Files outside the guarded folders: exports to a place of the user's choice, and private files in the system's
temporary folder (traces of internal errors, forms that the user edits, working folders of programs).

No export goes into the parts of a vault that have an owner. A single file replaces only an earlier export. A folder
holds a list, `.retain-export.json`, of the files that an export wrote and their digests: the next export replaces or
deletes only those, and only while they are unchanged.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from vault.errors import Damaged, Refused
from vault.files.durable import failing, sync, sync_folder, sync_path
from vault.files.folder import Current, Folder, Identity, expect_bytes, identity_of, read_at, sha256_hex
from vault.files.leftovers import temporary_name
from vault.files.temporary import temporary_file
from vault.text.redaction import redact

_SETTINGS = "retain.toml"
_CLOSED = ("raw", "insights", "wiki", "ledger", "learning", ".retain", ".git", ".obsidian")
_CLOSED_FILES = frozenset({_SETTINGS, "AGENTS.md"})
LIST = ".retain-export.json"
_SHOWN = 3
Written = dict[str, list[str]]  # name -> SHA-256 of what may be found there: two while an export is under way
_FORMS = "retain-form-"  # the beginning of the names of folders for forms


@contextmanager
def export_file(
    path: Path, *, forbidden: Iterable[Path] = (), replaces: Callable[[Path], bool] = lambda _: True
) -> Iterator[Path]:
    """Yield a temporary path to write an export to; it is renamed to `path` at the end, or deleted on an error.

    `replaces` decides whether a file at `path` that is not empty may be replaced. Raises Refused if not, or if `path`
    is a link, a folder, or in a part of a vault that is closed to exports; WriteFailed.
    """
    target = Path(os.path.realpath(path.parent)) / path.name
    with failing(str(path)):
        if target.is_symlink():
            raise Refused("this is a link", where=str(path), hint="give the file itself, or remove the link")
        status = check_export(target, shown=str(path), forbidden=forbidden)
        if status and status.st_size and not replaces(target):
            raise Refused(
                "a file with that name exists and is not an earlier export",
                where=str(path),
                hint="choose another name, or overwrite the file with --force",
            )
        folder = os.open(target.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
        try:
            with temporary_file(folder, temporary_name(), Current(b"", status) if status else None) as temp:
                yield target.parent / temp.name
                whole = os.open(temp.name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0), dir_fd=folder)
                try:
                    sync(whole)
                finally:
                    os.close(whole)
                os.rename(temp.name, target.name, src_dir_fd=folder, dst_dir_fd=folder)
                sync_folder(folder)
        finally:
            os.close(folder)


def export_bytes(
    path: Path, data: bytes, *, forbidden: Iterable[Path] = (), replaces: Callable[[Path], bool] = lambda _: True
) -> None:
    """Write an export. Raises as `export_file` does."""
    with export_file(path, forbidden=forbidden, replaces=replaces) as temporary:
        temporary.write_bytes(data)


def make_export_folder(path: Path, *, forbidden: Iterable[Path] = ()) -> None:
    """Create a folder for exports; the folder above it must exist.

    Raises Refused if `path` is not a folder, or one that is closed to exports; WriteFailed.
    """
    target = Path(os.path.realpath(path))
    with failing(str(path)):
        if target.is_dir():
            check_export(target / temporary_name(), shown=str(path), forbidden=forbidden)
            return
        check_export(target, shown=str(path), forbidden=forbidden)
        if target.exists():
            raise Refused("this is a file", where=str(path), hint="give a folder")
        target.mkdir()
        sync_path(target.parent)


def remove_export(path: Path, *, expect: str, forbidden: Iterable[Path] = ()) -> None:
    """Delete a file of an earlier export if its bytes have the SHA-256 `expect`. Raises as `export_file` does."""
    target = path.parent.resolve() / path.name
    with failing(str(path)):
        check_export(target, shown=str(path), forbidden=forbidden)
        folder = os.open(target.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
        try:
            expect_bytes(str(path), read_at(folder, target.name, str(path)), expect)
            os.unlink(target.name, dir_fd=folder)
            sync_folder(folder)
        finally:
            os.close(folder)


def check_export(target: Path, *, shown: str, forbidden: Iterable[Path]) -> os.stat_result | None:
    """Return the status of the file that an export to `target` (links resolved) would replace; None if it is new.

    Folders are compared by device and inode, so that another spelling or a mount is recognized. Raises Refused, with
    `shown` as the place.
    """
    if not target.parent.is_dir():
        raise Refused("no such folder", where=shown, hint=f"create {target.parent} first")
    closed = {identity for folder in forbidden if (identity := _identity(folder))}
    for vault in (folder for folder in target.parents if (folder / _SETTINGS).is_file()):
        closed |= {identity for name in _CLOSED if (identity := _identity(vault / name))}
        if target.parent == vault and (target.name in _CLOSED_FILES or target.name.startswith(".")):
            raise Refused("this file belongs to the vault", where=shown, hint="choose another name")
    if closed & {_identity(folder) for folder in target.parents}:
        raise Refused("exports cannot be written to this folder of a vault", where=shown, hint="use output/")
    with suppress(FileNotFoundError):
        status = target.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise Refused("this is not a file", where=shown, hint="give a file")
        return status
    return None


def _identity(folder: Path) -> Identity | None:
    with suppress(OSError):
        return identity_of(folder.stat())
    return None


def export_folder(path: Path, files: Mapping[str, bytes], *, kind: str, forbidden: Iterable[Path] = ()) -> int:
    """Make the folder `path` hold `files` (name -> bytes) beside other files; return how many files changed.

    An interrupted export is completed by the next one. Raises Refused, with nothing changed, if a file with such a name
    was not written by an export, or was edited since; WriteFailed.
    """
    forbidden = tuple(forbidden)
    make_export_folder(path, forbidden=forbidden)
    folder = Folder(Path(os.path.realpath(path)))
    recorded = _read(folder, path, kind)
    found = {name: _digest(folder, name) for name in {*files, *recorded}}
    digests = {name: sha256_hex(data) for name, data in files.items()}
    foreign = [name for name, have in found.items() if have not in (None, digests.get(name), *recorded.get(name, ()))]
    if foreign:
        raise refusal_of_files(path, sorted(foreign), edited=all(name in recorded for name in foreign))
    change = [name for name in files if found[name] != digests[name]]
    gone = [name for name in recorded if name not in files and found[name] is not None]
    final: Written = {name: [digest] for name, digest in digests.items()}
    under_way: Written = {name: sorted({*recorded.get(name, ()), *final.get(name, ())}) for name in {*recorded, *final}}
    if change or gone:
        export_bytes(path / LIST, _list_bytes(under_way, kind), forbidden=forbidden)
    for name in change:
        export_bytes(path / name, files[name], forbidden=forbidden)
    for name in gone:
        remove_export(path / name, expect=found[name] or "", forbidden=forbidden)
    if recorded != final:
        export_bytes(path / LIST, _list_bytes(final, kind), forbidden=forbidden)
    return len(change) + len(gone)


def foreign_files(path: Path, *, kind: str) -> list[str]:
    """Return the names of what is in the folder `path` and no export of this kind wrote, but for hidden files.

    Raises: Refused for a folder with another kind of export, or that cannot be read; Damaged.
    """
    if not path.is_dir():
        return []
    folder = Folder(Path(os.path.realpath(path)))
    recorded = _read(folder, path, kind)
    with failing(str(path)):
        return sorted(entry.name for entry in path.iterdir() if entry.name[0] != "." and entry.name not in recorded)


def _digest(folder: Folder, name: str) -> str | None:
    data = folder.read(name)
    return None if data is None else sha256_hex(data)


def _list_bytes(recorded: Written, kind: str) -> bytes:
    return (json.dumps({"export": kind, "files": recorded}, indent=1, sort_keys=True) + "\n").encode()


def _read(folder: Folder, path: Path, kind: str) -> Written:
    """Return what earlier exports wrote. Raises Refused if they were of another kind; Damaged."""
    data = folder.read(LIST)
    if data is None:
        return {}
    where, hint = str(path / LIST), "move the folder elsewhere, or export to another one"
    try:
        found = json.loads(data)
        recorded = {name: [str(d) for d in digests] for name, digests in found["files"].items() if _is_name(name)}
        was = str(found["export"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged("the list of exported files cannot be read", where=where, hint=hint) from error
    if was != kind:
        raise Refused("this folder contains another kind of export", where=where, hint=hint)
    return recorded


def _is_name(name: str) -> bool:
    """Return whether `name` is a file directly in the folder; the list may come from anybody."""
    return name not in ("", ".", "..", LIST) and "/" not in name and "\0" not in name


def refusal_of_files(path: Path, names: list[str], *, edited: bool = False) -> Refused:
    """Return the error that a folder for an export holds these files, which no export wrote or the user edited."""
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    what = "edited since it was exported" if edited else "not written by an export"
    return Refused(f"{what}: {shown}", where=str(path), hint="move it elsewhere, or export to another folder")


def trace_folder() -> Path:
    """Return the folder for traces of internal errors."""
    return Path(tempfile.gettempdir())


def write_trace(text: str) -> Path:
    """Write the trace of an internal error to a new file that only its owner can read; return its path."""
    handle, name = tempfile.mkstemp(prefix="retain-trace-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(redact(text))
    return Path(name)


def write_form(name: str, text: str) -> Path:
    """Write a text for the user's editor to a private file in a folder of its own; return its path."""
    path = Path(tempfile.mkdtemp(prefix=_FORMS)) / name
    path.write_text(text, encoding="utf-8")
    return path


def remove_form(path: Path) -> None:
    """Remove a form with its folder and what an editor left there."""
    if path.parent.name.startswith(_FORMS):
        shutil.rmtree(path.parent, ignore_errors=True)


@contextmanager
def working_folder() -> Iterator[Path]:
    """Yield a new, empty, private folder for a program to run in; it is removed with what the program left there."""
    path = Path(tempfile.mkdtemp(prefix="retain-run-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
