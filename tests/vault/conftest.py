"""What tests of the guard share: a way to stand between it and the operating system, and disks of another kind."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from vault.files import replace

CALLS = (
    *("open", "write", "fsync", "rename", "link", "unlink", "mkdir"),
    *("fstat", "stat", "pread", "read", "ftruncate", "pwrite", "fchmod"),
)


@dataclass
class Disk:
    """Counts the calls made while it is watched; `before` is told the number and name of each."""

    before: Callable[[int, str], None]
    made: list[str] = field(default_factory=list)

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.made.append(name)
            self.before(len(self.made), name)
            return real(*args, **kwargs)

        return call

    def wrap_native(self, name: str, real: Callable[..., int]) -> Callable[..., int]:
        """A call that goes by ctypes: it says -1 and sets errno where `os` would raise."""

        def call(*args: Any) -> int:
            self.made.append(name)
            try:
                self.before(len(self.made), name)
            except OSError as error:
                ctypes.set_errno(error.errno or 0)
                return -1
            return real(*args)

        return call


@contextmanager
def watched(before: Callable[[int, str], None]) -> Iterator[Disk]:
    """Every call to the operating system that could fail goes through a Disk inside the block."""
    disk = Disk(before)
    rename = replace.rename_call()
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, disk.wrap(name, getattr(os, name)))
        patch.setattr(os, "supports_dir_fd", {*os.supports_dir_fd, os.open})
        if rename is not None:
            renamed = disk.wrap_native("exchange", rename)
            patch.setattr(replace, "rename_call", lambda: renamed)
        yield disk


@pytest.fixture(name="watched")
def _watched() -> Callable[[Callable[[int, str], None]], AbstractContextManager[Disk]]:
    """`with watched(before) as disk`: `before` hears of every call first, and may raise what a disk raises."""
    return watched


def missing(reason: str, *, here: bool) -> None:
    """Skips the test and says why; in CI, where the machine has what is needed (`here`), that is a failure."""
    if os.environ.get("CI") and sys.platform == "linux" and here:
        pytest.fail(reason)
    pytest.skip(reason)


Folding = Callable[..., AbstractContextManager[Path]]


@pytest.fixture
def folding(tmp_path: Path) -> Folding:
    """`with folding("no-link") as disk`: a mounted disk to which case and composition of names mean nothing.

    What is on it lies in `tmp_path/backing`, to be looked at from outside.
    """

    @contextmanager
    def mounted(*lacking: str) -> Iterator[Path]:
        (tmp_path / "backing").mkdir(exist_ok=True)
        (tmp_path / "disk").mkdir(exist_ok=True)
        command = [sys.executable, "-I", str(Path(__file__).with_name("folding_disk.py"))]
        with subprocess.Popen(
            [*command, str(tmp_path / "backing"), str(tmp_path / "disk"), *lacking],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stdin and server.stdout and server.stderr
            try:
                if server.stdout.readline() != "ready\n":
                    able = Path("/dev/fuse").exists() and os.geteuid() == 0
                    why = server.stderr.read().strip().rpartition("\n")[2]
                    missing(f"a disk of our own is mounted by root alone, with /dev/fuse: {why}", here=able)
                yield tmp_path / "disk"
            finally:
                server.stdin.close()
                server.wait(60)

    return mounted
