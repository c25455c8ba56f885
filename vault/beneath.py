"""A folder of an open folder, opened without following a link of any kind; and whether another mount begins there.

By openat2 where the kernel has it (Linux 5.6 and newer), else by O_NOFOLLOW. Both go one name at a time, as the writer
compares every folder on its way with the human's.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OPENAT2 = 437  # on x86_64, aarch64 and all that came later
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 1, 2, 4, 8
_STRICT = _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
_NO_CALL = (errno.ENOSYS, errno.EPERM)  # an older kernel; a container that refuses what it doesn't know


def open_below(handle: int, name: str) -> tuple[int, bool]:
    """A handle on the folder `name` of an open folder, and whether it is on another mount than that.

    Raises: OSError if it is a link, no folder, or not there.
    """
    call = _openat2_call()
    if call is not None:
        try:
            return _by_openat2(call, handle, name, _STRICT | _NO_XDEV), False
        except OSError as error:
            if error.errno == errno.EXDEV:
                return _by_openat2(call, handle, name, _STRICT), True
            if error.errno not in _NO_CALL:
                raise
    below = os.open(name, _FLAGS, dir_fd=handle)
    try:
        return below, _mount(below) != _mount(handle)
    except BaseException:
        os.close(below)
        raise


def _by_openat2(call: Callable[[int, bytes, bytes], int], handle: int, name: str, resolve: int) -> int:
    opened = call(handle, os.fsencode(name), _how(resolve))
    if opened < 0:
        import ctypes

        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)
    return opened


@cache
def _how(resolve: int) -> bytes:
    """The `struct open_how` for a folder."""
    return b"".join(number.to_bytes(8, sys.byteorder) for number in (_FLAGS, 0, resolve))


@cache
def _openat2_call() -> Callable[[int, bytes, bytes], int] | None:
    """The system call, given a handle, a name and a `struct open_how`; None on other systems than Linux."""
    if sys.platform != "linux":
        return None
    import ctypes

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    syscall.restype = ctypes.c_long
    return lambda handle, name, how: int(syscall(_OPENAT2, handle, name, how, len(how)))


def _mount(handle: int) -> int:
    """What tells the mount of an open folder from others: a bind mount shares its device with what it shows."""
    if sys.platform == "linux":
        try:
            lines = Path(f"/proc/self/fdinfo/{handle}").read_bytes().splitlines()
        except FileNotFoundError:
            lines = []  # no /proc here
        for line in lines:
            if line.startswith(b"mnt_id:"):
                return int(line.split()[1])
    return os.fstat(handle).st_dev
