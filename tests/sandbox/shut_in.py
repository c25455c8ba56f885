"""Starts a process that tries acts free and shut in, and what such tests need of the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vault.sandbox import landlock, seccomp

ACTS = Path(__file__).with_name("acts.py")
Results = dict[str, tuple[str, str]]


def need_landlock(version: int = 1) -> None:
    """The test goes on only where the kernel has it; where it must have it, lacking it is a failure."""
    found = landlock.abi()
    if found < version:
        _lacking(f"Landlock ABI {version} is needed, and this machine has {found or 'none'}")


def need_filter() -> None:
    if not seccomp.available():
        _lacking("no filter of system calls on this machine")


def _lacking(words: str) -> None:
    # Only the kernel's own version excuses an older Landlock: a runner that has none at all is a fault of the runner.
    if os.environ.get("CI") and sys.platform == "linux" and not landlock.abi():
        pytest.fail(words)
    pytest.skip(words)


def acted(base: Path, how: dict[str, Any], names: list[str], **given: Any) -> Results:
    """What came of each act, before and after the process was shut in."""
    orders = json.dumps({"base": str(base), "how": how, "acts": names, "given": given})
    done = subprocess.run(
        [sys.executable, "-I", str(ACTS), orders],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    results: dict[str, list[str]] = json.loads(done.stdout)
    return {name: (before, after) for name, (before, after) in results.items()}
