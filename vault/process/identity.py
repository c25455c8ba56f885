"""The identity of a process, unique over reuse of ids and over machines, and whether it still runs."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vault.text.formatting import clean_line

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")  # of this start of this machine, the same in its containers


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its id, host name, machine, and start ("" where the system does not tell).

    `machine` is twelve hex digits that only this machine has, "" if unknown; `started` is "BOOT_ID TICKS", TICKS the
    kernel's count since the machine was started.
    """

    pid: int
    host: str
    machine: str = ""
    started: str = ""

    @property
    def is_here(self) -> bool:
        """Return whether it was started on this machine, including its containers."""
        return self.host == _host() or (bool(_boot()) and self._boot == _boot())

    @property
    def is_alive(self) -> bool | None:
        """Return whether it runs; None if it is another machine's or container's."""
        if self.machine != _machine() or not (self.machine or self.host == _host()):
            return None
        if self._boot and _boot() and self._boot != _boot():
            return False  # rebooted since
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            pass
        return not self.started or _started(self.pid) in ("", self.started)

    @property
    def _boot(self) -> str:
        return self.started.partition(" ")[0]

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Process:
    """Return the identity of this process."""
    return Process(os.getpid(), _host(), _machine(), _started(os.getpid()))


def _host() -> str:
    return clean_line(os.uname().nodename)


def _machine() -> str:
    with suppress(OSError):
        return hashlib.sha256(b"retain\0" + Path("/etc/machine-id").read_bytes().strip()).hexdigest()[:12]
    return ""


def _started(pid: int) -> str:
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return f"{_boot()} {int(fields[19])}" if _boot() else ""
    return ""


def _boot() -> str:
    with suppress(OSError, ValueError):
        return _BOOT_ID.read_text(encoding="ascii").strip()
    return ""
