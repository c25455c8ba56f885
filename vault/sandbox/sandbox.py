"""Runs a command in a sandbox: what it may write, see and reach."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault.errors import Refused
from vault.files.write_scopes import AGENT_FOLDERS, is_within
from vault.sandbox import bubblewrap, environment, preflight, processes, seccomp
from vault.sandbox.capabilities import Level
from vault.sandbox.capabilities import bubblewrap as bubblewrap_program
from vault.sandbox.init_process import BOOT


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What one run of a command may do. `root` is the vault, `writable` its folders that agents may write.

    `rw` is what the user adds. `personal` and `hidden` cannot be seen inside; they must exist. Without `network`, the
    internet is out of reach. `level` is how it is enforced; it is never lowered.
    """

    root: Path
    level: Level
    writable: tuple[Path, ...] = tuple(Path(folder) for folder in AGENT_FOLDERS)
    rw: tuple[Path, ...] = ()
    personal: Path | None = None
    hidden: tuple[Path, ...] = ()
    network: bool = True

    @property
    def hidden_folders(self) -> tuple[Path, ...]:
        """Return all folders that are hidden."""
        return self.hidden if self.personal is None else (self.personal, *self.hidden)


def run_in_sandbox(
    sandbox: Sandbox,
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    before: Callable[[], None] = lambda: None,
) -> int:
    """Run `command` and return its exit code: 128 + n if signal n ended it, 127 or 126 if it can't be found or run.

    `env` is its environment, to which the sandbox adds a few variables. `before` is called after the checks, before
    anything is started. No process of the command is left when this returns. Raises: Refused, and nothing was started,
    if what it may write could lead to the user's files, or if the sandbox can't be set up at that level.
    """
    if not command:
        raise Refused("no command to run")
    if sandbox.level is Level.NONE:
        raise Refused("no sandbox is available here")
    checked = preflight.check_paths(sandbox.root, sandbox.writable, sandbox.rw, sandbox.hidden_folders)
    preflight.check_standard_streams(checked)
    folder = os.path.realpath(cwd)
    if any(is_within(folder, each) for each in checked.hidden):
        raise Refused(
            "the working directory is hidden from agents", where=folder, hint="start the command from another folder"
        )
    before()
    start = _by_landlock if sandbox.level is Level.LANDLOCK else _in_bubblewrap
    return start(sandbox, checked, command, folder, env)


@contextmanager
def _temporary_folder() -> Iterator[str]:
    """Yield a temporary folder, deleted at the end."""
    path = os.path.realpath(tempfile.mkdtemp(prefix="retain-sandbox-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _python() -> list[str]:
    """Return the command that starts `init_process`, isolated from the environment."""
    package = str(Path(__file__).resolve().parents[2])
    return [os.path.realpath(sys.executable), "-I", "-S", "-c", BOOT, package]


def _config(sandbox: Sandbox, checked: preflight.CheckedPaths, command: Sequence[str], cwd: str) -> dict[str, Any]:
    writable = list(zip(checked.writable, checked.identities, strict=True))
    return {
        "command": [os.fsencode(word) for word in command],
        "cwd": os.fsencode(cwd),
        "writable": [(os.fsencode(path), *identity) for path, identity in writable],
        "readable": None,
        "hidden": [os.fsencode(path) for path in checked.hidden],
        "bubblewrap": sandbox.level is not Level.LANDLOCK,
        "landlock": sandbox.level is not Level.BUBBLEWRAP,
        "filter": seccomp.available(),
        # Bubblewrap gives a network of the sandbox's own, in which its programs may speak to each other.
        "internet": sandbox.network or sandbox.level is not Level.LANDLOCK,
        "ignored": processes.ignored(),
    }


def _in_bubblewrap(
    sandbox: Sandbox, checked: preflight.CheckedPaths, command: Sequence[str], cwd: str, env: Mapping[str, str]
) -> int:
    program = bubblewrap_program()
    if program is None:
        raise Refused("bubblewrap is not installed", hint="install the bubblewrap package")
    private = bubblewrap.private_places()
    inside = environment.sandbox_environment(
        env, vault=checked.root, temporary=bubblewrap.TEMPORARY, runtime=bubblewrap.RUNTIME
    )
    needed, links = _needed(checked, command, cwd, env)
    plan = bubblewrap.Plan(checked.writable, checked.hidden, needed, links, private, sandbox.network)
    config = _config(sandbox, checked, command, cwd)
    own = [*private, "/dev/shm"]  # noqa: S108 (the sandbox's own)
    config["own"] = [os.fsencode(path) for path in own]
    return processes.run([program, *bubblewrap.arguments(plan), "--", *_python()], inside, config)


def _needed(
    checked: preflight.CheckedPaths, command: Sequence[str], cwd: str, env: Mapping[str, str]
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return (name, target) of what must be visible even in a private folder, and the links there that lead to it."""
    program = shutil.which(command[0], path=env.get("PATH"))
    names = [checked.root, cwd, _python()[0], _python()[-1], sys.prefix, sys.base_prefix]
    names += [os.path.dirname(program)] if program else []
    names += [os.path.dirname(os.path.realpath(program))] if program else []
    names += [each for each in env.get("PATH", "").split(os.pathsep) if os.path.isabs(each)]
    links = []
    for name in bubblewrap.LOOKED_UP:
        if os.path.islink(name) and is_within(name, "/run"):
            links.append((name, os.readlink(name)))
        elif os.path.lexists(name):
            names.append(os.path.realpath(name))
    shown = {
        each: os.path.realpath(each) for name in names for each in (os.path.normpath(name), os.path.realpath(name))
    }
    return tuple((name, path) for name, path in shown.items() if os.path.exists(path)), tuple(links)


def _by_landlock(
    sandbox: Sandbox, checked: preflight.CheckedPaths, command: Sequence[str], cwd: str, env: Mapping[str, str]
) -> int:
    with _temporary_folder() as path:
        inside = environment.sandbox_environment(env, vault=checked.root, temporary=path, runtime=path)
        config = _config(sandbox, checked, command, cwd)
        config["own"] = [os.fsencode(path)]
        if checked.hidden:
            needed, _ = _needed(checked, command, cwd, env)
            known = [target for _, target in needed]
            config["readable"] = [os.fsencode(each) for each in readable_beside(checked.hidden, known)]
        return processes.run(_python(), inside, config)


def readable_beside(hidden: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """Return what may be read so that `hidden` can't: everything beside it, and beside each of its parent folders.

    Landlock can only allow. So the parent folders can't be listed, and what is created in them later can't be read.
    Of a parent folder that this user can't list, only what leads to `known` can be read.
    """
    found: list[str] = []
    hidden = [path for path in hidden if not any(is_within(path, other) and path != other for other in hidden)]
    ways = {str(above) for path in hidden for above in Path(path).parents}
    for way in sorted(ways):
        found += [path for path in _beside(way, known) if path not in ways and path not in hidden]
    return found


def _beside(way: str, known: Sequence[str]) -> list[str]:
    """Return the entries of a folder; of one that can't be listed, those that lead to the known paths."""
    try:
        with os.scandir(way) as entries:
            # What a link leads to counts by itself.
            return [entry.path for entry in entries if not entry.is_symlink()]
    except PermissionError:
        below = (os.path.relpath(path, way) for path in known if is_within(path, way) and path != way)
        return sorted({os.path.join(way, path.split(os.sep)[0]) for path in below})
