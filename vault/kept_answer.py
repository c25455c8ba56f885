"""Answers that are given again before any library is loaded, and the stamps by which they are believed.

A command that is asked for all day long keeps what it said, with size, change instant and inode of every file that it
came from. Whoever made a vault elsewhere cannot know those of this disk, so that no answer travels with a vault.
Nothing but `os` is imported here: loading `re` or `json` would take longer than the answer.
"""

from __future__ import annotations

import os
import zlib
from array import array

TYPE_CHECKING = False  # as typing has it, which would cost more than the rest
if TYPE_CHECKING:
    from collections.abc import Sequence

RACY_NS = 2_000_000_000  # as in vault.stamps
FIELDS = 3
INODE = (1 << 63) - 1  # a mask: some disks count higher than the numbers that are kept
_ASKED = ("RETAIN_CAGED", "_RETAIN_COMPLETE", "XDG_STATE_HOME", "HOME")


def vault_of(arguments: Sequence[str], command: Sequence[str]) -> str | None:
    """The vault that is meant, if `arguments` are `command` and no more; None where somebody else has to look."""
    words = list(arguments)
    given = os.environ.get("RETAIN_VAULT")
    for place in (0, len(command)):
        if len(words) == len(command) + 2 and words[place] == "--vault" and not words[place + 1].startswith("-"):
            given = words[place + 1]
            del words[place : place + 2]
    if words != list(command):
        return None
    if given:
        return given if not given.startswith("~") and os.path.isfile(given + "/retain.toml") else None
    try:
        place_now = os.getcwd()
    except OSError:
        return None
    while not os.path.isfile(place_now + "/retain.toml"):
        above = os.path.dirname(place_now)
        if above == place_now:
            return None
        place_now = above
    return place_now


def sealed(kind: str, parts: Sequence[bytes]) -> bytes:
    """The bytes of an answer: its kind, a checksum, the lengths of its parts, its parts."""
    body = " ".join(str(len(part)) for part in parts).encode() + b"\n" + b"".join(parts)
    return f"{kind}\n{zlib.crc32(body):08x}\n".encode() + body


def unsealed(path: str, kind: str, most: int) -> list[bytes] | None:
    """The parts at `path`, a plain file of at most so many bytes; None if they are not whole, or of another kind.

    Raises: OSError, ValueError.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if found.st_mode & 0o170000 != 0o100000 or found.st_size > most:
            return None
        data = os.read(handle, found.st_size + 1)
    finally:
        os.close(handle)
    name, crc, body = data.split(b"\n", 2)
    if name != kind.encode() or int(crc, 16) != zlib.crc32(body):
        return None
    sizes, body = body.split(b"\n", 1)
    parts, begin = [], 0
    for size in map(int, sizes.split()):
        parts.append(body[begin : begin + size])
        begin += size
    return parts


def environment() -> bytes:
    """What of the environment an answer depends on."""
    return os.fsencode("\0".join(os.environ.get(name, "\1") for name in _ASKED))


def is_empty(folder: str) -> bool:
    """Whether no agent's work waits to be judged there."""
    try:
        return not os.listdir(folder)
    except FileNotFoundError:
        return True


def stamps(root: str, paths: Sequence[str]) -> array[int]:
    """Three numbers for each file, those of none where it isn't there. Raises: OSError."""
    found = array("q")
    for path in paths:
        try:
            status = os.lstat(f"{root}/{path}")
        except FileNotFoundError:
            found.extend((-1, 0, 0))
        else:
            found.extend((status.st_size, status.st_ctime_ns, status.st_ino & INODE))
    return found


def logs(root: str) -> list[str]:
    """The files of the review log, conflict copies included. Raises: OSError."""
    names = sorted(os.listdir(f"{root}/learning"))
    return [f"learning/{name}" for name in names if name.startswith("reviews")]
