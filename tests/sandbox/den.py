"""A vault with folders of the human's around it, and commands run in a cage over it, one level after the other."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from vault.files.write_scopes import AGENT_FOLDERS
from vault.sandbox.capabilities import Level, bubblewrap, sandbox_support
from vault.sandbox.environment import filtered_environment
from vault.sandbox.sandbox import Sandbox, run_in_sandbox

LEVELS = (Level.FULL, Level.BUBBLEWRAP, Level.LANDLOCK)
DEADLINE_S = 60.0
_HUMAN = ("insights", "raw/articles", "ledger", "learning", ".git/hooks", ".obsidian", ".claude", ".retain/locks")

# Runs the words after the level in a cage over the working directory, as a process of its own that can be sent signals.
ALONE = """
import os, sys
from pathlib import Path
from vault.sandbox.sandbox import Sandbox, run_in_sandbox
from vault.sandbox.environment import filtered_environment
from vault.sandbox.capabilities import Level
level, *command = sys.argv[1:]
environment = filtered_environment(os.environ)
sys.exit(run_in_sandbox(Sandbox(Path.cwd(), Level[level]), command, cwd=Path.cwd(), env=environment))
"""


def need(level: Level) -> None:
    """The test goes on only where this level can be had; where it must be had, lacking it is a failure."""
    found = sandbox_support()
    if found.level >= level:
        return
    words = f"{level} does not work here: {'; '.join(found.reasons)}"
    if os.environ.get("CI") and sys.platform == "linux":
        pytest.fail(words)
    pytest.skip(words)


def without_rights(folder: Path) -> Path:
    """A bubblewrap that gives what it starts no capability, whatever it is asked for."""
    real = bubblewrap()
    assert real is not None, "the test needs bubblewrap"
    program = folder / "bwrap"
    less = 'for word; do shift; case $word in --cap-add | CAP_*) ;; *) set -- "$@" "$word" ;; esac; done'
    program.write_text(f'#!/bin/sh\n{less}\nexec {shlex.quote(real)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def usual_signals() -> None:
    """For a child: no signal is ignored because whoever runs the tests (nohup, say) ignores it."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)


def wait_for(what: Callable[[], object], words: str) -> None:
    """Returns when `what` gives something true."""
    deadline = time.monotonic() + DEADLINE_S
    while not what():
        assert time.monotonic() < deadline, f"waited in vain for {words}"
        time.sleep(0.01)


@dataclass(frozen=True)
class Den:
    """`base` holds the vault, a personal vault, a place of retain's own, and somebody's other folder."""

    base: Path

    @property
    def vault(self) -> Path:
        return self.base / "vault"

    @property
    def personal(self) -> Path:
        return self.base / "personal"

    @property
    def state(self) -> Path:
        return self.base / "state"

    @property
    def other(self) -> Path:
        return self.base / "other"

    def cage(self, level: Level, *, rw: tuple[Path, ...] = (), network: bool = True) -> Sandbox:
        return Sandbox(self.vault, level, rw=rw, personal=self.personal, hidden=(self.state,), network=network)

    def run(self, level: Level, script: str, *, rw: tuple[Path, ...] = (), network: bool = True) -> int:
        """The exit code of a script of the shell, caged in the vault."""
        cage = self.cage(level, rw=rw, network=network)
        return run_in_sandbox(cage, ["sh", "-c", script], cwd=self.vault, env=filtered_environment(os.environ))

    def python(self, level: Level, script: str, *, network: bool = True) -> int:
        """The exit code of a script of Python's, caged in the vault."""
        words = shlex.join([sys.executable, "-I", "-S", "-c", script])
        return self.run(level, words, network=network)

    def start(self, level: Level, script: str, **how: object) -> subprocess.Popen[bytes]:
        """The same as a process of its own, which holds nothing of ours open."""
        return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
            [sys.executable, "-c", ALONE, level.name, "sh", "-c", script],
            cwd=self.vault,
            preexec_fn=usual_signals,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **how},
        )

    def notes(self) -> dict[str, bytes]:
        """What every file that isn't an agent's holds."""
        files = (p for p in self.base.rglob("*") if p.is_file() and not p.is_symlink())
        found = {p.relative_to(self.base).as_posix(): p.read_bytes() for p in files}
        agents = tuple(f"vault/{folder}/" for folder in AGENT_FOLDERS)
        return {name: data for name, data in found.items() if not name.startswith(agents)}


def dig(base: Path) -> Den:
    """A den with a note in every folder."""
    den = Den(base)
    folders = [*(den.vault / name for name in (*_HUMAN, *AGENT_FOLDERS)), den.personal, den.state, den.other]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "note.md").write_text(f"a note in {folder.name}\n", encoding="utf-8")
    (den.vault / "retain.toml").write_text("", encoding="utf-8")
    return den
