"""Checks before a sandbox starts: nothing of the user's may be reachable through what an agent may write.

A sandbox guards paths. So no file of the user's may be inside under another name: a link, a hard link, a mount, an open
file. Each refusal says what was found, where, and what to do.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault.config.settings import FILE
from vault.errors import Refused
from vault.files.write_scopes import HUMAN_FOLDERS, is_within, refusal
from vault.sandbox import hosts
from vault.sandbox.mounts import Mount, mounts, names_of, points_below, related

Identity = tuple[int, int]
_SYSTEM = ("/proc", "/sys", "/dev", "/run", "/boot")  # neither they nor what is in them
_PLUGGED_IN = "/run/media"
_SHARED = ("/tmp", "/var/tmp", "/usr", "/etc", "/bin", "/sbin", "/lib", "/var", "/home", "/opt")  # noqa: S108 (not they)


@dataclass(frozen=True, slots=True)
class CheckedPaths:
    """The paths that passed the checks, absolute and without links. `hidden` has every name of what is hidden.

    `identities` are (device, inode) of `writable`; `user_folders` hold the user's files and include the vault.
    """

    root: str
    writable: tuple[str, ...]
    identities: tuple[Identity, ...]
    hidden: tuple[str, ...]
    user_folders: tuple[str, ...]


def check_paths(
    root: Path,
    folders: Iterable[Path],
    rw: Iterable[Path],
    hidden: Iterable[Path],
    table: Sequence[Mount] | None = None,
) -> CheckedPaths:
    """Return the checked paths of a sandbox. `folders` are the vault's that an agent may write, `rw` the user's own.

    Raises: Refused.
    """
    table = mounts() if table is None else table
    place = os.path.realpath(root)
    masks = _hidden(place, hidden, table)
    agent_folders = [_agent_folder(place, each, table) for each in folders]
    added = [_added(each, place, agent_folders, masks, table) for each in rw]
    writable = tuple(dict.fromkeys([*agent_folders, *added]))
    for path in writable:
        _not_hidden(path, masks)
    user_folders = _user_folders(place, masks)
    settings = [host for host in hosts.folders() if any(is_within(path, host) for path in added)]
    _check_contents(writable, (*user_folders, *settings), agent_folders)
    return CheckedPaths(place, writable, tuple(_identity(path) for path in writable), masks, user_folders)


def _identity(path: str) -> Identity:
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError as error:
        raise refusal(path, f"cannot be checked: {error.strerror}") from error
    return status.st_dev, status.st_ino


# --- hidden folders ---


def _hidden(root: str, folders: Iterable[Path], table: Sequence[Mount]) -> tuple[str, ...]:
    found: list[str] = []
    for each in folders:
        path = os.path.realpath(each)
        if not os.path.isdir(path):
            hint = "mount or restore the folder, or correct your settings; a sandbox can hide only folders that exist"
            raise refusal(str(each), "a folder that must be hidden from agents does not exist", hint=hint)
        if is_within(root, path):
            raise refusal(
                path, "the vault is inside a folder that is hidden from agents", hint="move the vault out of it"
            )
        found += names_of(path, table)
    return tuple(path for path in dict.fromkeys(found) if os.path.isdir(path))


def _not_hidden(path: str, masks: Iterable[str]) -> None:
    for mask in masks:
        if related(path, mask):
            raise refusal(path, f"this overlaps with {mask}, which agents must not see", hint="move one of the two")


# --- writable paths ---


def _agent_folder(root: str, folder: Path, table: Sequence[Mount]) -> str:
    """Return the path of a vault folder that agents may write. Raises Refused unless it is a plain folder."""
    path = os.path.join(root, os.path.relpath(folder, root) if folder.is_absolute() else str(folder))
    if os.path.realpath(path) != path or not os.path.isdir(path):
        raise refusal(
            path, "agents write to this path, but it is a link or not a folder", hint="put a regular folder there"
        )
    below = points_below(path, table)
    if below:
        raise refusal(below[0], "something else is mounted in a folder that agents can write to", hint="unmount it")
    identity = _identity(path)
    for other in _others(root, path):
        if _identity(other) == identity:
            raise refusal(path, f"this is the folder {other} under another name", hint="put a regular folder there")
        if any(is_within(name, path) for name in names_of(other, table)[1:]):
            raise refusal(path, f"{other} is mounted here", hint="unmount it")
    return path


def _others(root: str, path: str) -> Iterator[str]:
    """Yield the folders at the top of the vault, without links, except the one that contains `path`."""
    for name in sorted(os.listdir(root)):
        other = os.path.join(root, name)
        if os.path.islink(other):  # the user's own link to an agent's folder is harmless
            if name not in HUMAN_FOLDERS:
                continue
            other = os.path.realpath(other)
            if related(path, other):
                raise refusal(path, f"{name} is a link that points here", hint="move your notes into a separate folder")
        if os.path.isdir(other) and not is_within(path, other):
            yield other


def _user_folders(root: str, masks: Sequence[str]) -> tuple[str, ...]:
    """Return the folders of the user's files: the vault, the targets of its folders, and what is hidden."""
    led_to = {os.path.realpath(os.path.join(root, name)) for name in HUMAN_FOLDERS}
    return (root, *sorted(path for path in led_to if not is_within(path, root) and os.path.isdir(path)), *masks)


def _added(given: Path, root: str, folders: Sequence[str], masks: Iterable[str], table: Sequence[Mount]) -> str:
    """Return the path, without links, of what `--rw` adds. Raises Refused."""
    path = os.path.realpath(given)
    if not os.path.exists(path):
        raise refusal(str(given), "--rw: there is no such file or folder", hint="create it first")
    if any(is_within(path, folder) for folder in folders):
        return path
    if not (os.path.isdir(path) or os.path.isfile(path)):
        raise refusal(path, "--rw: neither a file nor a folder", hint="give the folder that contains it")
    if _is_system_path(path):
        raise refusal(path, "--rw: this is a system file or folder", hint="give only the folder that the agent needs")
    home = os.path.realpath(Path.home())
    if is_within(home, path):
        raise refusal(path, "--rw: this is your whole home folder", hint="give only the folder that the agent needs")
    hosts.check(path, table)
    user_folders = [(each, "the vault" if each == root else "your own files") for each in _user_folders(root, ())]
    for name, what in (*((mask, "hidden from agents") for mask in masks), *_code(), *user_folders):
        _check_apart(path, name, what, table)
    _in_no_vault(path)
    return path


def _is_system_path(path: str) -> bool:
    """Return whether a path belongs to the whole system; /run/media/USER/NAME is a disk of the user's."""
    if is_within(path, _PLUGGED_IN) and len(Path(path).parts) >= len(Path(_PLUGGED_IN).parts) + 2:
        return False
    return any(is_within(path, each) or is_within(each, path) for each in _SYSTEM) or path in ("/", *_SHARED)


def _check_apart(path: str, protected: str, what: str, table: Sequence[Mount]) -> None:
    hint = "agents can write only to their own folders of a vault; give another path"
    for name in names_of(protected, table):
        if related(path, name):
            raise refusal(path, f"--rw: it overlaps with {name} ({what})", hint=hint)
    identity = _identity(protected)
    for above in (path, *map(str, Path(path).parents)):
        if above != "/" and _identity(above) == identity:
            raise refusal(path, f"--rw: it is inside {protected} ({what}), under another name", hint=hint)


def _code() -> Iterator[tuple[str, str]]:
    """Yield (folder, reason) of retain's own code and Python, which the user runs outside every sandbox."""
    package = Path(__file__).resolve().parents[2]
    names = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
    found = {os.path.realpath(sysconfig.get_path(name)) for name in names}
    found |= {str(package), os.path.dirname(os.path.realpath(sys.executable))}
    if sys.prefix != sys.base_prefix:
        found.add(os.path.realpath(sys.prefix))
    return ((path, "retain's own code") for path in sorted(found) if os.path.isdir(path) and path != "/")


def _in_no_vault(path: str) -> None:
    for above in (path, *map(str, Path(path).parents)):
        if os.path.lexists(os.path.join(above, FILE)):
            raise refusal(path, f"--rw: it is inside a vault, {above}", hint="an agent can write only to its own vault")


# --- contents of writable folders ---


def _check_contents(writable: Sequence[str], human: Sequence[str], folders: Sequence[str]) -> None:
    """Raise Refused if a writable folder holds a pipe, a device or a hard link to one of the user's files."""
    several: dict[Identity, str] = {}
    for place in writable:
        for path, status in _files(place, ()):
            _check_file_type(path, status, sockets=place not in folders)
            if status.st_nlink > 1:
                several[status.st_dev, status.st_ino] = path
    if not several:
        return
    for place in human:
        for identity, name in _with_several_names(place, writable).items():
            if identity in several:
                hint = f"replace it with a copy: cp {several[identity]} X && mv X {several[identity]}"
                raise refusal(several[identity], f"this is the same file as {name} (a hard link)", hint=hint)


def _check_file_type(path: str, status: os.stat_result, *, sockets: bool) -> None:
    """Raise Refused for a pipe or device, which leads outside; for a socket unless `sockets`: agents leave some."""
    kind = stat.S_IFMT(status.st_mode)
    if kind in (stat.S_IFREG, stat.S_IFLNK) or (kind == stat.S_IFSOCK and sockets):
        return
    what = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}.get(kind, "a device")
    hint = "an agent could reach a program outside the sandbox through it; remove it"
    raise refusal(path, f"{what} in a folder that agents can write to", hint=hint)


def _with_several_names(place: str, left_out: Sequence[str]) -> dict[Identity, str]:
    """Return the files below `place` that have more than one name, by (device, inode)."""
    found = ((path, status) for path, status in _files(place, left_out) if status.st_nlink > 1)
    return {(status.st_dev, status.st_ino): path for path, status in found}


def _files(place: str, left_out: Sequence[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield path and status of the files below `place` or of `place` itself, except in the folders `left_out`."""
    if not os.path.isdir(place):
        yield place, os.stat(place, follow_symlinks=False)
        return
    folders = [place]
    while folders:
        folder = folders.pop()
        try:
            entries = os.scandir(folder)
        except OSError:
            continue  # what cannot be listed, this user cannot write by name either
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.path not in left_out:
                        folders.append(entry.path)
                    continue
                try:
                    yield entry.path, entry.stat(follow_symlinks=False)
                except OSError:
                    continue  # gone since it was listed


# --- open files ---


def check_standard_streams(checked: CheckedPaths, handles: Sequence[int] = (0, 1, 2)) -> None:
    """Raise Refused if a standard stream leads past the sandbox: a folder, a disk, a file of the user's."""
    for handle, name in zip(handles, ("input", "output", "errors"), strict=True):
        try:
            status = os.fstat(handle)
        except OSError:
            continue  # closed
        what = f"standard {name}"
        if stat.S_ISDIR(status.st_mode):
            raise Refused(
                f"{what} is an open folder, through which files outside the sandbox can be reached", hint="close it"
            )
        if stat.S_ISBLK(status.st_mode):
            raise Refused(f"{what} is a disk", hint="close it")
        if stat.S_ISREG(status.st_mode):
            _check_not_users_file(what, handle, status, checked)


def _check_not_users_file(what: str, handle: int, status: os.stat_result, checked: CheckedPaths) -> None:
    """Raise Refused for a file of the user's: even one open for reading can be reopened for writing by its handle."""
    path = _path_of(handle)
    inside = any(is_within(path, place) for place in checked.user_folders)
    writable = any(is_within(path, place) for place in checked.writable)
    linked = status.st_nlink > 1 and (status.st_dev, status.st_ino) in {
        identity for place in checked.user_folders for identity in _with_several_names(place, checked.writable)
    }
    if (inside and not writable) or linked:
        mode = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE
        way = "`cat FILE | retain guard run ...`" if mode == os.O_RDONLY else "`retain guard run ... | cat >FILE`"
        raise refusal(path, f"{what} is connected to this file, which agents must not open", hint=f"use {way}")


def _path_of(handle: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{handle}")
    except OSError:
        return ""
