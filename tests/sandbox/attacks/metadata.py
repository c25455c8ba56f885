"""Not the bytes, but what stands about them: modes, owners, times, attributes."""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct

from tests.sandbox.attacks import kernel
from tests.sandbox.attacks.registry import NotHere, Place, attack

GET_FLAGS, SET_FLAGS, NO_DUMP = 0x80086601, 0x40086602, 0x40


@attack()
def chmod(place: Place) -> None:
    """chmod an insight"""
    os.chmod(place.note, 0o666)


@attack()
def fchmod(place: Place) -> None:
    """fchmod an insight opened for reading"""
    os.fchmod(os.open(place.note, os.O_RDONLY), 0o600)


@attack()
def fchmodat2(place: Place) -> None:
    """chmod by the newest call for it (fchmodat2)"""
    kernel.call("fchmodat2", kernel.AT_FDCWD, place.note.encode(), 0o640, 0)


@attack()
def chmod_folder(place: Place) -> None:
    """Lock the human out of insights/ (chmod 000)"""
    os.chmod(place.insights, 0)


@attack()
def chown(place: Place) -> None:
    """chown an insight"""
    if os.getuid() == 0:
        os.chown(place.note, 65534, 65534)
    else:
        groups = [g for g in os.getgroups() if g != os.stat(place.note).st_gid]
        if not groups:
            raise NotHere("the user is in one group alone")
        os.chown(place.note, -1, groups[0])


@attack()
def utime(place: Place) -> None:
    """Set the time of an insight back"""
    os.utime(place.note, (1, 1))


@attack()
def set_attribute(place: Place) -> None:
    """Set an extended attribute on an insight"""
    os.setxattr(place.note, "user.forged", b"1")


@attack()
def remove_attribute(place: Place) -> None:
    """Remove an extended attribute of an insight"""
    os.removexattr(place.note, "user.kept")


@attack()
def set_attribute_at(place: Place) -> None:
    """Set an extended attribute by the newest call for it (setxattrat)"""
    value = ctypes.create_string_buffer(b"1")
    arguments = struct.pack("QII", ctypes.addressof(value), 1, 0)
    path, name = place.note.encode(), b"user.forged"
    kernel.call("setxattrat", kernel.AT_FDCWD, path, 0, name, ctypes.create_string_buffer(arguments, 16), 16)


@attack()
def access_list(place: Place) -> None:
    """Give everybody an entry in an insight's access list (ACL)"""
    entries = ((1, 6, 0xFFFFFFFF), (2, 6, 65534), (4, 4, 0xFFFFFFFF), (16, 6, 0xFFFFFFFF), (32, 4, 0xFFFFFFFF))
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(place.note, "system.posix_acl_access", value)


@attack()
def flags(place: Place) -> None:
    """chattr an insight"""
    handle = os.open(place.note, os.O_RDONLY)
    word = bytearray(8)
    fcntl.ioctl(handle, GET_FLAGS, word)
    (old,) = struct.unpack_from("I", word)
    fcntl.ioctl(handle, SET_FLAGS, struct.pack("Q", old | NO_DUMP))


@attack()
def metadata_through_link(place: Place) -> None:
    """chmod an insight through a symbolic link"""
    os.symlink(place.note, f"{place.work}/x.md")
    os.chmod(f"{place.work}/x.md", 0o600)


@attack()
def personal_chmod(place: Place) -> None:
    """Open the personal vault to everybody (chmod)"""
    os.chmod(place.secret, 0o666)
