"""Web addresses that a user gives: which are accepted, and their form in a request."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from vault.errors import UsageError
from vault.text.formatting import clean_line

MAX_ADDRESS = 2_000  # characters
_ODD = re.compile(r"[\x00-\x20\x7f-\x9f\\\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")
_BARE = re.compile(r"www\.\S+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?/\S*", re.IGNORECASE)
_SAFE = "/:@!$&'()*+,;=-._~%?[]"


def is_address(given: str) -> bool:
    """Return whether `given` means an address on a network rather than a file."""
    return "://" in given or given.lower().startswith(("data:", "file:", "javascript:", "mailto:"))


def looks_like_address(given: str) -> bool:
    """Return whether `given`, which is no file, may be a web address without its https://."""
    return _BARE.fullmatch(given) is not None


def normalize_address(given: str) -> str:
    """Return the address as it is requested and recorded: ASCII, without fragment. Raises: UsageError says why not."""
    shown = clean_line(given)[:200]
    text = given.strip()
    if len(text) > MAX_ADDRESS:
        raise UsageError(f"the address is longer than {MAX_ADDRESS} characters", where=shown)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise UsageError(f"not a web address: {clean_line(str(error))}", where=shown) from error
    if parts.scheme not in ("http", "https"):
        raise UsageError("only http:// and https:// are fetched", where=shown, hint="download it and add the file")
    if "@" in parts.netloc:
        raise UsageError(
            "the address contains a user name or password", where=shown.rpartition("@")[2], hint="leave them out"
        )
    if _ODD.search(text):
        raise UsageError("the address contains a space or another invalid character", where=shown, hint="copy it again")
    name = _ascii_host(host, shown)
    netloc = f"[{name}]" if ":" in name else name
    netloc += f":{port}" if port not in (None, _port_of(parts.scheme)) else ""
    path = quote(parts.path or "/", safe=_SAFE)
    return urlunsplit((parts.scheme, netloc, path, quote(parts.query, safe=_SAFE), ""))


def _ascii_host(host: str, shown: str) -> str:
    """Return a host name in ASCII and lower case. Raises: UsageError."""
    try:
        name = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError as error:
        raise UsageError("invalid host name", where=shown) from error
    if not _HOST.fullmatch(name) or len(name) > 253:
        raise UsageError("the address has no valid host", where=shown)
    return name.lower()


def _port_of(scheme: str) -> int:
    """Return the usual port of a scheme."""
    return 443 if scheme == "https" else 80


def split_address(address: str) -> SplitResult:
    """Return the parts of an address from `normalize_address`."""
    return urlsplit(address)


def host_and_port(parts: SplitResult) -> tuple[str, int]:
    """Return host and port of an address."""
    return parts.hostname or "", parts.port or _port_of(parts.scheme)


def request_target(parts: SplitResult, *, whole: bool) -> str:
    """Return the target of the request line: path and query, or the `whole` address for a proxy."""
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path  # urlunsplit would double "//" in front
    return f"{parts.scheme}://{parts.netloc}{path}" if whole else path


def name_from_address(address: str) -> str:
    """Return the last part of an address's path, else its host: a name for a document without title."""
    parts = split_address(address)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2])
    return clean_line(last) or (parts.hostname or "page")
