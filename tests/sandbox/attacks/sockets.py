"""Deputies: programs outside that listen, and would write for whoever asks."""

from __future__ import annotations

import array
import os
import socket
from pathlib import Path

from tests.sandbox.attacks.registry import FORGED, Place, attack

WAIT_S = 20
ASK = b"write\n" + FORGED


def _connected(address: object, family: int) -> socket.socket:
    """A line to a helper. Names of sockets are short, so that we go to where it lies."""
    line = socket.socket(family, socket.SOCK_STREAM)
    line.settimeout(WAIT_S)
    if isinstance(address, str):
        os.chdir(os.path.dirname(address))
        address = os.path.basename(address)
    line.connect(address)  # type: ignore[arg-type]
    return line


def _ask(address: object, family: int = socket.AF_UNIX) -> None:
    with _connected(address, family) as line:
        line.sendall(ASK)
        line.recv(16)


def _ask_for_descriptor(address: str | bytes) -> None:
    """Ask for a descriptor that is open for writing, and write with it."""
    with _connected(address, socket.AF_UNIX) as line:
        line.sendall(b"descriptor\n")
        _, extra, _, _ = line.recvmsg(16, socket.CMSG_SPACE(4))
        handles = array.array("i")
        handles.frombytes(extra[0][2][:4])
        os.write(handles[0], FORGED)


@attack()
def socket_in_tmp(place: Place) -> None:
    """A socket in /tmp: the helper writes"""
    _ask(place.deputy["sockets"]["temp"])


@attack()
def descriptor_in_tmp(place: Place) -> None:
    """A socket in /tmp: the helper hands over an open descriptor (SCM_RIGHTS)"""
    _ask_for_descriptor(place.deputy["sockets"]["temp"])


@attack()
def socket_in_runtime(place: Place) -> None:
    """A socket in XDG_RUNTIME_DIR, where desktops keep theirs"""
    _ask(place.deputy["sockets"]["runtime"])


@attack()
def socket_in_home(place: Place) -> None:
    """A socket in the home folder, where ssh and gpg keep theirs"""
    _ask_for_descriptor(place.deputy["sockets"]["home"])


@attack()
def socket_by_link(place: Place) -> None:
    """The same by a link in the agent's folder"""
    os.symlink(place.deputy["sockets"]["home"], f"{place.work}/s")
    _ask(f"{place.work}/s")


@attack()
def socket_by_proc(place: Place) -> None:
    """A socket in /tmp, through /proc/PID/root of the helper"""
    _ask(f"/proc/{place.deputy['pid']}/root{place.deputy['sockets']['temp']}")


@attack()
def datagram_socket(place: Place) -> None:
    """A datagram socket in the home folder, like a system log"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        folder, _, name = place.deputy["sockets"]["datagram"].rpartition("/")
        os.chdir(folder)
        line.sendto(ASK, name)


@attack(alone="socket in the agent's folder")
def socket_in_work(place: Place) -> None:
    """A socket that a helper opened in the agent's own folder before the start"""
    _ask_for_descriptor(f"{place.work}/helper.sock")


@attack()
def socket_opened_later(place: Place) -> None:
    """A socket that a helper opens in the home folder after the start"""
    _ask(place.deputy["sockets"]["later"])


@attack()
def abstract_socket(place: Place) -> None:
    """An abstract socket"""
    _ask_for_descriptor(b"\0" + place.deputy["abstract"].encode())


def _by_environment(variable: str) -> None:
    value = os.environ.get(variable)
    if not value:
        raise PermissionError(f"{variable} is not set")
    path = value.removeprefix("unix:path=").partition(",")[0]
    _ask(path)


@attack()
def ssh_agent(place: Place) -> None:
    """The ssh agent of the session (SSH_AUTH_SOCK)"""
    _by_environment("SSH_AUTH_SOCK")


@attack()
def session_bus(place: Place) -> None:
    """The session's D-Bus (DBUS_SESSION_BUS_ADDRESS)"""
    _by_environment("DBUS_SESSION_BUS_ADDRESS")


@attack()
def terminal_server(place: Place) -> None:
    """The terminal's server (TMUX)"""
    _by_environment("TMUX")


@attack()
def tcp(place: Place) -> None:
    """A helper that listens on TCP at 127.0.0.1"""
    _ask(("127.0.0.1", place.deputy["tcp"]), socket.AF_INET)


@attack()
def tcp_mapped(place: Place) -> None:
    """The same as ::ffff:127.0.0.1"""
    _ask(("::ffff:127.0.0.1", place.deputy["tcp"]), socket.AF_INET6)


@attack()
def udp(place: Place) -> None:
    """A helper that listens on UDP at 127.0.0.1"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.sendto(ASK, ("127.0.0.1", place.deputy["udp"]))


@attack()
def pipe_in_tmp(place: Place) -> None:
    """A named pipe in /tmp that a helper reads"""
    handle = os.open(place.deputy["pipe"], os.O_WRONLY | os.O_NONBLOCK)
    os.write(handle, ASK)


@attack()
def pipe_in_home(place: Place) -> None:
    """A named pipe in the home folder that a helper reads"""
    handle = os.open(place.deputy["home_pipe"], os.O_WRONLY | os.O_NONBLOCK)
    os.write(handle, ASK)


@attack(alone="pipe in the agent's folder")
def pipe_in_work(place: Place) -> None:
    """A named pipe that lay in the agent's own folder before the start"""
    handle = os.open(f"{place.work}/helper.pipe", os.O_WRONLY | os.O_NONBLOCK)
    os.write(handle, ASK)


@attack()
def file_in_tmp(place: Place) -> None:
    """A file in /tmp that a helper obeys"""
    Path(place.temp, "orders.txt").write_bytes(FORGED)
