"""Processes that restrict themselves before they read untrusted data: document readers and the model process.

Parsers are large, old and partly not written in Python; one that a document takes over can only read Python's own files
and `raw/`, and answer through its pipe. The model process has the network, and reads no vault and none of the user's
files.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from vault.errors import RetainError
from vault.files.write_scopes import is_within
from vault.sandbox import landlock, seccomp

# Address space of one worker. A book of 587 pages takes 120 MB; larger ones end here.
MEMORY_BYTES = 1 << 30
MODEL_PROCESS_BYTES = 4 << 30  # each thread reserves much that it never uses
_OPEN_FILES = 256
_OURS = ("compiler", "learning", "vault", "templates")

# What libraries look into when they are loaded: the linker's tables, types of files, the zone, names of users, fonts.
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
    *("/etc/mime.types", "/etc/httpd/conf/mime.types", "/etc/apache2/mime.types"),
    *("/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/nsswitch.conf", "/etc/fonts"),
    *("/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"),
    *("/dev/random", "/dev/urandom", "/dev/zero"),
)
# What resolving and trusting a server takes; folders where such files are replaced.
_NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols"),
    *("/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf", "/run/nscd", "/var/run/nscd"),
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies"),
)


@dataclass(frozen=True, slots=True)
class Restriction:
    """How a process restricted itself: Landlock's version (0: none), and whether system calls are filtered."""

    landlock: int
    filtered: bool


def restrict_worker(raw: Path | None, *, programs: bool = False) -> Restriction:
    """Limit this process to reading `raw` and what Python and its libraries need.

    No writes, sockets, programs, processes or signals to others; with `programs`, it may start programs, which are
    limited as it is. What the system can't enforce is left out, and `retain doctor` reports it. Raises: RetainError if
    there is a second thread, which would stay free; OSError.
    """
    return _restrict((*_libraries(raw), *_SYSTEM, *((raw,) if raw else ())), network=False, programs=programs)


def restrict_model_process(certificates: Iterable[str] = ()) -> Restriction:
    """Limit this process to the network and to reading what Python and resolving a server need.

    `certificates` are further files or folders of certificates that the user trusts. Raises: as `restrict_worker`.
    """
    return _restrict((*_libraries(None), *_SYSTEM, *_NETWORK, *certificates), network=True)


def _restrict(readable: Iterable[str | Path], *, network: bool, programs: bool = False) -> Restriction:
    _check_single_thread()
    version = landlock.abi()
    if version:
        with ExitStack() as stack:
            places = [_opened(path, stack) for path in readable]
            null = _opened(os.devnull, stack)
            landlock.restrict(
                [null] if null is not None else [],
                readable=[place for place in places if place is not None],
                devices=False,
                network=network,
                scoped=True,
            )
    filtered = seccomp.available()
    if filtered:
        seccomp.restrict_syscalls(sockets=network, metadata=False, processes=programs, queues=False)
    return Restriction(version, filtered)


def restrict_writes(writable: Sequence[Path]) -> bool:
    """Limit this process and its children to writes below `writable`, without TCP; return False without Landlock.

    Reading is not limited. Raises: RetainError if there is a second thread; OSError for a missing folder.
    """
    _check_single_thread()
    if not landlock.abi():
        return False
    landlock.restrict(writable, network=False)
    return True


def limit_worker(memory: int = MEMORY_BYTES) -> None:
    """Limit memory, open files, file sizes and core dumps, where the system supports it."""
    try:
        import resource
    except ImportError:
        return
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: 0,  # it writes no file; pipes don't count
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }
    for which, most in bounds.items():
        _, hard = resource.getrlimit(which)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS refuses some of them
            resource.setrlimit(which, (least, least))


def limit_time(seconds: int) -> None:
    """Have this process killed after that many more seconds of processor time."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    end = math.ceil(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (end if hard == resource.RLIM_INFINITY else min(end, hard), hard))


def _check_single_thread() -> None:
    """Raise RetainError if there are other threads: Landlock and the filter apply to this thread and later ones."""
    threading = sys.modules.get("threading")
    many = threading is not None and threading.active_count() != 1
    with suppress(FileNotFoundError):  # no /proc: not Linux, so that nothing would be held anyway
        many = many or len([*Path("/proc/self/task").iterdir()]) != 1
    if many:
        raise RetainError(
            "a process that already has threads can't be restricted", hint="this is a bug in retain; please report it"
        )


def _opened(path: str | Path, stack: ExitStack) -> int | None:
    """Return a handle on a path; None if it can't be opened."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    stack.callback(os.close, handle)
    return handle


def _libraries(raw: Path | None) -> Iterator[Path]:
    """Yield the folders of this Python, its libraries and retain's own code."""
    prefixes = {Path(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)}
    for prefix in prefixes:
        yield from (prefix / "lib", prefix / "lib64")
    private = [*_home(), *([raw.resolve()] if raw else [])]
    for entry in (Path(each) for each in sys.path if each):
        checkout = (entry / "pyproject.toml").is_file()
        if any(prefix in entry.parents for prefix in prefixes) or not (
            checkout or any(is_within(place, entry) for place in private)
        ):
            yield entry
        else:  # the folder may contain a vault
            yield from (entry / name for name in _OURS)


def _home() -> Iterator[Path]:
    with suppress(ImportError, KeyError):  # not on this system; no such user in its list
        import pwd

        yield Path(pwd.getpwuid(os.getuid()).pw_dir)
