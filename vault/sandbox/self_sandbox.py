"""Processes that shut themselves in before anything of a stranger comes in: the reading one, and the speaking one.

Parsers are large, old and partly not written in Python; whatever a document makes of them stays in a process that can
read Python's own files and `raw/`, and can only answer through the pipe it was given. What speaks to a model has
the network, and for that reads no vault and nothing of the human's.
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
from vault.sandbox import landlock, seccomp

# Address space of one worker. A book of 587 pages takes 120 MB; a page-bomb dies here, not on the user's desk.
MEMORY_BYTES = 1 << 30
SPEAKER_BYTES = 4 << 30  # each of its threads reserves much that it never uses
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
# What finding a server by its name and trusting it takes; the folders are those where such files are put anew.
_NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols"),
    *("/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf", "/run/nscd", "/var/run/nscd"),
    *("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies"),
)


@dataclass(frozen=True, slots=True)
class Jail:
    """What holds a process that restricted itself: Landlock's version (0: none), and whether calls are filtered."""

    landlock: int
    filtered: bool


def restrict_worker(raw: Path | None) -> Jail:
    """From here on this process writes nothing, reads `raw` and what Python and its libraries need, and starts nothing.

    No socket, no program, no other process, no signal to one, and none of its limits. Where the system can't do a part
    of it, that part is left out: `retain doctor` says so. Raises: RetainError if there is a second thread, which would
    stay free; OSError.
    """
    return _restrict((*_libraries(raw), *_SYSTEM, *((raw,) if raw else ())), network=False)


def restrict_speaker(certificates: Iterable[str] = ()) -> Jail:
    """From here on this process writes nothing, reads what Python and finding a server take, and starts nothing.

    The network is its work and stays open. `certificates` are more files or folders of those whom the user trusts.
    Raises: as `restrict_worker`.
    """
    return _restrict((*_libraries(None), *_SYSTEM, *_NETWORK, *certificates), network=True)


def _restrict(readable: Iterable[str | Path], *, network: bool) -> Jail:
    _alone()
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
        seccomp.forbid_escapes(sockets=network, metadata=False, company=False, queues=False)
    return Jail(version, filtered)


def restrict_desk(writable: Sequence[Path]) -> bool:
    """From here on this process and its children write below `writable` alone, and reach no network by TCP.

    They read what they could before: it is the desk of the human's own vault. False where there is no Landlock.
    Raises: RetainError if there is a second thread; OSError for a folder that is not there.
    """
    _alone()
    if not landlock.abi():
        return False
    landlock.restrict(writable, network=False)
    return True


def limit_worker(memory: int = MEMORY_BYTES) -> None:
    """Bounds on memory, open files, files' sizes and core dumps, where the system has them."""
    try:
        import resource
    except ImportError:
        return
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: 0,  # there is no file for it to write; pipes are no files
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }
    for which, most in bounds.items():
        _, hard = resource.getrlimit(which)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS refuses some of them
            resource.setrlimit(which, (least, least))


def limit_time(seconds: int) -> None:
    """This process ends when it has used up so many seconds of a processor from now, whoever still waits for it."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    end = math.ceil(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (end if hard == resource.RLIM_INFINITY else min(end, hard), hard))


def _alone() -> None:
    """Landlock and the filter hold the thread that asks for them, and those it starts later: no other may be there."""
    threading = sys.modules.get("threading")
    many = threading is not None and threading.active_count() != 1
    with suppress(FileNotFoundError):  # no /proc: not Linux, so that nothing would be held anyway
        many = many or len([*Path("/proc/self/task").iterdir()]) != 1
    if many:
        raise RetainError("a process that has threads already can't be shut in", hint="this is a defect of retain")


def _opened(path: str | Path, stack: ExitStack) -> int | None:
    """A handle on a place that is there and can be reached; None for one that isn't."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    stack.callback(os.close, handle)
    return handle


def _libraries(raw: Path | None) -> Iterator[Path]:
    """Where this Python, its libraries and our own code are."""
    prefixes = {Path(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)}
    for prefix in prefixes:
        yield from (prefix / "lib", prefix / "lib64")
    private = [*_home(), *([raw.resolve()] if raw else [])]
    for entry in (Path(each) for each in sys.path if each):
        checkout = (entry / "pyproject.toml").is_file()
        if any(prefix in entry.parents for prefix in prefixes) or not (checkout or _holds(entry, private)):
            yield entry
        else:  # a vault may lie in it, and much else
            yield from (entry / name for name in _OURS)


def _home() -> Iterator[Path]:
    with suppress(ImportError, KeyError):  # not on this system; no such user in its list
        import pwd

        yield Path(pwd.getpwuid(os.getuid()).pw_dir)


def _holds(folder: Path, places: Iterable[Path]) -> bool:
    return any(place == folder or folder in place.parents for place in places)
