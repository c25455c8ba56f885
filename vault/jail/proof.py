"""A proof that the jail holds here and now: a shut-in process tries two writes and tells how it fared."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vault.errors import RetainError
from vault.jail import landlock
from vault.jail.level import Level
from vault.safe_path import TEMP_PREFIX

WORK = ".retain/work"
_SECONDS = 60.0
_TRAITS = ("case_sensitive", "links", "exchange")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A write that was tried. `error` is what the system said, "" if it let it happen."""

    path: str
    error: str

    def __str__(self) -> str:
        return f"{self.path}: {self.error or 'written'}"


@dataclass(frozen=True, slots=True)
class Proof:
    """What a process could do.

    `by` names what held it, "" if nothing did, as the system can't; `free` tells whether it could have written before;
    `traits` what the disk can do, as far as it was tried.
    """

    by: str
    must_fail: Attempt | None
    must_succeed: Attempt
    free: bool = False
    traits: dict[str, bool] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the one was refused and the other was not: a jail that refuses everything proves nothing."""
        return self.must_fail is not None and bool(self.must_fail.error) and not self.must_succeed.error

    def as_json(self) -> dict[str, Any]:
        found = asdict(self) | {"holds": self.holds}
        del found["traits"]
        return found


def prove_self_jail(must_fail: Path, must_succeed: Path) -> Proof:
    """Tries to write in both folders from a process that left itself the second alone.

    Where it can't do that, the second alone is tried. Raises: RetainError if nothing came back.
    """
    version = landlock.abi()
    names = _new(must_fail), _new(must_succeed)
    command = _command("jail" if version else "open", "", *names)
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RetainError(f"the trial of the jail did not run: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise RetainError(f"the trial of the jail failed: {said[-1] if said else done.returncode}")
    return _proof(f"Landlock ABI {version}" if version else "", names, done.stdout)


def prove_cage(root: Path, personal: Path | None, level: Level, must_fail: Path) -> Proof:
    """Tries the same from a command in a cage of that level around the vault at `root`.

    Raises: Refused if no cage can be built; RetainError if nothing came back.
    """
    from vault.folder import sha256_hex
    from vault.guard import Guard, Scope
    from vault.jail.cage import Cage, run_in_cage

    guard = Guard(root, Scope.AGENT)
    told = f"{WORK}/proof-{secrets.token_hex(6)}.txt"
    cage = Cage(root, level, (Path(WORK),), personal=personal)
    names = _new(must_fail), _new(root / WORK)
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in os.environ}
    with _silent():
        code = run_in_cage(cage, _command("cage", str(root / told), *names), cwd=root, env=environment)
    data = guard.read(told)
    if data is None:
        raise RetainError(f"the trial of the cage failed: exit code {code}")
    guard.remove(told, expect=sha256_hex(data))
    return _proof(f"a cage of level {level}", names, data)


@contextmanager
def _silent() -> Iterator[None]:
    """The standard streams lead nowhere meanwhile: a cage judges them, and it is not they that are tried."""
    null = os.open(os.devnull, os.O_RDWR)
    kept = [(stream, os.dup(stream)) for stream in range(3) if _is_open(stream)]
    try:
        for stream, _ in kept:
            os.dup2(null, stream)
        yield
    finally:
        for stream, copy in kept:
            os.dup2(copy, stream)
            os.close(copy)
        os.close(null)


def _is_open(handle: int) -> bool:
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True


def _new(folder: Path) -> str:
    return str(folder / f"{TEMP_PREFIX}{secrets.token_hex(8)}")


def _command(how: str, to: str, must_fail: str, must_succeed: str) -> list[str]:
    return [sys.executable, "-I", "-m", "vault.jail.trial", how, to, must_fail, must_succeed]


def _proof(by: str, names: tuple[str, str], answer: bytes) -> Proof:
    told = dict(line.partition(" ")[::2] for line in answer.decode(errors="replace").splitlines())
    if "must_succeed" not in told or (by and "must_fail" not in told):
        raise RetainError("the trial of the jail said nothing of what it tried")
    failed = Attempt(names[0], told["must_fail"]) if "must_fail" in told else None
    traits = {name: bool(told[name]) for name in _TRAITS if name in told}
    return Proof(by, failed, Attempt(names[1], told["must_succeed"]), bool(told.get("free")), traits)
