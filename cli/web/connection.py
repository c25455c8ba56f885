"""Connections to web servers: only to addresses that were checked, and within a time limit."""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2

from vault.errors import FetchFailed, Refused
from vault.text.urls import host_and_port, request_target

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
# Private networks that `is_global` does not know: embedded IPv4 addresses, translators, site-local addresses.
_INNER_NETS = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "fec0::/10")))


Notice = Callable[[str], None]  # gets a message before anything is sent


@dataclass(slots=True)
class Clock:
    """The time limits for one document in seconds: `total_s` in all, `silence_s` for each wait."""

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
        """Return how long the next wait may be. Raises TimeoutError when the time is up."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.last_wait_s = min(left, at_most)
        return self.last_wait_s


class _Network(httpcore2.NetworkBackend):
    """Connects to one server or proxy; afterwards `is_private` says whether the server is in a private network.

    A name is resolved once, and the address that was checked is used: no second look-up can give another.
    """

    def __init__(
        self, clock: Clock, connect_s: float, notice: Notice, *, proxy: bool, private_ok: bool, is_private: bool
    ) -> None:
        self._inner, self._clock, self._connect_s = httpcore2.SyncBackend(), clock, connect_s
        self._notice = notice
        self._proxy, self._private_ok, self.is_private = proxy, private_ok, is_private

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        """Connect to the proxy, or to the checked addresses of `host`. Raises Refused for a private one."""
        if self._proxy:
            return self._connected([host], port)
        addresses = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        self.is_private = not all(map(is_public, addresses))
        _check_private(host, is_private=self.is_private, private_ok=self._private_ok)
        if self.is_private and not _is_inner_name(host):  # the owner of the name chose where it leads
            where = "this machine" if any(map(is_loopback, addresses)) else "your local network"
            self._notice(f"{host} resolves to {where} ({', '.join(dict.fromkeys(addresses))})")
        return self._connected(addresses, port)

    def _connected(self, addresses: list[str], port: int) -> httpcore2.NetworkStream:
        """Return a stream to the first address that answers."""
        last: Exception = socket.gaierror("no address")
        for address in addresses:
            try:
                stream = self._inner.connect_tcp(address, port, self._clock.wait_s(self._connect_s), None, [])
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                last = error
            else:
                return _Stream(stream, self._clock)
        if self._proxy:
            why = getattr(last.__cause__, "strerror", None) or str(last)
            raise FetchFailed(f"proxy connection failed: {why}", where=f"http://{addresses[0]}:{port}") from last
        raise last


class _Stream(httpcore2.NetworkStream):
    """A stream whose waits end with the clock, also if a server sends single bytes for ever."""

    def __init__(self, inner: httpcore2.NetworkStream, clock: Clock) -> None:
        self._inner, self._clock = inner, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._clock.wait_s(self._clock.silence_s))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._clock.wait_s(self._clock.silence_s))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        wait = self._clock.wait_s(self._clock.silence_s)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, wait), self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


@contextmanager
def asked(
    parts: SplitResult,
    headers: list[tuple[str, str]],
    clock: Clock,
    connect_s: float,
    notice: Notice,
    *,
    private_ok: bool,
) -> Iterator[tuple[httpcore2.Response, bool]]:
    """Send a GET request; yield the response with its body unread, and whether the server is in a private network.

    Uses the proxy of the environment. `notice` hears of a name that leads into a private network. Raises Refused for a
    private address that is not permitted; FetchFailed; TimeoutError; OSError; errors of httpcore2.
    """
    host, port = host_and_port(parts)
    proxy = _proxy_of(parts.scheme, host)
    is_private = _is_inner_name(host)  # of a name that a proxy looks up, no more can be known
    _check_private(host, is_private=is_private, private_ok=private_ok)
    network = _Network(clock, connect_s, notice, proxy=proxy is not None, private_ok=private_ok, is_private=is_private)
    context = _tls() if parts.scheme == "https" else None
    target = request_target(parts, whole=proxy is not None and parts.scheme == "http")
    url = httpcore2.URL(scheme=parts.scheme, host=host, port=port, target=target)
    pool: httpcore2.ConnectionPool
    if proxy is None:
        pool = httpcore2.ConnectionPool(ssl_context=context, network_backend=network)
    else:
        user = (unquote(proxy.username), unquote(proxy.password or "")) if proxy.username else None
        way = httpcore2.URL(scheme="http", host=proxy.hostname or "", port=proxy.port or 80, target="/")
        pool = httpcore2.HTTPProxy(way, proxy_auth=user, ssl_context=context, network_backend=network)
    with pool, pool.stream("GET", url, headers=headers) as response:
        yield response, network.is_private


def local_answer(url: str, seconds: float = 1.0, most: int = 1 << 20) -> bytes | None:
    """Return the body of a GET from a server on this machine; None where none answers in time, well and briefly."""
    parts = urlsplit(url)
    if not is_loopback(parts.hostname or ""):
        raise ValueError(url)
    headers = [("Host", parts.netloc), ("Accept", "application/json"), ("Connection", "close")]
    body = b""
    try:
        with asked(parts, headers, Clock(seconds, seconds), seconds, lambda _: None, private_ok=True) as (response, _):
            for block in response.iter_stream():
                body += block
                if len(body) > most:
                    return None
            return body if response.status == 200 else None
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError, ValueError):
        return None


def _check_private(host: str, *, is_private: bool, private_ok: bool) -> None:
    if is_private and not private_ok:
        what = f"redirect to {host}, which is this machine or on your local network"
        raise Refused(what, where=host, hint="give that address to `retain add` yourself if you trust it")


def is_public(address: str) -> bool:
    """Return whether an IP address is public, also the IPv4 address inside an IPv6 one."""
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
    """Return whether a host name by itself means this machine or a local network; 127.1 and 0x7f.1 are numbers."""
    host = host.rstrip(".")
    try:
        return not is_public(host)
    except ValueError:
        last = host.rpartition(".")[2]
        return "." not in host or host.endswith(_INNER_NAMES) or re.fullmatch(r"\d+|0x[0-9a-f]*", last) is not None


def _proxy_of(scheme: str, host: str) -> SplitResult | None:
    """Return the proxy that the environment sets for an address; None for this machine."""
    proxies = getproxies()
    named = proxies.get(scheme) or proxies.get("all")
    if not named or is_loopback(host) or proxy_bypass(host):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme != "http" or not proxy.hostname:
        what = f"unsupported kind of proxy for {scheme}"
        raise FetchFailed(what, where=f"{proxy.scheme}://{proxy.hostname or ''}", hint="set an http:// proxy")
    return proxy


def is_loopback(host: str) -> bool:
    """Return whether a host name or IP address by itself means this machine."""
    host = host.rstrip(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _tls() -> ssl.SSLContext:
    """Return a TLS context with the system's certificates, or those of certifi if Python finds none."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath:
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())
