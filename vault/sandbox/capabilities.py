"""Which level of sandbox works on this machine: tried, not guessed from names and versions."""

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

LANDLOCK_ABI = 3  # the first that guards truncation: below it, any file could be truncated
_TRIAL_S = 30.0
# Where systems install bubblewrap. Tried before PATH, which may begin with an untrusted folder.
_BWRAP = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap")
# What `init_process` does first, which fails where AppArmor takes the rights of bubblewrap's programs away.
_FIRST = """
import sys
sys.path.append(sys.argv[1])
from vault.sandbox import kernel
try:
    kernel.make_mounts_private()
except OSError as error:
    sys.exit(f"its programs are not allowed to make its mounts private ({error.strerror})")
"""


class Level(IntEnum):
    """How a sandbox is enforced. `str` is the word that `--require` takes."""

    NONE = 0
    LANDLOCK = 1  # other files can't be written; mode, owner and times of the user's own files can
    BUBBLEWRAP = 2  # a read-only file system of its own, without a second barrier
    FULL = 3  # both, and the filter of system calls

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class SandboxSupport:
    """The strongest level that works here, and the reasons, a line each, why it is no stronger."""

    level: Level
    reasons: tuple[str, ...] = ()


@cache
def sandbox_support() -> SandboxSupport:
    """Return what works here, tried once in this process (a few dozen milliseconds)."""
    if sys.platform != "linux":
        return SandboxSupport(Level.NONE, (f"there is no sandbox for {sys.platform}",))
    return _of(without_landlock(landlock.abi()), without_filter(), without_bubblewrap())


def _of(landlock_: str, filter_: str, bubblewrap: str) -> SandboxSupport:
    """Return the level, given for each of the three why it does not work, or "" if it does."""
    reasons = tuple(reason for reason in (bubblewrap, landlock_, filter_) if reason)
    if not bubblewrap:
        return SandboxSupport(Level.BUBBLEWRAP if reasons else Level.FULL, reasons)
    return SandboxSupport(Level.NONE if landlock_ else Level.LANDLOCK, reasons)


def without_landlock(abi: int) -> str:
    """Return why Landlock can't be used here, or ""."""
    if not abi:
        return "Landlock is not available: it needs Linux 5.13 or newer, and a container may block it"
    if abi < LANDLOCK_ABI:
        return f"Landlock: truncation is not enforced before ABI 3 (Linux 6.2), and this kernel has ABI {abi}"
    return ""


def without_filter() -> str:
    """Return why system calls can't be filtered here, or ""."""
    if seccomp.available():
        return ""
    return (
        "seccomp: system calls can't be filtered on this kernel or processor, so a sandboxed program could "
        "type into your terminal"
    )


@cache
def without_bubblewrap() -> str:
    """Return why bubblewrap can't be used here, or ""."""
    program = bubblewrap()
    if program is None:
        return "bubblewrap: not installed (the package is called bubblewrap)"
    python, package = os.path.realpath(sys.executable), str(Path(__file__).resolve().parents[2])
    seen = dict.fromkeys((python, package, os.path.realpath(sys.base_prefix)))
    plan = Plan((), needed=tuple((each, each) for each in seen), private=private_places())
    # Set up and entered as a real sandbox is.
    failed = _failed([program, *arguments(plan), "--", python, "-I", "-S", "-c", _FIRST, package])
    return f"bubblewrap: {failed}{_blocked_by()}" if failed else ""


def _failed(command: list[str]) -> str:
    """Return the last line of a failed trial's errors, or ""."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", check=False, timeout=_TRIAL_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return (said[-1] if said else f"exit code {done.returncode}") if done.returncode else ""


def bubblewrap() -> str | None:
    """Return the path of the program `bwrap`, or None."""
    return next((path for path in _BWRAP if Path(path).is_file()), None) or shutil.which("bwrap")


def _blocked_by() -> str:
    """Return a remark if AppArmor forbids user namespaces, as on Ubuntu, which the user can change; else ""."""
    try:
        switch = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
    profile = "add an AppArmor profile that allows user namespaces for bwrap"
    return f" (AppArmor restricts user namespaces here; {profile})" if switch.strip() == "1" else ""
