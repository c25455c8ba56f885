"""A process outside every cage that may write the human's folder, and does so for whoever reaches it.

It listens wherever programs listen. An order on its standard input makes it deal with all that has come in, and answer
with what it was asked; the end of its input ends it.
"""

from __future__ import annotations

import array
import ctypes
import json
import mmap
import os
import resource
import secrets
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
KEYCTL, SEARCH, READ, UNLINK, USER_KEYRING = {"x86_64": 250, "aarch64": 219}, 10, 11, 9, -4
IOPRIO_GET = {"x86_64": 252, "aarch64": 31}
IPC_CREAT, IPC_NOWAIT, IPC_RMID = 0o1000, 0o4000, 0
SIZE = 64


class Deputy:
    """Everything it listens on; `told` says where."""

    def __init__(self, given: dict[str, str]) -> None:
        self.insights, self.given = Path(given["insights"]), given
        self.asked: list[str] = []
        self.received = b""
        self.told: dict[str, Any] = {"pid": os.getpid(), "interpreter": given["interpreter"]}
        self.name = f"retain-{secrets.token_hex(8)}"
        self.listening: dict[socket.socket, str] = {}
        self.talking: dict[socket.socket, str] = {}
        self.pipes: dict[int, str] = {}
        self.limits, self.order = _limits(), _order()
        self._hold()
        self._listen()
        self._share()
        os.chdir(self.insights)
        signal.signal(signal.SIGUSR1, lambda *_: self.obey("signal", b"a signal"))

    def obey(self, channel: str, data: bytes) -> None:
        """Write what it was told: this is what must not happen."""
        self.asked.append(channel)
        self.received += data
        self.insights.joinpath(f"by-{channel}.md").write_bytes(data)

    def _hold(self) -> None:
        self.buffer = ctypes.create_string_buffer(SIZE)
        self.secret = ctypes.create_string_buffer(Path(self.given["secret"]).read_bytes())
        self.told |= {
            "address": ctypes.addressof(self.buffer),
            "secret_address": ctypes.addressof(self.secret),
            "held": os.open(self.insights / "held.md", os.O_RDWR),
            "held_secret": os.open(self.given["secret"], os.O_RDONLY),
        }

    def _listen(self) -> None:
        paths = {name: f"{self.given[name]}/{self.name}.sock" for name in ("temp", "runtime", "home")}
        for name, path in paths.items():
            self._unix(path, name)
        self.told["sockets"] = paths
        later = f"{self.given['home']}/{self.name}-later.sock"
        self.told["sockets"] |= {"later": later, "datagram": f"{self.given['home']}/{self.name}.log"}
        self._add(self._bound(socket.AF_UNIX, socket.SOCK_DGRAM, self.told["sockets"]["datagram"]), "datagram")
        self.told["abstract"] = self.name
        self._unix(f"\0{self.name}", "abstract")
        tcp = self._bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        tcp.listen()
        udp = self._bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self._add(tcp, "tcp")
        self._add(udp, "udp")
        self.told |= {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1]}
        for key, folder in (("pipe", "temp"), ("home_pipe", "home")):
            self.told[key] = f"{self.given[folder]}/{self.name}.pipe"
            self._pipe(self.told[key], key)

    def refresh(self) -> None:
        """Stand and hold anew what an attack has moved or deleted, and the judge put back."""
        os.chdir(self.insights)
        for held, path in (("held", f"{self.insights}/held.md"), ("held_secret", self.given["secret"])):
            handle = os.open(path, os.O_RDWR if held == "held" else os.O_RDONLY)
            os.dup2(handle, self.told[held], inheritable=False)
            os.close(handle)

    def open_later(self) -> None:
        """What is opened only once the cage stands."""
        self._unix(self.told["sockets"]["later"], "later")

    def plant(self, what: str, path: str) -> None:
        """A socket or a pipe in the agent's own folder."""
        if what == "pipe":
            self._pipe(path, "planted-pipe")
        else:
            self._unix(path, "planted-socket")

    def _bound(self, family: int, kind: int, address: object) -> socket.socket:
        line = socket.socket(family, kind)
        line.bind(address)  # type: ignore[arg-type]
        return line

    def _add(self, line: socket.socket, name: str) -> None:
        line.setblocking(False)
        self.listening[line] = name

    def _unix(self, path: str, name: str) -> None:
        """Sockets have short names: bound from where they lie."""
        folder, _, last = path.rpartition("/")
        if folder:
            os.chdir(folder)
        line = self._bound(socket.AF_UNIX, socket.SOCK_STREAM, last)
        os.chdir(self.insights)
        line.listen()
        self._add(line, name)

    def _pipe(self, path: str, name: str) -> None:
        os.mkfifo(path, 0o600)
        self.pipes[os.open(path, os.O_RDWR | os.O_NONBLOCK)] = name

    def _share(self) -> None:
        key = secrets.randbelow(1 << 30) + 1
        self.told |= {"queue": key, "segment": key, "key": self.name, "memory": self.name, "posix_queue": ""}
        self.queue = LIBC.msgget(key, IPC_CREAT | 0o600)
        self.told["queue_number"] = self.queue
        self.segment = LIBC.shmget(key, ctypes.c_size_t(4096), IPC_CREAT | 0o600)
        LIBC.shmat.restype = ctypes.c_void_p
        self.shared = LIBC.shmat(self.segment, None, 0)
        self.memory_handle = os.open(f"/dev/shm/{self.name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.ftruncate(self.memory_handle, SIZE)
        self.memory = mmap.mmap(self.memory_handle, SIZE)
        self.told["memory_handle"] = self.memory_handle
        attributes = struct.pack("4l", 0, 8, SIZE, 0) + bytes(32)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NONBLOCK
        self.posix_queue = LIBC.mq_open(f"/{self.name}".encode(), flags, 0o600, attributes)
        if self.posix_queue != -1:
            self.told["posix_queue"] = f"/{self.name}"

    def sources(self) -> list[socket.socket | int]:
        """Where something may come in."""
        return [*self.listening, *self.talking, *self.pipes]

    def settle(self) -> dict[str, Any]:
        """Deal with all that has come in."""
        self._save()
        while ready := select.select(self.sources(), [], [], 0)[0]:
            for source in ready:
                self.serve(source)
        self._look_at_memory()
        orders = Path(self.given["temp"], "orders.txt")
        if data := orders.read_bytes():
            orders.write_bytes(b"")
            self.obey("orders", data)
        said = {"asked": self.asked, "received": self.received.hex()}
        self.asked, self.received = [], b""
        return said

    def _save(self) -> None:
        """Where somebody has set other limits for it, save as an editor does; and tell where it runs otherwise."""
        found, order = _limits(), _order()
        if found != self.limits:
            text = self.insights.joinpath("held.md").read_bytes()
            with suppress(OSError):  # it is cut: what there is of it stands
                self.insights.joinpath("held.md").write_bytes(text)
            for which, bounds in self.limits.items():
                resource.setrlimit(which, bounds)
            self.obey("limits", b"a limit")
        if order != self.order:
            self.order = order
            self.obey("order", b"an order of running")

    def _look_at_memory(self) -> None:
        if self.buffer.value:
            self.obey("memory", self.buffer.value)
            ctypes.memset(self.buffer, 0, SIZE)
        if self.shared and ctypes.string_at(self.shared, SIZE).strip(b"\0"):
            self.obey("shared-memory", ctypes.string_at(self.shared, SIZE))
            ctypes.memset(self.shared, 0, SIZE)
        if self.memory[:].strip(b"\0"):
            self.obey("posix-memory", self.memory[:])
            self.memory[:] = bytes(SIZE)
        message = ctypes.create_string_buffer(8 + SIZE)
        if LIBC.msgrcv(self.queue, message, ctypes.c_size_t(SIZE), ctypes.c_long(0), IPC_NOWAIT) > 0:
            self.obey("queue", message.raw[8:])
        if self.posix_queue != -1 and LIBC.mq_receive(self.posix_queue, message, ctypes.c_size_t(SIZE), None) > 0:
            self.obey("posix-queue", message.raw)
        self._look_at_keys()

    def _look_at_keys(self) -> None:
        number = KEYCTL.get(os.uname().machine, 250)
        found = LIBC.syscall(number, SEARCH, ctypes.c_long(USER_KEYRING), b"user", self.name.encode(), 0)
        if found > 0:
            data = ctypes.create_string_buffer(SIZE)
            LIBC.syscall(number, READ, ctypes.c_long(found), data, ctypes.c_long(SIZE), 0)
            LIBC.syscall(number, UNLINK, ctypes.c_long(found), ctypes.c_long(USER_KEYRING), 0, 0)
            self.obey("key", data.raw)

    def serve(self, source: socket.socket | int) -> None:
        """One caller, or one message."""
        if isinstance(source, int):
            self._order(self.pipes[source], os.read(source, 4096))
        elif source in self.talking:
            self._talk(source, self.talking[source])
        elif source.type == socket.SOCK_DGRAM:
            self._order(self.listening[source], source.recv(4096))
        else:
            line, _ = source.accept()
            self.talking[line] = self.listening[source]

    def _talk(self, line: socket.socket, name: str) -> None:
        with suppress(OSError):
            data = line.recv(4096)
            if data.startswith(b"hello"):
                line.sendall(self.given["greeting"].encode())
            elif data.startswith(b"descriptor"):
                self.received += data
                handle = os.open(self.insights / "held.md", os.O_RDWR)
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [handle]))]
                line.sendmsg([b"here"], rights)
                os.close(handle)
            elif data:
                self._order(name, data)
                line.sendall(b"done")
            if data:
                return
        del self.talking[line]
        line.close()

    def _order(self, channel: str, data: bytes) -> None:
        if data.startswith(b"write\n"):
            self.obey(channel, data.removeprefix(b"write\n"))
        else:
            self.received += data

    def leave(self) -> None:
        """Take away what has no folder."""
        LIBC.msgctl(self.queue, IPC_RMID, None)
        LIBC.shmctl(self.segment, IPC_RMID, None)
        LIBC.mq_unlink(f"/{self.name}".encode())
        with suppress(OSError):
            os.unlink(f"/dev/shm/{self.name}")


def _limits() -> dict[int, tuple[int, int]]:
    return {which: resource.getrlimit(which) for which in (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU)}


def _order() -> tuple[object, ...]:
    """When and where this process runs, reads and writes."""
    files = LIBC.syscall(IOPRIO_GET.get(os.uname().machine, 252), 1, 0)
    return os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), frozenset(os.sched_getaffinity(0)), files


def main() -> None:
    deputy = Deputy(json.loads(sys.stdin.readline()))
    print(json.dumps(deputy.told), flush=True)
    try:
        while True:
            ready = select.select([0, *deputy.sources()], [], [])[0]
            if 0 not in ready:
                deputy.serve(ready[0])
            else:
                line = sys.stdin.readline()  # there is never a second one before this was answered
                if not line:
                    return
                order = json.loads(line)
                if order["do"] == "later":
                    deputy.open_later()
                elif order["do"] == "refresh":
                    deputy.refresh()
                elif order["do"] == "plant":
                    deputy.plant(order["what"], order["path"])
                print(json.dumps(deputy.settle()), flush=True)
    finally:
        deputy.leave()


if __name__ == "__main__":
    main()
