"""What tests of the guard share: a way to stand between it and the operating system."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from vault import guard as guard_module

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

    def wrap_exchange(self, real: Callable[..., int]) -> Callable[..., int]:
        """The one call that goes by ctypes: it says -1 and sets errno where `os` would raise."""

        def call(*args: Any) -> int:
            self.made.append("exchange")
            try:
                self.before(len(self.made), "exchange")
            except OSError as error:
                ctypes.set_errno(error.errno or 0)
                return -1
            return real(*args)

        return call


@contextmanager
def watched(before: Callable[[int, str], None]) -> Iterator[Disk]:
    """Every call to the operating system that could fail goes through a Disk inside the block."""
    disk = Disk(before)
    exchange = guard_module._exchange_call()
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, disk.wrap(name, getattr(os, name)))
        patch.setattr(os, "supports_dir_fd", {*os.supports_dir_fd, os.open})
        if exchange is not None:
            wrapped = disk.wrap_exchange(exchange)
            patch.setattr(guard_module, "_exchange_call", lambda: wrapped)
        yield disk


@pytest.fixture(name="watched")
def _watched() -> Callable[[Callable[[int, str], None]], AbstractContextManager[Disk]]:
    """`with watched(before) as disk`: `before` hears of every call first, and may raise what a disk raises."""
    return watched
