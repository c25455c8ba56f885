"""A connection to a web server, judged before it is used, and a clock that ends it."""

from __future__ import annotations

import base64
import http.client
import io
import ipaddress
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from vault.errors import FetchFailed, Refused
from vault.web_address import host_and_port

_INNER_NAMES = (
    ".localhost",
    ".localdomain",
    ".local",
    ".internal",
    ".intranet",
    ".lan",
    ".home",
    ".corp",
    ".home.arpa",
)
# Beyond what Python knows of: addresses that stand for an IPv4 address, for a translator or for a site of one's own.
_INNER_NETS = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "fec0::/10")))


@dataclass(slots=True)
class Clock:
    """Time for one document: `total_s` in all, `silence_s` for each wait. Seconds."""

    total_s: float
    silence_s: float
    last_wait_s: float = 0.0
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.total_s

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    def wait_s(self, at_most: float) -> float:
        """How long the next wait may be. Raises: TimeoutError when the time is up."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.last_wait_s = min(left, at_most)
        return self.last_wait_s


@dataclass(frozen=True, slots=True)
class Line:
    """An open connection. `socket` is what http.client reads from and writes to."""

    socket: TimedSocket
    is_private: bool  # it leads to this machine or into its own network
    by_proxy: bool = False  # a proxy takes whole addresses
    headers: dict[str, str] = field(default_factory=dict)  # what the proxy wants to see


class TimedSocket:
    """What http.client needs of a socket; a server that sends a byte now and then does not outlast the clock."""

    def __init__(self, inner: socket.socket, clock: Clock) -> None:
        self._inner, self._clock = inner, clock

    def sendall(self, data: Any) -> None:
        self._inner.settimeout(self._clock.wait_s(self._clock.silence_s))
        self._inner.sendall(data)

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._inner, self._clock))

    def close(self) -> None:
        """Nothing: http.client closes early what it still reads from; `connected` closes the real one."""


class _Incoming(io.RawIOBase):
    def __init__(self, inner: socket.socket, clock: Clock) -> None:
        self._inner, self._clock = inner, clock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._inner.settimeout(self._clock.wait_s(self._clock.silence_s))
        return self._inner.recv_into(buffer)


@contextmanager
def connected(parts: SplitResult, clock: Clock, connect_s: float, *, private_ok: bool) -> Iterator[Line]:
    """A connection to the server of an address, secure for https; closed afterwards. By proxy where one is set.

    Raises: Refused where it leads to a private network and must not; FetchFailed; OSError.
    """
    host, port = host_and_port(parts)
    proxy = _proxy_of(parts.scheme, host)
    headers: dict[str, str] = {}
    named_private = _is_inner_name(host)
    _check_private(host, is_private=named_private, private_ok=private_ok)
    with ExitStack() as stack:
        if proxy is None:
            plain, is_private = _dialled(host, port, clock, connect_s, private_ok=private_ok)
            stack.callback(plain.close)
            by_proxy = False
        else:  # the proxy looks names up, so only what a name tells by itself can be judged
            is_private = named_private
            plain, headers = _through(proxy, parts, clock, connect_s)
            stack.callback(plain.close)
            by_proxy = parts.scheme == "http"
        if parts.scheme == "https":
            plain.settimeout(clock.wait_s(connect_s))
            plain = _tls().wrap_socket(plain, server_hostname=host)
            stack.callback(plain.close)
        yield Line(TimedSocket(plain, clock), is_private, by_proxy, headers)


def _dialled(host: str, port: int, clock: Clock, connect_s: float, *, private_ok: bool) -> tuple[socket.socket, bool]:
    """A connection to the first of the host's addresses that answers, and whether that is a private one."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    private = {entry[4][0]: not is_public(str(entry[4][0])) for entry in found}
    _check_private(host, is_private=any(private.values()), private_ok=private_ok)
    last: OSError | None = None
    for family, type_, protocol, _, where in found:
        line = socket.socket(family, type_, protocol)
        try:
            line.settimeout(clock.wait_s(connect_s))
            line.connect(where)
        except OSError as error:
            line.close()
            last = error
        except BaseException:
            line.close()
            raise
        else:
            return line, private[where[0]]
    raise last or socket.gaierror("no address")


def _check_private(host: str, *, is_private: bool, private_ok: bool) -> None:
    if is_private and not private_ok:
        what = f"the redirect leads to {host}, which is this machine or lies in its own network"
        raise Refused(
            what, where=host, hint="a page must not reach what only you can; add that address yourself if you mean it"
        )


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet, also where it stands for another inside it."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in ipaddress.IPv6Network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if any(ip in net for net in _INNER_NETS):
            return False
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _is_inner_name(host: str) -> bool:
    """Whether a name by itself tells that it means this machine or its own network; 127.1 and 0x7f.1 are numbers."""
    host = host.rstrip(".")
    try:
        return not is_public(host)
    except ValueError:
        last = host.rpartition(".")[2]
        return "." not in host or host.endswith(_INNER_NAMES) or re.fullmatch(r"\d+|0x[0-9a-f]*", last) is not None


def _proxy_of(scheme: str, host: str) -> SplitResult | None:
    """The proxy that the environment names for an address; none for this machine, which no proxy reaches."""
    proxies = getproxies()
    named = proxies.get(scheme) or proxies.get("all")
    if not named or is_loopback(host) or proxy_bypass(host):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme != "http" or not proxy.hostname:
        what = f"the proxy set for {scheme} is of a kind that is not supported"
        raise FetchFailed(what, where=f"{proxy.scheme}://{proxy.hostname or ''}", hint="set one of kind http://")
    return proxy


def is_loopback(host: str) -> bool:
    """Whether a host's name or IP address by itself says that it is this machine."""
    host = host.rstrip(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _through(
    proxy: SplitResult, parts: SplitResult, clock: Clock, connect_s: float
) -> tuple[socket.socket, dict[str, str]]:
    """A connection by way of the proxy: a tunnel for https, else to the proxy itself; and its headers."""
    headers = {}
    if proxy.username:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    way = http.client.HTTPConnection(proxy.hostname or "", proxy.port or 80, timeout=clock.wait_s(connect_s))
    if parts.scheme == "https":
        way.set_tunnel(*host_and_port(parts), headers=headers)
        headers = {}
    try:
        way.connect()
    except OSError as error:
        where = f"http://{proxy.hostname}:{proxy.port or 80}"
        raise FetchFailed(f"the proxy does not help: {error.strerror or error}", where=where) from error
    line = way.sock
    assert isinstance(line, socket.socket)
    return line, headers


def _tls() -> Any:
    """What secure connections trust: the system's certificates; where Python finds none, those of certifi."""
    import ssl

    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath:
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())
