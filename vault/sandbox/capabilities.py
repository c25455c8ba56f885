"""How well a program can be shut in on this machine: tried, not guessed from names and versions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

from vault.sandbox import landlock, seccomp
from vault.sandbox.bubblewrap import Plan, arguments, private_places

LANDLOCK_ABI = 3  # the first that guards truncation: below it, any file could be emptied
_TRIAL_S = 30.0
# Where systems keep bubblewrap. Before PATH, which a folder of a stranger's might head.
_BWRAP = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap")
# What `enter` does first, and a bubblewrap whose programs get no rights (AppArmor can take them) does not let it do.
_FIRST = """
import sys
sys.path.append(sys.argv[1])
from vault.sandbox import rights
try:
    rights.make_mounts_private()
except OSError as error:
    sys.exit(f"what it starts gets no right to make its mounts private ({error.strerror})")
"""


class Level(IntEnum):
    """What shuts a program in. The word of each is its `str`: what `--require` takes."""

    NONE = 0
    LANDLOCK = 1  # files outside can't be written; mode, owner and times of the user's own files can
    BUBBLEWRAP = 2  # a file system of its own, read-only; nothing else behind it should it leak
    FULL = 3  # both, and the filter of system calls

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Standing:
    """The strongest level that works here; `words` say, a line each, why it is no stronger."""

    level: Level
    words: tuple[str, ...] = ()


@cache
def standing() -> Standing:
    """What works here, tried once in this process (a few dozen milliseconds)."""
    if sys.platform != "linux":
        return Standing(Level.NONE, (f"retain knows no cage for {sys.platform}",))
    return _of(without_landlock(landlock.abi()), without_filter(), without_bubblewrap())


def _of(landlock_: str, filter_: str, bubblewrap: str) -> Standing:
    """The level that stands when these three are wanting, each for the reason given; "" where it is there."""
    words = tuple(each for each in (bubblewrap, landlock_, filter_) if each)
    if not bubblewrap:
        return Standing(Level.BUBBLEWRAP if words else Level.FULL, words)
    return Standing(Level.NONE if landlock_ else Level.LANDLOCK, words)


def without_landlock(abi: int) -> str:
    """Why Landlock doesn't count here; "" where it does."""
    if not abi:
        return (
            "Landlock: not offered by this kernel (Linux 5.13 or newer with it switched on), or a container forbids it"
        )
    if abi < LANDLOCK_ABI:
        return f"Landlock: truncation is not enforced before ABI 3 (Linux 6.2), and this kernel has ABI {abi}"
    return ""


def without_filter() -> str:
    """Why system calls can't be filtered here; "" where they can."""
    if seccomp.available():
        return ""
    return "seccomp: system calls can't be filtered on this kernel or processor, so that a terminal may be typed into"


@cache
def without_bubblewrap() -> str:
    """Why bubblewrap can't be used here, in its own words; "" where it can."""
    program = bubblewrap()
    if program is None:
        return "bubblewrap: not installed (the package is called bubblewrap)"
    python, package = os.path.realpath(sys.executable), str(Path(__file__).resolve().parents[2])
    seen = dict.fromkeys((python, package, os.path.realpath(sys.base_prefix)))
    plan = Plan((), needed=tuple((each, each) for each in seen), private=private_places())
    # As a cage is built and entered, so that nothing in it comes as a surprise.
    failed = _failed([program, *arguments(plan), "--", python, "-I", "-S", "-c", _FIRST, package])
    return f"bubblewrap: {failed}{_blocked_by()}" if failed else ""


def _failed(command: list[str]) -> str:
    """The last words of a trial that didn't work; "" of one that did."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", check=False, timeout=_TRIAL_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return (said[-1] if said else f"exit code {done.returncode}") if done.returncode else ""


def bubblewrap() -> str | None:
    """The path of the program `bwrap`; None where there is none."""
    return next((path for path in _BWRAP if Path(path).is_file()), None) or shutil.which("bwrap")


def _blocked_by() -> str:
    """Ubuntu forbids user namespaces by AppArmor to programs without a profile: worth naming, as it can be mended."""
    try:
        switch = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
    lifted = "a profile for bwrap that leaves it, and what it starts, their rights lifts it"
    return f" (AppArmor restricts user namespaces here; {lifted})" if switch.strip() == "1" else ""
