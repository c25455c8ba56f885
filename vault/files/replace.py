"""Rename a finished file to its final name, or delete a file, without losing an edit made at that moment.

Only `vault.files.guard` uses it. Compare the bytes with those expected, exchange the two names, compare again, and swap
back once if an edit came in between. Without an exchange call: compare, and rename.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import cache

from vault.errors import EditedMeanwhile, Refused
from vault.files.durable import hold, is_held, sync_folder
from vault.files.folder import expect_bytes, open_file_at, read_at
from vault.files.leftovers import edited_file, marked_name, replaced_file
from vault.files.temporary import Temporary
from vault.files.write_scopes import beside, refusal

# What a file system says that has no such call, or not for such files.
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK})
_EXCHANGE = 2  # the same number on Linux (renameat2) and macOS (renameatx_np)
_EXCLUSIVE = 1 if hasattr(os, "sched_setaffinity") else 4  # RENAME_NOREPLACE of Linux, RENAME_EXCL of macOS
_VERSIONS = 999


def install(folder: int, temp: Temporary, name: str, path: str, expect: str | None) -> None:
    """Give the finished file its name, unless what has that name now is not what was expected."""
    expect_bytes(path, read_at(folder, name, path), expect)
    if expect is None:
        try:
            _give_new_name(folder, temp.name, name)
        except FileExistsError as error:
            expect_bytes(path, read_at(folder, name, path), None)
            raise EditedMeanwhile("a file with that name appeared briefly", where=path, hint="try again") from error
    elif _exchange(folder, temp, name):
        try:
            expect_bytes(path, read_at(folder, temp.name, path), expect)
        except BaseException:  # an edit was saved in that moment, and has the temporary name
            _rename(folder, temp.name, name, _EXCHANGE)
            clear(folder, temp.name)
            raise
        temp.may_go = True
    else:
        os.rename(temp.name, name, src_dir_fd=folder, dst_dir_fd=folder)


def take_away(folder: int, name: str, path: str, expect: str) -> None:
    """Delete a file, unless what has its name now is not what was expected."""
    aside = marked_name(name, ours=b"", expect=expect)
    with open_file_at(folder, name, path) as handle:
        hold(handle)
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
        try:  # only now can nobody reach it by its name any more
            expect_bytes(path, read_at(folder, aside, path), expect)
            os.unlink(aside, dir_fd=folder)
        except BaseException:
            with suppress(FileExistsError):  # a newer file has the name: the next sweep names the other one
                _give_new_name(folder, aside, name)
                with suppress(FileNotFoundError):
                    os.unlink(aside, dir_fd=folder)
            raise


def is_abandoned(folder: int, name: str) -> bool:
    """Return whether the process that made a temporary file is gone: no process locks it, nor the file it replaces.

    While two names are exchanged, the file that its maker locks has the other one.
    """
    replaced = replaced_file(name)
    if replaced is None:
        return not _is_in_use(folder, name)
    return bool(replaced) and not any(_is_in_use(folder, each) for each in (name, replaced, name))


def _is_in_use(folder: int, name: str) -> bool:
    """Return whether another process locks the file, or may lock it."""
    try:
        with open_file_at(folder, name, name) as handle:
            return not stat.S_ISREG(os.fstat(handle).st_mode) or is_held(handle)
    except FileNotFoundError:
        return False
    except (OSError, Refused):
        return True


def clear(folder: int, name: str, check: Callable[[str], object] = lambda _: None) -> str | None:
    """Delete the temporary file `name`; if it holds somebody's edit, name it beside the file instead.

    Returns that name, None for what was deleted. `check` raises Refused for a name that may not be written.
    """
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    only = stat.S_ISREG(status.st_mode) and status.st_nlink == 1  # else the bytes are to be had by another name
    found = read_at(folder, name, name) if only else None
    edited = edited_file(name, found.data) if found else None
    if edited is None:
        os.unlink(name, dir_fd=folder)
        return None
    for number in range(1, _VERSIONS + 1):
        free = beside(edited, date.today(), number)
        check(free)
        with suppress(FileExistsError):
            _give_new_name(folder, name, free)
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            sync_folder(folder)
            return free
    raise refusal(name, "there are too many versions of this file")


def _give_new_name(folder: int, old: str, new: str) -> None:
    """Give a file a name that nothing has yet; the old one may remain beside it.

    Raises: FileExistsError, and nothing is changed, if something has the name.
    """
    try:
        os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise
        if not _rename(folder, old, new, _EXCLUSIVE):
            _rename_to_free(folder, old, new)


def _rename_to_free(folder: int, old: str, new: str) -> None:
    """Rename where the system can't refuse a name that is taken: looking first must do."""
    with suppress(FileNotFoundError):
        os.stat(new, dir_fd=folder, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
    os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)


def _exchange(folder: int, temp: Temporary, name: str) -> bool:
    """Exchange two names; return whether the system could. Afterwards the temporary file may be the user's edit."""
    temp.may_go = False
    try:
        temp.may_go = not _rename(folder, temp.name, name, _EXCHANGE)
    except OSError:
        temp.may_go = True
        raise
    return not temp.may_go


def _rename(folder: int, old: str, new: str, flag: int) -> bool:
    """Rename within an open folder as `flag` says; False where the system or its file system has no such call."""
    call = rename_call()
    if call is None:
        return False
    import ctypes  # late: most commands exchange no files

    if call(folder, os.fsencode(old), folder, os.fsencode(new), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NO_SUCH_CALL:
        return False
    raise OSError(code, os.strerror(code), new)


@cache
def rename_call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """Return renameat2 of Linux or renameatx_np of macOS; None if there is neither."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call
