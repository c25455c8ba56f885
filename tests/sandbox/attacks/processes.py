"""Through a process outside that may write: its files, its memory, its signals. And out of time: after the end."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import struct
import time
from pathlib import Path

from tests.sandbox.attacks import kernel
from tests.sandbox.attacks.registry import FORGED, NotHere, Place, attack

PTRACE_POKEDATA, PTRACE_ATTACH, PTRACE_DETACH = 5, 16, 17
LONGEST_WAIT_S = 60


@attack()
def first_root(place: Place) -> None:
    """/proc/1/root/"""
    Path(f"/proc/1/root{place.insights}", "forged.md").write_bytes(FORGED)


@attack()
def their_root(place: Place) -> None:
    """/proc/PID/root/ of a process outside"""
    Path(f"/proc/{place.deputy['pid']}/root{place.insights}", "forged.md").write_bytes(FORGED)


@attack()
def their_folder(place: Place) -> None:
    """/proc/PID/cwd/ of a process outside that stands in insights/"""
    Path(f"/proc/{place.deputy['pid']}/cwd", "forged.md").write_bytes(FORGED)


@attack()
def any_folder(place: Place) -> None:
    """/proc/*/root and cwd of every process there is"""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for door in (f"/proc/{pid}/root{place.insights}", f"/proc/{pid}/cwd"):
            try:
                if not door.endswith("cwd") or os.readlink(door) == place.insights:
                    Path(door, "forged.md").write_bytes(FORGED)
                    return
            except OSError:
                continue
    raise PermissionError("no process lent its view")


@attack()
def their_descriptor(place: Place) -> None:
    """/proc/PID/fd/ of a process outside that holds an insight open"""
    with open(f"/proc/{place.deputy['pid']}/fd/{place.deputy['held']}", "wb") as file:
        file.write(FORGED)


@attack()
def take_descriptor(place: Place) -> None:
    """pidfd_getfd: take the descriptor itself"""
    handle = kernel.call("pidfd_open", place.deputy["pid"], 0)
    os.write(kernel.call("pidfd_getfd", handle, place.deputy["held"], 0), FORGED)


@attack()
def their_memory(place: Place) -> None:
    """process_vm_writev into a process outside, which writes what stands in its memory"""

    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    data = ctypes.create_string_buffer(FORGED)
    mine, theirs = (Vector(where, len(FORGED)) for where in (ctypes.addressof(data), place.deputy["address"]))
    kernel.call("process_vm_writev", place.deputy["pid"], ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)


@attack()
def their_memory_file(place: Place) -> None:
    """Write into /proc/PID/mem"""
    handle = os.open(f"/proc/{place.deputy['pid']}/mem", os.O_RDWR)
    os.pwrite(handle, FORGED, place.deputy["address"])


@attack()
def ptrace(place: Place) -> None:
    """ptrace a process outside and poke its memory"""
    pid, call = place.deputy["pid"], kernel.LIBC.ptrace
    call.argtypes, call.restype = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p], ctypes.c_long
    kernel.checked(call(PTRACE_ATTACH, pid, None, None), "ptrace")
    try:
        os.waitpid(pid, 0)
        word = int.from_bytes(FORGED[:8], "little")
        kernel.checked(call(PTRACE_POKEDATA, pid, place.deputy["address"], word), "ptrace")
    finally:
        call(PTRACE_DETACH, pid, None, None)


def _keeper() -> int:
    """Whoever started the attackers: the cage's first process, if it can be seen."""
    with open(f"/proc/{os.getppid()}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])


@attack(held="through")
def keeper_memory(place: Place) -> object:
    """Open the memory of the cage's own first process (and leave it as it is)"""
    os.close(os.open(f"/proc/{_keeper()}/mem", os.O_RDWR))
    return "opened for writing"


@attack(held="through")
def keeper_descriptors(place: Place) -> object:
    """Open the pipes over which the cage's first process talks to retain"""
    folder = f"/proc/{_keeper()}/fd"
    for name in sorted(os.listdir(folder)):
        if os.readlink(f"{folder}/{name}").startswith("pipe:"):
            os.close(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_NONBLOCK))
            return f"descriptor {name} opened for writing"
    return ""


@attack()
def signals(place: Place) -> None:
    """Send a signal to a process outside that writes on it"""
    os.kill(place.deputy["pid"], signal.SIGUSR1)


@attack()
def signal_by_handle(place: Place) -> None:
    """Send it by pidfd"""
    signal.pidfd_send_signal(kernel.call("pidfd_open", place.deputy["pid"], 0), signal.SIGUSR1)


@attack()
def signal_from_file(place: Place) -> None:
    """Let the kernel send it: F_SETOWN and F_SETSIG on a socket of one's own"""
    out, into = os.pipe()
    fcntl.fcntl(out, fcntl.F_SETOWN, place.deputy["pid"])
    fcntl.fcntl(out, 10, signal.SIGUSR1)  # F_SETSIG
    fcntl.fcntl(out, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(into, b"x")


@attack()
def signal_queued(place: Place) -> None:
    """Send it with a value (rt_sigqueueinfo)"""
    said = struct.pack("iii", signal.SIGUSR1, 0, -1).ljust(128, b"\0")  # SI_QUEUE
    kernel.call("rt_sigqueueinfo", place.deputy["pid"], int(signal.SIGUSR1), said)


@attack()
def limit_files(place: Place) -> None:
    """Limit the size of files for an editor outside, so that its next save is cut (prlimit)"""
    _, hard = resource.prlimit(place.deputy["pid"], resource.RLIMIT_FSIZE)
    resource.prlimit(place.deputy["pid"], resource.RLIMIT_FSIZE, (5, hard))


@attack()
def limit_time(place: Place) -> None:
    """Limit the time of a process outside, which ends it when it is over (prlimit)"""
    _, hard = resource.prlimit(place.deputy["pid"], resource.RLIMIT_CPU)
    resource.prlimit(place.deputy["pid"], resource.RLIMIT_CPU, (1 << 20, hard))  # enough: more attacks are to come


@attack()
def slow_down(place: Place) -> None:
    """Let a process outside run after others (setpriority)"""
    os.setpriority(os.PRIO_PROCESS, place.deputy["pid"], os.getpriority(os.PRIO_PROCESS, place.deputy["pid"]) + 1)


@attack()
def crowd(place: Place) -> None:
    """Let a process outside run on one processor alone (sched_setaffinity)"""
    here = os.sched_getaffinity(place.deputy["pid"])
    if len(here) < 2:
        raise NotHere("there is one processor")
    os.sched_setaffinity(place.deputy["pid"], {min(here)})


@attack()
def reschedule(place: Place) -> None:
    """Let a process outside wait for its turn as work in the background does (sched_setscheduler)"""
    os.sched_setscheduler(place.deputy["pid"], os.SCHED_BATCH, os.sched_param(0))


@attack()
def starve(place: Place) -> None:
    """Let a process outside read and write when nobody else does (ioprio_set)"""
    process, idle = 1, 3 << 13
    kernel.call("ioprio_set", process, place.deputy["pid"], idle)


def _after_the_end(place: Place, path: str) -> None:
    """Fork twice, out of the session; write `path` once the judge has said that the cage is over."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for descriptor in range(3):
        os.close(descriptor)
    lock = os.open(f"{place.work}/alive", os.O_RDWR)  # the judge waits until nobody holds it
    fcntl.flock(lock, fcntl.LOCK_SH)
    Path(place.work, "waiting").write_bytes(b"")
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not Path(place.work, "over").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        Path(path).write_bytes(FORGED)
    finally:
        os._exit(0)


@attack(alone="late")
def daemon(place: Place) -> None:
    """A daemon that waits until the cage is gone and then writes an insight"""
    _after_the_end(place, place.note)
    _until(f"{place.work}/waiting")


@attack(alone="late", held="through")
def outlive(place: Place) -> None:
    """A daemon that writes the wiki after the run was settled, as if it were the human"""
    _after_the_end(place, f"{place.work}/late.md")
    _until(f"{place.work}/waiting")


def _until(path: str) -> None:
    deadline = time.monotonic() + LONGEST_WAIT_S
    while not os.path.exists(path):
        assert time.monotonic() < deadline
        time.sleep(0.002)
