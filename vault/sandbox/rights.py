"""What the first process of a cage gives up before it starts anything: small calls to the kernel, one a function."""

from __future__ import annotations

import errno

from vault.sandbox import kernel

_PDEATHSIG, _DUMPABLE, _CAPBSET_DROP, _SUBREAPER, _AMBIENT = 1, 4, 24, 36, 47
_AMBIENT_CLEAR = 4
_KILL = 9
_NEW_MOUNTS, _RECURSIVE, _PRIVATE = 0x00020000, 1 << 14, 1 << 18
_CAPSET = {"x86_64": 126, "aarch64": 91}
_VERSION_3 = 0x20080522


def make_mounts_private() -> None:
    """What is mounted outside from now on doesn't appear in here. Raises: OSError.

    In a space of mounts of its own: that of bubblewrap may belong to another space of users, whose rights we lack.
    """
    kernel.syscall(kernel.numbers()["unshare"], _NEW_MOUNTS)
    kernel.syscall(kernel.numbers()["mount"], None, b"/", None, _RECURSIVE | _PRIVATE, None)


def no_core_dumps() -> None:
    """No crash writes memory to a file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def hide_memory() -> None:
    """No other process of this user may look into this one; a program that is started may be again."""
    kernel.prctl(_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Whoever comes from this process stays its descendant, though those between end."""
    kernel.prctl(_SUBREAPER, 1)


def die_with_parent() -> None:
    """Ends this process at once when the one that started it ends."""
    kernel.prctl(_PDEATHSIG, _KILL)


def drop_all() -> None:
    """Gives up every capability, for root as for anybody, and the possibility to get one by starting a program."""
    for capability in range(64):
        try:
            kernel.prctl(_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EPERM):  # past the last one; or there is none that could be lost
                break
            raise
    kernel.prctl(_AMBIENT, _AMBIENT_CLEAR)
    number = _CAPSET.get(kernel.machine())
    if number is not None:
        head = _VERSION_3.to_bytes(4, "little") + bytes(4)
        kernel.syscall(number, head, bytes(24))
