"""One name of an open folder for another: a finished file takes its place; an edit of that very moment keeps its own.

Part of the writer, and reached through `vault.guard` alone: nothing here is opened for writing, only named and unnamed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache

from vault.durable import overwrite, sync, sync_folder
from vault.errors import EditedMeanwhile
from vault.folder import Identity, expect_bytes, identity_of, open_file_at, read_at, read_open, sha256_hex
from vault.leftovers import mark_of, marked_name
from vault.safe_path import refusal

# What a file system says that has no such call, or not for such files.
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK})
_EXCHANGE = 2  # the same number on Linux (renameat2) and macOS (renameatx_np)
_EXCLUSIVE = 1 if hasattr(os, "sched_setaffinity") else 4  # RENAME_NOREPLACE of Linux, RENAME_EXCL of macOS
_TURNS = 100


@dataclass(slots=True)
class Temporary:
    """A file under a name of ours, open for writing. `may_go` is false while that name may hold a human's edit."""

    name: str
    handle: int
    may_go: bool = True


def install(folder: int, temp: Temporary, name: str, path: str, expect: str | None) -> None:
    """Gives the finished file its name, unless what has that name now is not what was expected."""
    expect_bytes(path, read_at(folder, name, path), expect)
    if expect is None:
        try:
            give_new_name(folder, temp.name, name)
        except FileExistsError as error:
            expect_bytes(path, read_at(folder, name, path), None)
            raise EditedMeanwhile("a file had that name for a moment", where=path, hint="run it again") from error
    elif _exchanged(folder, temp, name):
        try:
            expect_bytes(path, read_at(folder, temp.name, path), expect)
        except BaseException:  # an edit landed in that very moment, and is in our hands
            _hand_back(folder, temp, name)
            raise
        temp.may_go = True
    else:
        _rename_over(folder, temp, name, path, expect)


def take_away(folder: int, name: str, path: str, expect: str) -> None:
    """Deletes a file, unless what has its name now is not what was expected."""
    aside = marked_name(name, ours=None, expect=expect)
    os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
    try:  # only now can nobody reach it by its name any more
        expect_bytes(path, read_at(folder, aside, path), expect)
        os.unlink(aside, dir_fd=folder)
    except BaseException:
        with suppress(FileExistsError):  # a newer file has the name: the other is left for the next sweep to show
            give_new_name(folder, aside, name)
            with suppress(FileNotFoundError):
                os.unlink(aside, dir_fd=folder)
        raise


def settle(folder: int, name: str, check: Callable[[str], object]) -> str | None:
    """Removes a leftover of a killed process; one that holds somebody's edit gets a name to be found by instead.

    Gives that name, None for what went. `check` raises Refused for a name that may not be written.
    """
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    mark = mark_of(name) if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else None  # else it has its name
    found = read_at(folder, name, name) if mark else None
    if mark is None or found is None or mark.may_go(found.data):
        if mark is not None and found is not None and mark.claimed and mark.is_ours(found.data):
            _unclaim(folder, mark.name)
        os.unlink(name, dir_fd=folder)
        return None
    for free in mark.names(date.today()):
        check(free)
        with suppress(FileExistsError):
            give_new_name(folder, name, free)
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            sync_folder(folder)
            return free
    raise refusal(name, "too many versions of it lie there")


def _unclaim(folder: int, name: str) -> None:
    """Removes the empty file by which a process that was killed held a name."""
    claim = read_at(folder, name, name)
    if claim is not None and not claim.data:
        os.unlink(name, dir_fd=folder)


def give_new_name(folder: int, old: str, new: str) -> None:
    """Gives a file a name that nothing has yet; the old one may remain beside it.

    Raises: FileExistsError, and nothing is changed, if something has the name.
    """
    try:
        os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise
        if not _renamed(folder, old, new, _EXCLUSIVE):
            _claim(folder, old, new)


def _claim(folder: int, old: str, new: str) -> None:
    """As `give_new_name` where a rename always overwrites: an empty file of ours takes the name first."""
    try:
        os.mknod(new, stat.S_IFREG | 0o600, dir_fd=folder)
        claimed = True
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise
        claimed = False  # macOS lets root alone do so: there, looking must do
    try:
        _expect_only_the_claim(folder, new, claimed)
        os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        raise
    except BaseException:
        if claimed:
            with suppress(OSError):
                _expect_only_the_claim(folder, new, claimed)
                os.unlink(new, dir_fd=folder)
        raise


def _expect_only_the_claim(folder: int, name: str, claimed: bool) -> None:
    try:
        size = os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
    except FileNotFoundError:
        return
    if size or not claimed:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def _exchanged(folder: int, temp: Temporary, name: str) -> bool:
    """Whether the two names were exchanged; from then on the temporary one is not ours to remove."""
    temp.may_go = False
    try:
        temp.may_go = not _renamed(folder, temp.name, name, _EXCHANGE)
    except OSError:
        temp.may_go = True
        raise
    return not temp.may_go


def _hand_back(folder: int, temp: Temporary, name: str) -> None:
    """Puts an edit that was swapped out back in its place; of several, the last one saved stands."""
    stands: Identity = identity_of(os.fstat(temp.handle))  # what has the name, as far as we know: ours
    in_hand = _identity(folder, temp.name)
    for turn in range(_TURNS):
        _renamed(folder, temp.name, name, _EXCHANGE)
        found = _identity(folder, temp.name)
        if found == stands:  # nobody had saved again: ours may go, or an edit that a later one replaced
            temp.may_go = turn > 0 or _is_ours(folder, temp.name)
            return
        stands, in_hand = in_hand, found


def _is_ours(folder: int, name: str) -> bool:
    """Whether nobody wrote into our own file while it had its name."""
    mark, found = mark_of(name), read_at(folder, name, name)
    return mark is not None and found is not None and mark.is_ours(found.data)


def _identity(folder: int, name: str) -> Identity:
    return identity_of(os.stat(name, dir_fd=folder, follow_symlinks=False))


def _rename_over(folder: int, temp: Temporary, name: str, path: str, expect: str) -> None:
    """Where names cannot be exchanged (NFS, exFAT). An edit into the very file, made while it was replaced, is kept."""
    with open_file_at(folder, name, path) as replaced:
        expect_bytes(path, read_open(replaced, path), expect)
        os.rename(temp.name, name, src_dir_fd=folder, dst_dir_fd=folder)
        now = read_open(replaced, path)
        if sha256_hex(now.data) != expect:
            overwrite(temp.handle, now.data)
            sync(temp.handle)
            expect_bytes(path, now, expect)


def _renamed(folder: int, old: str, new: str, flag: int) -> bool:
    """Renames within an open folder as `flag` says; False where the system or its file system has no such call."""
    call = rename_call()
    if call is None:
        return False
    import ctypes

    if call(folder, os.fsencode(old), folder, os.fsencode(new), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NO_SUCH_CALL:
        return False
    raise OSError(code, os.strerror(code), new)


@cache
def rename_call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """renameat2 of Linux or renameatx_np of macOS; None where there is neither."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call
