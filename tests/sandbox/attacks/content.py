"""Other ways to bring bytes into a file: mappings, pipes, rings, handles."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from pathlib import Path

from tests.sandbox.attacks import kernel
from tests.sandbox.attacks.registry import FORGED, Place, attack


@attack()
def mmap_shared(place: Place) -> None:
    """Write through a shared memory mapping of an insight"""
    handle = os.open(place.note, os.O_RDWR)
    with mmap.mmap(handle, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as view:
        view[:6] = b"FORGED"


def _link(handle: int, path: str) -> None:
    here, follow = kernel.AT_FDCWD, 0x400
    source = f"/proc/self/fd/{handle}".encode()
    kernel.checked(kernel.LIBC.linkat(here, source, here, path.encode(), follow), "linkat")


@attack()
def tmpfile_link(place: Place) -> None:
    """Make a nameless file in insights/ (O_TMPFILE) and link it in"""
    handle = os.open(place.insights, os.O_TMPFILE | os.O_WRONLY, 0o644)
    os.write(handle, FORGED)
    _link(handle, f"{place.insights}/forged.md")


@attack()
def tmpfile_link_across(place: Place) -> None:
    """Make a nameless file in the agent's folder and link it into insights/"""
    handle = os.open(place.work, os.O_TMPFILE | os.O_WRONLY, 0o644)
    os.write(handle, FORGED)
    _link(handle, f"{place.insights}/forged.md")


def _source(place: Place) -> int:
    path = Path(place.work, "mine.md")
    path.write_bytes(FORGED)
    return os.open(path, os.O_RDONLY)


@attack()
def copy_file_range(place: Place) -> None:
    """copy_file_range onto an insight"""
    os.copy_file_range(_source(place), os.open(place.note, os.O_WRONLY), len(FORGED))


@attack()
def sendfile(place: Place) -> None:
    """sendfile onto an insight"""
    os.sendfile(os.open(place.note, os.O_WRONLY), _source(place), 0, len(FORGED))


@attack()
def splice(place: Place) -> None:
    """splice a pipe into an insight"""
    out, into = os.pipe()
    os.write(into, FORGED)
    kernel.call("splice", out, None, os.open(place.note, os.O_WRONLY), None, len(FORGED), 0)


@attack()
def fallocate(place: Place) -> None:
    """Punch a hole into an insight"""
    handle = os.open(place.note, os.O_RDWR)
    punch, keep = 2, 1
    offset, length = ctypes.c_long(0), ctypes.c_long(8)
    kernel.checked(kernel.LIBC.fallocate(handle, punch | keep, offset, length), "fallocate")


@attack()
def direct_io(place: Place) -> None:
    """Write past the page cache (O_DIRECT)"""
    handle = os.open(place.note, os.O_RDWR | os.O_DIRECT)
    page = mmap.mmap(-1, 4096)
    page[:6] = b"FORGED"
    os.writev(handle, [page])


def _ring(operation: bytes) -> int:
    """The result of one operation given to io_uring."""
    parameters = ctypes.create_string_buffer(120)
    ring = kernel.call("io_uring_setup", 4, parameters)
    sq, cq = struct.unpack_from("10I", parameters, 40), struct.unpack_from("10I", parameters, 80)
    share = {"flags": mmap.MAP_SHARED | mmap.MAP_POPULATE, "prot": mmap.PROT_READ | mmap.PROT_WRITE}
    queue = mmap.mmap(ring, sq[6] + 4 * 4, offset=0, **share)
    entries = mmap.mmap(ring, 4 * 64, offset=0x10000000, **share)
    done = mmap.mmap(ring, cq[5] + 16 * 8, offset=0x8000000, **share)
    entries[:64] = operation
    struct.pack_into("I", queue, sq[6], 0)
    (tail,) = struct.unpack_from("I", queue, sq[1])
    struct.pack_into("I", queue, sq[1], tail + 1)
    kernel.call("io_uring_enter", ring, 1, 1, 1, None, 0)
    (_, result, _) = struct.unpack_from("QiI", done, cq[5])
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return int(result)


def _operation(code: int, fd: int, offset: int, address: int, length: int, flags: int) -> bytes:
    return struct.pack("=BBHiQQII", code, 0, 0, fd, offset, address, length, flags).ljust(64, b"\0")


@attack()
def io_uring(place: Place) -> None:
    """Open and write an insight by io_uring, past every filter of system calls"""
    path, data = ctypes.create_string_buffer(place.note.encode()), ctypes.create_string_buffer(FORGED)
    handle = _ring(_operation(18, kernel.AT_FDCWD, 0, ctypes.addressof(path), 0, os.O_WRONLY | os.O_TRUNC))
    _ring(_operation(23, handle, 0, ctypes.addressof(data), len(FORGED), 0))


def handle_of(path: str) -> bytes:
    """The kernel's file handle of what is at `path`."""
    buffer = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + b"\0" * 128)
    kernel.call("name_to_handle_at", kernel.AT_FDCWD, path.encode(), buffer, ctypes.byref(ctypes.c_int()), 0)
    return buffer.raw


@attack()
def open_by_handle(place: Place) -> None:
    """Open an insight by its file handle, past every path"""
    handle = handle_of(place.note)
    mounted = os.open(place.work, os.O_RDONLY)
    got = kernel.call("open_by_handle_at", mounted, ctypes.create_string_buffer(handle), os.O_WRONLY | os.O_TRUNC)
    os.write(got, FORGED)


@attack()
def memfd_exec(place: Place) -> None:
    """Run a program that lies in memory alone, and let it write"""
    handle = os.memfd_create("agent", 0)
    os.write(handle, f"#!/bin/sh\necho forged > {place.note}\n".encode())
    os.fchmod(handle, 0o700)
    child = os.fork()
    if child == 0:
        os.execv(f"/proc/self/fd/{handle}", ["agent"])
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


@attack()
def open_path_descriptor(place: Place) -> None:
    """Take hold of insights/ with O_PATH and write below that descriptor"""
    folder = os.open(place.insights, os.O_PATH | os.O_DIRECTORY)
    handle = os.open("forged.md", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=folder)
    os.write(handle, FORGED)


@attack()
def reopen_by_proc(place: Place) -> None:
    """Open an insight with O_PATH and open it again for writing through /proc/self/fd"""
    handle = os.open(place.note, os.O_PATH)
    os.write(os.open(f"/proc/self/fd/{handle}", os.O_WRONLY | os.O_TRUNC), FORGED)
