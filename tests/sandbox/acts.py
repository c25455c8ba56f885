"""Tries acts twice, free and shut in: `acts.py ORDERS` in a process of its own; prints {act: [before, after]} as JSON.

"" means that the act was let happen, else it is the name of the error, as "EACCES". Each act of each turn finds two
folders of its own, `TURN/theirs/N` and `TURN/mine/N`, which hold the same.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from vault.sandbox import kernel, landlock, seccomp

TURNS = ("before", "after")
TEXT = "what a human wrote\n"


@dataclass(frozen=True)
class Place:
    """Where one act of one turn happens."""

    turn: str
    theirs: Path
    mine: Path

    def lay_out(self) -> None:
        for folder in (self.theirs, self.mine):
            (folder / "sub").mkdir(parents=True)
            (folder / "note.md").write_text(TEXT)
            (folder / "other.md").write_text(TEXT * 2)
        (self.mine / "way").symlink_to(self.theirs / "note.md")


Act = Callable[[Place, dict[str, Any]], object]


def _make(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def _open(path: Path, flags: int) -> None:
    os.close(os.open(path, flags))


def _tmpfile(folder: Path) -> None:
    _open(folder, os.O_TMPFILE | os.O_RDWR)


def _bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as it:
        it.bind(str(path))


# Each on a folder: `theirs`, where it must come to nothing, and `mine`, where it must not.
ON_A_FOLDER: dict[str, Callable[[Path], object]] = {
    "create": lambda f: _make(f / "new"),
    "write": lambda f: _open(f / "note.md", os.O_WRONLY),
    "append": lambda f: _open(f / "note.md", os.O_WRONLY | os.O_APPEND),
    "truncate": lambda f: os.truncate(f / "other.md", 3),
    "open and truncate": lambda f: _open(f / "other.md", os.O_RDWR | os.O_TRUNC),
    "make folder": lambda f: (f / "folder").mkdir(),
    "make link": lambda f: (f / "link").symlink_to("note.md"),
    "hard link": lambda f: os.link(f / "note.md", f / "hard"),
    "make pipe": lambda f: os.mkfifo(f / "pipe"),
    "make socket": lambda f: _bind(f / "socket"),
    "unnamed file": _tmpfile,
    "rename over": lambda f: (f / "note.md").rename(f / "other.md"),
    "remove": lambda f: (f / "other.md").unlink(),
    "remove folder": lambda f: (f / "sub").rmdir(),
}
# From one into the other: each must come to nothing.
ACROSS: dict[str, Callable[[Place], object]] = {
    "move in": lambda p: (p.mine / "note.md").rename(p.theirs / "moved"),
    "move out": lambda p: (p.theirs / "note.md").rename(p.mine / "moved"),
    "link in": lambda p: os.link(p.mine / "other.md", p.theirs / "linked"),
    "link out": lambda p: os.link(p.theirs / "other.md", p.mine / "linked"),
    "by a link": lambda p: _open(p.mine / "way", os.O_WRONLY),
    "by /proc": lambda p: _open(Path(f"/proc/self/root{p.theirs}/other.md"), os.O_WRONLY),
}


def _device(place: Place, given: dict[str, Any]) -> None:
    os.mknod(place.mine / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))


def _connect(place: Place, given: dict[str, Any]) -> None:
    with socket.socket() as it:
        it.connect(("127.0.0.1", given["port"]))


def _listen(place: Place, given: dict[str, Any]) -> None:
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))


def _abstract(place: Place, given: dict[str, Any]) -> None:
    with socket.socket(socket.AF_UNIX) as it:
        it.connect("\0" + given["abstract"])


def _call(name: str, *arguments: int | bytes | None) -> Act:
    def act(place: Place, given: dict[str, Any]) -> None:
        kernel.syscall(seccomp._numbers()[name], *arguments)

    return act


def _forked(act: Act) -> Act:
    """The same in a child, as it changes the process that does it."""

    def in_child(place: Place, given: dict[str, Any]) -> None:
        child = os.fork()
        if child == 0:
            try:
                act(place, given)
            except OSError as error:
                os._exit(error.errno or 255)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            raise OSError(code, os.strerror(code)) if code > 0 else OSError(errno.EINTR, f"signal {-code}")

    return in_child


def _typed(place: Place, given: dict[str, Any]) -> None:
    import fcntl
    import pty

    os.setsid()
    _, slave = pty.openpty()
    fcntl.ioctl(slave, 0x540E, 0)  # TIOCSCTTY: this terminal is ours
    fcntl.ioctl(slave, given.get("command", 0x5412), b"x")


def _high_bits(place: Place, given: dict[str, Any]) -> None:
    """TIOCSTI with a bit set that the kernel drops."""
    import pty

    _, slave = pty.openpty()
    kernel.syscall(seccomp._numbers()["ioctl"], slave, (1 << 32) | 0x5412, b"x")


def _immutable(place: Place, given: dict[str, Any]) -> None:
    import fcntl

    with (place.theirs / "note.md").open() as file:
        fcntl.ioctl(file, 0x40086602, (0).to_bytes(8, "little"))


def _thread(place: Place, given: dict[str, Any]) -> None:
    import threading

    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    assert done == [1]


def _program(place: Place, given: dict[str, Any]) -> None:
    os.execv("/bin/true", ["true"])


def _spawn(place: Place, given: dict[str, Any]) -> None:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def _open_many(place: Place, given: dict[str, Any]) -> None:
    handles: list[int] = []
    try:
        while len(handles) < 400:
            handles.append(os.open("/dev/null", os.O_RDONLY))
    finally:
        for handle in handles:
            os.close(handle)


def _limit(place: Place, given: dict[str, Any]) -> None:
    import resource

    resource.prlimit(given["outsider"], resource.RLIMIT_FSIZE, (1 << 40, resource.RLIM_INFINITY))


def _limit_oneself(place: Place, given: dict[str, Any]) -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))


def _owner(place: Place, given: dict[str, Any]) -> None:
    """Let the kernel send a signal: to whoever a pipe is said to belong to."""
    import fcntl

    out, into = os.pipe()
    try:
        fcntl.fcntl(out, fcntl.F_SETOWN, given["outsider"])
    finally:
        os.close(out)
        os.close(into)


def _of(name: str, *arguments: int | bytes | None, before: tuple[int, ...] = ()) -> Act:
    """The call for the process outside: the arguments before its number, and those after."""
    return lambda place, given: kernel.syscall(seccomp._numbers()[name], *before, given["outsider"], *arguments)


def _read(name: str) -> Act:
    return lambda place, given: Path(given[name]).read_bytes()


def _write_to(name: str) -> Act:
    # Named after the folder of the acts: two tests that share a vault must not find each other's files.
    return lambda place, given: _make(Path(given[name], f"new-{place.mine.parents[2].name}-{place.turn}"))


_NEW_USER, _NEW_MOUNTS, _FILES = 0x10000000, 0x00020000, 0x00000400
_BATCH, _IDLE = 3, 3 << 13  # an order of running, and one of reading and writing

OTHERS: dict[str, Act] = {
    "make device": _device,
    "connect": _connect,
    "listen": _listen,
    "abstract socket": _abstract,
    "signal": lambda place, given: os.kill(given["outsider"], 0),
    "own signal": lambda place, given: os.kill(os.getpid(), 0),
    "raise": lambda place, given: __import__("signal").raise_signal(28),  # SIGWINCH, which is ignored
    "null": lambda place, given: Path("/dev/null").write_text("x"),
    "type": _forked(_typed),
    "type, high bits": _high_bits,
    "immutable": _immutable,
    "mount": _call("mount", b"none", b"/nowhere", b"tmpfs", 0, None),
    "umount": _call("umount2", b"/nowhere", 0),
    "chroot": _forked(lambda place, given: os.chroot("/")),
    "new user": _forked(_call("unshare", _NEW_USER)),
    "new mounts": _forked(_call("unshare", _NEW_MOUNTS)),
    "own files": _forked(_call("unshare", _FILES)),
    "clone, new user": _forked(_call("clone", _NEW_USER | 17, None, None, None, None)),
    "clone3": _call("clone3", None, 0),
    "setns": _call("setns", -1, 0),
    "trace": _forked(_call("ptrace", 0, 0, None, None)),
    "memory of others": _call("process_vm_writev", os.getpid(), None, 0, None, 0, 0),
    "keys": _call("keyctl", 0, -3, 0),
    "bpf": _call("bpf", -1, None, 0),
    "ring": _call("io_uring_setup", 0, None),
    "handle": _call("open_by_handle_at", -1, None, 0),
    "personality": _forked(_call("personality", 0x0400000)),
    "limit others": _limit,
    "slow others": _of("setpriority", 1, before=(0,)),
    "place others": _of("sched_setaffinity", 8, (1).to_bytes(8, "little")),
    "schedule others": _of("sched_setscheduler", _BATCH, bytes(4)),
    "schedule others anew": _of("sched_setattr", struct.pack("=IIQiIQQQ", 48, _BATCH, 0, 1, 0, 0, 0, 0), 0),
    "starve others": _of("ioprio_set", _IDLE, before=(1,)),
    "move others": _of("migrate_pages", 8, bytes(8), bytes(8)),
    "move pages of others": _of("move_pages", 0, None, None, None, 0),
    "limit oneself in place": _limit_oneself,
    "limit oneself": _forked(_limit_oneself),
    "slow oneself": _forked(lambda place, given: os.nice(1)),
    "place oneself": _forked(lambda place, given: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})),
    "schedule oneself": _forked(lambda place, given: os.sched_setscheduler(0, _BATCH, os.sched_param(0))),
    "starve oneself": _forked(_call("ioprio_set", 1, 0, _IDLE)),
    "owner": _owner,
    "ask personality": _call("personality", 0xFFFFFFFF),
    "chmod": lambda place, given: (place.theirs / "note.md").chmod(0o600),
    "chown": lambda place, given: os.chown(place.theirs / "note.md", os.getuid(), -1),
    "utime": lambda place, given: os.utime(place.theirs / "note.md", (1, 1)),
    "attribute": lambda place, given: os.setxattr(place.theirs / "note.md", "user.x", b"1"),
    "thread": _thread,
    "fork": _forked(lambda place, given: None),
    "program": _program,
    "spawn": _spawn,
    "inet": lambda place, given: socket.socket().close(),
    "datagram": lambda place, given: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "unix": lambda place, given: socket.socket(socket.AF_UNIX).close(),
    "socket pair": lambda place, given: socket.socketpair(),
    "read raw": _read("raw note"),
    "read insight": _read("insight"),
    "list insights": lambda place, given: list(Path(given["insight"]).parent.iterdir()),
    "read personal": _read("personal note"),
    "read key": _read("key"),
    "write raw": _write_to("raw"),
    "write insights": _write_to("insights"),
    "write work": _write_to("work"),
    "write temporary": _write_to("temporary"),
    "load module": lambda place, given: __import__(given["module"][place.turn]),
    "open many": _open_many,
}


def _on(act: Callable[[Path], object], folder: str) -> Act:
    return lambda place, given: act(place.theirs if folder == "theirs" else place.mine)


def _across(act: Callable[[Place], object]) -> Act:
    return lambda place, given: act(place)


ACTS: dict[str, Act] = {
    **{f"{name}, theirs": _on(act, "theirs") for name, act in ON_A_FOLDER.items()},
    **{f"{name}, mine": _on(act, "mine") for name, act in ON_A_FOLDER.items()},
    **{name: _across(act) for name, act in ACROSS.items()},
    **OTHERS,
}


def tried(name: str, place: Place, given: dict[str, Any]) -> str:
    try:
        ACTS[name](place, given)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return ""


def shut_in(how: dict[str, Any]) -> None:
    """Restrict this process as the orders say."""
    if "abi" in how:  # as on an older kernel
        version = how["abi"]
        landlock.abi = lambda: version
    if "landlock" in how:
        options = dict(how["landlock"])
        writable = [Path(path) for path in options.pop("writable")]
        readable = options.pop("readable", None)
        places = [os.open(path, os.O_RDONLY) for path in writable] if options.pop("handles", False) else writable
        landlock.restrict(places, readable=readable and [Path(path) for path in readable], **options)
    if "filter" in how:
        seccomp.restrict_syscalls(**how["filter"])
    if "worker" in how:
        from vault.sandbox.self_sandbox import limit_worker, restrict_worker

        limit_worker()
        restrict_worker(Path(how["worker"]))
    if "speaker" in how:
        from vault.sandbox.self_sandbox import restrict_model_process

        restrict_model_process()


def _until_alone() -> None:
    """A thread that was joined is done with Python, and the kernel may still be about to end it."""
    deadline = time.monotonic() + 60.0
    while len([*Path("/proc/self/task").iterdir()]) > 1 and time.monotonic() < deadline:
        time.sleep(0.001)


def main() -> None:
    orders = json.loads(sys.argv[1])
    base, names = Path(orders["base"]), orders["acts"]
    places = {
        (turn, name): Place(turn, base / turn / "theirs" / str(n), base / turn / "mine" / str(n))
        for turn in TURNS
        for n, name in enumerate(names)
    }
    for place in places.values():
        place.lay_out()
    # Starting a program in one's own place ends what tries it: its control is `spawn`.
    before = {n: tried(n, places["before", n], orders["given"]) for n in names if n != "program"}
    _until_alone()
    shut_in(orders["how"])
    after = {name: tried(name, places["after", name], orders["given"]) for name in names}
    print(json.dumps({name: [before.get(name, ""), after[name]] for name in names}), flush=True)


if __name__ == "__main__":
    main()
