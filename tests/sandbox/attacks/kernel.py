"""Calls into the kernel that Python has no words for."""

from __future__ import annotations

import ctypes
import os
import platform

from tests.sandbox.attacks.registry import NotHere

LIBC = ctypes.CDLL(None, use_errno=True)
_X86, _ARM = 0, 1
_NUMBERS = {  # name: x86_64, aarch64 (newer calls share one number)
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "renameat2": (316, 276),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "mount_setattr": (442, 442),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "userfaultfd": (323, 282),
    "bpf": (321, 280),
    "fchmodat2": (452, 452),
    "setxattrat": (463, 463),
    "splice": (275, 76),
    "ioprio_set": (251, 30),
    "rt_sigqueueinfo": (129, 138),
}
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = 1, 32, 4096, 8192, 16384, 1 << 18
AT_FDCWD = -100


def checked(result: int, what: str) -> int:
    """`result`, unless it is -1: then the error of the last call."""
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def number(name: str) -> int:
    """The number of a system call on this machine."""
    machine = {"x86_64": _X86, "aarch64": _ARM}.get(platform.machine())
    if machine is None:
        raise NotHere(f"the number of {name} on this machine is not known here")
    return _NUMBERS[name][machine]


def call(name: str, *arguments: object) -> int:
    """The result of a system call. Raises OSError."""
    words = [a if not isinstance(a, int) else ctypes.c_long(a) for a in arguments]
    return checked(LIBC.syscall(ctypes.c_long(number(name)), *words), name)


def unshare(flags: int) -> None:
    checked(LIBC.unshare(flags), "unshare")


def own_namespaces(more: int = 0) -> None:
    """Root in a user namespace of one's own, with mounts of one's own that nobody else sees."""
    uid, gid = os.getuid(), os.getgid()
    unshare(CLONE_NEWUSER | CLONE_NEWNS | more)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    mount("none", "/", None, MS_REC | MS_PRIVATE)


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [w.encode() if w is not None else None for w in (source, target, kind, options)]
    checked(LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), "mount")


def umount(target: str, flags: int = 2) -> None:
    checked(LIBC.umount2(target.encode(), flags), "umount")


def setns(descriptor: int, kind: int = 0) -> None:
    checked(LIBC.setns(descriptor, kind), "setns")
