"""What has no path: queues, shared memory and keys that processes of one user have in common."""

from __future__ import annotations

import ctypes
import mmap
import os

from tests.sandbox.attacks import kernel
from tests.sandbox.attacks.registry import FORGED, NotHere, Place, attack

SESSION_OF_USER = -4


@attack()
def message_queue(place: Place) -> None:
    """A System V message queue that a helper reads"""
    queue = kernel.checked(kernel.LIBC.msgget(place.deputy["queue"], 0), "msgget")

    class Message(ctypes.Structure):
        _fields_ = [("kind", ctypes.c_long), ("text", ctypes.c_char * 64)]

    message = Message(1, FORGED)
    kernel.checked(kernel.LIBC.msgsnd(queue, ctypes.byref(message), len(FORGED), 0), "msgsnd")


@attack()
def message_queue_by_number(place: Place) -> None:
    """The same queue by its number, which can be guessed"""
    text = ctypes.create_string_buffer((1).to_bytes(8, "little") + FORGED)
    kernel.checked(kernel.LIBC.msgsnd(place.deputy["queue_number"], text, len(FORGED), 0), "msgsnd")


@attack()
def shared_memory(place: Place) -> None:
    """System V shared memory that a helper obeys"""
    segment = kernel.checked(kernel.LIBC.shmget(place.deputy["segment"], 0, 0), "shmget")
    attach = kernel.LIBC.shmat
    attach.restype = ctypes.c_void_p
    address = attach(segment, None, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")
    ctypes.memmove(address, FORGED, len(FORGED))


@attack()
def posix_queue(place: Place) -> None:
    """A POSIX message queue that a helper reads"""
    if not place.deputy["posix_queue"]:
        raise NotHere("the kernel has no POSIX message queues")
    queue = kernel.checked(kernel.LIBC.mq_open(place.deputy["posix_queue"].encode(), os.O_WRONLY), "mq_open")
    kernel.checked(kernel.LIBC.mq_send(queue, FORGED, ctypes.c_size_t(len(FORGED)), 0), "mq_send")


@attack()
def posix_memory(place: Place) -> None:
    """A file in /dev/shm that a helper obeys"""
    handle = os.open(f"/dev/shm/{place.deputy['memory']}", os.O_RDWR)
    with mmap.mmap(handle, 64) as view:
        view[: len(FORGED)] = FORGED


@attack()
def posix_memory_by_proc(place: Place) -> None:
    """The same file through /proc/PID/map_files or fd of the helper"""
    with open(f"/proc/{place.deputy['pid']}/fd/{place.deputy['memory_handle']}", "r+b") as file:
        file.write(FORGED)


@attack()
def keyring(place: Place) -> None:
    """A key in the user's keyring that a helper obeys (keyctl)"""
    name = place.deputy["key"].encode()
    kernel.call("add_key", b"user", name, FORGED, len(FORGED), SESSION_OF_USER)
