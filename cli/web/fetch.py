"""Fetch one document from the web, with limits on size, time and redirects. Each redirect is checked again."""

from __future__ import annotations

import re
import socket
import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from urllib.parse import SplitResult, unquote, urljoin

import httpcore2

from cli import output
from cli.version import __version__
from cli.web.connection import Clock, Notice, asked, is_loopback
from vault.errors import FetchFailed, Refused, UsageError
from vault.text.formatting import clean_line
from vault.text.urls import normalize_address, split_address

MIB = 1 << 20
_OK = 200
_MOVED = frozenset({301, 302, 303, 307, 308})
_NO_DOCUMENT = ("image/", "audio/", "video/", "font/", "model/")
_CHARSET = re.compile(r"[A-Za-z0-9][\w.:+-]{0,39}")
_ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/pdf,*/*;q=0.5"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits for one document: bytes after unpacking, seconds, and number of redirects."""

    size_bytes: int = 50 * MIB
    connect_s: float = 10.0
    silence_s: float = 20.0
    total_s: float = 180.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetched document. `address` is the final one; the other values are what the server claims."""

    address: str
    media_type: str  # lower case, "" if none was given
    charset: str  # "" if none was given
    file_name: str  # the name it was offered under, "" if none
    data: bytes


Progress = Callable[[int, int | None], None]  # bytes so far, and of how many


def fetch(address: str, limits: Limits, progress: Progress, notice: Notice = output.say) -> Fetched:
    """Return the document at a web address; `notice` hears of a name that leads into a private network.

    Raises FetchFailed; Refused for a redirect that must not be followed.
    """
    clock = Clock(limits.total_s, limits.silence_s)
    private_ok = True  # the user gave this address; a redirect must not lead into the user's own network
    for _ in range(limits.redirects + 1):
        reply, was_private = _request(address, limits, clock, private_ok, progress, notice)
        if isinstance(reply, Fetched):
            return reply
        before, address = address, _redirect_target(address, reply)
        private_ok = was_private and _same_place(before, address)
    raise FetchFailed(
        f"more than {limits.redirects} redirects",
        where=address,
        hint="open it in a browser and add the address shown there",
    )


def _same_place(address: str, to: str) -> bool:
    """Return whether both addresses have the same host, or both mean this machine."""
    host, other = (split_address(a).hostname or "" for a in (address, to))
    return host.rstrip(".") == other.rstrip(".") or (is_loopback(host) and is_loopback(other))


def _request(
    address: str, limits: Limits, clock: Clock, private_ok: bool, progress: Progress, notice: Notice
) -> tuple[Fetched | str, bool]:
    """Return the document or the target of a redirect, and whether the server is in a private network."""
    parts = split_address(address)
    headers = [("Host", parts.netloc), ("User-Agent", f"retain/{__version__}"), ("Accept", _ACCEPT)]
    headers += [("Accept-Encoding", "gzip"), ("Connection", "close")]
    try:
        with asked(parts, headers, clock, limits.connect_s, notice, private_ok=private_ok) as (response, is_private):
            head = _headers(response)
            if response.status in _MOVED:
                return _decoded(head.get("Location", "")), is_private
            _check_status(address, response.status)
            return _document(address, response, head, limits, progress), is_private
    except (TimeoutError, httpcore2.TimeoutException) as error:
        raise _too_slow(address, clock) from error
    except httpcore2.ProxyError as error:
        raise FetchFailed(f"proxy connection failed: {clean_line(str(error))}", where=address) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError, ValueError, zlib.error) as error:
        raise _connection_error(address, parts, error) from error


def _headers(response: httpcore2.Response) -> Message:
    """Return the headers of a response, the first of each name."""
    head = Message()
    for name, value in response.headers:
        head[name.decode("latin-1")] = value.decode("latin-1")
    return head


def _decoded(header: str) -> str:
    """Return a header decoded as UTF-8, else as Latin-1."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def _redirect_target(address: str, location: str) -> str:
    """Return the address that a redirect leads to. Raises FetchFailed, or Refused for one not to follow."""
    if not location:
        raise FetchFailed("the server redirects without an address", where=address)
    try:
        to = normalize_address(urljoin(address, location))
    except (UsageError, ValueError) as error:
        shown = clean_line(location)[:200]
        raise Refused(f"the server redirects to something that is not a web address: {shown}", where=address) from error
    old, new = split_address(address).scheme, split_address(to).scheme
    if old != new:  # what is fetched by https must not come by http; and http may say anything
        raise Refused(
            f"the server redirects from {old} to {new}",
            where=address,
            hint=f"if you trust this address, run `retain add {to}`",
        )
    return to


_STATUS_WORDS = {
    401: ("password required", "open it in a browser, save it, and add the file"),
    403: ("access denied", "open it in a browser, save it, and add the file"),
    404: ("page not found", "check the address"),
    410: ("page removed", "web.archive.org may have a copy"),
    429: ("too many requests", "try again later"),
    451: ("unavailable for legal reasons", ""),
}


def _check_status(address: str, status: int) -> None:
    """Raise FetchFailed unless the status is 200."""
    if status == _OK:
        return
    if status in _STATUS_WORDS:
        what, hint = _STATUS_WORDS[status]
    elif status >= 500:
        what, hint = "server error", "try again later"
    else:
        what, hint = "the server sent no document", "open it in a browser, save it, and add the file"
    raise FetchFailed(f"{what} ({status})", where=address, hint=hint)


def _document(address: str, response: httpcore2.Response, head: Message, limits: Limits, progress: Progress) -> Fetched:
    """Return the document in a response."""
    kind, charset = _media_type(head)
    if kind.startswith(_NO_DOCUMENT):
        what = f"not a readable document: {clean_line(kind)[:60]}"
        raise FetchFailed(what, where=address, hint="to keep it anyway, download it and add the file")
    data = _body(address, response, head, limits, progress)
    if not data.strip():
        raise FetchFailed("the document is empty", where=address)
    return Fetched(address, kind, charset, _offered_name(head), data)


def _media_type(headers: Message) -> tuple[str, str]:
    """Return (media type, charset), "" for what the server does not say."""
    kind = headers.get_content_type() if "Content-Type" in headers else ""
    charset = headers.get_content_charset() or ""
    return kind, charset if _CHARSET.fullmatch(charset) else ""


def _offered_name(headers: Message) -> str:
    """Return the file name in Content-Disposition; untrusted."""
    name = _decoded(headers.get_filename() or "")
    return clean_line(unquote(name).replace("\\", "/").rpartition("/")[2])[:200]


def _body(address: str, response: httpcore2.Response, head: Message, limits: Limits, progress: Progress) -> bytes:
    """Return the unpacked body. The size limit is checked while the bytes arrive."""
    packing = (head.get("Content-Encoding") or "identity").strip().lower()
    if packing not in ("identity", "gzip", "x-gzip"):
        raise FetchFailed(f"unknown content encoding: {clean_line(packing)[:40]}", where=address)
    expected = int(head["Content-Length"]) if "Content-Length" in head else None  # httpcore2 has checked that it is one
    unpacker = _Unpacker(limits.size_bytes) if packing != "identity" else None
    out = bytearray()
    came = 0
    if expected is not None and expected > limits.size_bytes:
        raise _too_large(address, limits)
    try:
        for block in response.iter_stream():
            came += len(block)
            out += unpacker.unpacked(block, len(out)) if unpacker else block
            if max(len(out), came) > limits.size_bytes:
                raise _too_large(address, limits)
            progress(came, expected)
    except (httpcore2.RemoteProtocolError, httpcore2.ReadError) as error:
        raise _incomplete(address) from error
    if unpacker and not unpacker.is_whole:
        raise _incomplete(address)
    return bytes(out)


def _incomplete(address: str) -> FetchFailed:
    return FetchFailed("connection lost in the middle of the document", where=address, hint="try again")


class _Unpacker:
    """Unpacks gzip block by block, never to more than one byte beyond the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._member = zlib.decompressobj(31)

    @property
    def is_whole(self) -> bool:
        return self._member.eof

    def unpacked(self, block: bytes, so_far: int) -> bytes:
        out = b""
        while block and so_far + len(out) <= self._limit:
            if self._member.eof:  # gzip may be several members in a row
                self._member = zlib.decompressobj(31)
            out += self._member.decompress(block, self._limit + 1 - so_far - len(out))
            block = self._member.unused_data
        return out


def _too_large(address: str, limits: Limits) -> FetchFailed:
    size = f"{limits.size_bytes / MIB:g} MiB"
    return FetchFailed(
        f"the document is larger than {size}",
        where=address,
        hint="use --max-size, or download the document and add the file",
    )


def _too_slow(address: str, clock: Clock) -> FetchFailed:
    spent = f"{clock.total_s:g} s" if clock.is_over else f"{clock.last_wait_s:g} s without data"
    return FetchFailed(f"server too slow: timeout after {spent}", where=address, hint="try again later")


def _connection_error(address: str, parts: SplitResult, error: Exception) -> FetchFailed:
    """Return the error message for a failed connection."""
    if isinstance(error, httpcore2.NetworkError) and error.args and isinstance(error.args[0], OSError):
        error = error.args[0]  # httpcore2 drops it as the cause
    host = parts.hostname or ""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = clean_line(error.verify_message)
        hint = "check the address; set SSL_CERT_FILE to use your own certificates"
        return FetchFailed(f"untrusted TLS certificate: {why}", where=address, hint=hint)
    if isinstance(error, ssl.SSLError):
        why = clean_line(error.reason or str(error)).replace("_", " ").lower()
        return FetchFailed(f"TLS connection failed: {why}", where=address, hint="try http://")
    if isinstance(error, socket.gaierror):
        hint = "check the spelling and the network"
        return FetchFailed(f"unknown host {host}", where=address, hint=hint)
    if isinstance(error, ConnectionRefusedError):
        return FetchFailed(
            f"connection refused by {parts.netloc}", where=address, hint="check that the server is running"
        )
    if isinstance(error, httpcore2.ProtocolError | ValueError | zlib.error):
        why = clean_line(str(error))[:120] or type(error).__name__
        return FetchFailed(f"invalid server response: {why}", where=address)
    why = (error.strerror if isinstance(error, OSError) else "") or str(error)
    return FetchFailed(f"connection failed: {clean_line(why)}", where=address)
