"""Landlock: a process gives up rights to files permanently, for itself and its children; no root is needed.

What it covers depends on the kernel's ABI number: 1 (Linux 5.13) reading, writing, creating and removing; 2 moves
between folders; 3 truncation; 4 binding and connecting TCP; 5 commands to devices; 6 signals and abstract sockets; 7
logging. No ABI covers chmod, chown, utime and extended attributes of files, UDP, and sockets that have a path. Below
ABI 3 a file can still be emptied by truncate(2): `capabilities` doesn't count that as a sandbox.

Source: https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import os
import stat
import struct
import sys

from vault.errors import Refused
from vault.sandbox import kernel

TYPE_CHECKING = False  # as typing has it, without loading typing
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine that Python runs on
_VERSION, _BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
_MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = 1 << 9, 1 << 10, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_TCP, _SCOPED = 0b11, 0b11  # binding and connecting; abstract sockets and signals

_READING = _EXECUTE | _READ_FILE | _READ_DIR
# Device nodes can't be created, even by root: with one, a whole disk could be written.
_NODES = _MAKE_CHAR | _MAKE_BLOCK
_CHANGING = (_WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM) | (
    _REFER | _TRUNCATE
)
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_DEVICE = _READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV

# What programs write to that keeps nothing. /dev/pts has the terminals that a program opens for its children; those
# of other windows of the same user lie there too, where the file systems are not private. Not /dev/shm: it is shared.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")


def abi() -> int:
    """Return the version of Landlock that this kernel offers this process; 0 for none."""
    if sys.platform != "linux":
        return 0
    try:
        return kernel.syscall(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:  # not in this kernel, switched off at boot, or forbidden by a container
        return 0


def restrict(
    writable: Sequence[Path | int],
    *,
    readable: Iterable[Path | int] | None = None,
    devices: bool = True,
    network: bool = True,
    scoped: bool = True,
) -> None:
    """Limit this thread and its children to writing below `writable` and reading below `readable` (None: everything).

    Each is a path, whose links are followed now, or an open handle; it must exist, and a later file of that name is not
    covered. A file can be written, but not replaced by renaming. `devices` allows the usual ones (/dev/null,
    terminals). Without `network`, there is no TCP from ABI 4 on. With `scoped`, signals and abstract sockets reach no
    process outside from ABI 6 on. Open files stay usable. Raises: Refused without Landlock; OSError for a missing path.
    """
    version = abi()
    if not version:
        raise Refused("this system has no Landlock, so there is no sandbox")
    handled = _handled(version, reads=readable is not None)
    rules = _ruleset(version, handled, network=network, scoped=scoped)
    try:
        for place in writable:
            _allow(rules, place, (_CHANGING | _READING) & handled)
        for place in readable or ():
            _allow(rules, place, _READING & handled)
        for name in _DEVICES if devices else ():
            if os.path.exists(f"/dev/{name}"):
                _allow(rules, f"/dev/{name}", _DEVICE & handled)
        kernel.no_new_privileges()
        kernel.syscall(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _handled(version: int, *, reads: bool) -> int:
    """Return the rights that are denied unless a rule allows them."""
    rights = _CHANGING | _NODES | _IOCTL_DEV | (_READING if reads else 0)
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        if version < since:
            rights &= ~right
    return rights


def _ruleset(version: int, handled: int, *, network: bool, scoped: bool) -> int:
    """Return a handle on a new set of rules, which the caller closes."""
    fields = [handled]
    if version >= 4:
        fields.append(0 if network else _TCP)
    if version >= 6:
        fields.append(_SCOPED if scoped else 0)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    return kernel.syscall(_CREATE_RULESET, attributes, len(attributes), 0)


def _allow(rules: int, place: Path | str | int, rights: int) -> None:
    handle = place if isinstance(place, int) else os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _OF_A_FILE
        if rights:
            kernel.syscall(_ADD_RULE, rules, _BENEATH, struct.pack("=Qi", rights, handle), 0)
    finally:
        if not isinstance(place, int):
            os.close(handle)
